//! A resource as its author writes it: a struct of attributes, its checks, and its expansion into child objects.

use std::time::Duration;

use converge::{Graph, Ledger, Plan};
use tf_provider::{Attributes, Diagnostics};

use crate::{neighbours::Neighbours, settings::Settings};

/// A resource. Pure: no calls, no clock.
///
/// The bridge adds to every resource `id`, `components` and `timeouts`, and gives it read, plan, apply, import and
/// identity.
pub trait Composite: Attributes {
    /// Terraform's name of it: `mlplat_` and the file's name.
    const TYPE: &'static str;
    /// The resource in words, for messages: `GPU pool`.
    const NOUN: &'static str;
    /// Version of the state's layout.
    const VERSION: i64 = 0;
    /// The attributes that identify it, in the order of the import id. They are its ownership mark, its import id
    /// and its identity. A `cluster` that is null stands as `-`.
    const IDENTITY: &'static [&'static str];
    /// How long create, update and delete may wait where `timeouts` says nothing.
    const TIMEOUTS: Timeouts;
    /// Resources of other providers that stand for the same object, and whose state it takes over.
    const SOURCES: &'static [Source] = &[];

    /// Rules across attributes, and those a type cannot say. Sees the configuration before [`Composite::expand`]:
    /// values left out are null, values not known yet are pending and must not be complained about. Errors, and
    /// warnings that somebody can act on.
    fn check(&self, complaints: &mut Diagnostics);

    /// The child objects. Attributes left out that have a default get it here; computed attributes get outputs of
    /// child objects, or what can be computed. Attributes that are set are never changed.
    ///
    /// May be called with nearly everything null (an import's stub): then it adds the objects that can be identified.
    fn expand(&mut self, settings: &Settings, graph: &mut Graph);

    /// Choices among several that would do, made when the objects were made: they stay for as long as they do. Called
    /// before [`Composite::expand`] with the record, which is empty where nothing was made.
    fn recall(&mut self, _ledger: &Ledger) {}

    /// What the user should know of a plan beyond the attributes: how many nodes a rolling replacement touches.
    fn explain(&self, _plan: &Plan, _ledger: &Ledger, _complaints: &mut Diagnostics) {}

    /// Tells other resources of the run what they should know of this one, and warns of what does not fit with what
    /// they told. Called on the expanded resource at every plan.
    fn meet(&self, _neighbours: &Neighbours, _complaints: &mut Diagnostics) {}
}

/// A resource of another provider, and where its state has the parts of our import id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its provider, such as `hashicorp/aws`.
    pub provider: &'static str,
    /// Its type.
    pub type_name: &'static str,
    /// The attributes that are the parts of the import id, as JSON pointers.
    pub id: &'static [&'static str],
}

/// How long a run may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Creating.
    pub create: Duration,
    /// Updating.
    pub update: Duration,
    /// Deleting.
    pub delete: Duration,
}

impl Timeouts {
    /// The same for all three, in minutes.
    pub const fn minutes(minutes: u64) -> Self {
        let limit = Duration::from_secs(minutes * 60);
        Self { create: limit, update: limit, delete: limit }
    }
}
