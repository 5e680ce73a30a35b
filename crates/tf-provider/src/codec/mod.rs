//! Terraform's values as bytes: MessagePack on the wire, JSON in stored states.
//!
//! Gives no value a meaning. Whatever the bytes are, reading ends in a value or a [`CodecError`]: it neither panics
//! nor asks for more memory than the bytes account for.

mod decode;
mod encode;
mod error;
mod json;
mod types;

pub use decode::from_msgpack;
pub use encode::to_msgpack;
pub use error::CodecError;
pub use json::{from_json, to_json};
pub use types::{type_from_json, type_to_json};

// How deep values may be nested. Terraform's own are as deep as their types; only values that carry their type with
// them could go on for ever.
const MAX_DEPTH: usize = 128;

// The code of the MessagePack extension that tells what is known of an unknown value, and the length core allows.
const REFINED: i8 = 12;
const MAX_REFINEMENTS: usize = 1024;
