//! A bucket and its settings, one driver each.
//!
//! A setting has no mark of its own; the bucket's counts. Versioning and encryption have no absence in S3: they are
//! there as long as the bucket is, and deleting them sets the default.

mod bucket;
mod contents;
mod encryption;
mod lifecycle;
mod ownership_controls;
mod policy;
mod public_access_block;
mod versioning;

pub(super) use bucket::BucketDriver;
pub(super) use encryption::EncryptionDriver;
pub(super) use lifecycle::LifecycleDriver;
pub(super) use ownership_controls::OwnershipControlsDriver;
pub(super) use policy::PolicyDriver;
pub(super) use public_access_block::PublicAccessBlockDriver;
pub(super) use versioning::VersioningDriver;

use converge::{Component, Observed, Ownership, Readiness};

/// A setting of a bucket, as found.
fn setting<C: Component<Outputs = ()>>(spec: C) -> Observed<C> {
    Observed { spec, outputs: (), ownership: Ownership::Inherited, readiness: Readiness::Ready }
}

/// A bucket in words.
fn words(bucket: &str) -> String {
    format!("bucket {bucket:?}")
}
