//! Child objects as plain data: what is wanted of an IAM role, a node group, a bucket's versioning.
//!
//! No SDK, no calls and no waiting: effects are in `drivers`. A struct's field is what a person would see in the
//! API's console; what the API says about the object is in its outputs.

pub mod aws;
pub mod kube;
