//! Single values: the same number, amount, duration or word in another spelling.

use serde_json::Value as Json;

use super::{duration::nanoseconds, lists::Place};
use crate::components::kube::Quantity;

/// Whether two values that are no objects or lists mean the same at this place.
pub(super) fn same_scalar(place: &Place<'_>, wanted: &Json, live: &Json) -> bool {
    match (wanted, live) {
        (Json::Number(left), Json::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        (Json::String(left), Json::String(right)) => same_text(place, left, right),
        // A port or an amount may be written as a number or as text.
        (Json::Number(number), Json::String(text)) | (Json::String(text), Json::Number(number)) => {
            same_text(place, &number.to_string(), text)
        }
        (Json::Object(_) | Json::Array(_), _) => false,
        _ => wanted == live,
    }
}

/// Whether there is nothing to it: what servers leave out of their answers.
pub(super) fn is_nothing(value: &Json) -> bool {
    match value {
        Json::Null | Json::Bool(false) => true,
        Json::Bool(true) => false,
        Json::Number(number) => number.as_f64() == Some(0.0),
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(map) => map.values().all(Json::is_null),
    }
}

fn same_text(place: &Place<'_>, wanted: &str, live: &str) -> bool {
    let is_same = |parsed: Option<bool>| parsed.unwrap_or(false);
    wanted == live
        || place.newest(wanted) == place.newest(live)
        || (place.is_quantity() && is_same(both(Quantity::parse(wanted), Quantity::parse(live))))
        || (place.is_duration() && is_same(both(nanoseconds(wanted), nanoseconds(live))))
}

fn both<T: PartialEq>(left: Option<T>, right: Option<T>) -> Option<bool> {
    Some(left? == right?)
}
