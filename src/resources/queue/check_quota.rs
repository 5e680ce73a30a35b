//! Whether the quotas of a queue are amounts that Kueue takes, and whether workloads can be admitted with them.

use std::collections::BTreeSet;

use tf_provider::Diagnostics;
use value::Value;

use super::{Flavor, Queue, ResourceQuota, manifest::covered};
use crate::{components::kube::Quantity, resources::kubernetes::is_qualified_name};

/// Of the resources of a flavor, and of resources times flavors.
const MOST_RESOURCES: usize = 64;
const MOST_QUOTAS: usize = 512;

/// What nearly every pod asks for.
const ALWAYS_ASKED: [&str; 2] = ["cpu", "memory"];

pub(super) fn check(queue: &Queue, complaints: &mut Diagnostics) {
    let covered = covered(queue);
    let flavors = queue.flavors.get().into_iter().flatten();
    let known: Vec<&Flavor> = flavors.filter(|flavor| flavor.quota.is_known()).collect();
    for flavor in &known {
        check_coverage(flavor, &covered, complaints);
        for (name, quota) in flavor.quota.get().into_iter().flatten() {
            check_resource_name(flavor, name, complaints);
            check_quota(queue, quota, complaints);
        }
    }
    check_number(queue, known.len(), covered.len(), complaints);
    let is_known = queue.flavors.get().is_some_and(|flavors| flavors.len() == known.len());
    if is_known && !covered.is_empty() {
        check_asked(queue, &covered, complaints);
    }
}

// A workload gets all that it asks for of one flavor.
fn check_coverage(flavor: &Flavor, covered: &BTreeSet<&str>, complaints: &mut Diagnostics) {
    let own = flavor.quota.get();
    let missing: Vec<&str> =
        covered.iter().copied().filter(|name| own.is_none_or(|own| !own.contains_key(*name))).collect();
    let name = flavor.name.get().map_or("", String::as_str);
    if own.is_some_and(std::collections::BTreeMap::is_empty) {
        complaints.error(
            &flavor.quota,
            format!("The flavor {name:?} has no quota"),
            "Kueue takes a flavor only with a quota of some resource.\n\nGive one for each resource that pods ask for.",
        );
    } else if !missing.is_empty() {
        complaints.error(
            &flavor.quota,
            format!("The flavor {name:?} has no quota of {}", listed(&missing)),
            "Other flavors of the queue have, and Kueue refuses a queue in which not every flavor covers every \
             resource.\n\nGive the flavor a quota of each; 0 where its nodes have none.",
        );
    }
}

fn check_resource_name(flavor: &Flavor, name: &str, complaints: &mut Diagnostics) {
    if !is_qualified_name(name) {
        complaints.error(
            &flavor.quota,
            format!("{name:?} is not the name of a resource"),
            "Kubernetes would refuse it.\n\nGive a name as pods ask for it, such as \"cpu\" or \"nvidia.com/gpu\".",
        );
    } else if let Some(plain) = name.strip_prefix("requests.").or_else(|| name.strip_prefix("limits.")) {
        complaints.error(
            &flavor.quota,
            format!("No pod asks for {name:?}"),
            format!("Only a ResourceQuota names resources so; Kueue counts what pods request.\n\nWrite {plain:?}."),
        );
    }
}

fn check_quota(queue: &Queue, quota: &ResourceQuota, complaints: &mut Diagnostics) {
    let nominal = amount(&quota.nominal, complaints);
    for (limit, name) in [(&quota.borrowing_limit, "borrowing_limit"), (&quota.lending_limit, "lending_limit")] {
        let amount = amount(limit, complaints);
        if limit.is_known() && queue.cohort.is_null() {
            complaints.error(
                limit,
                format!("`{name}` is given to a queue without a cohort"),
                "Quota is borrowed and lent within a cohort, and Kueue refuses the limit without one.\n\nGive `cohort`, \
                 or leave the limit out.",
            );
        }
        if name == "lending_limit" && amount.zip(nominal).is_some_and(|(lent, own)| lent > own) {
            complaints.error(
                limit,
                "More is lent than there is",
                "`lending_limit` is larger than `nominal`.\n\nGive at most the nominal quota, or leave it out to lend \
                 all that is not used.",
            );
        }
    }
}

// The amount that a text is. Complains of one that is none.
fn amount(value: &Value<String>, complaints: &mut Diagnostics) -> Option<Quantity> {
    let text = value.get()?;
    let amount = Quantity::parse(text).filter(|amount| !amount.is_negative());
    if amount.is_none() {
        complaints.error(
            value,
            format!("{text:?} is not an amount"),
            "Kubernetes cannot read it as one that is not below zero.\n\nWrite it such as 32, \"500m\" or \"2Ti\".",
        );
    }
    amount
}

fn check_number(queue: &Queue, flavors: usize, resources: usize, complaints: &mut Diagnostics) {
    if resources > MOST_RESOURCES || flavors.saturating_mul(resources) > MOST_QUOTAS {
        complaints.error(
            &queue.flavors,
            format!("The queue has too many quotas: {flavors} flavors of {resources} resources"),
            format!(
                "Kueue takes at most {MOST_RESOURCES} resources and {MOST_QUOTAS} quotas.\n\nMake several queues in one \
                 `cohort`."
            ),
        );
    }
}

// A workload that asks for what has no quota waits for ever.
fn check_asked(queue: &Queue, covered: &BTreeSet<&str>, complaints: &mut Diagnostics) {
    let missing: Vec<_> = ALWAYS_ASKED.into_iter().filter(|name| !covered.contains(name)).collect();
    if !missing.is_empty() {
        complaints.warn(
            &queue.flavors,
            format!("No workload that asks for {} is ever admitted", listed(&missing)),
            "The queue has no quota of it, and nearly every pod asks for CPU and memory.\n\nGive each flavor a quota of \
             it.",
        );
    }
}

fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}
