//! Configurations, as JSON for short or as values.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::{Block, Cty, Number, Type, testing::Failure};
use value::{AttributePath, Step};

/// A configuration: JSON, or a value of the schema's type.
///
/// In JSON, attributes may be left out; the string `"$unknown"` stands for a value that is known only later.
#[derive(Clone, Debug)]
pub enum Config {
    /// JSON.
    Json(Json),
    /// A value.
    Value(Cty),
}

const UNKNOWN: &str = "$unknown";

/// The same configuration, in which the value at `path` is known only later. Objects on the way that are null
/// become objects of which nothing else is set; what the path cannot reach stays.
#[must_use]
pub fn with_unknown(config: Cty, path: &AttributePath) -> Cty {
    replaced(config, path.steps(), Cty::unknown())
}

fn replaced(value: Cty, steps: &[Step], new: Cty) -> Cty {
    let Some((first, rest)) = steps.split_first() else {
        return new;
    };
    match (value, first) {
        (Cty::Object(mut entries), Step::Attribute(key)) => {
            replace_entry(&mut entries, key, rest, new);
            Cty::Object(entries)
        }
        (Cty::Map(mut entries), Step::Key(key)) => {
            replace_entry(&mut entries, key, rest, new);
            Cty::Map(entries)
        }
        (Cty::List(mut items), Step::Index(index)) => {
            if let Some(item) = items.get_mut(*index) {
                *item = replaced(std::mem::replace(item, Cty::Null), rest, new);
            }
            Cty::List(items)
        }
        (other, _) => other,
    }
}

fn replace_entry(entries: &mut BTreeMap<String, Cty>, key: &str, rest: &[Step], new: Cty) {
    let old = entries.remove(key).unwrap_or(Cty::Null);
    entries.insert(key.to_owned(), replaced(old, rest, new));
}

// === impl Config ===

impl Config {
    /// The value for a block of that type.
    pub(super) fn value(self, block: &Block) -> Result<Cty, Failure> {
        match self {
            Self::Value(value) => Ok(value),
            Self::Json(json) => read(&json, &block.ty(), &AttributePath::root()),
        }
    }

    /// The value of any type.
    pub(super) fn value_of(self, ty: &Type) -> Result<Cty, Failure> {
        match self {
            Self::Value(value) => Ok(value),
            Self::Json(json) => read(&json, ty, &AttributePath::root()),
        }
    }
}

impl From<Json> for Config {
    fn from(json: Json) -> Self {
        Self::Json(json)
    }
}

impl From<Cty> for Config {
    fn from(value: Cty) -> Self {
        Self::Value(value)
    }
}

/// Reads strictly: a name that does not exist is a mistake of the test, as it is one of a user.
fn read(json: &Json, ty: &Type, path: &AttributePath) -> Result<Cty, Failure> {
    Ok(match (json, ty) {
        (Json::Null, _) => Cty::Null,
        (Json::String(text), _) if text == UNKNOWN => Cty::unknown(),
        (Json::String(text), Type::String) => Cty::String(text.clone()),
        (Json::Bool(value), Type::Bool) => Cty::Bool(*value),
        (Json::Number(number), Type::Number) => Number::parse(&number.to_string()).map_or(Cty::Null, Cty::Number),
        (Json::Array(items), Type::List(element)) => Cty::List(list(items, element, path)?),
        (Json::Array(items), Type::Set(element)) => Cty::Set(list(items, element, path)?),
        (Json::Array(items), Type::Tuple(types)) if items.len() == types.len() => {
            let items = items.iter().zip(types).enumerate();
            Cty::List(items.map(|(index, (item, ty))| read(item, ty, &path.index(index))).collect::<Result<_, _>>()?)
        }
        (Json::Object(entries), Type::Map(element)) => {
            let entries = entries.iter().map(|(key, item)| Ok((key.clone(), read(item, element, &path.key(key))?)));
            Cty::Map(entries.collect::<Result<_, Failure>>()?)
        }
        (Json::Object(entries), Type::Object(attributes)) => object(entries, attributes, path)?,
        (json, Type::Dynamic) => dynamic(json, path)?,
        (json, ty) => return Err(misfit(path, &format!("{json} is no {ty:?}"))),
    })
}

fn list(items: &[Json], element: &Type, path: &AttributePath) -> Result<Vec<Cty>, Failure> {
    items.iter().enumerate().map(|(index, item)| read(item, element, &path.index(index))).collect()
}

fn object(
    entries: &serde_json::Map<String, Json>,
    attributes: &BTreeMap<String, Type>,
    path: &AttributePath,
) -> Result<Cty, Failure> {
    if let Some(name) = entries.keys().find(|name| !attributes.contains_key(*name)) {
        return Err(misfit(&path.attribute(name), "there is no attribute of that name"));
    }
    let entry = |(name, ty): (&String, &Type)| {
        let value = entries.get(name).unwrap_or(&Json::Null);
        Ok((name.clone(), read(value, ty, &path.attribute(name))?))
    };
    Ok(Cty::Object(attributes.iter().map(entry).collect::<Result<_, Failure>>()?))
}

/// Where any type goes, JSON says which it is.
fn dynamic(json: &Json, path: &AttributePath) -> Result<Cty, Failure> {
    let ty = type_of(json);
    Ok(Cty::Dynamic(Box::new(ty.clone()), Box::new(read(json, &ty, path)?)))
}

fn type_of(json: &Json) -> Type {
    match json {
        Json::Null => Type::Dynamic,
        Json::Bool(_) => Type::Bool,
        Json::Number(_) => Type::Number,
        Json::String(_) => Type::String,
        Json::Array(items) => Type::Tuple(items.iter().map(type_of).collect()),
        Json::Object(entries) => {
            Type::Object(entries.iter().map(|(name, item)| (name.clone(), type_of(item))).collect())
        }
    }
}

fn misfit(path: &AttributePath, text: &str) -> Failure {
    Failure::misuse(format!("The configuration does not fit the schema at {:?}: {text}", path.to_string()))
}
