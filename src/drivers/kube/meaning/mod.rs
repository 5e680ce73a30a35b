//! Compares what we wrote with what the server has, by meaning.
//!
//! Of an object only what we wrote is ours. A server spells values its own way, adds defaults and the fields of
//! others, drops what is empty and puts lists into another order; none of that is a difference. Pure.

mod duration;
mod lists;
mod scalar;
mod strays;

use serde_json::{Map, Value as Json};

pub(crate) use strays::{Stray, strays};

use self::{
    lists::{By, ELEMENT, ListRule, Place, identity},
    scalar::{is_nothing, same_scalar},
};

/// The part of `live` that we wrote: in our spelling where it means the same, as it is where it does not. The result
/// equals `wanted` exactly where nothing differs.
pub(crate) fn ours(kind: &str, wanted: &Json, live: &Json) -> Json {
    part(&Place::root(kind), wanted, live)
}

fn part(place: &Place<'_>, wanted: &Json, live: &Json) -> Json {
    if wanted.is_null() || is_same(place, wanted, live) {
        return wanted.clone();
    }
    match (wanted, live) {
        (Json::Object(wanted), Json::Object(live)) => object(place, wanted, live),
        (Json::Array(wanted), Json::Array(live)) => Json::Array(list(place, wanted, live)),
        _ => live.clone(),
    }
}

// Scalars, and things that are not there.
fn is_same(place: &Place<'_>, wanted: &Json, live: &Json) -> bool {
    if live.is_null() {
        let is_dropped = is_nothing(wanted) && !(wanted.is_object() && place.has_meaning_when_empty());
        return is_dropped || (!wanted.is_array() && !wanted.is_object() && place.is_default(wanted));
    }
    same_scalar(place, wanted, live)
}

fn object(place: &Place<'_>, wanted: &Map<String, Json>, live: &Map<String, Json>) -> Json {
    let mut found = Map::new();
    for (name, wanted) in wanted {
        let value = part(&place.at(name), wanted, live.get(name).unwrap_or(&Json::Null));
        if !value.is_null() || wanted.is_null() {
            found.insert(name.clone(), value);
        }
    }
    found.extend(additions(place, wanted, live).map(|(name, value)| (name.clone(), value.clone())));
    Json::Object(found)
}

/// What somebody else added to an object, where that changes its meaning.
fn additions<'l>(
    place: &Place<'_>,
    wanted: &Map<String, Json>,
    live: &'l Map<String, Json>,
) -> impl Iterator<Item = (&'l String, &'l Json)> {
    let counts = place.is_closed() || (wanted.is_empty() && !place.is_open_when_empty());
    live.iter().filter(move |(name, value)| {
        let field = place.at(name);
        let counts = counts || field.is_ours_when_absent();
        counts && !wanted.contains_key(*name) && !is_nothing(value) && !field.is_default(value)
    })
}

fn list(place: &Place<'_>, wanted: &[Json], live: &[Json]) -> Vec<Json> {
    let ListRule { by, is_closed } = place.list_rule();
    let pairs = pair(place, by, wanted, live);
    let element = place.at(ELEMENT);
    let mut found: Vec<_> =
        pairs.iter().filter_map(|(wanted, at)| Some(part(&element, wanted, live.get((*at)?)?))).collect();
    if is_closed {
        let is_paired = |index: usize| pairs.iter().any(|(_, at)| *at == Some(index));
        found.extend(live.iter().enumerate().filter(|(index, _)| !is_paired(*index)).map(|(_, extra)| extra.clone()));
    }
    found
}

/// Each wanted element and where it is among the live ones.
fn pair<'w>(place: &Place<'_>, by: By, wanted: &'w [Json], live: &[Json]) -> Vec<(&'w Json, Option<usize>)> {
    let element = place.at(ELEMENT);
    let mut taken = vec![false; live.len()];
    let fits = |at: usize, index: usize, wanted: &Json, live: &Json| match by {
        By::Position => at == index,
        By::Whole => part(&element, wanted, live) == *wanted,
        By::Keys(_) | By::Metric => identity(by, wanted) == identity(by, live),
    };
    let mut find = |(at, wanted): (usize, &'w Json)| {
        let found = live
            .iter()
            .enumerate()
            .zip(&taken)
            .position(|((index, live), taken)| !taken && fits(at, index, wanted, live));
        if let Some(slot) = found.and_then(|index| taken.get_mut(index)) {
            *slot = true;
        }
        (wanted, found)
    };
    let mut pairs = Vec::with_capacity(wanted.len());
    for numbered in wanted.iter().enumerate() {
        pairs.push(find(numbered));
    }
    pairs
}

#[cfg(test)]
mod tests;
