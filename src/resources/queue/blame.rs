//! Which attribute is behind which part of a manifest: where a message of the API server about that part is shown.

use serde_json::Value as Json;
use value::{AttributePath, Value};

use super::Queue;

/// The ClusterQueue's.
pub(super) fn cluster_queue(mut manifest: Value<Json>, queue: &Queue) -> Value<Json> {
    let preemption = |name: &str| queue.preemption.path().attribute(name);
    let fungibility = |name: &str| queue.flavor_fungibility.path().attribute(name);
    for (part, path) in [
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
    ] {
        manifest = manifest.blamed_at(part, path);
    }
    for (at, flavor) in queue.flavors.get().into_iter().flatten().enumerate() {
        let (part, path) = (format!("/spec/resourceGroups/0/flavors/{at}"), queue.flavors.path().index(at));
        let quota = path.attribute("quota");
        let names = flavor.quota.get().into_iter().flatten();
        for (position, (name, _)) in names.enumerate() {
            manifest = quotas(manifest, &format!("{part}/resources/{position}"), &quota.key(name));
        }
        manifest = manifest
            .blamed_at(format!("{part}/resources"), quota)
            .blamed_at(format!("{part}/name"), path.attribute("name"));
        manifest = manifest.blamed_at(part, path);
    }
    manifest.blamed_on(&queue.flavors)
}

fn quotas(manifest: Value<Json>, part: &str, path: &AttributePath) -> Value<Json> {
    manifest
        .blamed_at(part, path.clone())
        .blamed_at(format!("{part}/nominalQuota"), path.attribute("nominal"))
        .blamed_at(format!("{part}/borrowingLimit"), path.attribute("borrowing_limit"))
        .blamed_at(format!("{part}/lendingLimit"), path.attribute("lending_limit"))
}

/// The ResourceFlavor's, of the flavor at `path`.
pub(super) fn flavor(manifest: Value<Json>, path: AttributePath) -> Value<Json> {
    manifest
        .blamed_at("/spec/nodeLabels", path.attribute("node_labels"))
        .blamed_at("/spec/nodeTaints", path.attribute("taints"))
        .blamed_at("/spec/tolerations", path.attribute("tolerations"))
        .blamed_at("/spec/topologyName", path.attribute("topology"))
        .blamed_at("", path)
}
