//! Which attribute is behind which part of a manifest: where a message of the API server about that part is shown.

use serde_json::Value as Json;
use value::{AttributePath, Value};

use super::{Flavor, Queue};

/// The ClusterQueue's.
pub(super) fn cluster_queue(manifest: Value<Json>, queue: &Queue) -> Value<Json> {
    let preemption = |name: &str| queue.preemption.path().attribute(name);
    let fungibility = |name: &str| queue.flavor_fungibility.path().attribute(name);
    let flavors = queue.flavors.get().into_iter().flatten().enumerate();
    let quotas = flavors.flat_map(|(at, flavor)| quotas(at, flavor, &queue.flavors.path().index(at)));
    manifest.blamed_on(&queue.flavors).blamed_within(quotas).blamed_within([
        ("/spec/cohortName", queue.cohort.path()),
        ("/spec/flavorFungibility/whenCanBorrow", fungibility("when_can_borrow")),
        ("/spec/flavorFungibility/whenCanPreempt", fungibility("when_can_preempt")),
        ("/spec/namespaceSelector", queue.namespaces.path()),
        ("/spec/preemption", queue.preemption.path()),
        ("/spec/preemption/borrowWithinCohort", preemption("borrow_within_cohort")),
        ("/spec/preemption/reclaimWithinCohort", preemption("reclaim_within_cohort")),
        ("/spec/preemption/withinClusterQueue", preemption("within_queue")),
        ("/spec/queueingStrategy", queue.queueing_strategy.path()),
        ("/spec/stopPolicy", queue.stop_policy.path()),
    ])
}

// Those of the flavor at this place of the queue and of the configuration.
fn quotas(at: usize, flavor: &Flavor, path: &AttributePath) -> Vec<(String, AttributePath)> {
    let (part, quota) = (format!("/spec/resourceGroups/0/flavors/{at}"), path.attribute("quota"));
    let mut parts = vec![
        (part.clone(), path.clone()),
        (format!("{part}/name"), path.attribute("name")),
        (format!("{part}/resources"), quota.clone()),
    ];
    for (position, (name, _)) in flavor.quota.get().into_iter().flatten().enumerate() {
        let (part, path) = (format!("{part}/resources/{position}"), quota.key(name));
        parts.extend([
            (format!("{part}/nominalQuota"), path.attribute("nominal")),
            (format!("{part}/borrowingLimit"), path.attribute("borrowing_limit")),
            (format!("{part}/lendingLimit"), path.attribute("lending_limit")),
            (part, path),
        ]);
    }
    parts
}

/// The ResourceFlavor's, of the flavor at `path`.
pub(super) fn flavor(manifest: Value<Json>, path: AttributePath) -> Value<Json> {
    manifest.blamed_within([
        ("/spec/nodeLabels", path.attribute("node_labels")),
        ("/spec/nodeTaints", path.attribute("taints")),
        ("/spec/tolerations", path.attribute("tolerations")),
        ("/spec/topologyName", path.attribute("topology")),
        ("", path),
    ])
}
