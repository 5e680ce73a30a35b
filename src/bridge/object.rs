//! Operations on Terraform's values that follow a schema. Pure.

use std::collections::{BTreeMap, BTreeSet};

use converge::WriteBack;
use tf_provider::{Attribute, Block, Cty, Nesting, Shape, Type, from_document};
use value::{AttributePath, Step};

/// The configuration where it says something, what was computed where it does not.
pub(super) fn overlay(block: &Block, config: &Cty, computed: &Cty) -> Cty {
    let mut object = overlay_attributes(&block.attributes, config, computed);
    for nested in &block.blocks {
        object.set(&nested.name, config.get(&nested.name).clone());
    }
    object
}

fn overlay_attributes(attributes: &[Attribute], config: &Cty, computed: &Cty) -> Cty {
    let one = |attribute: &Attribute| {
        let (config, computed) = (config.get(&attribute.name), within(computed, &attribute.name));
        let value = match (config, attribute.computed) {
            _ if attribute.write_only => Cty::Null,
            (Cty::Null, true) => computed.clone(),
            (Cty::Null, false) => Cty::Null,
            _ => overlay_value(&attribute.shape, config, computed),
        };
        (attribute.name.clone(), value)
    };
    Cty::object(attributes.iter().map(one))
}

fn overlay_value(shape: &Shape, config: &Cty, computed: &Cty) -> Cty {
    let Shape::Nested(nesting, attributes) = shape else { return config.clone() };
    match (nesting, config) {
        (Nesting::Single, Cty::Object(_)) => overlay_attributes(attributes, config, computed),
        (Nesting::List, Cty::List(items)) => {
            let other = |at: usize| match computed {
                Cty::List(others) => others.get(at).unwrap_or(&Cty::Null),
                other => within(other, ""),
            };
            let pairs = items.iter().enumerate().map(|(at, item)| (item, other(at)));
            Cty::List(pairs.map(|(item, other)| overlay_element(attributes, item, other)).collect())
        }
        (Nesting::Map, Cty::Map(items)) => Cty::Map(
            items
                .iter()
                .map(|(key, item)| (key.clone(), overlay_element(attributes, item, within(computed, key))))
                .collect(),
        ),
        _ => config.clone(),
    }
}

// What was computed is known as a whole or not at all: a list with one element that is not known says nothing yet of the
// others.
fn within<'c>(computed: &'c Cty, name: &str) -> &'c Cty {
    if matches!(computed, Cty::Unknown(_)) { computed } else { computed.get(name) }
}

fn overlay_element(attributes: &[Attribute], config: &Cty, computed: &Cty) -> Cty {
    match config {
        Cty::Object(_) => overlay_attributes(attributes, config, computed),
        other => other.clone(),
    }
}

/// Optional attributes that the configuration leaves to the provider. Those inside a set have no path.
pub(super) fn left_out(attributes: &[Attribute], config: &Cty) -> BTreeSet<AttributePath> {
    let mut paths = BTreeSet::new();
    gather_left_out(attributes, config, &AttributePath::root(), &mut paths);
    paths
}

fn gather_left_out(attributes: &[Attribute], config: &Cty, at: &AttributePath, paths: &mut BTreeSet<AttributePath>) {
    for attribute in attributes {
        let path = at.attribute(&attribute.name);
        let value = config.get(&attribute.name);
        if value.is_null() {
            if attribute.optional && attribute.computed {
                paths.insert(path);
            }
        } else if let Shape::Nested(nesting, inner) = &attribute.shape {
            match (nesting, value) {
                (Nesting::Single, value) => gather_left_out(inner, value, &path, paths),
                (Nesting::List, Cty::List(items)) => {
                    for (index, item) in items.iter().enumerate() {
                        gather_left_out(inner, item, &path.index(index), paths);
                    }
                }
                (Nesting::Map, Cty::Map(items)) => {
                    for (key, item) in items {
                        gather_left_out(inner, item, &path.key(key.clone()), paths);
                    }
                }
                _ => {}
            }
        }
    }
}

/// A state without what only the provider sets: as the user wrote it.
pub(super) fn as_written(block: &Block, state: &Cty, left_out: &BTreeSet<AttributePath>) -> Cty {
    let mut object = state.clone();
    for attribute in block.attributes.iter().filter(|attribute| !attribute.required && !attribute.optional) {
        object.set(&attribute.name, Cty::Null);
    }
    for path in left_out {
        replace_at(&mut object, path.steps(), Cty::Null);
    }
    object
}

/// The configuration that a plan was made from, at apply. Terraform hands on the one in the files, which
/// `ignore_changes` may have kept from the plan: what was planned counts. Values that were not known then, and those
/// that no plan holds, are the configuration's.
pub(super) fn as_planned(block: &Block, planned: &Cty, config: &Cty, left_out: &BTreeSet<AttributePath>) -> Cty {
    let planned = as_written(block, planned, left_out);
    let mut object = planned_attributes(&block.attributes, &planned, config);
    for nested in &block.blocks {
        object.set(&nested.name, config.get(&nested.name).clone());
    }
    object
}

fn planned_attributes(attributes: &[Attribute], planned: &Cty, config: &Cty) -> Cty {
    Cty::object(attributes.iter().map(|attribute| {
        let name = &attribute.name;
        let value = if attribute.write_only {
            config.get(name).clone()
        } else {
            planned_value(&attribute.shape, planned.get(name), config.get(name))
        };
        (name.clone(), value)
    }))
}

fn planned_value(shape: &Shape, planned: &Cty, config: &Cty) -> Cty {
    match (shape, planned, config) {
        (_, Cty::Unknown(_), config) => config.clone(),
        (Shape::Nested(Nesting::Single, inner), Cty::Object(_), Cty::Object(_)) => {
            planned_attributes(inner, planned, config)
        }
        (Shape::Nested(Nesting::List, inner), Cty::List(left), Cty::List(right)) if left.len() == right.len() => {
            Cty::List(left.iter().zip(right).map(|(left, right)| planned_attributes(inner, left, right)).collect())
        }
        (Shape::Nested(Nesting::Map, inner), Cty::Map(left), Cty::Map(right)) if left.keys().eq(right.keys()) => {
            let pairs = left.iter().zip(right.values());
            Cty::Map(pairs.map(|((key, left), right)| (key.clone(), planned_attributes(inner, left, right))).collect())
        }
        (_, planned, config) => settle(planned, config),
    }
}

fn replace_at(value: &mut Cty, steps: &[Step], new: Cty) {
    let Some((step, rest)) = steps.split_first() else {
        *value = new;
        return;
    };
    let inner = match (value, step) {
        (Cty::Object(map), Step::Attribute(name)) | (Cty::Map(map), Step::Key(name)) => map.get_mut(name),
        (Cty::List(items), Step::Index(index)) => items.get_mut(*index),
        _ => None,
    };
    if let Some(inner) = inner {
        replace_at(inner, rest, new);
    }
}

/// Puts what was found in the world into the attributes it mirrors. An object on the way that is null is made.
pub(super) fn write_back(block: &Block, object: &mut Cty, found: &[WriteBack]) {
    let ty = block.ty();
    for WriteBack { path, value } in found {
        let before = object.at(path).cloned();
        write_document(object, &ty, path.steps(), value);
        // An attribute that is found as a whole is found as somebody wrote it, without what was computed beneath it.
        if let ([Step::Attribute(name)], Some(before)) = (path.steps(), before)
            && let Some(attribute) = block.attribute(name)
        {
            let whole = overlay_value(&attribute.shape, object.get(name), &before);
            object.set(name, whole);
        }
    }
}

fn write_document(value: &mut Cty, ty: &Type, steps: &[Step], document: &serde_json::Value) {
    let Some((step, rest)) = steps.split_first() else {
        *value = from_document(document, ty);
        return;
    };
    match (step, ty) {
        (Step::Attribute(name), Type::Object(types)) => {
            // A null inside an object that is null already says nothing new.
            if value.is_null() && !document.is_null() {
                *value = Cty::Object(types.keys().map(|name| (name.clone(), Cty::Null)).collect());
            }
            if let (Cty::Object(map), Some(ty)) = (value, types.get(name))
                && let Some(inner) = map.get_mut(name)
            {
                write_document(inner, ty, rest, document);
            }
        }
        (Step::Key(key), Type::Map(element)) => {
            if let Cty::Map(map) = value {
                write_document(map.entry(key.clone()).or_insert(Cty::Null), element, rest, document);
            }
        }
        (Step::Index(index), Type::List(element)) => {
            if let Cty::List(items) = value
                && let Some(item) = items.get_mut(*index)
            {
                write_document(item, element, rest, document);
            }
        }
        _ => {}
    }
}

/// A plan's values where they are known, what came of the rest where not. Nothing stays unknown.
pub(super) fn settle(planned: &Cty, result: &Cty) -> Cty {
    match (planned, result) {
        (Cty::Unknown(_), result) => known(result),
        (Cty::Object(planned), result) => Cty::Object(settle_map(planned, result)),
        (Cty::Map(planned), result) => Cty::Map(settle_map(planned, result)),
        (Cty::List(planned), Cty::List(result)) => Cty::List(
            planned.iter().enumerate().map(|(at, value)| settle(value, result.get(at).unwrap_or(&Cty::Null))).collect(),
        ),
        // Elements of a set are told apart by their whole value: one that is not known is taken as it came.
        (Cty::Set(_), Cty::Set(_)) if !planned.is_wholly_known() => known(result),
        (planned, _) => known(planned),
    }
}

fn settle_map(planned: &BTreeMap<String, Cty>, result: &Cty) -> BTreeMap<String, Cty> {
    planned.iter().map(|(name, value)| (name.clone(), settle(value, result.get(name)))).collect()
}

fn known(value: &Cty) -> Cty {
    match value {
        Cty::Unknown(_) => Cty::Null,
        Cty::List(items) => Cty::List(items.iter().map(known).collect()),
        Cty::Set(items) => Cty::Set(items.iter().map(known).collect()),
        Cty::Map(map) => Cty::Map(map.iter().map(|(key, value)| (key.clone(), known(value))).collect()),
        Cty::Object(map) => Cty::Object(map.iter().map(|(key, value)| (key.clone(), known(value))).collect()),
        Cty::Dynamic(ty, inner) => Cty::Dynamic(ty.clone(), Box::new(known(inner))),
        other => other.clone(),
    }
}

/// Makes everything that only the provider sets unknown: the plan of a resource whose shape is not known yet.
pub(super) fn forget_computed(block: &Block, config: &Cty, object: &mut Cty) {
    for attribute in &block.attributes {
        if attribute.computed && config.get(&attribute.name).is_null() {
            object.set(&attribute.name, Cty::unknown());
        }
    }
}
