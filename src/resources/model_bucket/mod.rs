//! `mlplat_model_bucket`: an S3 bucket for models and checkpoints that does not become public, does not lose models
//! and does not fill up with old checkpoints.

mod check;
mod lifecycle;
mod policy;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use converge::{Graph, Handle};
use serde_json::Value as Json;
use tf_provider::{Attributes, Diagnostics};
use value::{Back, Value};

use self::{lifecycle::Lifecycle, policy::Grants};
use super::{arn, tags, together};
use crate::{
    components::aws::{
        Bucket, BucketDraft, BucketEncryptionDraft, BucketLifecycleDraft, BucketOutputs, BucketOwnershipControlsDraft,
        BucketPolicyDraft, BucketPublicAccessBlockDraft, BucketVersioningDraft, Tags,
    },
    composite::{Composite, Source, Timeouts},
    settings::Settings,
};

/// The tag and label value of [`tags::WORKLOAD_TYPE`].
const WORKLOAD: &str = "model-storage";

/// Remembers `noncurrent_expire_after_days` where no rule shows it.
const NONCURRENT_MARK: &str = "mlplat:noncurrent-expire-after-days";
/// Remembers `allow_destroy_with_data`.
const DESTROY_MARK: &str = "mlplat:allow-destroy-with-data";

/// An S3 bucket for models, data sets and checkpoints.
///
/// It is private, encrypted, reachable over TLS only, owned by the account whatever writes to it, and keeps old
/// versions for as long as its rules say. Each of these settings is an object of its own in `components`, so a change
/// made by somebody else is shown by name and repaired alone.
#[derive(Attributes, Clone, Debug, Default)]
pub struct ModelBucket {
    /// Name of the bucket, unique in the world: 3 to 63 lower-case letters, digits and hyphens. A name with dots is
    /// refused, since TLS certificates do not cover it. Changing it makes another bucket.
    #[attribute(required, replaces)]
    pub name: Value<String>,
    /// Whether objects keep their old versions when they are overwritten or deleted.
    #[attribute(default = "true")]
    pub versioning: Value<bool>,
    /// ARN of the KMS key that objects are encrypted with, through a bucket key, which keeps the number of calls to
    /// KMS low. Left out: encryption with keys that S3 manages. Objects that exist keep the key they have.
    pub kms_key_arn: Value<String>,
    /// Rules that delete objects by age, one for each prefix.
    #[attribute(default = "[]")]
    pub retention: Value<BTreeSet<Retention>>,
    /// Prefixes under which nothing expires and old versions cannot be deleted, by anybody. A rule in `retention`
    /// cannot overlap with them. Where there are any, `noncurrent_expire_after_days` applies to the prefixes in
    /// `retention` only, because S3 cannot exclude a prefix from a rule.
    #[attribute(default = "[]")]
    pub protected_prefixes: Value<BTreeSet<String>>,
    /// Days after which an old version is deleted, counted from when it was overwritten or deleted. Under a prefix
    /// in `retention` the smaller of this and the rule's own days counts. See `protected_prefixes` for where it
    /// applies.
    #[attribute(default = "90")]
    pub noncurrent_expire_after_days: Value<u32>,
    /// Days after which an upload in parts that was never completed is given up; its parts cost money and are not
    /// listed with the objects.
    #[attribute(default = "7")]
    pub abort_incomplete_uploads_after_days: Value<u32>,
    /// ARNs of the accounts, users and roles that may list the bucket and read objects and their versions.
    #[attribute(default = "[]")]
    pub readers: Value<BTreeSet<String>>,
    /// ARNs of the accounts, users and roles that may read, write and delete objects.
    #[attribute(default = "[]")]
    pub writers: Value<BTreeSet<String>>,
    /// Whether destroying the bucket may delete what is in it: all versions, delete markers and unfinished uploads,
    /// those under `protected_prefixes` included. Otherwise a bucket that is not empty is not destroyed.
    #[attribute(default = "false")]
    pub allow_destroy_with_data: Value<bool>,
    /// Tags of the bucket, beside those of the provider's `default_tags` and `cost_allocation`, over which they win.
    /// Tags of others on the bucket are left alone.
    #[attribute(default = "{}")]
    pub tags: Value<Tags>,
    /// ARN of the bucket.
    #[attribute(computed)]
    pub arn: Value<String>,
    /// Region the bucket is in.
    #[attribute(computed)]
    pub region: Value<String>,
    /// Regional host name of the bucket.
    #[attribute(computed)]
    pub domain_name: Value<String>,
    /// Address of the bucket as model servers and the AWS CLI take it: `s3://` and the name.
    #[attribute(computed)]
    pub s3_uri: Value<String>,
}

/// A rule that deletes objects by age.
#[derive(Attributes, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Retention {
    /// Beginning of the keys it applies to, such as `checkpoints/`. An empty text is the whole bucket.
    #[attribute(required)]
    pub prefix: Value<String>,
    /// Days after which an object expires, counted from when it was written. On a versioned bucket its versions go
    /// too, after at most as many days again.
    #[attribute(required)]
    pub expire_after_days: Value<u32>,
}

// === impl ModelBucket ===

impl Composite for ModelBucket {
    const TYPE: &'static str = "mlplat_model_bucket";
    const NOUN: &'static str = "model bucket";
    const IDENTITY: &'static [&'static str] = &["name"];
    // Emptying a full bucket is what takes long.
    const TIMEOUTS: Timeouts = Timeouts::minutes(60);
    const SOURCES: &'static [Source] =
        &[Source { provider: "hashicorp/aws", type_name: "aws_s3_bucket", id: &["/bucket"] }];

    fn check(&self, complaints: &mut Diagnostics) {
        check::check(self, complaints);
    }

    fn expand(&mut self, settings: &Settings, graph: &mut Graph) {
        self.fill_defaults();
        self.s3_uri = self.name.map(|name| format!("s3://{name}"));
        let bucket = self.add_bucket(settings, graph);
        self.add_safeguards(&bucket, graph);
        self.add_policy(settings, &bucket, graph);
        self.add_lifecycle(&bucket, graph);
    }
}

impl ModelBucket {
    fn add_bucket(&mut self, settings: &Settings, graph: &mut Graph) -> Handle<Bucket> {
        let bucket = graph.add(
            "bucket",
            BucketDraft {
                name: self.name.clone(),
                empty_before_delete: self.allow_destroy_with_data.map(|allowed| *allowed),
                tags: self.all_tags(settings),
            },
        );
        self.arn = self.known_arn(settings, &bucket);
        self.region = bucket.output(BucketOutputs::REGION);
        self.domain_name = bucket.output(BucketOutputs::DOMAIN_NAME);
        bucket
    }

    fn all_tags(&self, settings: &Settings) -> Value<Tags> {
        let stamps = tags::stamps(settings, &Value::from(WORKLOAD));
        let tags = tags::merged(&self.tags, &stamps);
        let hidden = self.protected_prefixes.with(&self.noncurrent_expire_after_days, |protected, days| {
            let is_hidden = protected.is_some_and(|prefixes| !prefixes.is_empty());
            days.filter(|_| is_hidden).map(ToString::to_string)
        });
        let destroy = self.allow_destroy_with_data.and_then(|allowed| Value::from(allowed.then(|| "true".to_owned())));
        let tags = tags::marked(&tags, NONCURRENT_MARK, &hidden.and_then(|days| Value::from(days.clone())));
        tags::marked(&tags, DESTROY_MARK, &destroy)
            .mirrored(&self.tags, tags::without_stamps(&stamps))
            .mirrored(
                &self.noncurrent_expire_after_days,
                tags::remembered(NONCURRENT_MARK, |days| days.parse::<u32>().ok().map(Json::from)),
            )
            .mirrored(
                &self.allow_destroy_with_data,
                tags::remembered(DESTROY_MARK, |allowed| Some(Json::from(allowed == "true"))),
            )
    }

    // An ARN follows from the name and the partition, so others can be planned with it before the bucket exists.
    fn known_arn(&self, settings: &Settings, bucket: &Handle<Bucket>) -> Value<String> {
        match settings.region.get() {
            Some(region) => self.name.map(|name| format!("arn:{}:s3:::{name}", arn::partition(region))),
            None => bucket.output(BucketOutputs::ARN).blamed_on(&self.name),
        }
    }

    // Parts are found by the bucket's name, and nothing found of them says another one.
    fn bucket_name(&self) -> Value<String> {
        self.name.map(String::clone)
    }

    fn add_safeguards(&self, bucket: &Handle<Bucket>, graph: &mut Graph) {
        let versioning = graph
            .add("versioning", BucketVersioningDraft { bucket: self.bucket_name(), enabled: self.versioning.clone() });
        let encryption = graph.add("encryption", self.encryption());
        let public_access_block = graph.add(
            "public_access_block",
            BucketPublicAccessBlockDraft {
                bucket: self.bucket_name(),
                block_public_acls: Value::known(true),
                ignore_public_acls: Value::known(true),
                block_public_policy: Value::known(true),
                restrict_public_buckets: Value::known(true),
            },
        );
        let ownership_controls = graph.add(
            "ownership_controls",
            BucketOwnershipControlsDraft {
                bucket: self.bucket_name(),
                object_ownership: Value::from("BucketOwnerEnforced"),
            },
        );
        graph.after(&versioning, bucket);
        graph.after(&encryption, bucket);
        graph.after(&public_access_block, bucket);
        graph.after(&ownership_controls, bucket);
    }

    fn encryption(&self) -> BucketEncryptionDraft {
        let has_key = self.kms_key_arn.with(&Value::<()>::null(), |key, _| key.is_some());
        BucketEncryptionDraft {
            bucket: self.bucket_name(),
            algorithm: has_key.map(|has_key| if *has_key { "aws:kms" } else { "AES256" }.to_owned()),
            kms_key_arn: self.kms_key_arn.clone(),
            bucket_key: has_key,
        }
    }

    fn add_policy(&self, settings: &Settings, bucket: &Handle<Bucket>, graph: &mut Graph) {
        let arn = self.known_arn(settings, bucket);
        let who = self.readers.with(&self.writers, |readers, writers| {
            (readers.cloned().unwrap_or_default(), writers.cloned().unwrap_or_default())
        });
        let what = self.protected_prefixes.with(&self.versioning, |prefixes, versioned| {
            (prefixes.cloned().unwrap_or_default(), versioned.copied().unwrap_or(true))
        });
        let grants = who.with(&what, |who, what| {
            let ((readers, writers), (protected_prefixes, versioned)) =
                (who.cloned().unwrap_or_default(), what.cloned().unwrap_or_default());
            Grants { readers, writers, protected_prefixes, versioned }
        });
        let document = grants
            .with(&arn, |grants, arn| match (grants, arn) {
                (Some(grants), Some(arn)) => grants.document(arn),
                _ => Json::Null,
            })
            .blamed_on(&self.readers)
            .mirrored(&self.readers, |found| said(Grants::read(found), |grants| grants.readers.clone()))
            .mirrored(&self.writers, |found| said(Grants::read(found), |grants| grants.writers.clone()))
            .mirrored(&self.protected_prefixes, |found| {
                said(Grants::read(found), |grants| grants.protected_prefixes.clone())
            });
        let policy = graph.add("policy", BucketPolicyDraft { bucket: self.bucket_name(), document });
        graph.after(&policy, bucket);
    }

    fn add_lifecycle(&self, bucket: &Handle<Bucket>, graph: &mut Graph) {
        let days =
            self.noncurrent_expire_after_days.with(&self.abort_incomplete_uploads_after_days, |noncurrent, abort| {
                (noncurrent.copied().unwrap_or_default(), abort.copied().unwrap_or_default())
            });
        let has_protected = self.protected_prefixes.map(|prefixes| !prefixes.is_empty());
        let rules = self
            .retention_days()
            .with(&has_protected, |retention, protected| {
                (retention.cloned().unwrap_or_default(), protected.copied().unwrap_or_default())
            })
            .with(&days, |rest, days| {
                let (retention, has_protected) = rest.cloned().unwrap_or_default();
                let (noncurrent_days, abort_days) = days.copied().unwrap_or_default();
                Lifecycle { retention, has_protected, noncurrent_days, abort_days }.rules()
            })
            .blamed_on(&self.retention)
            .mirrored(&self.retention, |found| said(Lifecycle::read(found), Lifecycle::retention))
            .mirrored(&self.abort_incomplete_uploads_after_days, |found| {
                said(Lifecycle::read(found), |lifecycle| lifecycle.abort_days)
            })
            .mirrored(&self.noncurrent_expire_after_days, |found| match Lifecycle::read(found) {
                Some(lifecycle) if !lifecycle.has_protected => Back::Is(Json::from(lifecycle.noncurrent_days)),
                _ => Back::Unsaid,
            });
        let lifecycle = graph.add("lifecycle", BucketLifecycleDraft { bucket: self.bucket_name(), rules });
        graph.after(&lifecycle, bucket);
    }

    fn retention_days(&self) -> Value<BTreeMap<String, u32>> {
        let pairs = self.retention.and_then(|rules| {
            together(rules.iter().map(|rule| {
                rule.prefix.with(&rule.expire_after_days, |prefix, days| {
                    (prefix.cloned().unwrap_or_default(), days.copied().unwrap_or_default())
                })
            }))
        });
        pairs.map(|pairs| pairs.iter().cloned().collect())
    }
}

// What a found document says of an attribute, where it could be read.
fn said<T, U: serde::Serialize>(read: Option<T>, part: impl FnOnce(&T) -> U) -> Back {
    match read.map(|read| serde_json::to_value(part(&read))) {
        Some(Ok(value)) => Back::Is(value),
        _ => Back::Unsaid,
    }
}
