//! `mlplat_tenant`: a team's place in a Kubernetes cluster.
//!
//! Read first `attributes` (what users write), then `expand` (which objects there are). The rest are the objects'
//! contents: `limits` (quota and defaults), `network`, `registries`, `access` (data), and `check`.

mod access;
mod attributes;
mod blame;
mod check;
mod check_access;
mod expand;
mod expand_access;
mod limits;
mod network;
pub(super) mod registries;
#[cfg(test)]
mod tests;

use converge::Graph;
use tf_provider::Diagnostics;

pub use attributes::{
    Access, Amounts, Container, DataAccess, ExternalSecretCopy, Isolation, Member, Mode, Network, PodSecurity, Quota,
    Tenant,
};

use crate::{
    composite::{Composite, Timeouts},
    neighbours::Neighbours,
    settings::Settings,
};

impl Composite for Tenant {
    const TYPE: &'static str = "mlplat_tenant";
    const NOUN: &'static str = "tenant";
    const IDENTITY: &'static [&'static str] = &["cluster", "name"];
    // Nothing takes long but the deletion of a namespace whose pods have to finish.
    const TIMEOUTS: Timeouts = Timeouts::minutes(20);

    fn check(&self, complaints: &mut Diagnostics) {
        check::check(self, complaints);
    }

    fn expand(&mut self, settings: &Settings, graph: &mut Graph) {
        expand::expand(self, settings, graph);
    }

    fn meet(&self, neighbours: &Neighbours, _complaints: &mut Diagnostics) {
        limits::introduce(self, neighbours);
    }
}
