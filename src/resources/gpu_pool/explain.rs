//! What a plan does to the nodes of a pool, told before it is done.

use std::collections::BTreeSet;

use converge::{Action, Ledger, Plan};
use serde_json::Value as Json;
use tf_provider::{Diagnostic, Diagnostics};
use value::AttributePath;

use super::GpuPool;

const NODE_GROUP: &str = "node_group";
const LAUNCH_TEMPLATE: &str = "launch_template";

pub(super) fn explain(pool: &GpuPool, plan: &Plan, ledger: &Ledger, complaints: &mut Diagnostics) {
    let name = pool.name.get().map_or("", String::as_str);
    if let Some(status) = status(ledger).filter(|status| status.starts_with("DEGRADED")) {
        complaints.push(degraded(name, status));
    }
    let Some(step) = plan.steps.get(NODE_GROUP) else { return };
    // A replacement of the whole pool, or the repair of one without nodes, is told by the plan itself.
    let nodes = live_nodes(ledger);
    if !plan.replacements.is_empty() || nodes == 0 {
        return;
    }
    let why = why(plan, ledger, &step.fields);
    let path = changed_attribute(plan, &step.fields);
    let rolls_within = step.fields.contains("release_version")
        || (step.fields.contains("launch_template_version") && has_new_version(plan));
    let told = match step.action {
        Action::Roll => Diagnostic::warning(
            &path,
            format!("Rolling replacement of {}", counted(nodes)),
            format!(
                "The node group of pool {name:?} {why}. A second group is made with as many nodes; when they are \
                 ready, the nodes of the first one are drained and deleted. For that time both are paid for, and \
                 quotas have to allow both."
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

// The tags of a template are its own: another version is made of what goes into instances.
fn has_new_version(plan: &Plan) -> bool {
    plan.steps.get(LAUNCH_TEMPLATE).is_none_or(|step| step.fields.iter().any(|field| !field.starts_with("tags")))
}

fn live_nodes(ledger: &Ledger) -> u64 {
    output(ledger, "live_size").and_then(Json::as_u64).unwrap_or_default()
}

fn status(ledger: &Ledger) -> Option<&str> {
    output(ledger, "status").and_then(Json::as_str)
}

fn output<'l>(ledger: &'l Ledger, name: &str) -> Option<&'l Json> {
    ledger.entries.get(NODE_GROUP).and_then(|entry| entry.outputs.get(name))
}

fn degraded(name: &str, status: &str) -> Diagnostic {
    Diagnostic::warning(
        &AttributePath::new("status"),
        format!("The pool {name:?} is degraded"),
        format!("EKS says of its node group: {status}."),
    )
    .advise("Remove the cause; the group then recovers by itself. To make it anew, use terraform apply -replace.")
}

/// "1 node", "3 nodes".
pub(super) fn counted(nodes: u64) -> String {
    if nodes == 1 { "1 node".to_owned() } else { format!("{nodes} nodes") }
}

// `cannot be changed in this: `instance_types` ["g5.xlarge"] -> ["g6.xlarge"]`
fn why(plan: &Plan, ledger: &Ledger, fields: &BTreeSet<String>) -> String {
    let wanted = plan.graph.nodes().get(NODE_GROUP).map(converge::Node::document).unwrap_or_default();
    let applied = ledger.entries.get(NODE_GROUP).map(|entry| entry.document.clone()).unwrap_or_default();
    let fixed = plan.graph.nodes().get(NODE_GROUP).map_or(&[][..], |node| node.facts.fixed);
    let changed: Vec<_> = fields.iter().filter(|field| fixed.contains(&field.as_str())).collect();
    if changed.is_empty() {
        return "is broken".to_owned();
    }
    let is_pending = |field: &str| wanted.get(field).is_some_and(value::is_pending);
    if changed.iter().all(|field| is_pending(field)) {
        let names = changed.iter().map(|field| format!("`{field}`")).collect::<Vec<_>>().join(", ");
        return format!("has to be replaced if {names} comes out different, which is known after apply");
    }
    let show = |value: Option<&Json>| value.map_or_else(|| "none".to_owned(), Json::to_string);
    let told = changed.into_iter().map(|field| {
        let wanted =
            if is_pending(field) { "(known after apply)".to_owned() } else { show(wanted.get(field.as_str())) };
        format!("`{field}` {} -> {wanted}", show(applied.get(field.as_str())))
    });
    format!("cannot be changed in this: {}", told.collect::<Vec<_>>().join(", "))
}

fn changed_attribute(plan: &Plan, fields: &BTreeSet<String>) -> AttributePath {
    let node = plan.graph.nodes().get(NODE_GROUP);
    node.and_then(|node| fields.iter().find_map(|field| node.origin(field).cloned())).unwrap_or_default()
}
