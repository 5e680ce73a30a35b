//! Write-only attributes: given in configuration, never in a plan or a state.

use std::collections::BTreeMap;

use super::search;
use crate::{Attribute, Block, Cty, Diagnostic, Shape};
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
pub(super) fn given(config: &Cty, block: &Block) -> Vec<AttributePath> {
    search::found(config, block, |attribute, value| attribute.write_only && !value.is_null())
}

/// What to tell a client that does not keep write-only values out of its state.
pub(super) fn unsupported(path: &AttributePath) -> Diagnostic {
    let detail = format!(
        "{path} is write-only: it must not be stored, but this version of Terraform would write it into the state."
    );
    Diagnostic::error(path, "Write-only attributes are not supported", detail)
        .advise("Use Terraform or OpenTofu 1.11 or later, or leave the attribute out.")
}
