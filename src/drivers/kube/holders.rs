//! Who holds an object that is to be deleted: the pods that mount a claim, and of Kueue the workloads of a queue, the
//! queues of a flavor, the flavors of a topology. Pure; `diagnosis` asks.

use serde_json::Value as Json;

use super::{
    reader::id_of,
    readiness::{self, find},
};

/// Where to look for holders of an object, and how to know them.
pub(super) struct Holders {
    /// The plural of their kind.
    pub(super) plural: &'static str,
    holds: fn(&Json, &str) -> bool,
}

/// As many are looked through; as many are named.
pub(super) const LOOKED_THROUGH: usize = 500;
const NAMED: usize = 5;

const ALL: [(&str, Holders); 4] = [
    ("PersistentVolumeClaim", Holders { plural: "pods", holds: mounts }),
    ("ClusterQueue", Holders { plural: "workloads", holds: runs_in }),
    ("ResourceFlavor", Holders { plural: "clusterqueues", holds: has_quota_of }),
    ("Topology", Holders { plural: "resourceflavors", holds: refers_to }),
];

/// The holders of objects of this kind.
pub(super) fn of(kind: &str) -> Option<&'static Holders> {
    const { &ALL }.iter().find(|(of, _)| *of == kind).map(|(_, holders)| holders)
}

// === impl Holders ===

impl Holders {
    /// The names of those in a list that hold the object of this name, as one text; none where nobody does.
    pub(super) fn named(&self, list: &Json, name: &str) -> Option<String> {
        let items = list.get("items").and_then(Json::as_array).into_iter().flatten();
        let names: Vec<_> = items.filter(|item| (self.holds)(item, name)).map(id_of).collect();
        let more = names.len().saturating_sub(NAMED);
        let named = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        match more {
            _ if names.is_empty() => None,
            0 => Some(named),
            more => Some(format!("{named} and {more} more")),
        }
    }
}

fn mounts(pod: &Json, claim: &str) -> bool {
    let has_ended = matches!(pod.pointer("/status/phase").and_then(Json::as_str), Some("Succeeded" | "Failed"));
    let mut volumes = pod.pointer("/spec/volumes").and_then(Json::as_array).into_iter().flatten();
    !has_ended && volumes.any(|volume| is(volume.pointer("/persistentVolumeClaim/claimName"), claim))
}

fn runs_in(workload: &Json, queue: &str) -> bool {
    let has_finished = readiness::is(find(workload, "Finished"), "True");
    is(workload.pointer("/status/admission/clusterQueue"), queue) && !has_finished
}

fn has_quota_of(queue: &Json, flavor: &str) -> bool {
    let groups = queue.pointer("/spec/resourceGroups").and_then(Json::as_array).into_iter().flatten();
    let mut flavors = groups.filter_map(|group| group.get("flavors")?.as_array()).flatten();
    flavors.any(|one| is(one.get("name"), flavor))
}

fn refers_to(flavor: &Json, topology: &str) -> bool {
    is(flavor.pointer("/spec/topologyName"), topology)
}

fn is(value: Option<&Json>, text: &str) -> bool {
    value.and_then(Json::as_str) == Some(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn those_who_hold_are_named_and_many_are_counted() {
        let workload = |name: &str, queue: &str, finished: &str| {
            json!({
                "metadata": { "namespace": "a", "name": name },
                "status": {
                    "admission": { "clusterQueue": queue },
                    "conditions": [{ "type": "Finished", "status": finished }],
                },
            })
        };
        let named = |items: Vec<Json>| of("ClusterQueue").unwrap().named(&json!({ "items": items }), "gpu");
        let two = vec![workload("x", "gpu", "False"), workload("y", "other", "False"), workload("z", "gpu", "True")];
        assert_eq!(named(two).as_deref(), Some("a/x"));
        assert_eq!(named(Vec::new()), None);
        let many = (0..7).map(|at| workload(&format!("w{at}"), "gpu", "False")).collect();
        assert_eq!(named(many).as_deref(), Some("a/w0, a/w1, a/w2, a/w3, a/w4 and 2 more"));
    }

    #[test]
    fn a_claim_is_held_by_the_pods_that_mount_it_and_have_not_ended() {
        let pod = |name: &str, claim: &str, phase: &str| {
            let volumes = json!([{ "emptyDir": {} }, { "persistentVolumeClaim": { "claimName": claim } }]);
            let metadata = json!({ "namespace": "ml", "name": name });
            json!({ "metadata": metadata, "spec": { "volumes": volumes }, "status": { "phase": phase } })
        };
        let named = |items: Json| of("PersistentVolumeClaim").unwrap().named(&json!({ "items": items }), "weights");
        assert_eq!(named(json!([pod("a", "other", "Running"), pod("b", "weights", "Succeeded")])), None);
        let two = json!([pod("a", "weights", "Pending"), pod("b", "weights", "Running")]);
        assert_eq!(named(two).as_deref(), Some("ml/a, ml/b"));
    }

    #[test]
    fn flavors_are_held_by_queues_and_topologies_by_flavors() {
        let queue = json!({ "items": [{
            "metadata": { "name": "q" }, "spec": { "resourceGroups": [{ "flavors": [{ "name": "spot" }] }] },
        }] });
        assert_eq!(of("ResourceFlavor").unwrap().named(&queue, "spot").as_deref(), Some("q"));
        assert_eq!(of("ResourceFlavor").unwrap().named(&queue, "other"), None);
        let flavor = json!({ "items": [{ "metadata": { "name": "f" }, "spec": { "topologyName": "racks" } }] });
        assert_eq!(of("Topology").unwrap().named(&flavor, "racks").as_deref(), Some("f"));
        assert!(of("LocalQueue").is_none());
    }
}
