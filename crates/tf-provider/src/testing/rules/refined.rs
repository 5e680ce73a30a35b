//! What was promised of an unknown value, and whether the value keeps it.

use rmp::{Marker, decode};

use crate::{Cty, Number, Refinements};

/// What of the promises `actual` breaks.
pub(in crate::testing) fn check(known: &Refinements, actual: &Cty) -> Vec<String> {
    if known.0.len() <= 1 || actual.is_unknown() {
        return Vec::new();
    }
    let Some(promises) = read(&known.0) else {
        return vec!["the refinement of the planned unknown value cannot be read".to_owned()];
    };
    let broken = promises.into_iter().filter(|promise| !promise.kept_by(actual));
    broken.map(|promise| format!("is {actual:?}, which breaks what the plan promised: {promise:?}")).collect()
}

/// A promise of extension type 12.
#[derive(Debug)]
enum Promise {
    NotNull,
    Null,
    Prefix(String),
    AtLeast(Number, bool),
    AtMost(Number, bool),
    LengthAtLeast(usize),
    LengthAtMost(usize),
}

// === impl Promise ===

impl Promise {
    fn kept_by(&self, value: &Cty) -> bool {
        let length = match value {
            Cty::List(items) | Cty::Set(items) => Some(items.len()),
            Cty::Map(items) => Some(items.len()),
            _ => None,
        };
        match (self, value) {
            (Self::NotNull, value) => !value.is_null(),
            (Self::Null, value) => value.is_null(),
            (_, Cty::Null) => true,
            (Self::Prefix(prefix), Cty::String(text)) => text.starts_with(prefix.as_str()),
            (Self::AtLeast(bound, inclusive), Cty::Number(number)) => number > bound || (*inclusive && number == bound),
            (Self::AtMost(bound, inclusive), Cty::Number(number)) => number < bound || (*inclusive && number == bound),
            (Self::LengthAtLeast(bound), _) => length.is_none_or(|length| length >= *bound),
            (Self::LengthAtMost(bound), _) => length.is_none_or(|length| length <= *bound),
            _ => true,
        }
    }
}

fn read(mut payload: &[u8]) -> Option<Vec<Promise>> {
    let count = decode::read_map_len(&mut payload).ok()?;
    let mut promises = Vec::new();
    for _ in 0..count {
        let key: i64 = decode::read_int(&mut payload).ok()?;
        promises.push(match key {
            1 if decode::read_bool(&mut payload).ok()? => Promise::Null,
            1 => Promise::NotNull,
            2 => Promise::Prefix(text(&mut payload)?),
            3 | 4 => {
                decode::read_array_len(&mut payload).ok()?;
                let bound = number(&mut payload)?;
                let inclusive = decode::read_bool(&mut payload).ok()?;
                if key == 3 { Promise::AtLeast(bound, inclusive) } else { Promise::AtMost(bound, inclusive) }
            }
            5 => Promise::LengthAtLeast(decode::read_int(&mut payload).ok()?),
            6 => Promise::LengthAtMost(decode::read_int(&mut payload).ok()?),
            // A later version's promise: its value cannot be skipped without knowing its form.
            _ => return Some(promises),
        });
    }
    Some(promises)
}

fn text(payload: &mut &[u8]) -> Option<String> {
    let length = usize::try_from(decode::read_str_len(payload).ok()?).ok()?;
    let (text, rest) = payload.split_at_checked(length)?;
    *payload = rest;
    String::from_utf8(text.to_vec()).ok()
}

fn number(payload: &mut &[u8]) -> Option<Number> {
    match Marker::from_u8(*payload.first()?) {
        Marker::F64 => Number::exactly(decode::read_f64(payload).ok()?),
        Marker::F32 => Number::exactly(decode::read_f32(payload).ok()?.into()),
        Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => Number::parse(&text(payload)?),
        _ => Some(Number::from(decode::read_int::<i64, _>(payload).ok()?)),
    }
}
