//! `mlplat_gpu_pool`.

use serde_json::{Value as Json, json};

use super::{Change, Effect, Subject, change, timeouts};
use crate::json::other_than;

pub(crate) const SUBJECT: Subject = Subject {
    resource: "mlplat_gpu_pool",
    changes,
    unsupported: &["capacity.reservation_id", "efa", "placement.strategy", "placement.zone"],
    mirrors: &[
        ("node_group", "ami_type", |_| json!("BOTTLEROCKET_x86_64_NVIDIA"), "image.family"),
        ("node_group", "capacity_type", |_| json!("SPOT"), "capacity.type"),
        ("node_group", "instance_types", other_than, "instance_types"),
        ("node_group", "labels", other_than, "labels"),
        ("node_group", "max", other_than, "size.max"),
        ("node_group", "min", other_than, "size.min"),
        ("node_group", "node_repair", other_than, "node_repair"),
        ("node_group", "node_role_arn", other_than, "node_role_arn"),
        ("node_group", "subnet_ids", other_than, "subnet_ids"),
        ("node_group", "tags", other_than, "tags"),
        ("node_group", "taints", |_| json!([{ "key": "theirs", "effect": "NoExecute" }]), "taints"),
        ("launch_template", "volume_iops", other_than, "disk.iops"),
        ("launch_template", "volume_size_gib", other_than, "disk.size_gib"),
        ("launch_template", "volume_throughput_mibps", other_than, "disk.throughput_mibps"),
        ("launch_template", "volume_type", other_than, "disk.type"),
    ],
    twin: Vec::new,
};

fn changes() -> Vec<Change> {
    use Effect::{InPlace, Replaces, Rolls};
    let full = |effect, attribute, to| change("full", effect, attribute, to);
    let mut changes = vec![
        full(Replaces, "cluster", json!("ml-dev")),
        full(Replaces, "name", json!("gpu-other")),
        full(InPlace, "purpose", json!("interactive")),
        full(Rolls, "instance_types", json!(["g5.xlarge"])),
        full(Rolls, "subnet_ids", json!(["subnet-0c2d3e4f506172839"])),
        full(InPlace, "size.min", json!(1)),
        full(InPlace, "size.max", json!(9)),
        full(InPlace, "size.initial", json!(4)),
        full(Rolls, "capacity.type", json!("spot")),
        full(InPlace, "scaler", json!("none")).swept(),
        full(Rolls, "image.family", json!("bottlerocket")),
        full(InPlace, "image.release", json!("1.36.1-20261201")),
        full(InPlace, "disk.size_gib", json!(500)).swept(),
        Change { along: vec![("disk.throughput_mibps", Json::Null)], ..full(InPlace, "disk.type", json!("io1")) },
        full(InPlace, "disk.iops", json!(5000)),
        full(InPlace, "disk.throughput_mibps", json!(400)),
        full(Rolls, "node_role_arn", json!("arn:aws:iam::123456789012:role/other-nodes")),
        full(InPlace, "labels", json!({ "node-type": "gpu", "tier": "b" })),
        full(InPlace, "taints", json!([{ "key": "team", "value": "search", "effect": "NoExecute" }])),
        full(InPlace, "taints", json!([])),
        full(InPlace, "node_repair", json!(true)),
        full(InPlace, "max_hourly_cost_usd", json!(91.5)),
        full(InPlace, "tags", json!({ "data-class": "internal" })).swept(),
        change("asking", Rolls, "accelerator.product", json!("L4")),
        change("asking", Rolls, "accelerator.count", json!(4)),
        change("asking", InPlace, "accelerator.memory_gib_min", json!(13)),
    ];
    changes.extend(timeouts("full"));
    changes
}
