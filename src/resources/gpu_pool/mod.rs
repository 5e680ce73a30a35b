//! `mlplat_gpu_pool`: nodes with accelerators in an EKS cluster, as a managed node group and what belongs to it.
//!
//! Read first `attributes` (what users write), then `expand`. The rest are the parts of those two: `hardware` (what
//! the instance types are), `nodes` (labels and taints), `marks` (what tags remember for an import), `check_*`.

mod attributes;
mod check;
mod check_hardware;
mod check_nodes;
mod expand;
mod explain;
mod hardware;
mod marks;
mod nodes;
mod outputs;
#[cfg(test)]
mod tests;

use converge::{Graph, Ledger, Plan};
use tf_provider::Diagnostics;

pub use attributes::{
    AcceleratorRequest, Capacity, CapacityType, Cost, Disk, Gpu, GpuPool, Image, Placement, PlacementStrategy, Purpose,
    Scaler, Size, Taint, TaintEffect, Toleration,
};

pub(super) use nodes::POOL_LABEL;

use crate::{
    composite::{Composite, Source, Timeouts},
    neighbours::Neighbours,
    settings::Settings,
};

impl Composite for GpuPool {
    const TYPE: &'static str = "mlplat_gpu_pool";
    const NOUN: &'static str = "GPU pool";
    const IDENTITY: &'static [&'static str] = &["cluster", "name"];
    // Nodes with accelerators start slowly, and a rolling replacement drains one node after the other.
    const TIMEOUTS: Timeouts = Timeouts::minutes(60);
    const SOURCES: &'static [Source] = &[Source {
        provider: "hashicorp/aws",
        type_name: "aws_eks_node_group",
        id: &["/cluster_name", "/node_group_name"],
    }];

    fn check(&self, complaints: &mut Diagnostics) {
        check::check(self, complaints);
    }

    fn expand(&mut self, settings: &Settings, graph: &mut Graph) {
        expand::expand(self, settings, graph);
    }

    // The catalogue of a later version may have other prices, or cheaper types.
    fn recall(&mut self, ledger: &Ledger) {
        let made = ledger.entries.get("node_group").and_then(|group| group.document.get("instance_types"));
        let made: Option<Vec<String>> = made.and_then(|types| serde_json::from_value(types.clone()).ok());
        if let (Some(request), Some(made)) = (marks::request(self).get(), made)
            && request.is_met_by(&made)
        {
            self.instance_types.default_to(made);
        }
    }

    fn explain(&self, plan: &Plan, ledger: &Ledger, complaints: &mut Diagnostics) {
        explain::explain(self, plan, ledger, complaints);
    }

    fn meet(&self, neighbours: &Neighbours, _complaints: &mut Diagnostics) {
        outputs::introduce(self, neighbours);
    }
}
