//! Configurations as JSON: reading, changing one place, walking all of them.

use std::{fs, path::PathBuf};

use serde_json::Value as Json;

/// A place in a configuration: names and positions, joined by dots where they are shown.
pub(crate) type Place = Vec<String>;

pub(crate) fn place(dotted: &str) -> Place {
    dotted.split('.').map(str::to_owned).collect()
}

/// The configurations of a resource by name.
pub(crate) fn configs(resource: &str) -> Vec<(String, Json)> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/laws/configs").join(resource);
    let entries = fs::read_dir(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut configs: Vec<_> = entries
        .map(|entry| {
            let path = entry.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            (path.file_stem().unwrap().to_string_lossy().into_owned(), serde_json::from_str(&text).unwrap())
        })
        .collect();
    configs.sort_by(|(left, _), (right, _)| left.cmp(right));
    configs
}

pub(crate) fn config(resource: &str, name: &str) -> Json {
    let found = configs(resource).into_iter().find(|(found, _)| found == name);
    found.unwrap_or_else(|| panic!("{resource} has no configuration {name}")).1
}

/// The configuration with another value at a place; null takes what is there away.
pub(crate) fn with(config: &Json, place: &[String], value: Json) -> Json {
    let mut changed = config.clone();
    set(&mut changed, place, value);
    changed
}

fn set(at: &mut Json, place: &[String], value: Json) {
    let Some((first, rest)) = place.split_first() else {
        *at = value;
        return;
    };
    if let Json::Array(items) = at {
        let index: usize = first.parse().unwrap();
        return set(&mut items[index], rest, value);
    }
    if at.is_null() {
        *at = Json::Object(serde_json::Map::default());
    }
    let map = at.as_object_mut().unwrap_or_else(|| panic!("{first} is within no object"));
    if rest.is_empty() && value.is_null() {
        map.remove(first);
    } else {
        set(map.entry(first).or_insert(Json::Null), rest, value);
    }
}

/// Every place in a configuration but its root: objects, lists and what is in them.
pub(crate) fn places(config: &Json) -> Vec<Place> {
    let mut found = Vec::new();
    walk(config, &mut Vec::new(), &mut found);
    found
}

fn walk(at: &Json, place: &mut Place, found: &mut Vec<Place>) {
    if !place.is_empty() {
        found.push(place.clone());
    }
    let inner: Vec<(String, &Json)> = match at {
        Json::Object(map) => map.iter().map(|(name, value)| (name.clone(), value)).collect(),
        Json::Array(items) => items.iter().enumerate().map(|(index, item)| (index.to_string(), item)).collect(),
        _ => Vec::new(),
    };
    for (name, value) in inner {
        place.push(name);
        walk(value, place, found);
        place.pop();
    }
}

/// A value of the same shape that is another one.
pub(crate) fn other_than(value: &Json) -> Json {
    match value {
        Json::Null => Json::Null,
        Json::Bool(is) => Json::Bool(!is),
        Json::Number(number) => Json::from(number.as_i64().unwrap_or_default() + 1),
        Json::String(text) => Json::String(format!("{text}-drifted")),
        Json::Array(items) => Json::Array(items.iter().map(other_than).collect()),
        Json::Object(map) => Json::Object(map.iter().map(|(key, value)| (key.clone(), other_than(value))).collect()),
    }
}
