//! Values from MessagePack.

use std::collections::BTreeMap;

use rmp::{Marker, decode as read};
use value::Step;

use super::{
    CodecError, MAX_DEPTH, MAX_REFINEMENTS, REFINED,
    error::{Fail, Outcome},
    types,
};
use crate::{Cty, Number, Refinements, Type};

/// Reads a value of the type.
pub fn from_msgpack(bytes: &[u8], ty: &Type) -> Result<Cty, CodecError> {
    let mut reader = Reader { rest: bytes, depth: 0 };
    let value = reader.value(ty)?;
    match reader.rest {
        [] => Ok(value),
        rest => Err(Fail::new(format!("{} bytes follow the value", rest.len())).into()),
    }
}

struct Reader<'a> {
    rest: &'a [u8],
    depth: usize,
}

impl<'a> Reader<'a> {
    fn value(&mut self, ty: &Type) -> Outcome<Cty> {
        if self.depth == MAX_DEPTH {
            return Err(Fail::too_deep());
        }
        self.depth += 1;
        let value = match self.peek()? {
            Marker::Null => self.take(1).map(|_| Cty::Null),
            Marker::FixExt1
            | Marker::FixExt2
            | Marker::FixExt4
            | Marker::FixExt8
            | Marker::FixExt16
            | Marker::Ext8
            | Marker::Ext16
            | Marker::Ext32 => self.unknown(),
            _ => self.known(ty),
        };
        self.depth -= 1;
        value
    }

    fn known(&mut self, ty: &Type) -> Outcome<Cty> {
        match ty {
            Type::String => self.text().map(|text| Cty::String(text.to_owned())),
            Type::Number => self.number(),
            Type::Bool => self.read("true or false", read::read_bool).map(Cty::Bool),
            Type::Dynamic => self.dynamic(),
            Type::List(element) => self.list(element).map(Cty::List),
            Type::Set(element) => self.list(element).map(Cty::Set).map_err(Fail::inside_set),
            Type::Map(element) => self.map(element),
            Type::Tuple(elements) => self.tuple(elements),
            Type::Object(attributes) => self.object(attributes),
        }
    }

    fn unknown(&mut self) -> Outcome<Cty> {
        let meta = self.read("an unknown value", read::read_ext_meta)?;
        let payload = self.take(size(meta.size))?;
        match payload {
            // Nothing is refined by a single byte, and other extensions are not known to refine anything.
            [] | [_] => Ok(Cty::unknown()),
            _ if meta.typeid != REFINED => Ok(Cty::unknown()),
            _ if payload.len() > MAX_REFINEMENTS => Err(Fail::new("more is told of an unknown value than may be")),
            _ => Ok(Cty::Unknown(Refinements(payload.into()))),
        }
    }

    fn number(&mut self) -> Outcome<Cty> {
        let marker = self.peek()?;
        let number = match marker {
            Marker::F32 => self.read("a number", read::read_f32).map(|float| Number::exactly(float.into()))?,
            Marker::F64 => self.read("a number", read::read_f64).map(Number::exactly)?,
            Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => Number::parse(self.text()?),
            Marker::U64 => self.read("a number", read::read_u64).map(|integer| Some(Number::from(integer)))?,
            _ => self.read("a number", read::read_int::<i64, _>).map(|integer| Some(Number::from(integer)))?,
        };
        number.map(Cty::Number).ok_or_else(|| Fail::expected("a number", "something that is none"))
    }

    fn text(&mut self) -> Outcome<&'a str> {
        let length = self.read("text", read::read_str_len)?;
        std::str::from_utf8(self.take(size(length))?).map_err(|_| Fail::expected("text", "bytes that are not UTF-8"))
    }

    fn dynamic(&mut self) -> Outcome<Cty> {
        if self.read("a type and a value", read::read_array_len)? != 2 {
            return Err(Fail::expected("a type and a value", "another number of parts"));
        }
        let ty = match self.peek()? {
            Marker::Bin8 | Marker::Bin16 | Marker::Bin32 => {
                let length = self.read("a type", read::read_bin_len)?;
                self.take(size(length))?
            }
            _ => self.text()?.as_bytes(),
        };
        let ty = types::parse(ty)?;
        let value = self.value(&ty)?;
        Ok(Cty::Dynamic(Box::new(ty), Box::new(value)))
    }

    fn list(&mut self, element: &Type) -> Outcome<Vec<Cty>> {
        let length = self.read("a list", read::read_array_len)?;
        let element = |index| self.value(element).map_err(|fail| fail.inside(Step::Index(index)));
        (0..size(length)).map(element).collect()
    }

    fn tuple(&mut self, elements: &[Type]) -> Outcome<Cty> {
        let length = size(self.read("a list", read::read_array_len)?);
        if length != elements.len() {
            return Err(Fail::expected(&format!("{} elements", elements.len()), &length.to_string()));
        }
        let element = |(index, ty)| self.value(ty).map_err(|fail| fail.inside(Step::Index(index)));
        elements.iter().enumerate().map(element).collect::<Outcome<_>>().map(Cty::List)
    }

    fn map(&mut self, element: &Type) -> Outcome<Cty> {
        let length = self.read("a map", read::read_map_len)?;
        let mut map = BTreeMap::new();
        for _ in 0..length {
            let key = self.text()?;
            let value = self.value(element).map_err(|fail| fail.inside(Step::Key(key.to_owned())))?;
            map.insert(key.to_owned(), value);
        }
        Ok(Cty::Map(map))
    }

    fn object(&mut self, attributes: &BTreeMap<String, Type>) -> Outcome<Cty> {
        let length = self.read("an object", read::read_map_len)?;
        let mut map = BTreeMap::new();
        for _ in 0..length {
            let name = self.text()?;
            let ty = attributes.get(name).ok_or_else(|| Fail::new(format!("no attribute is called {name:?}")))?;
            let value = self.value(ty).map_err(|fail| fail.inside(Step::Attribute(name.to_owned())))?;
            if map.insert(name.to_owned(), value).is_some() {
                return Err(Fail::new(format!("the attribute {name:?} is there twice")));
            }
        }
        match attributes.keys().find(|name| !map.contains_key(*name)) {
            Some(name) => Err(Fail::new(format!("the attribute {name:?} is missing"))),
            None => Ok(Cty::Object(map)),
        }
    }

    // The marker of the next value, which stays where it is.
    fn peek(&self) -> Outcome<Marker> {
        self.rest.first().map(|first| Marker::from_u8(*first)).ok_or_else(ends_early)
    }

    fn take(&mut self, length: usize) -> Outcome<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or_else(ends_early)?;
        self.rest = rest;
        Ok(taken)
    }

    fn read<T, E>(&mut self, wanted: &str, read: impl FnOnce(&mut &'a [u8]) -> Result<T, E>) -> Outcome<T> {
        let found = self.peek()?;
        read(&mut self.rest).map_err(|_| Fail::expected(wanted, kind(found)))
    }
}

fn ends_early() -> Fail {
    Fail::new("the bytes end early")
}

fn size(length: u32) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}

fn kind(marker: Marker) -> &'static str {
    match marker {
        Marker::Null => "null",
        Marker::True | Marker::False => "true or false",
        Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => "text",
        Marker::Bin8 | Marker::Bin16 | Marker::Bin32 => "bytes",
        Marker::FixArray(_) | Marker::Array16 | Marker::Array32 => "a list",
        Marker::FixMap(_) | Marker::Map16 | Marker::Map32 => "a map",
        Marker::F32 | Marker::F64 => "a float",
        Marker::Reserved => "a reserved code",
        Marker::FixPos(_)
        | Marker::FixNeg(_)
        | Marker::U8
        | Marker::U16
        | Marker::U32
        | Marker::U64
        | Marker::I8
        | Marker::I16
        | Marker::I32
        | Marker::I64 => "an integer",
        Marker::FixExt1
        | Marker::FixExt2
        | Marker::FixExt4
        | Marker::FixExt8
        | Marker::FixExt16
        | Marker::Ext8
        | Marker::Ext16
        | Marker::Ext32 => "an unknown value",
    }
}
