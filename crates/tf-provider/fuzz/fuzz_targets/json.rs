//! Whatever the bytes are, reading JSON ends, and what was read is written and read again the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tf_provider::codec::{from_json, to_json, type_from_json, type_to_json};

mod types;

fuzz_target!(|data: &[u8]| {
    if let Ok(ty) = type_from_json(data) {
        assert_eq!(type_from_json(&type_to_json(&ty)), Ok(ty));
    }
    let Some((ty, json)) = types::pick(data) else { return };
    if let Ok(value) = from_json(json, &ty) {
        assert_eq!(from_json(to_json(&value, &ty).as_bytes(), &ty), Ok(value));
    }
});
