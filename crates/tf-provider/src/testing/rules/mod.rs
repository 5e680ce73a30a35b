//! The rules core holds a provider's answers to. Pure: from values to what is wrong with them.

pub(super) mod apply;
pub(super) mod object;
pub(super) mod plan;
pub(super) mod proposed;
pub(super) mod refined;
pub(super) mod replace;
pub(super) mod same;

#[cfg(test)]
mod tests;

use crate::{Attribute, Cty, Nesting};
use value::AttributePath;

/// What is wrong, and where.
pub(super) type Complaints = Vec<String>;

/// A complaint about the value at `path`.
fn complaint(path: &AttributePath, text: impl std::fmt::Display) -> String {
    if path.is_root() { text.to_string() } else { format!("{path}: {text}") }
}

/// A value in a complaint.
fn shown(value: &Cty, sensitive: bool) -> String {
    if sensitive { "(sensitive)".to_owned() } else { format!("{value:?}") }
}

/// The elements of a nested attribute's value, each with its path.
fn elements(value: &Cty, nesting: Nesting, path: &AttributePath) -> Vec<(AttributePath, Cty)> {
    match (nesting, value) {
        (Nesting::Single, Cty::Object(_)) => vec![(path.clone(), value.clone())],
        (_, Cty::List(items) | Cty::Set(items)) => {
            items.iter().enumerate().map(|(index, item)| (path.index(index), item.clone())).collect()
        }
        (_, Cty::Map(items)) => items.iter().map(|(key, item)| (path.key(key), item.clone())).collect(),
        _ => Vec::new(),
    }
}

/// The attributes of an object with their values; nulls where the object is null.
fn fields<'a>(
    attributes: &'a [Attribute],
    object: &'a Cty,
    path: &'a AttributePath,
) -> impl Iterator<Item = (&'a Attribute, &'a Cty, AttributePath)> {
    attributes.iter().map(move |one| (one, object.get(&one.name), path.attribute(&one.name)))
}
