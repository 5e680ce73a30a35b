//! What somebody else added beside ours and server-side apply cannot take away, because it is not ours: as JSON Patch
//! operations.

use serde_json::{Map, Value as Json, json};

use super::{
    additions,
    lists::{ELEMENT, ListRule, Place},
    pair, part,
};

/// One operation that takes a stranger's addition away.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Stray {
    /// A field added to an object.
    Field {
        /// Where, as a JSON pointer.
        pointer: String,
    },
    /// A list with a stranger's element, or an object of which a stranger set another alternative.
    Replaced {
        /// Where, as a JSON pointer.
        pointer: String,
        /// What is to be there.
        with: Json,
    },
}

/// The additions of others that change the meaning of what we wrote, or that ours cannot stand beside. Removing them in
/// this order is valid.
pub(crate) fn strays(kind: &str, wanted: &Json, live: &Json) -> Vec<Stray> {
    let mut found = Vec::new();
    walk(&Place::root(kind), "", wanted, live, &mut found);
    found
}

// === impl Stray ===

impl Stray {
    /// The JSON Patch operation.
    pub(crate) fn operation(&self) -> Json {
        match self {
            Self::Field { pointer } => json!({ "op": "remove", "path": pointer }),
            Self::Replaced { pointer, with } => json!({ "op": "replace", "path": pointer, "value": with }),
        }
    }
}

fn walk(place: &Place<'_>, pointer: &str, wanted: &Json, live: &Json, found: &mut Vec<Stray>) {
    match (wanted, live) {
        // Only one of its fields may be set, and it is not the one that we want.
        (Json::Object(ours), Json::Object(theirs))
            if place.is_union()
                && theirs.keys().any(|name| !ours.contains_key(name))
                && part(place, wanted, live) != *wanted =>
        {
            found.push(Stray::Replaced { pointer: pointer.to_owned(), with: wanted.clone() });
        }
        (Json::Object(wanted), Json::Object(live)) => walk_object(place, pointer, (wanted, live), found),
        (Json::Array(wanted), Json::Array(live)) => walk_list(place, pointer, (wanted, live), found),
        _ => {}
    }
}

type Maps<'a> = (&'a Map<String, Json>, &'a Map<String, Json>);

fn walk_object(place: &Place<'_>, pointer: &str, (wanted, live): Maps<'_>, found: &mut Vec<Stray>) {
    for (name, _) in additions(place, wanted, live) {
        found.push(Stray::Field { pointer: below(pointer, name) });
    }
    for (name, wanted) in wanted {
        if let Some(live) = live.get(name) {
            walk(&place.at(name), &below(pointer, name), wanted, live, found);
        }
    }
}

fn walk_list(place: &Place<'_>, pointer: &str, (wanted, live): (&[Json], &[Json]), found: &mut Vec<Stray>) {
    let ListRule { by, is_closed } = place.list_rule();
    let pairs = pair(place, by, wanted, live);
    if is_closed && pairs.iter().filter(|(_, at)| at.is_some()).count() < live.len() {
        let of_ours = |(wanted, at): &(&Json, Option<usize>)| {
            at.and_then(|index| live.get(index)).map_or_else(|| (*wanted).clone(), Clone::clone)
        };
        let with = Json::Array(pairs.iter().map(of_ours).collect());
        found.push(Stray::Replaced { pointer: pointer.to_owned(), with });
        return;
    }
    if let Some(field) = place.unique() {
        let is_rival = |index: usize, theirs: &Json| {
            let is_paired = pairs.iter().any(|(_, at)| *at == Some(index));
            let shares = |ours: &Json| ours.get(field).is_some_and(|value| theirs.get(field) == Some(value));
            !is_paired && wanted.iter().any(shares)
        };
        let others = live.iter().enumerate().filter(|(index, theirs)| !is_rival(*index, theirs));
        let with: Vec<_> = others.map(|(_, element)| element.clone()).collect();
        if with.len() < live.len() {
            found.push(Stray::Replaced { pointer: pointer.to_owned(), with: Json::Array(with) });
            return;
        }
    }
    let element = place.at(ELEMENT);
    for (wanted, at) in pairs {
        if let Some((index, live)) = at.and_then(|index| Some((index, live.get(index)?))) {
            walk(&element, &below(pointer, &index.to_string()), wanted, live, found);
        }
    }
}

fn below(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}
