//! Values to MessagePack.

use std::collections::BTreeMap;

use rmp::encode as write;

use super::{MAX_REFINEMENTS, REFINED, types};
use crate::{Cty, Number, Refinements, Type};

/// The bytes of a value of the type.
///
/// A value that is not of the type would be a mistake in the provider; null goes out in its place, which core then
/// reports for the attribute, and the log tells which type was missed.
pub fn to_msgpack(value: &Cty, ty: &Type) -> Vec<u8> {
    let mut bytes = Vec::new();
    Writer(&mut bytes).value(value, ty);
    bytes
}

/// Writes to memory, which does not fail: the results of rmp's functions carry no error.
struct Writer<'a>(&'a mut Vec<u8>);

impl Writer<'_> {
    fn value(&mut self, value: &Cty, ty: &Type) {
        match (value, ty) {
            (Cty::Null, _) => self.null(),
            (Cty::Unknown(refinements), _) => self.unknown(refinements),
            (Cty::Dynamic(ty, inner), Type::Dynamic) => self.dynamic(inner, ty),
            (value, Type::Dynamic) => self.dynamic(value, &types::infer(value)),
            (Cty::Dynamic(_, inner), ty) => self.value(inner, ty),
            (Cty::Bool(value), Type::Bool) => done(write::write_bool(self.0, *value)),
            (Cty::Number(number), Type::Number) => self.number(number),
            (Cty::String(text), Type::String) => self.text(text),
            (Cty::List(items) | Cty::Set(items), Type::List(element) | Type::Set(element)) => {
                self.array(items.len(), items.iter().map(|item| (item, &**element)));
            }
            (Cty::List(items), Type::Tuple(elements)) if items.len() == elements.len() => {
                self.array(items.len(), items.iter().zip(elements));
            }
            (Cty::Map(map) | Cty::Object(map), Type::Map(element)) => {
                self.map(map.len(), map.iter().map(|(key, item)| (key, item, &**element)));
            }
            (Cty::Map(map) | Cty::Object(map), Type::Object(attributes)) => self.object(map, attributes),
            (_, ty) => self.misfit(ty),
        }
    }

    fn null(&mut self) {
        done(write::write_nil(self.0));
    }

    fn unknown(&mut self, refinements: &Refinements) {
        let payload = &*refinements.0;
        match u32::try_from(payload.len()) {
            Ok(length @ 2..) if payload.len() <= MAX_REFINEMENTS => {
                done(write::write_ext_meta(self.0, length, REFINED));
                self.0.extend_from_slice(payload);
            }
            _ => self.0.extend_from_slice(&[0xd4, 0, 0]),
        }
    }

    fn dynamic(&mut self, inner: &Cty, ty: &Type) {
        done(write::write_array_len(self.0, 2));
        done(write::write_bin(self.0, &types::type_to_json(ty)));
        self.value(inner, ty);
    }

    // As core writes them, so that a number comes back in the form in which it was sent.
    fn number(&mut self, number: &Number) {
        if let Some(integer) = number.as_i64() {
            done(write::write_sint(self.0, integer));
            return;
        }
        let float = if number.is_whole() { None } else { number.as_exact_f64() };
        match float {
            Some(float) => done(write::write_f64(self.0, float)),
            None => self.text(&number.to_string()),
        }
    }

    fn text(&mut self, text: &str) {
        done(write::write_str(self.0, text));
    }

    fn array<'v>(&mut self, length: usize, items: impl Iterator<Item = (&'v Cty, &'v Type)>) {
        done(write::write_array_len(self.0, counted(length)));
        items.for_each(|(item, ty)| self.value(item, ty));
    }

    fn map<'v>(&mut self, length: usize, items: impl Iterator<Item = (&'v String, &'v Cty, &'v Type)>) {
        done(write::write_map_len(self.0, counted(length)));
        for (key, item, ty) in items {
            self.text(key);
            self.value(item, ty);
        }
    }

    fn object(&mut self, map: &BTreeMap<String, Cty>, attributes: &BTreeMap<String, Type>) {
        if let Some(name) = map.keys().find(|name| !attributes.contains_key(*name)) {
            tracing::error!(attribute = %name, "an attribute is not of the type; it is left out");
        }
        let value = |name| map.get(name).unwrap_or(&Cty::Null);
        self.map(attributes.len(), attributes.iter().map(|(name, ty)| (name, value(name), ty)));
    }

    fn misfit(&mut self, ty: &Type) {
        let wanted = String::from_utf8_lossy(&types::type_to_json(ty)).into_owned();
        tracing::error!(%wanted, "a value is not of its type; null is sent in its place");
        self.null();
    }
}

fn done<T, E>(result: Result<T, E>) {
    drop(result);
}

// Four billion elements do not fit into a message.
fn counted(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
