//! What a run is going to do, from the wanted graph and the record alone. Pure: Terraform asks twice.

use std::collections::{BTreeMap, BTreeSet};

use value::AttributePath;

use crate::{Document, Graph, Key, Ledger, Source};

/// What a run is going to do.
#[derive(Debug)]
pub struct Plan {
    /// The graph planned for, with the outputs known that stay as they are.
    pub graph: Graph,
    /// One step for each object wanted, recorded or retired.
    pub steps: BTreeMap<Key, Step>,
    /// Why the resource as a whole has to be replaced: a fixed field changed on an object that others need or that
    /// holds data. Empty where it need not.
    pub replacements: Vec<Replacement>,
}

/// What is going to happen to one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The deed.
    pub action: Action,
    /// The fields that differ from what was applied or from what was last seen; sorted.
    pub fields: BTreeSet<String>,
}

/// A deed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// Nothing.
    Keep,
    /// It is made.
    Create,
    /// It is changed.
    Update,
    /// It is deleted and made again; nothing else needs it and it holds no data.
    Replace,
    /// A second one is made beside it, then it is deleted.
    Roll,
    /// It is deleted.
    Delete,
}

/// One reason to replace the whole resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// The object.
    pub key: Key,
    /// The field.
    pub field: String,
    /// The attribute behind it, if one is.
    pub origin: Option<AttributePath>,
}

/// Plans: expands with every recorded output known, finds which objects change, forgets the outputs that may change
/// with them, and repeats until nothing new is forgotten.
pub fn plan(source: Source<'_>, ledger: &Ledger) -> Plan;

impl Plan {
    /// Whether nothing is going to be done.
    pub fn is_empty(&self) -> bool;
    /// The outputs that are known before the run and stay as they are.
    pub fn known_outputs(&self, ledger: &Ledger) -> BTreeMap<Key, Document>;
}
