//! Values from and to the JSON of stored states.
//!
//! As lenient as core: a number or a truth value may be text and the other way about, an attribute that is not there
//! is null, and one that the type does not have is left out, since the JSON may be of an older schema.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use value::Step;

use super::{
    CodecError, MAX_DEPTH,
    error::{Fail, Outcome},
    types,
};
use crate::{Cty, Number, Type};

/// Reads a value of the type.
pub fn from_json(json: &[u8], ty: &Type) -> Result<Cty, CodecError> {
    let raw: &RawValue = serde_json::from_slice(json).map_err(|error| Fail::new(format!("no JSON: {error}")))?;
    Ok(read(raw, ty, 0)?)
}

/// The JSON of a value of the type. JSON has neither unknown values nor infinity: null stands in their place.
pub fn to_json(value: &Cty, ty: &Type) -> String {
    let mut json = String::new();
    write(&mut json, value, ty);
    json
}

// Numbers keep their text: JSON values are taken apart level by level, so that none goes through a float.
fn read(raw: &RawValue, ty: &Type, depth: usize) -> Outcome<Cty> {
    if depth == MAX_DEPTH {
        return Err(Fail::too_deep());
    }
    let text = raw.get();
    match ty {
        _ if text == "null" => Ok(Cty::Null),
        Type::String => string(text).map(Cty::String),
        Type::Number => number(text).map(Cty::Number),
        Type::Bool => boolean(text).map(Cty::Bool),
        Type::Dynamic => dynamic(text, depth),
        Type::List(element) => list(text, element, depth).map(Cty::List),
        Type::Set(element) => list(text, element, depth).map(Cty::Set).map_err(Fail::inside_set),
        Type::Tuple(elements) => tuple(text, elements, depth),
        Type::Map(element) => map(text, element, depth),
        Type::Object(attributes) => object(text, attributes, depth),
    }
}

fn string(text: &str) -> Outcome<String> {
    match text.as_bytes().first() {
        Some(b'"') => parse(text, "text"),
        Some(b'{' | b'[') | None => Err(Fail::expected("text", kind(text))),
        Some(_) => Ok(text.to_owned()),
    }
}

fn number(text: &str) -> Outcome<Number> {
    let wrong = || Fail::expected("a number", kind(text));
    match text.as_bytes().first() {
        Some(b'"') => Number::parse(&parse::<String>(text, "a number")?).ok_or_else(wrong),
        _ => Number::parse(text).ok_or_else(wrong),
    }
}

fn boolean(text: &str) -> Outcome<bool> {
    match text {
        "true" | "\"true\"" | "\"1\"" => Ok(true),
        "false" | "\"false\"" | "\"0\"" => Ok(false),
        other => Err(Fail::expected("true or false", kind(other))),
    }
}

#[derive(Deserialize)]
struct Typed<'a> {
    #[serde(borrow)]
    value: &'a RawValue,
    #[serde(borrow, rename = "type")]
    ty: &'a RawValue,
}

fn dynamic(text: &str, depth: usize) -> Outcome<Cty> {
    let typed: Typed<'_> = parse(text, "a value with its type")?;
    let ty = types::parse(typed.ty.get().as_bytes())?;
    let value = read(typed.value, &ty, depth + 1)?;
    Ok(Cty::Dynamic(Box::new(ty), Box::new(value)))
}

fn list(text: &str, element: &Type, depth: usize) -> Outcome<Vec<Cty>> {
    let items: Vec<&RawValue> = parse(text, "a list")?;
    let element = |(index, item)| read(item, element, depth + 1).map_err(|fail: Fail| fail.inside(Step::Index(index)));
    items.into_iter().enumerate().map(element).collect()
}

fn tuple(text: &str, elements: &[Type], depth: usize) -> Outcome<Cty> {
    let items: Vec<&RawValue> = parse(text, "a list")?;
    if items.len() != elements.len() {
        return Err(Fail::expected(&format!("{} elements", elements.len()), &items.len().to_string()));
    }
    let element = |(index, (item, ty))| read(item, ty, depth + 1).map_err(|fail: Fail| fail.inside(Step::Index(index)));
    items.into_iter().zip(elements).enumerate().map(element).collect::<Outcome<_>>().map(Cty::List)
}

fn map(text: &str, element: &Type, depth: usize) -> Outcome<Cty> {
    let items: BTreeMap<String, &RawValue> = parse(text, "a map")?;
    let element = |(key, item): (String, &RawValue)| match read(item, element, depth + 1) {
        Ok(value) => Ok((key, value)),
        Err(fail) => Err(fail.inside(Step::Key(key))),
    };
    items.into_iter().map(element).collect::<Outcome<_>>().map(Cty::Map)
}

fn object(text: &str, attributes: &BTreeMap<String, Type>, depth: usize) -> Outcome<Cty> {
    let items: BTreeMap<String, &RawValue> = parse(text, "an object")?;
    let attribute = |(name, ty): (&String, &Type)| {
        let value = items.get(name).map_or(Ok(Cty::Null), |item| read(item, ty, depth + 1));
        match value {
            Ok(value) => Ok((name.clone(), value)),
            Err(fail) => Err(fail.inside(Step::Attribute(name.clone()))),
        }
    };
    attributes.iter().map(attribute).collect::<Outcome<_>>().map(Cty::Object)
}

fn parse<'a, T: Deserialize<'a>>(text: &'a str, wanted: &str) -> Outcome<T> {
    serde_json::from_str(text).map_err(|_| Fail::expected(wanted, kind(text)))
}

fn kind(text: &str) -> &'static str {
    match text.as_bytes().first() {
        Some(b'"') => "text",
        Some(b'{') => "an object",
        Some(b'[') => "a list",
        Some(b't' | b'f') => "true or false",
        Some(b'n') => "null",
        _ => "a number",
    }
}

fn write(json: &mut String, value: &Cty, ty: &Type) {
    match (value, ty) {
        (Cty::Dynamic(ty, inner), Type::Dynamic) => write_typed(json, inner, ty),
        (Cty::Dynamic(_, inner), ty) => write(json, inner, ty),
        (Cty::Null | Cty::Unknown(_), _) => json.push_str("null"),
        (value, Type::Dynamic) => write_typed(json, value, &types::infer(value)),
        (Cty::Bool(value), Type::Bool) => json.push_str(if *value { "true" } else { "false" }),
        (Cty::Number(number), Type::Number) if number.is_finite() => json.push_str(&number.to_string()),
        (Cty::String(text), Type::String) => write_text(json, text),
        (Cty::List(items) | Cty::Set(items), Type::List(element) | Type::Set(element)) => {
            write_list(json, items.iter().map(|item| (item, &**element)));
        }
        (Cty::List(items), Type::Tuple(elements)) => write_list(json, items.iter().zip(elements)),
        (Cty::Map(map) | Cty::Object(map), Type::Map(element)) => {
            write_map(json, map.iter().map(|(key, item)| (key, item, &**element)));
        }
        (Cty::Map(map) | Cty::Object(map), Type::Object(attributes)) => {
            let value = |name| map.get(name).unwrap_or(&Cty::Null);
            write_map(json, attributes.iter().map(|(name, ty)| (name, value(name), ty)));
        }
        _ => json.push_str("null"),
    }
}

fn write_typed(json: &mut String, value: &Cty, ty: &Type) {
    json.push_str(r#"{"value":"#);
    write(json, value, ty);
    json.push_str(r#","type":"#);
    json.push_str(&String::from_utf8_lossy(&types::type_to_json(ty)));
    json.push('}');
}

fn write_text(json: &mut String, text: &str) {
    json.push_str(&serde_json::Value::from(text).to_string());
}

fn write_list<'a>(json: &mut String, items: impl Iterator<Item = (&'a Cty, &'a Type)>) {
    json.push('[');
    for (position, (item, ty)) in items.enumerate() {
        json.push_str(if position == 0 { "" } else { "," });
        write(json, item, ty);
    }
    json.push(']');
}

fn write_map<'a>(json: &mut String, items: impl Iterator<Item = (&'a String, &'a Cty, &'a Type)>) {
    json.push('{');
    for (position, (key, item, ty)) in items.enumerate() {
        json.push_str(if position == 0 { "" } else { "," });
        write_text(json, key);
        json.push(':');
        write(json, item, ty);
    }
    json.push('}');
}
