//! Makes a resource of Terraform from a [`Composite`]: the only place that knows both sides.
//!
//! Knows no resource and no component by name. One file for each thing Terraform asks; `object` holds the pure
//! operations on Terraform's values, `report` turns faults into diagnostics.

mod apply;
mod existing;
mod import;
mod object;
mod plan;
mod private;
mod read;
mod report;
mod schema;

use std::{
    collections::BTreeMap,
    marker::PhantomData,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use converge::{Cx, Document, Drivers, Graph, Key, Owner};
use futures::{FutureExt, future::BoxFuture};
use tf_provider::{
    ApplyRequest, Cty, Decoder, Diagnostic, Diagnostics, IdentitySchema, ImportRequest, PlanRequest, PlanResponse,
    ReadRequest, RequestCx, Resource, Schema, StateResponse,
};
use value::AttributePath;

pub use existing::Existing;
pub(crate) use report::fault_diagnostic;
pub use schema::COMPONENTS;

use crate::{
    composite::{Composite, Timeouts},
    neighbours::Neighbours,
    settings::Settings,
};

/// The attribute that names an EKS cluster; where it is left out, the provider's `kubernetes` block counts.
const CLUSTER: &str = "cluster";

/// What a configured provider gives to its resources.
#[derive(Clone, Default)]
pub struct Ground {
    /// What the provider block says that becomes part of objects.
    pub settings: Settings,
    /// The drivers.
    pub drivers: Drivers,
    /// Clock and locks, shared by all resources.
    pub cx: Cx,
    /// What the resources of the run tell each other.
    pub neighbours: Neighbours,
    /// Which of them are there.
    pub existing: Existing,
    /// What a certain failure found at plan time does.
    pub preflight: Preflight,
    /// Why no call can be made now: an attribute of the provider block is not known yet.
    pub unknown: Option<AttributePath>,
    /// The same for calls to the cluster of the provider's `kubernetes` block alone.
    pub unknown_kubernetes: Option<AttributePath>,
}

/// What a certain failure found at plan time does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preflight {
    /// It fails the plan of what is asked for anew. Of the rest it is a warning: Terraform plans before it destroys.
    #[default]
    Error,
    /// It is a warning.
    Warn,
    /// The questions are not asked.
    Off,
}

/// The ground, replaced when the provider is configured.
#[derive(Clone, Default)]
pub struct SharedGround(Arc<RwLock<Arc<Ground>>>);

/// A composite as a resource of Terraform.
pub struct Bridge<C> {
    ground: SharedGround,
    composite: PhantomData<fn() -> C>,
}

// === impl SharedGround ===

impl SharedGround {
    /// The ground now.
    pub fn get(&self) -> Arc<Ground> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the ground.
    pub fn set(&self, ground: Ground) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(ground);
    }
}

// === impl Ground ===

impl Ground {
    // The attribute of the provider block that keeps calls for this resource from being made.
    fn unknown_for<C: Composite>(&self, object: &Cty) -> Option<&AttributePath> {
        let uses_block = C::IDENTITY.contains(&CLUSTER) && object.get(CLUSTER).is_null();
        self.unknown.as_ref().or(self.unknown_kubernetes.as_ref().filter(|_| uses_block))
    }
}

// === impl Bridge ===

impl<C: Composite> Bridge<C> {
    /// The resource of `C` on this ground.
    pub fn new(ground: SharedGround) -> Self {
        Self { ground, composite: PhantomData }
    }
}

impl<C: Composite> Resource for Bridge<C> {
    fn type_name(&self) -> &'static str {
        C::TYPE
    }

    fn schema(&self) -> Schema {
        schema::schema::<C>()
    }

    fn identity_schema(&self) -> IdentitySchema {
        schema::identity::<C>()
    }

    fn validate(&self, config: &Cty) -> Diagnostics {
        let (composite, mut complaints) = decode::<C>(config, false);
        if let Err(complaint) = timeouts::<C>(config) {
            complaints.push(complaint);
        }
        if !complaints.has_errors() {
            composite.check(&mut complaints);
        }
        complaints
    }

    fn upgrade(&self, version: i64, _raw: &serde_json::value::RawValue) -> Result<Cty, Diagnostics> {
        Err(Diagnostic::error(
            &AttributePath::root(),
            format!("Cannot read the stored state of this {}", C::NOUN),
            format!("It has version {version}; this version of the provider writes version {}.", C::VERSION),
        )
        .advise("Use the provider version that wrote the state, or a newer one.")
        .into())
    }

    fn read<'a>(&'a self, cx: &'a RequestCx, request: ReadRequest) -> BoxFuture<'a, StateResponse> {
        let ground = self.ground.get();
        async move { read::read::<C>(&ground, &run_cx(&ground, cx), request).await }.boxed()
    }

    fn plan<'a>(&'a self, cx: &'a RequestCx, request: PlanRequest) -> BoxFuture<'a, PlanResponse> {
        let ground = self.ground.get();
        async move { plan::plan::<C>(&ground, &run_cx(&ground, cx), request).await }.boxed()
    }

    fn apply<'a>(&'a self, cx: &'a RequestCx, request: ApplyRequest) -> BoxFuture<'a, StateResponse> {
        let ground = self.ground.get();
        async move { apply::apply::<C>(&ground, &run_cx(&ground, cx), request).await }.boxed()
    }

    fn import<'a>(&'a self, _cx: &'a RequestCx, request: ImportRequest) -> BoxFuture<'a, StateResponse> {
        async move { import::import::<C>(&request) }.boxed()
    }

    fn sources(&self) -> Vec<(&'static str, &'static str)> {
        C::SOURCES.iter().map(|source| (source.provider, source.type_name)).collect()
    }

    fn take_over(&self, source: &tf_provider::Source) -> Option<StateResponse> {
        import::take_over::<C>(source)
    }
}

// The ground's clock and locks, with this request's cancellation.
fn run_cx(ground: &Ground, cx: &RequestCx) -> Cx {
    ground.cx.cancelled_by(cx.cancel.clone())
}

fn decode<C: Composite>(object: &Cty, open_nulls: bool) -> (C, Diagnostics) {
    let mut decoder = Decoder { open_nulls, ..Decoder::default() };
    let composite = C::decode_object(object, &AttributePath::root(), &mut decoder);
    (composite, decoder.diagnostics)
}

// The graph of a composite, and the composite with its defaults and computed attributes.
fn expand<C: Composite>(composite: &C, settings: &Settings, outputs: BTreeMap<Key, Document>) -> (C, Graph) {
    let mut graph = Graph::new(outputs);
    let mut expanded = composite.clone();
    expanded.expand(settings, &mut graph);
    (expanded, graph)
}

// The import id: the identity's values, or none while one is not known.
fn import_id<C: Composite>(object: &Cty) -> Option<String> {
    let parts: Option<Vec<&str>> = C::IDENTITY
        .iter()
        .map(|name| match object.get(name) {
            Cty::String(text) => Some(text.as_str()),
            // The provider's `kubernetes` block in the place of a cluster.
            Cty::Null => Some("-"),
            _ => None,
        })
        .collect();
    parts.map(|parts| parts.join("/"))
}

fn owner<C: Composite>(object: &Cty) -> Owner {
    Owner(format!("{}/{}", C::TYPE, import_id::<C>(object).unwrap_or_default()))
}

fn identity_of<C: Composite>(object: &Cty) -> Cty {
    Cty::object(C::IDENTITY.iter().map(|name| {
        let value = match object.get(name) {
            Cty::Null => Cty::from("-"),
            other => other.clone(),
        };
        (*name, value)
    }))
}

fn timeouts<C: Composite>(object: &Cty) -> Result<Timeouts, Diagnostic> {
    let block = object.get(schema::TIMEOUTS);
    let one = |name: &str, default: Duration| match block.get(name).as_str() {
        None => Ok(default),
        Some(text) => humantime::parse_duration(text).map_err(|error| {
            Diagnostic::error(
                &AttributePath::new(schema::TIMEOUTS).attribute(name),
                format!("{text:?} is not a duration"),
                format!("The {name} timeout of this {} cannot be read: {error}.", C::NOUN),
            )
            .advise("Write it as a number with a unit, such as \"45m\" or \"1h30m\".")
        }),
    };
    Ok(Timeouts {
        create: one("create", C::TIMEOUTS.create)?,
        update: one("update", C::TIMEOUTS.update)?,
        delete: one("delete", C::TIMEOUTS.delete)?,
    })
}
