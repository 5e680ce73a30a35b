//! What a queue promises that the pools and tenants planned in the same run do not keep.

use std::collections::{BTreeMap, BTreeSet};

use tf_provider::Diagnostics;

use super::{Flavor, Queue, manifest::covered};
use crate::{
    components::kube::{Quantity, uncovered},
    neighbours::{Neighbours, Place},
    resources::gpu_pool::POOL_LABEL,
};

pub(super) fn check(queue: &Queue, neighbours: &Neighbours, complaints: &mut Diagnostics) {
    if queue.cluster.is_pending() {
        return;
    }
    let place = |name: &str| Place { cluster: queue.cluster.get().cloned(), name: name.to_owned() };
    for flavor in queue.flavors.get().into_iter().flatten() {
        // Other labels may be those of several pools, of which not all need be known here.
        let pool = flavor.node_labels.get().and_then(|labels| labels.get(POOL_LABEL));
        if let Some(most) = pool.and_then(|pool| neighbours.pool(&place(pool))) {
            check_quota(flavor, &most, complaints);
        }
    }
    check_namespaces(queue, |name| neighbours.namespace(&place(name)).map(|rules| rules.requested), complaints);
}

fn check_quota(flavor: &Flavor, most: &BTreeMap<String, String>, complaints: &mut Diagnostics) {
    let flavor_name = flavor.name.get().map_or("", String::as_str);
    for (name, quota) in flavor.quota.get().into_iter().flatten() {
        let (Some(text), Some(most)) = (quota.nominal.get(), most.get(name)) else { continue };
        if Quantity::parse(text).zip(Quantity::parse(most)).is_some_and(|(nominal, most)| nominal > most) {
            complaints.warn(
                &quota.nominal,
                format!("The flavor {flavor_name:?} has quota of {text} {name}, and its pool has at most {most}"),
                "Kueue admits workloads by quota alone: those beyond the pool have pods that wait for nodes which never \
                 come, and they hold their quota meanwhile.\n\nLower the quota, or raise the `size.max` of the pool.",
            );
        }
    }
}

// The cluster is asked about the same when something changes; the place is the same, so that it is told once.
fn check_namespaces(queue: &Queue, requested: impl Fn(&str) -> Option<BTreeSet<String>>, complaints: &mut Diagnostics) {
    let flavors = queue.flavors.get().into_iter().flatten();
    if flavors.clone().any(|flavor| !flavor.quota.is_known()) {
        return;
    }
    let covered = covered(queue);
    for namespace in queue.namespaces.get().into_iter().flat_map(BTreeMap::keys) {
        let told = requested(namespace).and_then(|requested| uncovered(namespace, &requested, &covered));
        if let Some((summary, detail)) = told {
            complaints.warn(&queue.flavors, summary, detail);
        }
    }
}
