//! `mlplat_shared_filesystem`: an EFS file system that pods share, reachable in every zone, encrypted at rest and in
//! transit, with a volume in Kubernetes for each directory asked for.
//!
//! Read first `attributes` (what users write), then `expand` (which objects there are) and `volumes` (those of each
//! volume). `marks` is what the file system's tags remember for an import.

mod attributes;
mod check;
mod expand;
mod explain;
mod marks;
#[cfg(test)]
mod tests;
mod volumes;

use converge::{Graph, Ledger, Plan};
use tf_provider::Diagnostics;

pub use attributes::{MountTarget, SharedFilesystem, Throughput, ThroughputMode, Volume};

use crate::{
    composite::{Composite, Source, Timeouts},
    settings::Settings,
};

impl Composite for SharedFilesystem {
    const TYPE: &'static str = "mlplat_shared_filesystem";
    const NOUN: &'static str = "shared file system";
    const IDENTITY: &'static [&'static str] = &["name"];
    // Mount targets take minutes to come and to go, and claims stay until their pods are gone.
    const TIMEOUTS: Timeouts = Timeouts::minutes(30);
    const SOURCES: &'static [Source] =
        &[Source { provider: "hashicorp/aws", type_name: "aws_efs_file_system", id: &["/id"] }];

    fn check(&self, complaints: &mut Diagnostics) {
        check::check(self, complaints);
    }

    fn expand(&mut self, settings: &Settings, graph: &mut Graph) {
        expand::expand(self, settings, graph);
    }

    fn explain(&self, plan: &Plan, ledger: &Ledger, complaints: &mut Diagnostics) {
        explain::explain(self, plan, ledger, complaints);
    }
}
