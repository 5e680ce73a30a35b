//! Being written.
pub mod wire;
