//! What a change does to the pods of a service, told before it is done.

use converge::{Action, Document, Ledger, Plan};
use serde_json::Value as Json;
use tf_provider::{Diagnostic, Diagnostics};

use super::{
    InferenceService,
    rollout::{Replacing, decide},
};

const DEPLOYMENT: &str = "deployment";

pub(super) fn explain(service: &InferenceService, plan: &Plan, ledger: &Ledger, complaints: &mut Diagnostics) {
    let Some(step) = plan.steps.get(DEPLOYMENT) else { return };
    let is_replacing = match step.action {
        Action::Create => false,
        Action::Update => changes_pods(plan, ledger),
        _ => return,
    };
    let decided = decide(service);
    let strategy = service.rollout.and_then(|rollout| rollout.strategy.clone());
    let path = if strategy.is_known() { strategy.path() } else { service.rollout.path() };
    let name = service.name.get().map_or("", String::as_str);
    let told = match decided.replacing {
        _ if !decided.is_auto => return,
        Replacing::Recreate => Diagnostic::warning(
            &path,
            if is_replacing {
                "The service is down while its pod is replaced"
            } else {
                "Changes will interrupt the service"
            },
            format!(
                "Service {name:?} has one replica, and nothing says that its nodes have GPUs for a second one. So \
                 `auto` chose \"recreate\": the old pod frees its GPU before the new one starts, and until the model \
                 is loaded nobody answers."
            ),
        ),
        Replacing::FreeFirst if is_replacing => Diagnostic::warning(
            &path,
            "The service has one replica less while its pods are replaced",
            format!(
                "Nothing says that the nodes of service {name:?} have GPUs for one more replica. So `auto` chose \
                 \"free_first\": one pod after the other frees its GPU before a new one starts."
            ),
        ),
        Replacing::FreeFirst | Replacing::Surge => return,
    };
    complaints.push(told.advise(
        "Give `placement.gpu_capacity` (a pool's `gpu.total_max`) where there is place, or name the strategy in \
         `rollout.strategy`.",
    ));
}

// Whether the pods' template differs from the one applied.
fn changes_pods(plan: &Plan, ledger: &Ledger) -> bool {
    let template =
        |document: &Document| -> Option<Json> { document.get("manifest")?.pointer("/spec/template").cloned() };
    let wanted = plan.graph.nodes().get(DEPLOYMENT).map(converge::Node::document);
    let applied = ledger.entries.get(DEPLOYMENT).and_then(|entry| template(&entry.document));
    wanted.is_some_and(|wanted| template(&wanted) != applied)
}
