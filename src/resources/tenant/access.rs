//! Access of pods to data: for each service account one IAM role with one policy, and the way that pods come to it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use super::attributes::{DataAccess, Mode};
use crate::{components::aws::policy::normalize, resources::names};

/// Name of the policy within each role.
pub(super) const POLICY: &str = "data-access";

/// The annotation by which IAM roles for service accounts are given.
pub(super) const ROLE_ANNOTATION: &str = "eks.amazonaws.com/role-arn";

/// IAM's limit for names of roles.
const ROLE_NAME: usize = 64;

const LIST: [&str; 1] = ["s3:ListBucket"];
const READ: [&str; 2] = ["s3:GetObject", "s3:GetObjectVersion"];
const LIST_UPLOADS: [&str; 1] = ["s3:ListBucketMultipartUploads"];
const WRITE: [&str; 4] = ["s3:AbortMultipartUpload", "s3:DeleteObject", "s3:ListMultipartUploadParts", "s3:PutObject"];

/// The name of the role. Neither a cluster's name nor a namespace's has a dot, so two tenants never share one.
pub(super) fn role_name(cluster: Option<&str>, namespace: &str, service_account: &str) -> String {
    names::fitted(&format!("mlplat-{}.{namespace}.{service_account}", cluster.unwrap_or_default()), ROLE_NAME)
}

/// What the pods of one service account may do, in normal form. All that it is made from is known.
pub(super) fn policy(accesses: &[DataAccess]) -> Json {
    let mut statements = Vec::new();
    let mut number = 0;
    for (bucket, writes) in by_bucket(accesses) {
        for (mode, prefixes) in writes {
            number += 1;
            statements.extend(grants(&bucket, mode, &prefixes, number));
        }
    }
    for (number, (key, mode)) in keys(accesses).into_iter().enumerate() {
        statements.push(decrypt(&key, mode, number + 1));
    }
    normalize(json!({ "Version": "2012-10-17", "Statement": statements }))
}

type Prefixes = BTreeSet<String>;

fn by_bucket(accesses: &[DataAccess]) -> BTreeMap<String, BTreeMap<Mode, Prefixes>> {
    let mut buckets: BTreeMap<String, BTreeMap<Mode, Prefixes>> = BTreeMap::new();
    for access in accesses {
        let Some(bucket) = access.bucket_arn.get() else { continue };
        let mode = access.mode.get().copied().unwrap_or(Mode::Read);
        let prefix = access.prefix.get().cloned().unwrap_or_default();
        buckets.entry(bucket.clone()).or_default().entry(mode).or_default().insert(prefix);
    }
    buckets
}

// Listing is allowed within the prefixes only, so that names outside stay unknown.
fn grants(bucket: &str, mode: Mode, prefixes: &Prefixes, number: usize) -> Vec<Json> {
    let keys: Vec<_> = prefixes.iter().map(|prefix| format!("{bucket}/{prefix}*")).collect();
    let (lists, objects): (Vec<_>, Vec<_>) = match mode {
        Mode::Read => (LIST.to_vec(), READ.to_vec()),
        Mode::Write => ([&LIST[..], &LIST_UPLOADS].concat(), [&READ[..], &WRITE].concat()),
    };
    let mut list = json!({ "Sid": format!("List{number}"), "Effect": "Allow", "Action": lists, "Resource": bucket });
    if !prefixes.contains("") {
        let within: Vec<_> = prefixes.iter().map(|prefix| format!("{prefix}*")).collect();
        list["Condition"] = json!({ "StringLike": { "s3:prefix": within } });
    }
    vec![
        list,
        json!({
            "Sid": format!("Locate{number}"), "Effect": "Allow", "Action": "s3:GetBucketLocation", "Resource": bucket,
        }),
        json!({ "Sid": format!("Objects{number}"), "Effect": "Allow", "Action": objects, "Resource": keys }),
    ]
}

fn keys(accesses: &[DataAccess]) -> BTreeMap<String, Mode> {
    let mut keys: BTreeMap<String, Mode> = BTreeMap::new();
    for access in accesses {
        if let Some(key) = access.kms_key_arn.get() {
            let mode = access.mode.get().copied().unwrap_or(Mode::Read);
            let known = keys.entry(key.clone()).or_insert(mode);
            *known = mode.max(*known);
        }
    }
    keys
}

// Through S3 alone: the key may encrypt other things too.
fn decrypt(key: &str, mode: Mode, number: usize) -> Json {
    let actions: &[&str] = if mode == Mode::Write { &["kms:Decrypt", "kms:GenerateDataKey"] } else { &["kms:Decrypt"] };
    json!({
        "Sid": format!("Key{number}"), "Effect": "Allow", "Action": actions, "Resource": key,
        "Condition": { "StringLike": { "kms:ViaService": "s3.*.amazonaws.com*" } },
    })
}

#[cfg(test)]
mod tests {
    use value::Value;

    use super::*;

    fn access(prefix: &str, mode: Mode) -> DataAccess {
        DataAccess {
            bucket_arn: Value::from("arn:aws:s3:::acme"),
            prefix: Value::from(prefix),
            mode: Value::known(mode),
            ..DataAccess::default()
        }
    }

    #[test]
    fn reading_is_confined_to_the_prefix_listing_included() {
        let read = access("models/", Mode::Read);
        assert_eq!(
            policy(&[read])["Statement"],
            json!([
                {
                    "Sid": "List1", "Effect": "Allow", "Action": "s3:ListBucket", "Resource": "arn:aws:s3:::acme",
                    "Condition": { "StringLike": { "s3:prefix": "models/*" } },
                },
                {
                    "Sid": "Locate1", "Effect": "Allow", "Action": "s3:GetBucketLocation",
                    "Resource": "arn:aws:s3:::acme",
                },
                {
                    "Sid": "Objects1", "Effect": "Allow", "Action": ["s3:GetObject", "s3:GetObjectVersion"],
                    "Resource": "arn:aws:s3:::acme/models/*",
                },
            ])
        );
    }

    #[test]
    fn writing_under_one_prefix_does_not_allow_it_under_another() {
        let (read, write) = (access("models/", Mode::Read), access("checkpoints/", Mode::Write));
        let policy = policy(&[read, write]);
        let statements = policy["Statement"].as_array().expect("a list");
        let puts: Vec<_> =
            statements.iter().filter(|statement| statement["Action"].to_string().contains("PutObject")).collect();
        let [put] = puts.as_slice() else { panic!("{puts:?}") };
        assert_eq!(put["Resource"], "arn:aws:s3:::acme/checkpoints/*");
    }

    #[test]
    fn a_whole_bucket_is_listed_without_a_condition() {
        let policy = policy(&[access("", Mode::Read)]);
        assert_eq!(policy.pointer("/Statement/0/Condition"), None);
    }

    #[test]
    fn a_key_is_used_through_s3_alone() {
        let key = Value::from("arn:aws:kms:us-east-1:123456789012:key/0a");
        let write = DataAccess { kms_key_arn: key, ..access("a/", Mode::Write) };
        let policy = policy(&[write]);
        let statement = &policy["Statement"][0];
        assert_eq!(statement["Action"], json!(["kms:Decrypt", "kms:GenerateDataKey"]));
        assert!(statement["Condition"]["StringLike"]["kms:ViaService"].is_string());
    }

    #[test]
    fn role_names_fit_and_tell_tenants_apart() {
        assert_eq!(role_name(Some("ml-prod"), "team", "default"), "mlplat-ml-prod.team.default");
        assert_ne!(role_name(Some("a-b"), "c", "d"), role_name(Some("a"), "b-c", "d"));
        let long = role_name(Some(&"c".repeat(100)), "team", "default");
        assert_eq!(long.len(), 64);
        assert_ne!(long, role_name(Some(&"c".repeat(100)), "team", "trainer"));
    }
}
