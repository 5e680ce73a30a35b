//! What is complained of.

use serde_json::{Value as Json, json};

use super::config;
use crate::resources::{GpuPool, testing::complaints};

fn check(change: Json, expected: &[&str]) {
    assert_eq!(complaints::<GpuPool>(&config(change)), expected);
}

#[test]
fn a_sound_pool_is_not_complained_about() {
    check(json!({}), &[]);
    check(json!({ "size": { "min": 0, "max": 1, "initial": 0 } }), &[]);
}

#[test]
fn values_not_known_yet_are_not_complained_about() {
    for name in
        ["cluster", "name", "instance_types", "subnet_ids", "size", "capacity", "image", "disk", "labels", "taints"]
    {
        check(json!({ name: "(unknown)" }), &[]);
    }
}

#[test]
fn names_leave_room_for_a_second_group() {
    check(json!({ "name": "p".repeat(61) }), &[]);
    let long = "p".repeat(62);
    check(json!({ "name": long }), &[&format!("error at name: The pool name {long:?} cannot be used")]);
    check(json!({ "name": "gpu." }), &["error at name: The pool name \"gpu.\" cannot be used"]);
}

#[test]
fn types_or_an_accelerator_are_needed_and_not_both() {
    check(json!({ "instance_types": null }), &["error at instance_types: Nothing says what the nodes of the pool are"]);
    check(
        json!({ "accelerator": { "product": "A10G" } }),
        &["error at accelerator: Both `instance_types` and `accelerator` are set"],
    );
    check(
        json!({ "instance_types": null, "accelerator": { "product": "L4", "count": 3 } }),
        &["error at accelerator: No instance type has the accelerator \"L4\" asked for"],
    );
}

#[test]
fn a_type_that_is_none_is_an_error_and_one_of_tomorrow_a_warning() {
    check(
        json!({ "instance_types": ["m5.large"] }),
        &["error at instance_types: \"m5.large\" is no instance type with an accelerator"],
    );
    check(
        json!({ "instance_types": ["g9.xlarge"] }),
        &["warning at instance_types: The instance type \"g9.xlarge\" is not known to this version"],
    );
    check(json!({ "instance_types": [] }), &["error at instance_types: The pool has 0 instance types"]);
    check(
        json!({ "instance_types": ["g5.xlarge", "g5.xlarge"] }),
        &["error at instance_types: The instance type \"g5.xlarge\" is listed twice"],
    );
}

#[test]
fn a_group_has_one_image() {
    check(
        json!({ "instance_types": ["g5.xlarge", "g5g.xlarge"] }),
        &["error at instance_types: The instance types need different images"],
    );
    check(
        json!({ "instance_types": ["g5.xlarge", "inf2.xlarge"] }),
        &["error at instance_types: The instance types need different images"],
    );
    check(json!({ "instance_types": ["g7.2xlarge"] }), &["error at instance_types: EKS has no image for these nodes"]);
    check(json!({ "image": { "family": "al2" } }), &["error at image.family: The image family cannot be used"]);
}

#[test]
fn mixed_shapes_are_warned_about_where_they_matter() {
    let mixed = ["g5.xlarge", "g5.2xlarge"];
    let warning = "warning at instance_types: The instance types differ in shape";
    check(json!({ "instance_types": mixed }), &[warning]);
    check(json!({ "instance_types": mixed, "scaler": "none", "size": { "min": 1, "max": 1 } }), &[]);
    check(
        json!({ "instance_types": mixed, "scaler": "none", "purpose": "training", "size": { "min": 1, "max": 1 } }),
        &[warning],
    );
}

#[test]
fn spot_of_one_type_or_one_zone_is_warned_about() {
    check(
        json!({ "capacity": { "type": "spot" }, "subnet_ids": ["subnet-a"] }),
        &[
            "warning at instance_types: Spot capacity of a single instance type",
            "warning at subnet_ids: Spot capacity in a single subnet",
        ],
    );
}

#[test]
fn what_this_version_cannot_do_is_refused() {
    check(
        json!({ "scaler": "karpenter" }),
        &["error at scaler: Scaling by Karpenter is not yet supported by this version"],
    );
    check(json!({ "efa": true }), &["error at efa: Elastic Fabric Adapter is not yet supported by this version"]);
    check(
        json!({ "placement": { "strategy": "cluster" } }),
        &["error at placement: Placement of nodes is not yet supported by this version"],
    );
    check(
        json!({ "capacity": { "type": "capacity_block", "reservation_id": "cr-0abc" } }),
        &["error at capacity.type: Capacity of type \"capacity_block\" is not yet supported by this version"],
    );
}

#[test]
fn a_reservation_is_named_or_left_out() {
    check(
        json!({ "capacity": { "type": "reserved", "reservation_id": "" } }),
        &[
            "error at capacity.reservation_id: The id of the capacity reservation is empty",
            "error at capacity.type: Capacity of type \"reserved\" is not yet supported by this version",
        ],
    );
    check(
        json!({ "capacity": { "reservation_id": "cr-0abc" } }),
        &["error at capacity.reservation_id: Capacity of type \"on_demand\" uses no reservation"],
    );
}

#[test]
fn sizes_are_in_order() {
    check(json!({ "size": { "max": 0 } }), &["error at size.max: The pool can never have a node"]);
    check(
        json!({ "size": { "min": 3, "max": 2 } }),
        &["error at size.min: The smallest size of the pool is above the largest"],
    );
    check(json!({ "size": { "max": 2, "initial": 3 } }), &["error at size.initial: The initial size is out of range"]);
    check(
        json!({ "size": { "min": 1, "max": 2 }, "scaler": "none" }),
        &["warning at scaler: Nothing moves the size of the pool"],
    );
}

#[test]
fn disks_are_as_ebs_has_them() {
    check(json!({ "disk": { "size_gib": 19 } }), &["error at disk.size_gib: `disk.size_gib` is out of range"]);
    check(json!({ "disk": { "iops": 2999 } }), &["error at disk.iops: `disk.iops` is out of range"]);
    check(
        json!({ "disk": { "throughput_mibps": 2001 } }),
        &["error at disk.throughput_mibps: `disk.throughput_mibps` is out of range"],
    );
    check(
        json!({ "disk": { "type": "st1" } }),
        &["error at disk.type: A volume of type \"st1\" cannot be a node's disk"],
    );
    check(
        json!({ "disk": { "type": "gp2", "iops": 3000 } }),
        &["error at disk.iops: A volume of type \"gp2\" takes no `iops`"],
    );
    check(json!({ "disk": { "type": "io2" } }), &["error at disk.iops: A volume of type \"io2\" needs `iops`"]);
}

#[test]
fn a_pool_that_can_cost_more_than_allowed_is_refused_with_the_arithmetic() {
    let change = json!({ "size": { "max": 20 }, "max_hourly_cost_usd": 20 });
    check(change.clone(), &["error at max_hourly_cost_usd: The pool can cost 20.12 USD an hour"]);
    check(json!({ "size": { "max": 20 }, "max_hourly_cost_usd": 20.12 }), &[]);
    check(
        json!({ "instance_types": ["p5e.48xlarge"], "max_hourly_cost_usd": 20 }),
        &["warning at max_hourly_cost_usd: The cost of the pool is not known"],
    );
    let pool: GpuPool = crate::resources::testing::decoded(&config(change));
    let mut told = tf_provider::Diagnostics::new();
    crate::composite::Composite::check(&pool, &mut told);
    let detail = told.iter().next().map(|told| told.detail.clone()).unwrap_or_default();
    assert!(detail.starts_with("20 nodes (`size.max`) x 1.006 USD (\"g5.xlarge\") = 20.12 USD an hour"), "{detail}");
}

#[test]
fn labels_of_others_and_taints_that_clash_are_refused() {
    for key in [
        "karpenter.sh/capacity-type",
        "mlplat.io/pool",
        "kubernetes.io/role",
        "eks.amazonaws.com/x",
        "nvidia.com/gpu.product",
        "a b",
    ] {
        check(json!({ "labels": { key: "x" } }), &[&format!("error at labels: The label {key:?} cannot be used")]);
    }
    check(json!({ "labels": { "node.kubernetes.io/role": "gpu", "example.com/a": "", "node-type": "x" } }), &[]);
    check(json!({ "labels": { "a": "not valid" } }), &["error at labels: The label \"a\" cannot be used"]);
    check(
        json!({ "taints": [
            { "key": "a", "value": "x", "effect": "NoSchedule" }, { "key": "a", "value": "y", "effect": "NO_SCHEDULE" },
        ] }),
        &["error at taints: The taint \"a\" is there twice with the effect NoSchedule"],
    );
}

#[test]
fn a_role_is_given_by_its_arn_and_subnets_by_their_ids() {
    check(
        json!({ "node_role_arn": "nodes", "subnet_ids": [] }),
        &["error at subnet_ids: A subnet is missing", "error at node_role_arn: The node role is not given by its ARN"],
    );
}
