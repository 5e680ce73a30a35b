//! Write-only attributes: given in configuration, never in a plan or a state.

use std::collections::BTreeMap;

use crate::{Attribute, Block, Cty, Diagnostic, Nesting, Shape};
use value::AttributePath;

/// The same value with write-only attributes null.
pub(crate) fn without_write_only(value: Cty, block: &Block) -> Cty {
    let Cty::Object(mut object) = value else {
        return value;
    };
    clear(&mut object, &block.attributes);
    for nested in &block.blocks {
        if let Some(inner) = object.remove(&nested.name) {
            object.insert(nested.name.clone(), without_write_only(inner, &nested.block));
        }
    }
    Cty::Object(object)
}

fn clear(object: &mut BTreeMap<String, Cty>, attributes: &[Attribute]) {
    for attribute in attributes {
        let Some(value) = object.get_mut(&attribute.name) else {
            continue;
        };
        if attribute.write_only {
            *value = Cty::Null;
        } else if let Shape::Nested(_, attributes) = &attribute.shape {
            clear_elements(value, attributes);
        }
    }
}

fn clear_elements(value: &mut Cty, attributes: &[Attribute]) {
    match value {
        Cty::Object(object) => clear(object, attributes),
        Cty::List(items) | Cty::Set(items) => items.iter_mut().for_each(|item| clear_elements(item, attributes)),
        Cty::Map(items) => items.values_mut().for_each(|item| clear_elements(item, attributes)),
        _ => {}
    }
}

/// Where a configuration gives write-only attributes.
pub(crate) fn given(config: &Cty, block: &Block) -> Vec<AttributePath> {
    let mut found = Vec::new();
    search_block(config, block, &AttributePath::root(), &mut found);
    found
}

fn search_block(value: &Cty, block: &Block, path: &AttributePath, found: &mut Vec<AttributePath>) {
    search(value, &block.attributes, path, found);
    for nested in &block.blocks {
        search_block(value.get(&nested.name), &nested.block, &path.attribute(&nested.name), found);
    }
}

fn search(object: &Cty, attributes: &[Attribute], path: &AttributePath, found: &mut Vec<AttributePath>) {
    for attribute in attributes {
        let value = object.get(&attribute.name);
        let path = path.attribute(&attribute.name);
        match &attribute.shape {
            _ if attribute.write_only && !value.is_null() => found.push(path),
            Shape::Nested(nesting, attributes) => search_elements(value, (*nesting, attributes), &path, found),
            Shape::Plain(_) => {}
        }
    }
}

fn search_elements(
    value: &Cty,
    (nesting, attributes): (Nesting, &[Attribute]),
    path: &AttributePath,
    found: &mut Vec<AttributePath>,
) {
    match (nesting, value) {
        (Nesting::Single, object) => search(object, attributes, path, found),
        (_, Cty::List(items) | Cty::Set(items)) => {
            for (index, item) in items.iter().enumerate() {
                search(item, attributes, &path.index(index), found);
            }
        }
        (_, Cty::Map(items)) => {
            for (key, item) in items {
                search(item, attributes, &path.key(key), found);
            }
        }
        _ => {}
    }
}

/// What to tell a client that does not keep write-only values out of its state.
pub(super) fn unsupported(path: &AttributePath) -> Diagnostic {
    let detail = format!(
        "{path} is write-only: it must not be stored, but this version of Terraform would write it into the state."
    );
    Diagnostic::error(path, "Write-only attributes are not supported", detail)
        .advise("Use Terraform or OpenTofu 1.11 or later, or leave the attribute out.")
}
