//! The wanted objects of one resource, and the edges between them.
//!
//! Built by a resource's `expand`, which is pure: it makes no calls and reads no clock. An output that is known
//! (from the ledger, or made earlier in this run) is handed out as a known value; the engine builds the graph anew
//! when more outputs are known.

use std::{
    collections::{BTreeMap, BTreeSet},
    marker::PhantomData,
};

use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use value::{AttributePath, Field, Pending, Value, is_pending};

use crate::{Component, Document, Draft, Key, KindFacts, Output, Place, Secrets};

/// The wanted objects of one resource.
#[derive(Debug, Default)]
pub struct Graph {
    nodes: BTreeMap<Key, Node>,
    known_outputs: BTreeMap<Key, Document>,
    unshaped: Option<AttributePath>,
}

/// One wanted object.
#[derive(Clone, Debug)]
pub struct Node {
    /// The facts of its kind.
    pub facts: KindFacts,
    /// Its fields by name.
    pub fields: BTreeMap<&'static str, Field>,
    /// The objects it needs.
    pub after: BTreeSet<Key>,
    /// The one of them that it is inside.
    pub inside: Option<Key>,
    /// What it needs and no document may hold.
    pub secrets: Secrets,
}

/// A wanted object that others can refer to.
#[derive(Debug)]
pub struct Handle<C: Component> {
    key: Key,
    outputs: Option<Document>,
    component: PhantomData<fn() -> C>,
}

// === impl Graph ===

impl Graph {
    /// An empty graph in which the outputs of some objects are known.
    pub fn new(known_outputs: BTreeMap<Key, Document>) -> Self {
        Self { known_outputs, ..Self::default() }
    }

    /// Adds an object. The objects whose outputs its fields are made from come before it.
    pub fn add<D: Draft>(&mut self, key: impl Into<Key>, draft: D) -> Handle<D::Of> {
        let key = key.into();
        let fields: BTreeMap<_, _> = draft.fields().into_iter().collect();
        let after = fields.values().flat_map(|field| field.sources.iter().cloned()).collect();
        let node = Node { facts: D::Of::FACTS, fields, after, inside: None, secrets: Secrets::default() };
        self.nodes.insert(key.clone(), node);
        Handle { outputs: self.known_outputs.get(&key).cloned(), key, component: PhantomData }
    }

    /// Orders two objects that exchange no data.
    pub fn after<L: Component, E: Component>(&mut self, later: &Handle<L>, earlier: &Handle<E>) {
        if let Some(node) = self.nodes.get_mut(&later.key) {
            node.after.insert(earlier.key.clone());
        }
    }

    /// Says that an object is inside another one, which takes it along when it is deleted, as a namespace does: it
    /// is made after that one, and where both go it goes with it, without a call of its own.
    pub fn inside<P: Component, W: Component>(&mut self, part: &Handle<P>, whole: &Handle<W>) {
        self.after(part, whole);
        if let Some(node) = self.nodes.get_mut(&part.key) {
            node.inside = Some(whole.key.clone());
        }
    }

    /// Gives an object a secret, which its driver asks for by name when it writes (`Cx::secret`). A document holds
    /// only what tells one secret from another, such as a version that the user counts up.
    pub fn secret<C: Component>(&mut self, of: &Handle<C>, name: &'static str, secret: &Value<String>) {
        if let (Some(node), Some(secret)) = (self.nodes.get_mut(&of.key), secret.get()) {
            node.secrets.insert(name, secret.clone());
        }
    }

    /// What is known of a value on which the shape of the graph (which objects there are, and how many) depends.
    /// Where it is pending the shape is not known yet, and neither are the resource's components and outputs.
    pub fn shape<'v, T>(&mut self, value: &'v Value<T>) -> Option<&'v T> {
        if value.is_pending() && self.unshaped.is_none() {
            self.unshaped = Some(value.path());
        }
        value.get()
    }

    /// The attribute that keeps the shape from being known.
    pub fn unshaped(&self) -> Option<&AttributePath> {
        self.unshaped.as_ref()
    }

    /// Whether the outputs of an object are known, whatever they are. They are not where it is made or made again.
    pub(crate) fn knows(&self, key: &str) -> bool {
        self.known_outputs.contains_key(key)
    }

    /// The objects by key.
    pub fn nodes(&self) -> &BTreeMap<Key, Node> {
        &self.nodes
    }
}

// === impl Node ===

impl Node {
    /// The document without what is null or pending.
    pub fn known_document(&self) -> Document {
        self.filtered(|document| !is_pending(document))
    }

    /// The document with markers in the place of pending values.
    pub fn document(&self) -> Document {
        self.filtered(|_| true)
    }

    /// Whether every field is known or null.
    pub fn is_known(&self) -> bool {
        !self.fields.values().any(|field| is_pending(&field.document))
    }

    /// The attribute behind a field.
    pub fn origin(&self, field: &str) -> Option<&AttributePath> {
        self.fields.get(field).and_then(|field| field.origin.as_ref())
    }

    /// The attribute behind a place in the document.
    pub fn origin_at(&self, place: &Place) -> Option<&AttributePath> {
        self.fields.get(place.field.as_ref()).and_then(|field| field.origin_at(&place.part))
    }

    fn filtered(&self, keep: impl Fn(&Json) -> bool) -> Document {
        self.fields
            .iter()
            .filter(|(_, field)| !field.document.is_null() && keep(&field.document))
            .map(|(name, field)| ((*name).to_owned(), field.document.clone()))
            .collect()
    }
}

// === impl Handle ===

impl<C: Component> Handle<C> {
    /// The object's key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// An output of the object: known where the object exists, pending before. Its use in a field of another
    /// object makes an edge.
    pub fn output<T: DeserializeOwned>(&self, output: Output<C::Outputs, T>) -> Value<T> {
        let known = self.outputs.as_ref().and_then(|outputs| outputs.get(output.name));
        if known.is_some_and(is_pending) {
            return Value::pending(Pending::Output { component: self.key.clone(), field: output.name.to_owned() });
        }
        match known.and_then(|json| serde_json::from_value(json.clone()).ok()) {
            Some(value) => Value::known(value).from_component(&self.key),
            // An object that exists and says nothing of this output: absent, not pending.
            None if self.outputs.is_some() => Value::null().from_component(&self.key),
            None => Value::pending(Pending::Output { component: self.key.clone(), field: output.name.to_owned() }),
        }
    }
}
