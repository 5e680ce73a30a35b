//! `mlplat_model_bucket`.

use serde_json::json;

use super::{Change, Effect, Subject, change, timeouts};
use crate::json::other_than;

pub(crate) const SUBJECT: Subject = Subject {
    resource: "mlplat_model_bucket",
    changes,
    unsupported: &[],
    mirrors: &[
        ("bucket", "tags", other_than, "tags"),
        ("encryption", "kms_key_arn", other_than, "kms_key_arn"),
        ("versioning", "enabled", other_than, "versioning"),
    ],
    twin: Vec::new,
};

fn changes() -> Vec<Change> {
    use Effect::{InPlace, Replaces};
    let full = |effect, attribute, to| change("full", effect, attribute, to);
    let mut changes = vec![
        full(Replaces, "name", json!("acme-ml-models-lab")),
        full(InPlace, "versioning", json!(false)),
        full(InPlace, "kms_key_arn", json!("arn:aws:kms:us-east-1:123456789012:key/ffff")),
        full(InPlace, "retention", json!([{ "prefix": "logs/", "expire_after_days": 15 }])),
        full(InPlace, "retention", json!([])),
        full(InPlace, "protected_prefixes", json!(["released/"])),
        full(InPlace, "protected_prefixes", json!([])),
        full(InPlace, "noncurrent_expire_after_days", json!(46)),
        full(InPlace, "abort_incomplete_uploads_after_days", json!(4)),
        full(InPlace, "readers", json!(["arn:aws:iam::123456789012:role/other"])),
        full(InPlace, "writers", json!(["arn:aws:iam::123456789012:role/other"])),
        full(InPlace, "allow_destroy_with_data", json!(false)),
        full(InPlace, "tags", json!({ "data-class": "secret", "more": "" })),
    ];
    changes.extend(timeouts("full"));
    changes
}
