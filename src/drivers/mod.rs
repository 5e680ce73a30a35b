//! The effects of child objects: calls to APIs, and translation between an API's words and a component's.
//!
//! No retry, no waiting, no sleeping: those are the engine's. No decision by the text of a message.

pub mod aws;
mod gather;
pub mod kube;
