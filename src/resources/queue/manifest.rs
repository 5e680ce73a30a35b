//! The manifests of a queue, in the words of Kueue's `v1beta2`; the driver speaks older ones. Built when all they are
//! made from is known and defaults are filled in.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json, json};
use value::Value;

use super::{
    BorrowWithinCohort, CanBorrow, CanPreempt, Flavor, Queue, QueueingStrategy, Reclaim, ResourceQuota, StopPolicy,
    WithinQueue,
};
use crate::{
    components::kube::Quantity,
    resources::{
        Toleration,
        gpu_pool::{Taint, TaintEffect},
    },
};

/// The label that every namespace has, with its name.
const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

/// The queue with each amount in one spelling, so that another one is no change of its objects.
pub(super) fn with_amounts_spelled(queue: &Queue) -> Queue {
    let flavor = |flavor: &Flavor| Flavor { quota: flavor.quota.map(spelled_quota), ..flavor.clone() };
    let flavors = queue.flavors.map(|flavors| flavors.iter().map(flavor).collect());
    Queue { flavors, ..queue.clone() }
}

fn spelled_quota(quota: &BTreeMap<String, ResourceQuota>) -> BTreeMap<String, ResourceQuota> {
    let amount = |amount: &Value<String>| {
        amount.map(|text| Quantity::parse(text).map_or_else(|| text.clone(), |amount| amount.to_string()))
    };
    let spelled = |quota: &ResourceQuota| ResourceQuota {
        nominal: amount(&quota.nominal),
        borrowing_limit: amount(&quota.borrowing_limit),
        lending_limit: amount(&quota.lending_limit),
    };
    quota.iter().map(|(name, quota)| (name.clone(), spelled(quota))).collect()
}

/// The resources that have a quota in any flavor, by name. Every flavor lists them in this order.
pub(super) fn covered(queue: &Queue) -> BTreeSet<&str> {
    let flavors = queue.flavors.get().into_iter().flatten();
    flavors.filter_map(|flavor| flavor.quota.get()).flatten().map(|(name, _)| name.as_str()).collect()
}

/// The ClusterQueue.
pub(super) fn cluster_queue(queue: &Queue) -> Json {
    let preemption = queue.preemption.get();
    let fungibility = queue.flavor_fungibility.get();
    let borrow = preemption.and_then(|preemption| preemption.borrow_within_cohort.get());
    json!({ "spec": {
        "cohortName": queue.cohort.get(),
        "flavorFungibility": {
            "whenCanBorrow": fungibility.and_then(|when| when.when_can_borrow.get()).map(CanBorrow::as_str),
            "whenCanPreempt": fungibility.and_then(|when| when.when_can_preempt.get()).map(CanPreempt::as_str),
        },
        "namespaceSelector": namespace_selector(queue),
        "preemption": {
            "borrowWithinCohort": borrow.map(borrow_within_cohort),
            "reclaimWithinCohort": preemption.and_then(|who| who.reclaim_within_cohort.get()).map(Reclaim::as_str),
            "withinClusterQueue": preemption.and_then(|who| who.within_queue.get()).map(WithinQueue::as_str),
        },
        "queueingStrategy": queue.queueing_strategy.get().map(QueueingStrategy::as_str),
        "resourceGroups": [{ "coveredResources": covered(queue), "flavors": quotas(queue) }],
        "stopPolicy": queue.stop_policy.get().map(StopPolicy::as_str),
    } })
}

fn borrow_within_cohort(borrow: &BorrowWithinCohort) -> Json {
    json!({ "policy": "LowerPriority", "maxPriorityThreshold": borrow.max_priority_threshold.get() })
}

// No selector at all would say the same as the last one, but a selector that is not ours may be anybody's.
fn namespace_selector(queue: &Queue) -> Json {
    let names: Vec<&String> = queue.namespaces.get().into_iter().flat_map(BTreeMap::keys).collect();
    let requirement = if names.is_empty() {
        json!({ "key": NAMESPACE_NAME, "operator": "DoesNotExist" })
    } else {
        json!({ "key": NAMESPACE_NAME, "operator": "In", "values": names })
    };
    json!({ "matchExpressions": [requirement] })
}

fn quotas(queue: &Queue) -> Vec<Json> {
    let flavor = |flavor: &Flavor| {
        let resources: Vec<_> = flavor.quota.get().into_iter().flatten().map(resource).collect();
        json!({ "name": flavor.name.get(), "resources": resources })
    };
    queue.flavors.get().into_iter().flatten().map(flavor).collect()
}

fn resource((name, quota): (&String, &ResourceQuota)) -> Json {
    json!({
        "name": name,
        "nominalQuota": quota.nominal.get(),
        "borrowingLimit": quota.borrowing_limit.get(),
        "lendingLimit": quota.lending_limit.get(),
    })
}

/// The ResourceFlavor.
pub(super) fn flavor(flavor: &Flavor) -> Json {
    let labels: Map<_, _> =
        flavor.node_labels.get().into_iter().flatten().map(|(key, value)| (key.clone(), json!(value))).collect();
    let topology = flavor.topology.get().and_then(|topology| topology.name.get());
    json!({ "spec": {
        "nodeLabels": (!labels.is_empty()).then_some(labels),
        "nodeTaints": some(flavor.taints.get().into_iter().flatten().map(taint)),
        "tolerations": some(flavor.tolerations.get().into_iter().flatten().map(Toleration::manifest)),
        "topologyName": topology,
    } })
}

// An empty list is left out, as the server does.
fn some(items: impl Iterator<Item = Json>) -> Option<Vec<Json>> {
    let items: Vec<_> = items.collect();
    (!items.is_empty()).then_some(items)
}

fn taint(taint: &Taint) -> Json {
    json!({ "key": taint.key.get(), "value": said(&taint.value), "effect": taint.effect.get().map(TaintEffect::as_str) })
}

// None and an empty one are the same.
fn said(value: &Value<String>) -> Option<&String> {
    value.get().filter(|text| !text.is_empty())
}

/// The Topology.
pub(super) fn topology(levels: &[String]) -> Json {
    let levels: Vec<_> = levels.iter().map(|label| json!({ "nodeLabel": label })).collect();
    json!({ "spec": { "levels": levels } })
}

/// The LocalQueue, which somebody may have stopped.
pub(super) fn local_queue(queue: &Queue) -> Json {
    json!({ "spec": { "clusterQueue": queue.name.get(), "stopPolicy": StopPolicy::None.as_str() } })
}

/// The WorkloadPriorityClass.
pub(super) fn priority(value: i64) -> Json {
    json!({ "value": value })
}
