//! Whatever the bytes are, reading MessagePack ends, and what was read is written and read again the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tf_provider::codec::{from_msgpack, to_msgpack};

mod types;

fuzz_target!(|data: &[u8]| {
    let Some((ty, bytes)) = types::pick(data) else { return };
    if let Ok(value) = from_msgpack(bytes, &ty) {
        assert_eq!(from_msgpack(&to_msgpack(&value, &ty), &ty), Ok(value));
    }
});
