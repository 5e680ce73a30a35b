//! What was done: one entry for each child object, as last written by us and last seen.
//!
//! Versioned JSON, kept as a resource's private data. Not a copy of the world, and without secrets.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::{Document, Key, compare::same};

/// The record of one resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ledger {
    /// Version of this format.
    pub version: u32,
    /// The objects by key.
    pub entries: BTreeMap<Key, Entry>,
    /// Objects whose place another one has taken and that are not deleted yet (`KindFacts::slots`).
    pub retired: BTreeMap<Key, Entry>,
}

/// One object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Entry {
    /// Its kind.
    pub kind: String,
    /// What we last applied.
    pub document: Document,
    /// Its outputs, as last seen; empty before it was seen.
    pub outputs: Document,
    /// The objects it needs; deletion follows these edges in reverse.
    pub after: BTreeSet<Key>,
    /// The object that it is inside, and that takes it along (`Graph::inside`).
    pub inside: Option<Key>,
    /// How it was last seen.
    pub health: Health,
    /// It was imported and carries no mark of ours yet: the next write of it adds the mark.
    pub imported: bool,
    /// Its kind holds data (`KindFacts::holds_data`); kept for objects that the graph no longer has.
    pub holds_data: bool,
}

/// How an object was last seen. Its Display is the `state` of the resource's `components` map.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// As we applied it, and usable.
    #[default]
    Ready,
    /// A write was begun whose outcome was not seen.
    Begun,
    /// Not there.
    Missing,
    /// Other than we applied it.
    Drifted(Vec<Difference>),
    /// Not usable yet, in the API's words.
    Waiting(String),
    /// Not usable, in the API's words.
    Broken(String),
    /// It has lost its mark of ownership.
    Unmarked,
    /// It carries somebody else's mark.
    Foreign(String),
}

/// One field that is other than we applied it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The field, such as `max` or `tags["team"]`.
    pub field: String,
    /// What was found; null where it is absent.
    pub found: Json,
    /// What we applied; null where we had given it up.
    pub want: Json,
}

// === impl Ledger ===

impl Ledger {
    /// The version of the format written.
    pub const VERSION: u32 = 1;

    /// Whether nothing is recorded.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.retired.is_empty()
    }

    /// Reads a record. `None` for no bytes (an import, or a state edited by hand).
    ///
    /// # Errors
    /// Not JSON of ours, or a version newer than [`Ledger::VERSION`]; the text says which.
    pub fn decode(bytes: &[u8]) -> Result<Option<Self>, String> {
        if bytes.is_empty() {
            return Ok(None);
        }
        let ledger: Self = serde_json::from_slice(bytes).map_err(|error| format!("it cannot be read: {error}"))?;
        if ledger.version > Self::VERSION {
            return Err(format!(
                "it has version {}, and this version of the provider knows only {}",
                ledger.version,
                Self::VERSION
            ));
        }
        Ok(Some(ledger))
    }

    /// The record as bytes, the same for equal records.
    pub fn encode(&self) -> Vec<u8> {
        // Maps with string keys and plain values always serialise.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

impl Default for Ledger {
    fn default() -> Self {
        Self { version: Self::VERSION, entries: BTreeMap::new(), retired: BTreeMap::new() }
    }
}

// === impl Health ===

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready => f.write_str("ready"),
            Self::Begun => f.write_str("begun"),
            Self::Missing => f.write_str("missing"),
            Self::Drifted(differences) => {
                let texts: Vec<_> = differences.iter().map(ToString::to_string).collect();
                write!(f, "drifted: {}", texts.join("; "))
            }
            Self::Waiting(why) => write!(f, "waiting: {why}"),
            Self::Broken(why) => write!(f, "broken: {why}"),
            Self::Unmarked => f.write_str("unmarked"),
            Self::Foreign(owner) => write!(f, "owned by {owner}"),
        }
    }
}

// === impl Difference ===

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.found, &self.want) {
            (Json::Null, want) => write!(f, "{} is gone, want {}", self.field, short(want)),
            (found, Json::Null) => write!(f, "{} is {}, want none", self.field, short(found)),
            (found, want) => {
                let mut parts = Vec::new();
                tell_parts(&self.field, found, want, &mut parts);
                let rest = parts.len().saturating_sub(MOST_PARTS);
                parts.truncate(MOST_PARTS);
                f.write_str(&parts.join("; "))?;
                if rest > 0 { write!(f, "; and {rest} more") } else { Ok(()) }
            }
        }
    }
}

/// How many parts of one value a line names.
const MOST_PARTS: usize = 3;

// Of two long values that are nearly the same, only the parts in which they differ.
fn tell_parts(field: &str, found: &Json, want: &Json, parts: &mut Vec<String>) {
    match (found, want) {
        (Json::Object(is), Json::Object(wanted)) => {
            for key in is.keys().chain(wanted.keys()).collect::<BTreeSet<_>>() {
                let [is, wanted] = [is, wanted].map(|map| map.get(key).unwrap_or(&Json::Null));
                if !same(is, wanted) {
                    tell_parts(&format!("{field}[{key:?}]"), is, wanted, parts);
                }
            }
        }
        (Json::Array(is), Json::Array(wanted)) if !is.is_empty() && !wanted.is_empty() => {
            let without = |left: &[Json], right: &[Json]| -> Vec<String> {
                left.iter().filter(|item| !right.iter().any(|other| same(item, other))).map(short).collect()
            };
            let (lacking, excess) = (without(wanted, is), without(is, wanted));
            let changed = changed_in_place(is, wanted);
            if !changed.is_empty() && changed.len() == lacking.len() && changed.len() == excess.len() {
                for (place, is, wanted) in changed {
                    tell_parts(&format!("{field}[{place}]"), is, wanted, parts);
                }
                return;
            }
            if lacking.is_empty() && excess.is_empty() {
                parts.push(format!("{field} is {}, want {}", short(found), short(want)));
            }
            parts.extend(lacking.into_iter().map(|item| format!("{field} lacks {item}")));
            parts.extend(excess.into_iter().map(|item| format!("{field} has {item} in excess")));
        }
        (Json::Null, want) => parts.push(format!("{field} is gone, want {}", short(want))),
        (found, Json::Null) => parts.push(format!("{field} is {}, want none", short(found))),
        (found, want) => parts.push(format!("{field} is {}, want {}", short(found), short(want))),
    }
}

// The objects that differ at the same place of two lists of one length, each with its name or else its number.
fn changed_in_place<'l>(found: &'l [Json], want: &'l [Json]) -> Vec<(String, &'l Json, &'l Json)> {
    let pairs = found.iter().zip(want).enumerate().filter(|(_, (is, wanted))| !same(is, wanted));
    let place = |at: usize, is: &Json, wanted: &Json| match (is.get("name"), wanted.get("name")) {
        (Some(Json::String(name)), Some(Json::String(other))) if name == other => format!("{name:?}"),
        _ => at.to_string(),
    };
    if found.len() != want.len() || !pairs.clone().all(|(_, (is, wanted))| is.is_object() && wanted.is_object()) {
        return Vec::new();
    }
    pairs.map(|(at, (is, wanted))| (place(at, is, wanted), is, wanted)).collect()
}

// A whole policy document in a plan line would hide the rest of the plan.
fn short(value: &Json) -> String {
    const LIMIT: usize = 120;
    let text = match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    };
    if text.chars().count() <= LIMIT { text } else { text.chars().take(LIMIT).chain(" …".chars()).collect() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(found: Json, want: Json) -> String {
        Difference { field: "labels".to_owned(), found, want }.to_string()
    }

    #[test]
    fn of_two_long_values_only_the_parts_that_differ_are_told() {
        let long = "x".repeat(200);
        assert_eq!(
            told(json!({ "a": long, "b": 1, "d": 4 }), json!({ "a": long, "b": 2, "c": 3 })),
            r#"labels["b"] is 1, want 2; labels["c"] is gone, want 3; labels["d"] is 4, want none"#
        );
        assert_eq!(
            told(json!([long, "theirs"]), json!([long, "ours"])),
            "labels lacks ours; labels has theirs in excess"
        );
        assert_eq!(
            told(json!({ "list": [{ "x": 1 }] }), json!({ "list": [{ "x": 2 }] })),
            r#"labels["list"][0]["x"] is 1, want 2"#
        );
        let quotas = |gpus: u8| json!([{ "name": "cpu", "nominal": 1 }, { "name": "gpu", "nominal": gpus }]);
        assert_eq!(told(quotas(7), quotas(1)), r#"labels["gpu"]["nominal"] is 7, want 1"#);
        // Elements that only moved do not take part.
        assert_eq!(
            told(json!([{ "x": 2 }, { "x": 3 }]), json!([{ "x": 1 }, { "x": 2 }])),
            r#"labels lacks {"x":1}; labels has {"x":3} in excess"#
        );
    }

    #[test]
    fn a_difference_that_has_no_parts_is_told_whole() {
        assert_eq!(told(json!(9), json!(3)), "labels is 9, want 3");
        assert_eq!(told(json!([]), json!(["a"])), r#"labels is [], want ["a"]"#);
        assert_eq!(told(json!(["b", "a"]), json!(["a", "b"])), r#"labels is ["b","a"], want ["a","b"]"#);
    }

    #[test]
    fn many_parts_are_counted() {
        let found = json!({ "a": 1, "b": 1, "c": 1, "d": 1, "e": 1 });
        assert!(told(found, json!({})).ends_with(r#"labels["c"] is 1, want none; and 2 more"#));
    }
}
