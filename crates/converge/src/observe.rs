//! Looks at every object of a resource at once, for Terraform's Read: what is there, how it differs from what we
//! applied, and what that says of the attributes. Writes nothing to the world.

use serde_json::Value as Json;
use value::AttributePath;

use crate::{Cx, Drivers, Failure, Graph, Ledger, Owner};

/// What a look at the world gave.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// The record with outputs and health as seen.
    pub ledger: Ledger,
    /// What the attributes should say now.
    pub write_backs: Vec<WriteBack>,
    /// Nothing of the resource is there.
    pub gone: bool,
}

/// One attribute as the world has it.
#[derive(Clone, Debug, PartialEq)]
pub struct WriteBack {
    /// The attribute.
    pub path: AttributePath,
    /// Its value in document form.
    pub value: Json,
}

/// Observes all objects in parallel.
///
/// With a record: compares with what we applied, field by field. Differing fields are reported as drift and written
/// back through the graph's mirrors; equal ones are not, so the user's spelling stays.
/// Without one (`ledger` is none: import, or a state without private data): rebuilds it from the objects of `graph`
/// that are there; every mirrored field is written back. The caller expands again with the new attributes and calls
/// again until they no longer change.
///
/// # Errors
/// The faults of the observations that failed, retried by class before. Nothing may be concluded then.
pub async fn inspect(
    drivers: &Drivers,
    cx: &Cx,
    owner: &Owner,
    graph: &Graph,
    ledger: Option<&Ledger>,
) -> Result<Inspection, Vec<Failure>> {
    let _ = (drivers, cx, owner, graph, ledger);
    Err(Vec::new())
}
