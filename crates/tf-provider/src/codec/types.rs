//! Types in the JSON form of the protocol.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};
use value::Step;

use super::{
    CodecError,
    error::{Fail, Outcome},
};
use crate::{Cty, Type};

/// The JSON form of a type: `["list","string"]`.
pub fn type_to_json(ty: &Type) -> Vec<u8> {
    to_json(ty).to_string().into_bytes()
}

/// Reads the JSON form of a type. Which attributes of an object are optional is no part of a value's type and is
/// left out.
pub fn type_from_json(json: &[u8]) -> Result<Type, CodecError> {
    Ok(parse(json)?)
}

pub(super) fn parse(json: &[u8]) -> Outcome<Type> {
    // The parser's own limit of depth keeps what follows from going too deep.
    let json = serde_json::from_slice(json).map_err(|error| Fail::new(format!("the type is no JSON: {error}")))?;
    from_json(&json)
}

/// The type of a value that stands where any type may, and did not say which it has.
pub(super) fn infer(value: &Cty) -> Type {
    match value {
        Cty::Null | Cty::Unknown(_) | Cty::Dynamic(..) => Type::Dynamic,
        Cty::Bool(_) => Type::Bool,
        Cty::Number(_) => Type::Number,
        Cty::String(_) => Type::String,
        Cty::List(items) => Type::Tuple(items.iter().map(infer).collect()),
        Cty::Set(items) => Type::set(items.first().map_or(Type::Dynamic, infer)),
        Cty::Map(map) | Cty::Object(map) => {
            Type::Object(map.iter().map(|(name, value)| (name.clone(), infer(value))).collect())
        }
    }
}

fn to_json(ty: &Type) -> Json {
    match ty {
        Type::String => "string".into(),
        Type::Number => "number".into(),
        Type::Bool => "bool".into(),
        Type::Dynamic => "dynamic".into(),
        Type::List(element) => json!(["list", to_json(element)]),
        Type::Set(element) => json!(["set", to_json(element)]),
        Type::Map(element) => json!(["map", to_json(element)]),
        Type::Tuple(elements) => json!(["tuple", elements.iter().map(to_json).collect::<Vec<_>>()]),
        Type::Object(attributes) => {
            let attributes: Map<_, _> = attributes.iter().map(|(name, ty)| (name.clone(), to_json(ty))).collect();
            json!(["object", attributes])
        }
    }
}

fn from_json(json: &Json) -> Outcome<Type> {
    let parts = match json {
        Json::String(word) => return primitive(word),
        Json::Array(parts) => parts.as_slice(),
        _ => return Err(Fail::new("a type is a word or a list")),
    };
    match parts {
        [Json::String(word), inner] => collection(word, inner),
        [Json::String(word), inner @ Json::Object(_), Json::Array(_)] if word == "object" => collection(word, inner),
        _ => Err(Fail::new("a type in a list is a word and what it is made of")),
    }
}

fn primitive(word: &str) -> Outcome<Type> {
    match word {
        "string" => Ok(Type::String),
        "number" => Ok(Type::Number),
        "bool" => Ok(Type::Bool),
        "dynamic" => Ok(Type::Dynamic),
        other => Err(Fail::new(format!("no type is called {other:?}"))),
    }
}

fn collection(word: &str, inner: &Json) -> Outcome<Type> {
    match (word, inner) {
        ("list", element) => from_json(element).map(Type::list),
        ("set", element) => from_json(element).map(Type::set),
        ("map", element) => from_json(element).map(Type::map),
        ("tuple", Json::Array(elements)) => elements.iter().map(from_json).collect::<Outcome<_>>().map(Type::Tuple),
        ("object", Json::Object(attributes)) => {
            let typed = |(name, ty): (&String, &Json)| match from_json(ty) {
                Ok(ty) => Ok((name.clone(), ty)),
                Err(fail) => Err(fail.inside(Step::Attribute(name.clone()))),
            };
            attributes.iter().map(typed).collect::<Outcome<BTreeMap<_, _>>>().map(Type::Object)
        }
        (other, _) => Err(Fail::new(format!("no type is called {other:?} and made of that"))),
    }
}
