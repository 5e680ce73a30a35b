//! `mlplat_inference_service`: a model server in a Kubernetes cluster, with all that it needs.
//!
//! Read first `attributes` (what users write), then `expand` (which objects there are) and `manifest` (what they are
//! like). The rest are parts of those: `defaults` and `outputs`, `engine` (command and arguments), `sizing` (what follows from the model's
//! size), `rollout`, `scaling`, `signal`, `check*` and `explain`.

mod attributes;
mod beside;
mod blame;
mod check;
mod check_model;
mod check_place;
mod check_scaling;
mod check_texts;
mod defaults;
mod engine;
mod expand;
mod explain;
mod load_balancer;
mod manifest;
mod outputs;
mod rollout;
mod scaling;
mod signal;
mod sizing;
#[cfg(test)]
mod tests;

use converge::{Graph, Ledger, Plan};
use tf_provider::Diagnostics;

pub use attributes::{
    Access, AccessMethod, Engine, EngineKind, Expose, Gpus, InferenceService, Metrics, Model, Placement, Resources,
    Rollout, RolloutStrategy, Scaling, TokenSecretRef, Via,
};
pub use signal::{Scope, Signal};

use crate::{
    composite::{Composite, Timeouts},
    neighbours::Neighbours,
    settings::Settings,
};

impl Composite for InferenceService {
    const TYPE: &'static str = "mlplat_inference_service";
    const NOUN: &'static str = "inference service";
    const IDENTITY: &'static [&'static str] = &["cluster", "namespace", "name"];
    // A node is added, an image of many gigabytes is pulled and a model of hundreds is read, each once more for the
    // second of two replicas. What cannot succeed ends earlier.
    const TIMEOUTS: Timeouts = Timeouts::minutes(120);

    fn check(&self, complaints: &mut Diagnostics) {
        check::check(self, complaints);
    }

    fn expand(&mut self, settings: &Settings, graph: &mut Graph) {
        expand::expand(self, settings, graph);
    }

    fn explain(&self, plan: &Plan, ledger: &Ledger, complaints: &mut Diagnostics) {
        explain::explain(self, plan, ledger, complaints);
    }

    fn meet(&self, neighbours: &Neighbours, complaints: &mut Diagnostics) {
        beside::check(self, neighbours, complaints);
    }
}
