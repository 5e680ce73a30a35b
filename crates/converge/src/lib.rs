//! Compares a graph of wanted objects with what is there and makes the difference go away.
//!
//! Not a workflow engine and without undo: create, update and repair are the same run, and a failed run is resumed
//! by running again. This crate knows neither Terraform nor any cloud.
//!
//! Read in this order: [`Component`] (a child object as data), [`Driver`] (its effects), [`Graph`] (the wanted
//! objects), [`Ledger`] (what we did), [`plan`] (pure), [`converge`] (the run).

mod bring;
mod compare;
mod component;
mod cx;
mod decide;
mod destroy;
mod driver;
mod drivers;
mod engine;
mod fault;
mod graph;
mod ledger;
mod look;
mod object;
mod observe;
mod place;
mod plan;
mod retry;
#[cfg(feature = "testing")]
pub mod testing;
mod token;
mod work;

pub use component::{Component, Draft, KindFacts, Output, Outputs, Volatile};
pub use cx::{Clock, Cx, DEFAULT_RETRIES, Secrets, SystemClock};
pub use driver::{Changes, Creation, Driver, Finding, Observed, Ownership, Readiness, Severity};
pub use drivers::{AnyChanges, AnyCreation, AnyDriver, Drivers, Found};
pub use engine::{Converged, During, Failure, Run, Source, converge, destroy};
pub use fault::{Fault, FaultClass};
pub use graph::{Graph, Handle, Node};
pub use ledger::{Difference, Entry, Health, Ledger};
pub use observe::{Inspection, WriteBack, inspect};
pub use place::Place;
pub use plan::{Action, Plan, Replacement, Step, plan};
pub use retry::read as read_retried;

/// The name of a child object within its resource, a snake_case noun such as `node_group`. Shown in plans, so part
/// of the user interface.
pub type Key = String;

/// A component as JSON: an object without nulls.
pub type Document = serde_json::Map<String, serde_json::Value>;

/// The ownership mark put on every object we make: `<resource type>/<import id>`. One notion with the import id and
/// the adoption of what a killed run left behind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Owner(pub String);

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
