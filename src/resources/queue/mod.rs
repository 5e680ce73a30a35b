//! `mlplat_queue`: a Kueue queue with its quotas, who may use it, and the priorities of what waits in it.
//!
//! Read first `attributes` (what users write), then `expand` (which objects there are) and `manifest` (what they are
//! like). The rest are `check*`, `explain` and `beside`.

mod attributes;
mod beside;
mod blame;
mod check;
mod check_flavors;
mod check_quota;
mod expand;
mod explain;
mod manifest;
#[cfg(test)]
mod tests;

use std::time::Duration;

use converge::{Graph, Ledger, Plan};
use tf_provider::Diagnostics;

pub use attributes::{
    BorrowWithinCohort, CanBorrow, CanPreempt, Flavor, FlavorFungibility, FlavorTopology, Preemption, Queue,
    QueueingStrategy, Reclaim, ResourceQuota, StopPolicy, WithinQueue,
};

use crate::{
    composite::{Composite, Timeouts},
    neighbours::Neighbours,
    settings::Settings,
};

impl Composite for Queue {
    const TYPE: &'static str = "mlplat_queue";
    const NOUN: &'static str = "queue";
    const IDENTITY: &'static [&'static str] = &["cluster", "name"];
    // Kueue answers in seconds, but lets a queue go only when what runs in it has ended.
    const TIMEOUTS: Timeouts = Timeouts { delete: Duration::from_hours(1), ..Timeouts::minutes(10) };

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
