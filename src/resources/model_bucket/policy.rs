//! The bucket's policy, from who may do what, and back.
//!
//! **Invariant:** `read` is the exact inverse of `document`. A policy that is not, whole, what `document` would have
//! written is not recognised: a statement added by somebody else is no grant of ours.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use crate::components::aws::policy::normalize;

const READ_BUCKET: [&str; 2] = ["s3:GetBucketLocation", "s3:ListBucket"];
const READ_OBJECTS: [&str; 2] = ["s3:GetObject", "s3:GetObjectVersion"];
const WRITE_BUCKET: [&str; 3] = ["s3:GetBucketLocation", "s3:ListBucket", "s3:ListBucketMultipartUploads"];
const WRITE_OBJECTS: [&str; 6] = [
    "s3:AbortMultipartUpload",
    "s3:DeleteObject",
    "s3:GetObject",
    "s3:GetObjectVersion",
    "s3:ListMultipartUploadParts",
    "s3:PutObject",
];

const TLS: &str = "DenyInsecureTransport";
const PROTECT: &str = "DenyDeleteProtected";
const READ: &str = "AllowReadBucket";
const READ_KEYS: &str = "AllowReadObjects";
const WRITE: &str = "AllowWriteBucket";
const WRITE_KEYS: &str = "AllowWriteObjects";

/// Who may do what with a bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Grants {
    /// Principals that may read.
    pub readers: BTreeSet<String>,
    /// Principals that may read and write.
    pub writers: BTreeSet<String>,
    /// Prefixes under which versions may not be deleted.
    pub protected_prefixes: BTreeSet<String>,
    /// Whether a deletion without a version leaves the data there; where it does not, that is denied as well.
    pub versioned: bool,
}

// === impl Grants ===

impl Grants {
    /// The policy of the bucket `arn`, in normal form.
    pub(super) fn document(&self, arn: &str) -> Json {
        let mut statements = vec![json!({
            "Sid": TLS, "Effect": "Deny", "Principal": "*", "Action": "s3:*",
            "Resource": [arn, format!("{arn}/*")],
            "Condition": { "Bool": { "aws:SecureTransport": "false" } },
        })];
        if !self.protected_prefixes.is_empty() {
            let keys: Vec<_> = self.protected_prefixes.iter().map(|prefix| format!("{arn}/{prefix}*")).collect();
            let denied: &[&str] = if self.versioned {
                &["s3:DeleteObjectVersion"]
            } else {
                &["s3:DeleteObject", "s3:DeleteObjectVersion"]
            };
            statements.push(json!({
                "Sid": PROTECT, "Effect": "Deny", "Principal": "*", "Action": denied, "Resource": keys,
            }));
        }
        for (sid, principals, actions, resource) in [
            (READ, &self.readers, &READ_BUCKET[..], arn.to_owned()),
            (READ_KEYS, &self.readers, &READ_OBJECTS[..], format!("{arn}/*")),
            (WRITE, &self.writers, &WRITE_BUCKET[..], arn.to_owned()),
            (WRITE_KEYS, &self.writers, &WRITE_OBJECTS[..], format!("{arn}/*")),
        ] {
            if !principals.is_empty() {
                statements.push(json!({
                    "Sid": sid, "Effect": "Allow", "Principal": { "AWS": principals },
                    "Action": actions, "Resource": resource,
                }));
            }
        }
        normalize(json!({ "Version": "2012-10-17", "Statement": statements }))
    }

    /// What a policy grants, if it is one that `document` wrote.
    pub(super) fn read(found: &Json) -> Option<Self> {
        let found = normalize(found.clone());
        let statement = |sid: &str| found.get("Statement")?.as_array()?.iter().find(|s| s["Sid"] == sid);
        let arn = texts(statement(TLS)?.get("Resource")?).into_iter().find(|arn| !arn.ends_with("/*"))?;
        let principals = |sid: &str| {
            let found = statement(sid).and_then(|statement| statement.get("Principal")?.get("AWS")).map(texts);
            found.unwrap_or_default().into_iter().map(|principal| account_arn(principal, &arn)).collect()
        };
        let protect = statement(PROTECT);
        let keys = protect.and_then(|statement| statement.get("Resource")).map(texts).unwrap_or_default();
        let denied = protect.and_then(|statement| statement.get("Action")).map(texts).unwrap_or_default();
        let grants = Self {
            readers: principals(READ),
            writers: principals(WRITE),
            protected_prefixes: keys.iter().filter_map(|key| prefix_of(key, &arn)).collect(),
            versioned: !denied.contains("s3:DeleteObject"),
        };
        (grants.document(&arn) == found).then_some(grants)
    }
}

// The normal form has the id of an account in the place of its ARN.
fn account_arn(principal: String, bucket_arn: &str) -> String {
    let partition = bucket_arn.split(':').nth(1).unwrap_or("aws");
    if principal.bytes().all(|digit| digit.is_ascii_digit()) {
        format!("arn:{partition}:iam::{principal}:root")
    } else {
        principal
    }
}

fn prefix_of(key: &str, arn: &str) -> Option<String> {
    key.strip_prefix(arn)?.strip_prefix('/')?.strip_suffix('*').map(str::to_owned)
}

// The texts of a list in normal form, where a list of one is the text.
fn texts(list: &Json) -> BTreeSet<String> {
    match list {
        Json::String(text) => BTreeSet::from([text.clone()]),
        Json::Array(items) => items.iter().filter_map(Json::as_str).map(str::to_owned).collect(),
        _ => BTreeSet::new(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ARN: &str = "arn:aws:s3:::acme";

    fn principals() -> impl Strategy<Value = BTreeSet<String>> {
        proptest::collection::btree_set("arn:aws:iam::[0-9]{12}:(role/[a-c]|root)", 0..4)
    }

    proptest! {
        #[test]
        fn what_was_written_is_read_back(
            readers in principals(),
            writers in principals(),
            protected_prefixes in proptest::collection::btree_set("[a-z]{0,3}/?\\*?", 0..4),
            versioned: bool,
        ) {
            // Without a prefix to protect, nothing tells whether the bucket is versioned.
            let versioned = versioned || protected_prefixes.is_empty();
            let grants = Grants { readers, writers, protected_prefixes, versioned };
            prop_assert_eq!(Grants::read(&grants.document(ARN)), Some(grants));
        }
    }

    #[test]
    fn a_policy_that_says_more_than_ours_is_not_recognised() {
        let grants =
            Grants { readers: BTreeSet::from(["arn:aws:iam::123456789012:role/r".to_owned()]), ..Grants::default() };
        let mut document = grants.document(ARN);
        let extra = json!({ "Sid": "Extra", "Effect": "Allow", "Principal": "*", "Action": "s3:*", "Resource": ARN });
        document["Statement"].as_array_mut().expect("a list").push(extra);
        assert_eq!(Grants::read(&document), None);
        for other in [Json::Null, json!({}), json!({ "Statement": [] }), json!({ "Statement": [{ "Sid": TLS }] })] {
            assert_eq!(Grants::read(&other), None, "{other}");
        }
    }
}
