//! A value as a graph keeps it: its document, and the memory of where it came from.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use crate::{AttributePath, Mirror, Pending};

/// A value as the graph keeps it: its document, and the memory of where it came from.
#[derive(Clone, Debug)]
pub struct Field {
    /// The JSON form; `null` for null, a marker (see [`is_pending`]) for pending.
    pub document: Json,
    /// The attribute to name when something is wrong with the value.
    pub origin: Option<AttributePath>,
    /// The attributes to name when something is wrong with a part of the document, by the part's JSON pointer.
    pub parts: BTreeMap<String, AttributePath>,
    /// The attributes to write a found value back into.
    pub mirrors: Vec<Mirror>,
    /// Keys of the child objects whose outputs it is made from.
    pub sources: BTreeSet<String>,
}

pub(crate) const MARKER: &str = "$pending";

// === impl Field ===

impl Field {
    /// The attribute behind the part of the document at a JSON pointer: its own, or that of the nearest part around it.
    pub fn origin_at(&self, pointer: &str) -> Option<&AttributePath> {
        let mut around = std::iter::successors(Some(pointer), |part| Some(part.rsplit_once('/')?.0));
        around.find_map(|part| self.parts.get(part)).or(self.origin.as_ref())
    }
}

/// Whether a document is, or holds anywhere, a marker of a pending value.
pub fn is_pending(document: &Json) -> bool {
    match document {
        Json::Object(map) => map.contains_key(MARKER) || map.values().any(is_pending),
        Json::Array(items) => items.iter().any(is_pending),
        _ => false,
    }
}

/// Why parts of a document are pending: every marker in it.
pub fn pending_in(document: &Json) -> Vec<Pending> {
    match document {
        Json::Object(map) => match map.get(MARKER) {
            Some(Json::Array(parts)) => match parts.as_slice() {
                [Json::String(component), Json::String(field)] => {
                    vec![Pending::Output { component: component.clone(), field: field.clone() }]
                }
                _ => vec![Pending::Config],
            },
            Some(_) => vec![Pending::Config],
            None => map.values().flat_map(pending_in).collect(),
        },
        Json::Array(items) => items.iter().flat_map(pending_in).collect(),
        _ => Vec::new(),
    }
}

// Null and absent are the same in a document; one form keeps comparison simple.
pub(crate) fn without_nulls(document: Json) -> Json {
    match document {
        Json::Object(map) => {
            Json::Object(map.into_iter().filter(|(_, v)| !v.is_null()).map(|(k, v)| (k, without_nulls(v))).collect())
        }
        Json::Array(items) => Json::Array(items.into_iter().map(without_nulls).collect()),
        other => other,
    }
}
