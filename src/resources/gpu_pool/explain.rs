//! What a plan does to the nodes of a pool, told before it is done.

use converge::{Action, Ledger, Plan};
use serde_json::Value as Json;
use tf_provider::{Diagnostic, Diagnostics};
use value::AttributePath;

use super::GpuPool;

const NODE_GROUP: &str = "node_group";

pub(super) fn explain(pool: &GpuPool, plan: &Plan, ledger: &Ledger, complaints: &mut Diagnostics) {
    let Some(step) = plan.steps.get(NODE_GROUP) else { return };
    // A replacement of the whole pool, or the repair of one without nodes, is told by the plan itself.
    let nodes = live_nodes(ledger);
    if !plan.replacements.is_empty() || nodes == 0 {
        return;
    }
    let changes = changes(plan, ledger, &step.fields);
    let name = pool.name.get().map_or("", String::as_str);
    let path = changed_attribute(plan, &step.fields);
    let rolls_within = ["launch_template_version", "release_version"].iter().any(|field| step.fields.contains(*field));
    let told = match step.action {
        Action::Roll => Diagnostic::warning(
            &path,
            format!("Rolling replacement of {}", counted(nodes)),
            format!(
                "The node group of pool {name:?} cannot be changed in this: {changes}. A second group is made with as \
                 many nodes; when they are ready, the nodes of the first one are drained and deleted. For that time \
                 both are paid for, and quotas have to allow both."
            ),
        )
        .advise("Apply when the workloads can be moved; a PodDisruptionBudget keeps enough of them running."),
        Action::Update if rolls_within => Diagnostic::warning(
            &path,
            format!("Replacement of {} within the group", counted(nodes)),
            format!(
                "The launch template or the image of pool {name:?} changes. EKS starts new nodes and drains the old \
                 ones, as many at a time as the group's update setting allows: one, unless it was changed."
            ),
        )
        .advise("Apply when the workloads can be moved; a PodDisruptionBudget keeps enough of them running."),
        _ => return,
    };
    complaints.push(told);
}

fn live_nodes(ledger: &Ledger) -> u64 {
    let outputs = ledger.entries.get(NODE_GROUP).map(|entry| &entry.outputs);
    outputs.and_then(|outputs| outputs.get("live_size")).and_then(Json::as_u64).unwrap_or_default()
}

fn counted(nodes: u64) -> String {
    if nodes == 1 { "1 node".to_owned() } else { format!("{nodes} nodes") }
}

// `instance_types: ["g5.xlarge"] -> ["g6.xlarge"]`
fn changes(plan: &Plan, ledger: &Ledger, fields: &std::collections::BTreeSet<String>) -> String {
    let wanted = plan.graph.nodes().get(NODE_GROUP).map(converge::Node::document).unwrap_or_default();
    let applied = ledger.entries.get(NODE_GROUP).map(|entry| entry.document.clone()).unwrap_or_default();
    let fixed = plan.graph.nodes().get(NODE_GROUP).map_or(&[][..], |node| node.facts.fixed);
    let show = |value: Option<&Json>| match value {
        Some(value) if value::is_pending(value) => "(known after apply)".to_owned(),
        Some(value) => value.to_string(),
        None => "none".to_owned(),
    };
    let told: Vec<_> = fields
        .iter()
        .filter(|field| fixed.contains(&field.as_str()))
        .map(|field| format!("`{field}` {} -> {}", show(applied.get(field)), show(wanted.get(field))))
        .collect();
    if told.is_empty() { "it is broken".to_owned() } else { told.join(", ") }
}

fn changed_attribute(plan: &Plan, fields: &std::collections::BTreeSet<String>) -> AttributePath {
    let node = plan.graph.nodes().get(NODE_GROUP);
    node.and_then(|node| fields.iter().find_map(|field| node.origin(field).cloned())).unwrap_or_default()
}
