//! What every state and plan must be: without write-only values, and, once made, without unknown ones.

use crate::{
    Attribute, Block, Cty, Shape,
    testing::rules::{Complaints, complaint, elements, fields},
};
use value::AttributePath;

/// Write-only attributes that have a value.
pub(in crate::testing) fn write_only(block: &Block, value: &Cty) -> Complaints {
    let mut complaints = Vec::new();
    in_block(block, value, &AttributePath::root(), &mut complaints);
    complaints
}

fn in_block(block: &Block, value: &Cty, path: &AttributePath, complaints: &mut Complaints) {
    in_attributes(&block.attributes, value, path, complaints);
    for nested in &block.blocks {
        in_block(&nested.block, value.get(&nested.name), &path.attribute(&nested.name), complaints);
    }
}

fn in_attributes(attributes: &[Attribute], object: &Cty, path: &AttributePath, complaints: &mut Complaints) {
    for (attribute, value, path) in fields(attributes, object, path) {
        if attribute.write_only && !value.is_null() {
            complaints.push(complaint(&path, "is write-only, so its value must be null"));
        }
        if let Shape::Nested(nesting, attributes) = &attribute.shape {
            for (path, element) in elements(value, *nesting, &path) {
                in_attributes(attributes, &element, &path, complaints);
            }
        }
    }
}

/// The places that are not known.
pub(in crate::testing) fn unknown(value: &Cty) -> Complaints {
    let mut places = Vec::new();
    search(value, &AttributePath::root(), &mut places);
    places.iter().map(|path| complaint(path, "is not known")).collect()
}

fn search(value: &Cty, path: &AttributePath, places: &mut Vec<AttributePath>) {
    match value {
        Cty::Unknown(_) => places.push(path.clone()),
        Cty::Dynamic(_, inner) => search(inner, path, places),
        Cty::List(items) | Cty::Set(items) => {
            items.iter().enumerate().for_each(|(index, item)| search(item, &path.index(index), places));
        }
        Cty::Map(items) => items.iter().for_each(|(key, item)| search(item, &path.key(key), places)),
        Cty::Object(items) => items.iter().for_each(|(name, item)| search(item, &path.attribute(name), places)),
        Cty::Null | Cty::Bool(_) | Cty::Number(_) | Cty::String(_) => {}
    }
}

/// The same value with null in the place of what is not known, as core saves it.
pub(in crate::testing) fn unknown_as_null(value: Cty) -> Cty {
    match value {
        Cty::Unknown(_) => Cty::Null,
        Cty::Dynamic(ty, inner) => Cty::Dynamic(ty, Box::new(unknown_as_null(*inner))),
        Cty::List(items) => Cty::List(items.into_iter().map(unknown_as_null).collect()),
        Cty::Set(items) => Cty::Set(items.into_iter().map(unknown_as_null).collect()),
        Cty::Map(items) => Cty::Map(items.into_iter().map(|(key, item)| (key, unknown_as_null(item))).collect()),
        Cty::Object(items) => {
            Cty::Object(items.into_iter().map(|(name, item)| (name, unknown_as_null(item))).collect())
        }
        known => known,
    }
}
