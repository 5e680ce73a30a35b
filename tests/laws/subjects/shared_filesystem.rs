//! `mlplat_shared_filesystem`.

use serde_json::{Value as Json, json};

use super::{Change, Effect, Subject, change, timeouts};
use crate::json::other_than;

pub(crate) const SUBJECT: Subject = Subject {
    resource: "mlplat_shared_filesystem",
    changes,
    unsupported: &[],
    mirrors: &[
        ("file_system", "throughput_mode", |_| json!("bursting"), "throughput.mode"),
        ("file_system", "provisioned_mibps", other_than, "throughput.mibps"),
        ("file_system", "tags", other_than, "tags"),
        ("lifecycle", "transitions", |_| json!({ "to_ia": "AFTER_7_DAYS" }), "transition_to_ia_after_days"),
        ("backup", "enabled", other_than, "backup"),
        ("security_group", "ingress", |_| json!([]), "client_security_group_ids"),
        ("mount_targets", "subnet_ids", other_than, "subnet_ids"),
    ],
    twin: || vec![("volumes", json!([]))],
};

fn changes() -> Vec<Change> {
    use Effect::{InPlace, Replaces};
    let full = |effect, attribute, to| change("full", effect, attribute, to);
    let mut changes = vec![
        full(Replaces, "name", json!("ml-other")),
        full(InPlace, "subnet_ids", json!(["subnet-0a1b2c3d4e5f60001"])),
        full(InPlace, "client_security_group_ids", json!(["sg-0a1b2c3d4e5f60003"])),
        Change { along: vec![("throughput.mibps", Json::Null)], ..full(InPlace, "throughput.mode", json!("elastic")) },
        full(InPlace, "throughput.mibps", json!(512)),
        full(InPlace, "transition_to_ia_after_days", json!(90)),
        full(Replaces, "kms_key_arn", json!("arn:aws:kms:us-east-1:123456789012:key/ffff")),
        full(InPlace, "backup", json!(false)),
        full(InPlace, "cluster", json!("ml-dev")),
        full(InPlace, "volumes", json!([])),
        full(InPlace, "adopt", json!("always")),
        full(InPlace, "allow_destroy_with_data", json!(false)),
        full(InPlace, "tags", json!({ "data-class": "secret", "more": "" })),
    ];
    changes.extend(timeouts("full"));
    changes
}
