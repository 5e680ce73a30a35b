//! What AWS would refuse of a pool, what this version cannot do, and what would not do what it seems to.

use tf_provider::Diagnostics;
use value::Value;

use super::{
    GpuPool,
    attributes::{Capacity, CapacityType, Disk, Scaler, Size},
    check_hardware, check_nodes,
    explain::counted,
};
use crate::{
    catalog::ImageFamily,
    resources::{arn, tags},
};

/// EKS allows 63 characters, and the second slot's name appends two.
const NAME_LIMIT: usize = 61;
const CLUSTER_NAME_LIMIT: usize = 100;
/// SSD types, from which instances can boot.
const EBS_TYPES: [&str; 4] = ["gp3", "gp2", "io1", "io2"];

pub(super) fn check(pool: &GpuPool, complaints: &mut Diagnostics) {
    check_name(&pool.cluster, "cluster", CLUSTER_NAME_LIMIT, complaints);
    check_name(&pool.name, "pool", NAME_LIMIT, complaints);
    check_hardware::check(pool, complaints);
    check_subnets(pool, complaints);
    if let Some(size) = pool.size.get() {
        check_size(size, pool, complaints);
    }
    if let Some(capacity) = pool.capacity.get() {
        check_capacity(capacity, complaints);
    }
    check_unsupported(pool, complaints);
    check_image(pool, complaints);
    if let Some(disk) = pool.disk.get() {
        check_disk(disk, complaints);
    }
    check_role(&pool.node_role_arn, complaints);
    check_nodes::check(pool, complaints);
    tags::check(&pool.tags, complaints);
}

fn check_name(name: &Value<String>, of: &str, limit: usize, complaints: &mut Diagnostics) {
    let Some(text) = name.get() else { return };
    let is_end = |c: char| c.is_ascii_alphanumeric();
    let is_fine =
        text.chars().all(|c| is_end(c) || c == '-' || c == '_') && text.starts_with(is_end) && text.ends_with(is_end);
    if !is_fine || text.len() > limit {
        complaints.error(
            name,
            format!("The {of} name {text:?} cannot be used"),
            format!(
                "It has {} characters.\n\nUse 1 to {limit} letters, digits, hyphens and underscores, with a letter or \
                 digit at both ends.",
                text.chars().count()
            ),
        );
    }
}

fn check_subnets(pool: &GpuPool, complaints: &mut Diagnostics) {
    let Some(subnets) = pool.subnet_ids.get() else { return };
    if subnets.is_empty() || subnets.contains("") {
        complaints.error(
            &pool.subnet_ids,
            "A subnet is missing",
            "Nodes start in subnets of the cluster's VPC, and one of the ids here is empty or there is none.\n\n\
             Give the ids, for example `data.mlplat_cluster.main.subnet_ids`.",
        );
    }
}

fn check_size(size: &Size, pool: &GpuPool, complaints: &mut Diagnostics) {
    let (min, max, initial) =
        (size.min.get().copied().unwrap_or(0), size.max.get().copied(), size.initial.get().copied());
    let min_is_known = !size.min.is_pending();
    if max == Some(0) {
        complaints.error(&size.max, "The pool can never have a node", "`size.max` is 0.\n\nGive at least 1.");
    }
    if let Some(max) = max.filter(|max| min_is_known && *max < min) {
        complaints.error(
            &size.min,
            "The smallest size of the pool is above the largest",
            format!("`size.min` is {min} and `size.max` is {max}.\n\nLower `size.min` or raise `size.max`."),
        );
    }
    let is_below = |initial: u32| min_is_known && initial < min;
    if let Some(initial) = initial.filter(|initial| is_below(*initial) || max.is_some_and(|max| *initial > max)) {
        let range = format!("{min} to {}", max.map_or_else(|| "an unknown maximum".to_owned(), |max| max.to_string()));
        complaints.error(
            &size.initial,
            "The initial size is out of range",
            format!("`size.initial` is {initial}, and the pool may have {range} nodes.\n\nChoose a number in that range, or leave it out for `size.min`."),
        );
    }
    if pool.scaler.get() == Some(&Scaler::None) && min_is_known && max.is_some_and(|max| max > min) {
        complaints.warn(
            &pool.scaler,
            "Nothing moves the size of the pool",
            format!(
                "With `scaler = \"none\"` the pool stays at {}, whatever `size.max` allows.\n\n\
                 Choose \"cluster_autoscaler\", or give `size.min` the number of nodes wanted.",
                counted(initial.unwrap_or(min).into())
            ),
        );
    }
}

fn check_capacity(capacity: &Capacity, complaints: &mut Diagnostics) {
    let id = &capacity.reservation_id;
    if id.get().is_some_and(|id| id.trim().is_empty()) {
        complaints.error(
            id,
            "The id of the capacity reservation is empty",
            "AWS would take it for no reservation at all and start nodes on demand.\n\n\
             Give an id such as \"cr-0123456789abcdef0\", or leave it out.",
        );
    }
    let kind = capacity.kind.get().copied().unwrap_or(CapacityType::OnDemand);
    match kind {
        CapacityType::Reserved | CapacityType::CapacityBlock => {
            if id.is_null() {
                complaints.error(
                    id,
                    format!("Capacity of type \"{kind}\" needs a reservation"),
                    "Nothing says which reservation the nodes are to use.\n\nSet `capacity.reservation_id`.",
                );
            }
            unsupported(
                &capacity.kind,
                &format!("Capacity of type \"{kind}\""),
                "Use \"on_demand\" or \"spot\"",
                complaints,
            );
        }
        CapacityType::OnDemand | CapacityType::Spot if id.is_known() && !capacity.kind.is_pending() => complaints
            .error(
                id,
                format!("Capacity of type \"{kind}\" uses no reservation"),
                "`capacity.reservation_id` would have no effect.\n\nLeave it out.",
            ),
        CapacityType::OnDemand | CapacityType::Spot => {}
    }
}

fn check_unsupported(pool: &GpuPool, complaints: &mut Diagnostics) {
    if pool.scaler.get() == Some(&Scaler::Karpenter) {
        unsupported(&pool.scaler, "Scaling by Karpenter", "Use \"cluster_autoscaler\" or \"none\"", complaints);
    }
    if pool.efa.get() == Some(&true) {
        unsupported(&pool.efa, "Elastic Fabric Adapter", "Set `efa = false`, or leave it out", complaints);
    }
    if pool.placement.is_known() {
        unsupported(
            &pool.placement,
            "Placement of nodes",
            "Leave `placement` out; one subnet keeps nodes in one zone",
            complaints,
        );
    }
}

fn unsupported<T>(value: &Value<T>, what: &str, instead: &str, complaints: &mut Diagnostics) {
    complaints.error(
        value,
        format!("{what} is not yet supported by this version"),
        format!("The provider knows the setting and cannot carry it out, so it does not pretend to.\n\n{instead}."),
    );
}

fn check_image(pool: &GpuPool, complaints: &mut Diagnostics) {
    let Some(image) = pool.image.get() else { return };
    if let Some(Err(reason)) = image.family.get().map(|name| ImageFamily::parse(name)) {
        complaints.error(
            &image.family,
            "The image family cannot be used",
            format!("{reason}\n\nChanging it rolls the pool."),
        );
    }
    if image.release.get().is_some_and(|release| release.trim().is_empty()) {
        complaints.error(
            &image.release,
            "The image release is empty",
            "An empty text names no release.\n\nGive one such as \"1.36.0-20261110\", or leave it out for the newest.",
        );
    }
}

fn check_disk(disk: &Disk, complaints: &mut Diagnostics) {
    let kind = disk.kind.get().map_or("gp3", String::as_str);
    if !EBS_TYPES.contains(&kind) {
        complaints.error(
            &disk.kind,
            format!("A volume of type {kind:?} cannot be a node's disk"),
            format!("Nodes start from SSD volumes.\n\nUse one of {}.", EBS_TYPES.join(", ")),
        );
        return;
    }
    let (largest, iops, throughput) = match kind {
        "gp3" => (65_536, Some(3_000..=80_000), Some(125..=2_000)),
        "io1" => (16_384, Some(100..=64_000), None),
        "io2" => (65_536, Some(100..=256_000), None),
        _ => (16_384, None, None),
    };
    within(&disk.size_gib, "size_gib", kind, Some(20..=largest), complaints);
    within(&disk.iops, "iops", kind, iops, complaints);
    within(&disk.throughput_mibps, "throughput_mibps", kind, throughput, complaints);
    if kind.starts_with("io") && disk.iops.is_null() {
        complaints.error(
            &disk.iops,
            format!("A volume of type {kind:?} needs `iops`"),
            "EBS has no default for it.\n\nSet `disk.iops`, or use \"gp3\".",
        );
    }
}

fn within(
    value: &Value<u32>,
    name: &str,
    kind: &str,
    range: Option<std::ops::RangeInclusive<u32>>,
    complaints: &mut Diagnostics,
) {
    let Some(given) = value.get() else { return };
    match range {
        None => complaints.error(
            value,
            format!("A volume of type {kind:?} takes no `{name}`"),
            "EBS would refuse it.\n\nLeave it out, or use \"gp3\".",
        ),
        Some(range) if !range.contains(given) => complaints.error(
            value,
            format!("`disk.{name}` is out of range"),
            format!(
                "It is {given}.\n\nGive {} to {} for a node's volume of type {kind:?}.",
                range.start(),
                range.end()
            ),
        ),
        Some(_) => {}
    }
}

fn check_role(role: &Value<String>, complaints: &mut Diagnostics) {
    let Some(text) = role.get().filter(|text| arn::role_name(text).is_none()) else { return };
    complaints.error(
        role,
        "The node role is not given by its ARN",
        format!(
            "{text:?} is not the ARN of an IAM role.\n\nGive one such as \"arn:aws:iam::123456789012:role/nodes\", or \
             leave it out to have a role made."
        ),
    );
}
