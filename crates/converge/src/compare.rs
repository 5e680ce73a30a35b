//! What differs between what we applied, what is wanted and what was found.
//!
//! Pure, and no decision about what to do. Null and absent are one; a field that is neither wanted nor was applied
//! by us is not ours and never differs.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Number, Value as Json};

use crate::{Difference, Document, KindFacts};

/// The field that tells apart the two objects of a kind with `KindFacts::slots`. Filled in by the engine.
pub(crate) const SLOT: &str = "slot";

/// How what was found differs from what is wanted, given what we last applied: a field that was applied and is no
/// longer wanted differs as long as something is left of it.
pub(crate) fn differences(
    facts: &KindFacts,
    applied: &Document,
    wanted: &Document,
    found: &Document,
) -> Vec<Difference> {
    let mut differences = Vec::new();
    for field in names(applied, wanted) {
        if !is_compared(facts, field) {
            continue;
        }
        let [was, want, is] = [applied, wanted, found].map(|document| document.get(field).unwrap_or(&Json::Null));
        if facts.merged.contains(&field) {
            for key in keys(was).chain(keys(want)).collect::<BTreeSet<_>>() {
                let [was, want, is] = [was, want, is].map(|map| map.get(key).unwrap_or(&Json::Null));
                differences.extend(difference(format!("{field}[{key:?}]"), was, want, is));
            }
        } else {
            differences.extend(difference(field.to_owned(), was, want, is));
        }
    }
    differences
}

/// The fields in which what is wanted differs from what we applied. A pending field is left to the caller.
pub(crate) fn changed(facts: &KindFacts, applied: &Document, wanted: &Document) -> BTreeSet<String> {
    names(applied, wanted)
        .into_iter()
        .filter(|field| *field != SLOT && !facts.initial.contains(field))
        .filter(|field| !same(applied.get(*field).unwrap_or(&Json::Null), wanted.get(*field).unwrap_or(&Json::Null)))
        .map(str::to_owned)
        .collect()
}

/// The keys of merged maps that were ours, are no longer wanted and are still there.
pub(crate) fn removed_keys(
    facts: &KindFacts,
    applied: &Document,
    wanted: &Document,
    found: &Document,
) -> BTreeMap<String, BTreeSet<String>> {
    let map = |document: &Document, field: &str| document.get(field).cloned().unwrap_or(Json::Null);
    let mut removed = BTreeMap::new();
    for field in facts.merged {
        let (was, want, is) = (map(applied, field), map(wanted, field), map(found, field));
        let gone: BTreeSet<_> = keys(&was)
            .filter(|key| want.get(key).is_none_or(Json::is_null) && is.get(key).is_some())
            .map(str::to_owned)
            .collect();
        if !gone.is_empty() {
            removed.insert((*field).to_owned(), gone);
        }
    }
    removed
}

/// The field that a difference is in.
pub(crate) fn field_of(difference: &Difference) -> &str {
    difference.field.split('[').next().unwrap_or_default()
}

/// Whether the API cannot change the field.
pub(crate) fn is_fixed(facts: &KindFacts, field: &str) -> bool {
    facts.fixed.contains(&field) || facts.identity.contains(&field)
}

/// Whether two documents are the same: numbers by value, and nothing is nothing, however it is written.
pub(crate) fn same(left: &Json, right: &Json) -> bool {
    match (left, right) {
        (Json::Number(left), Json::Number(right)) => same_number(left, right),
        (Json::Array(left), Json::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Json::Object(left), Json::Object(right)) => names(left, right)
            .into_iter()
            .all(|name| same(left.get(name).unwrap_or(&Json::Null), right.get(name).unwrap_or(&Json::Null))),
        _ => left == right || (is_nothing(left) && is_nothing(right)),
    }
}

/// Whether there is nothing there.
pub(crate) fn is_nothing(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::Array(items) => items.is_empty(),
        Json::Object(map) => map.values().all(Json::is_null),
        _ => false,
    }
}

/// A map with the given keys only.
pub(crate) fn only_keys(map: &Json, wanted: &Json) -> Json {
    match (map, wanted) {
        (Json::Object(map), Json::Object(wanted)) => Json::Object(
            map.iter().filter(|(key, _)| wanted.contains_key(*key)).map(|(k, v)| (k.clone(), v.clone())).collect(),
        ),
        _ => map.clone(),
    }
}

fn difference(field: String, was: &Json, want: &Json, found: &Json) -> Option<Difference> {
    let differs = if want.is_null() { !was.is_null() && !is_nothing(found) } else { !same(want, found) };
    differs.then(|| Difference { field, found: found.clone(), want: want.clone() })
}

fn is_compared(facts: &KindFacts, field: &str) -> bool {
    field != SLOT && !facts.initial.contains(&field) && !facts.local.contains(&field)
}

fn names<'d>(left: &'d Document, right: &'d Document) -> BTreeSet<&'d str> {
    left.keys().chain(right.keys()).map(String::as_str).collect()
}

fn keys(map: &Json) -> impl Iterator<Item = &str> {
    map.as_object().into_iter().flat_map(|map| map.keys().map(String::as_str))
}

fn same_number(left: &Number, right: &Number) -> bool {
    if left.is_f64() || right.is_f64() { left.as_f64() == right.as_f64() } else { left == right }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const FACTS: KindFacts = KindFacts {
        identity: &["name"],
        fixed: &["name", "zone"],
        initial: &["desired"],
        local: &["wait"],
        merged: &["tags"],
        ..KindFacts::plain("pool", "pool")
    };

    fn document(json: &Json) -> Document {
        json.as_object().cloned().unwrap_or_default()
    }

    #[expect(clippy::needless_pass_by_value, reason = "reads better with literals")]
    fn check(applied: Json, wanted: Json, found: Json, expect: &[&str]) {
        let differences = differences(&FACTS, &document(&applied), &document(&wanted), &document(&found));
        assert_eq!(differences.iter().map(ToString::to_string).collect::<Vec<_>>(), expect);
    }

    #[test]
    fn a_wanted_field_differs_where_something_else_or_nothing_is_found() {
        check(json!({}), json!({ "max": 3 }), json!({ "max": 9 }), &["max is 9, want 3"]);
        check(json!({}), json!({ "max": 3 }), json!({}), &["max is gone, want 3"]);
        check(json!({}), json!({ "max": 3 }), json!({ "max": 3.0 }), &[]);
    }

    #[test]
    fn a_field_that_is_not_ours_never_differs() {
        check(json!({}), json!({}), json!({ "max": 9 }), &[]);
        check(json!({}), json!({ "desired": 1, "wait": true }), json!({ "desired": 7, "wait": false }), &[]);
    }

    #[test]
    fn a_field_given_back_differs_while_something_is_left_of_it() {
        check(json!({ "max": 3 }), json!({}), json!({ "max": 3 }), &["max is 3, want none"]);
        check(json!({ "max": 3 }), json!({}), json!({}), &[]);
        check(json!({ "zones": ["a"] }), json!({}), json!({ "zones": [] }), &[]);
    }

    #[test]
    fn strangers_keys_in_a_shared_map_are_left_alone() {
        check(
            json!({ "tags": { "a": "1", "old": "x" } }),
            json!({ "tags": { "a": "2", "b": "3" } }),
            json!({ "tags": { "a": "1", "old": "x", "theirs": "y" } }),
            &[r#"tags["a"] is 1, want 2"#, r#"tags["b"] is gone, want 3"#, r#"tags["old"] is x, want none"#],
        );
        let removed = removed_keys(
            &FACTS,
            &document(&json!({ "tags": { "a": "1", "old": "x", "lost": "z" } })),
            &document(&json!({ "tags": { "a": "2" } })),
            &document(&json!({ "tags": { "a": "1", "old": "x", "theirs": "y" } })),
        );
        assert_eq!(removed, BTreeMap::from([("tags".to_owned(), BTreeSet::from(["old".to_owned()]))]));
    }

    #[test]
    fn a_changed_initial_value_is_no_change_and_a_changed_local_one_is() {
        let applied = document(&json!({ "desired": 1, "wait": true, "max": 1, "slot": "b" }));
        let wanted = document(&json!({ "desired": 2, "wait": false, "max": 1.0 }));
        assert_eq!(changed(&FACTS, &applied, &wanted), BTreeSet::from(["wait".to_owned()]));
    }
}
