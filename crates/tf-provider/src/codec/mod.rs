//! Terraform's values as bytes: MessagePack on the wire, JSON in stored states.
//!
//! Gives no value a meaning. Whatever the bytes are, reading ends in a value or a [`CodecError`]: it neither panics
//! nor asks for more memory than the bytes account for.
