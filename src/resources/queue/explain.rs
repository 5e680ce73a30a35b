//! What a change of a queue would run into, told before it is done.

use converge::{Action, Document, Ledger, Plan};
use serde_json::Value as Json;
use tf_provider::Diagnostics;

use super::Queue;

/// Kueue cannot change the levels of a Topology, nor what says which nodes a flavor with one has.
pub(super) fn explain(queue: &Queue, plan: &Plan, ledger: &Ledger, complaints: &mut Diagnostics) {
    // Another queue is made, with everything that belongs to it.
    if !plan.replacements.is_empty() {
        return;
    }
    let change = Change { plan, ledger };
    for flavor in queue.flavors.get().into_iter().flatten() {
        let name = flavor.name.get().map_or("", String::as_str);
        let topology = flavor.topology.get();
        let topology_name = topology.and_then(|topology| topology.name.get()).map_or("", String::as_str);
        if let Some(topology) = topology
            && change.of(&format!("topology_{topology_name}"), &["levels"])
        {
            complaints.error(
                &topology.levels,
                format!("The levels of the topology {topology_name:?} cannot be changed"),
                "Kueue takes no other levels for a Topology that is there.\n\nGive the topology and the flavors that use \
                 it other names: then new ones are made, and the old ones are deleted.",
            );
        }
        if let Some(topology) = topology
            && topology.levels.is_null()
            && change.deletes(&format!("topology_{topology_name}"))
        {
            complaints.error(
                &topology.name,
                format!("The topology {topology_name:?} is this queue's own"),
                "This queue made it. To leave it to somebody else would delete it while a flavor still refers to it.\n\n\
                 Give its `levels`, or give the other topology another name.",
            );
        }
        let key = format!("flavor_{name}");
        if flavor.existing.get() == Some(&true) && change.deletes(&key) {
            complaints.error(
                &flavor.existing,
                format!("The flavor {name:?} is this queue's own"),
                "This queue made it. To leave it to somebody else would delete it while the queue still has quota of \
                 it.\n\nTake `existing` away, or give the other flavor another name.",
            );
        }
        if change.had_topology(&key) && change.of(&key, &["nodeLabels", "tolerations", "topologyName"]) {
            complaints.error(
                &flavor.name,
                format!("The nodes of the flavor {name:?} cannot be changed"),
                "Kueue changes neither labels nor tolerations nor the topology of a ResourceFlavor with a topology.\n\n\
                 Give the flavor another name: then a new one is made, and the old one is deleted when nothing has \
                 quota of it.",
            );
        }
    }
}

struct Change<'a> {
    plan: &'a Plan,
    ledger: &'a Ledger,
}

// === impl Change ===

impl Change<'_> {
    /// Whether an object that stays is to be changed in one of these fields.
    fn of(&self, key: &str, fields: &[&str]) -> bool {
        let is_changed = self.plan.steps.get(key).is_some_and(|step| step.action == Action::Update);
        let (Some(node), Some(applied)) = (self.plan.graph.nodes().get(key), self.applied(key)) else { return false };
        let wanted = node.known_document();
        let is_known = wanted.contains_key("manifest");
        is_changed && is_known && fields.iter().any(|field| of_spec(&wanted, field) != of_spec(applied, field))
    }

    fn deletes(&self, key: &str) -> bool {
        self.plan.steps.get(key).is_some_and(|step| step.action == Action::Delete)
    }

    fn had_topology(&self, key: &str) -> bool {
        self.applied(key).is_some_and(|applied| of_spec(applied, "topologyName").is_some())
    }

    fn applied(&self, key: &str) -> Option<&Document> {
        self.ledger.entries.get(key).map(|entry| &entry.document)
    }
}

fn of_spec<'d>(document: &'d Document, field: &str) -> Option<&'d Json> {
    document.get("manifest")?.get("spec")?.get(field)
}
