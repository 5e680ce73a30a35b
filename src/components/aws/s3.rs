//! An S3 bucket and its settings, each an object of its own: so each is read in parallel with the others, named in
//! the plan when it drifts, and repaired alone.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use tf_provider_derive::{Component, Outputs};

use super::Tags;

/// A bucket.
#[derive(Component, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[component(kind = "aws_s3_bucket", noun = "bucket", outputs = BucketOutputs, holds_data)]
pub struct Bucket {
    /// Name, unique in the world.
    #[component(identity)]
    pub name: String,
    /// Whether deleting it may delete what is in it: all versions, markers and uploads.
    #[component(local)]
    pub empty_before_delete: bool,
    /// Tags; those of others are left alone.
    #[component(merged)]
    pub tags: Tags,
}

/// What S3 tells of a bucket.
#[derive(Outputs, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BucketOutputs {
    /// Name.
    pub id: String,
    /// ARN.
    pub arn: String,
    /// Region it is in.
    pub region: String,
    /// Regional host name, `<bucket>.s3.<region>.amazonaws.com`.
    pub domain_name: String,
}

/// Whether a bucket keeps old versions of objects.
#[derive(Component, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[component(kind = "aws_s3_bucket_versioning", noun = "bucket versioning", part)]
pub struct BucketVersioning {
    /// Name of the bucket.
    #[component(identity)]
    pub bucket: String,
    /// Enabled; otherwise suspended, or never enabled, which behave the same for new objects.
    pub enabled: bool,
}

/// How a bucket encrypts objects at rest.
#[derive(Component, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[component(kind = "aws_s3_bucket_encryption", noun = "bucket encryption", part)]
pub struct BucketEncryption {
    /// Name of the bucket.
    #[component(identity)]
    pub bucket: String,
    /// `AES256` or `aws:kms`.
    pub algorithm: String,
    /// ARN of the KMS key; absent with `AES256`.
    pub kms_key_arn: Option<String>,
    /// Whether a bucket key saves calls to KMS.
    pub bucket_key: bool,
}

/// The four switches that keep a bucket from becoming public.
#[expect(clippy::struct_excessive_bools, reason = "S3 has these four switches")]
#[derive(Component, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[component(kind = "aws_s3_bucket_public_access_block", noun = "public access block", part)]
pub struct BucketPublicAccessBlock {
    /// Name of the bucket.
    #[component(identity)]
    pub bucket: String,
    /// Refuse new public ACLs.
    pub block_public_acls: bool,
    /// Ignore public ACLs.
    pub ignore_public_acls: bool,
    /// Refuse public policies.
    pub block_public_policy: bool,
    /// Let only principals of the account use a public bucket.
    pub restrict_public_buckets: bool,
}

/// Who owns the objects of a bucket.
#[derive(Component, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[component(kind = "aws_s3_bucket_ownership_controls", noun = "ownership controls", part)]
pub struct BucketOwnershipControls {
    /// Name of the bucket.
    #[component(identity)]
    pub bucket: String,
    /// `BucketOwnerEnforced` switches ACLs off.
    pub object_ownership: String,
}

/// A bucket's policy.
#[derive(Component, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[component(kind = "aws_s3_bucket_policy", noun = "bucket policy", part)]
pub struct BucketPolicy {
    /// Name of the bucket.
    #[component(identity)]
    pub bucket: String,
    /// The policy in the normal form of [`crate::components::aws`]'s drivers: statements sorted by Sid, single
    /// strings for lists of one, lists sorted.
    pub document: Json,
}

/// A bucket's lifecycle configuration, whole: the API replaces it as one document.
#[derive(Component, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[component(kind = "aws_s3_bucket_lifecycle", noun = "lifecycle configuration", part)]
pub struct BucketLifecycle {
    /// Name of the bucket.
    #[component(identity)]
    pub bucket: String,
    /// The rules; a rule of somebody else is drift.
    pub rules: BTreeSet<LifecycleRule>,
}

/// A lifecycle rule.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct LifecycleRule {
    /// Id, unique in the bucket.
    pub id: String,
    /// Whether it is in force.
    pub enabled: bool,
    /// Keys it applies to; empty: all. Always sent as the filter's prefix.
    pub prefix: String,
    /// Days until the current version expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expire_after_days: Option<u32>,
    /// Whether a delete marker that hides nothing goes away.
    pub expire_delete_markers: bool,
    /// Days until a version that is no longer current is deleted: what frees space on a versioned bucket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noncurrent_expire_after_days: Option<u32>,
    /// Days until an upload that was never completed is given up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abort_incomplete_uploads_after_days: Option<u32>,
    /// Anything of the rule that this provider does not write (transitions, filters by tag or size), as the API has
    /// it in words: makes such a rule differ from ours. Never set by us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
}
