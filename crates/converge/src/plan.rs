//! What a run is going to do, from the wanted graph and the record alone. Pure: Terraform asks twice.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;
use value::{AttributePath, Pending, Value, is_pending, pending_in};

use crate::{
    Document, Entry, Graph, Health, Key, KindFacts, Ledger, Node, Source,
    compare::{changed, field_of, is_fixed},
};

/// What a run is going to do.
#[derive(Debug)]
pub struct Plan {
    /// The graph planned for, with the outputs known that stay as they are.
    pub graph: Graph,
    /// One step for each object wanted, recorded or retired; a retired one stands under `<key> (retired)`.
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
    /// The field; empty where it is the object as a whole.
    pub field: String,
    /// The attribute behind it, if one is.
    pub origin: Option<AttributePath>,
}

/// Plans: expands with every recorded output known, finds which objects change, forgets the outputs that may change
/// with them, and repeats until nothing new is forgotten.
pub fn plan(source: Source<'_>, ledger: &Ledger) -> Plan {
    let mut known = recorded_outputs(ledger);
    loop {
        let graph = source(known.clone());
        let (steps, replacements) = steps(&graph, ledger);
        let plan = Plan { graph, steps, replacements };
        let left = still_known(&known, &plan.known_outputs(ledger));
        if left == known {
            return plan;
        }
        // Outputs are only ever forgotten here, so this ends.
        known = left;
    }
}

/// What is to be done with one wanted object, and the fields that force it to be made again.
pub(crate) fn step(key: &str, node: &Node, graph: &Graph, ledger: &Ledger) -> (Step, BTreeSet<String>) {
    let Some(entry) = ledger.entries.get(key).filter(|entry| entry.health != Health::Missing) else {
        let fields = node.document().keys().cloned().collect();
        return (Step { action: Action::Create, fields }, BTreeSet::new());
    };
    let facts = &node.facts;
    let fields = differing(node, entry);
    let forcing: BTreeSet<_> =
        fields.iter().filter(|field| is_fixed(facts, field) && forces(field, node, graph)).cloned().collect();
    // The two slots are of one name; under another there is nothing to stand beside.
    let renames = forcing.iter().any(|field| facts.identity.contains(&field.as_str()));
    let renews = !forcing.is_empty() || matches!(entry.health, Health::Broken(_));
    let action = match () {
        () if renews && facts.slots && !renames => Action::Roll,
        () if !forcing.is_empty() => Action::Replace,
        () if renews && is_disposable(key, facts, graph, ledger) => Action::Replace,
        () if !fields.is_empty() || !is_settled(&entry.health) => Action::Update,
        () => Action::Keep,
    };
    (Step { action, fields }, forcing)
}

// Of drift, `differing` tells whether anything is to be done.
fn is_settled(health: &Health) -> bool {
    matches!(health, Health::Ready | Health::Drifted(_))
}

/// Whether an object may be deleted and made again by itself: nothing needs it and it holds no data.
pub(crate) fn is_disposable(key: &str, facts: &KindFacts, graph: &Graph, ledger: &Ledger) -> bool {
    let wanted = graph.nodes().iter().map(|(other, node)| (other, &node.after));
    let recorded = ledger.entries.iter().map(|(other, entry)| (other, &entry.after));
    !facts.holds_data && !wanted.chain(recorded).any(|(other, after)| other != key && after.contains(key))
}

// === impl Plan ===

impl Plan {
    /// Whether nothing is going to be done.
    pub fn is_empty(&self) -> bool {
        self.replacements.is_empty() && self.steps.values().all(|step| step.action == Action::Keep)
    }

    /// Whether a step only puts back what was applied before and somebody else has changed since.
    pub fn is_repair(&self, key: &str, ledger: &Ledger) -> bool {
        let both = self.graph.nodes().get(key).zip(ledger.entries.get(key));
        both.is_some_and(|(node, entry)| wished(node, entry, &entry.document).is_empty())
    }

    /// The outputs that are known before the run and stay as they are. An output that an update may change is a
    /// marker of a pending value there.
    pub fn known_outputs(&self, ledger: &Ledger) -> BTreeMap<Key, Document> {
        let mut known = recorded_outputs(ledger);
        known.retain(|key, outputs| match self.steps.get(key).map(|step| step.action) {
            Some(Action::Keep) => true,
            Some(Action::Update) => {
                for output in self.moved_outputs(key, ledger) {
                    outputs.insert(output.to_owned(), pending_output(key, output));
                }
                true
            }
            _ => false,
        });
        known
    }

    // The outputs that an update of the object may change. Of one that is not as it should be, any volatile one: it
    // may be on its way to another state already.
    fn moved_outputs(&self, key: &str, ledger: &Ledger) -> Vec<&'static str> {
        let Some((node, step)) = self.graph.nodes().get(key).zip(self.steps.get(key)) else { return Vec::new() };
        let is_ready = ledger.entries.get(key).is_some_and(|entry| entry.health == Health::Ready);
        let moved = node.facts.volatile.iter().filter(|volatile| !is_ready || volatile.is_moved_by(&step.fields));
        moved.map(|volatile| volatile.output).collect()
    }
}

fn steps(graph: &Graph, ledger: &Ledger) -> (BTreeMap<Key, Step>, Vec<Replacement>) {
    let (mut steps, mut replacements) = (BTreeMap::new(), Vec::new());
    for (key, node) in graph.nodes() {
        let (step, forcing) = step(key, node, graph, ledger);
        if step.action == Action::Replace && !is_disposable(key, &node.facts, graph, ledger) {
            replacements.extend(forcing.into_iter().map(|field| Replacement {
                key: key.clone(),
                origin: node.origin(&field).cloned(),
                field,
            }));
        }
        steps.insert(key.clone(), step);
    }
    for (key, entry) in ledger.entries.iter().filter(|(key, _)| !graph.nodes().contains_key(*key)) {
        // Without a shape nothing can be said of what the graph does not have.
        let shaped = graph.unshaped().is_none();
        let action = if shaped { Action::Delete } else { Action::Update };
        if shaped && entry.holds_data && entry.health != Health::Missing {
            replacements.push(Replacement { key: key.clone(), field: String::new(), origin: None });
        }
        steps.insert(key.clone(), Step { action, fields: BTreeSet::new() });
    }
    for key in ledger.retired.keys() {
        steps.insert(format!("{key} (retired)"), Step { action: Action::Delete, fields: BTreeSet::new() });
    }
    (steps, replacements)
}

// The fields in which the node differs from what is there as last seen.
fn differing(node: &Node, entry: &Entry) -> BTreeSet<String> {
    wished(node, entry, &as_seen(entry))
}

// The fields in which the node differs from what was there before.
fn wished(node: &Node, entry: &Entry, before: &Document) -> BTreeSet<String> {
    let facts = &node.facts;
    let pending: BTreeSet<&str> =
        node.fields.iter().filter(|(_, field)| is_pending(&field.document)).map(|(name, _)| *name).collect();
    let mut fields = changed(facts, before, &node.known_document());
    fields.retain(|field| !pending.contains(field.as_str()));
    fields.extend(pending.iter().filter(|field| !facts.initial.contains(*field)).map(|field| (*field).to_owned()));
    if entry.kind != facts.kind {
        fields.extend(facts.identity.iter().map(|field| (*field).to_owned()));
    }
    fields
}

// What of ours is there, as last seen: what we applied, and where that has drifted, what was found. A value that is
// wanted now and was found already is no difference, whoever put it there.
fn as_seen(entry: &Entry) -> Document {
    let mut seen = entry.document.clone();
    let Health::Drifted(differences) = &entry.health else { return seen };
    for difference in differences {
        let (field, found) = (field_of(difference), difference.found.clone());
        match seen.get_mut(field) {
            // Of a merged map one key differs.
            Some(Json::Object(map)) if field != difference.field => {
                let key = map.keys().find(|key| difference.field == format!("{field}[{key:?}]")).cloned();
                map.extend(key.map(|key| (key, found)));
            }
            _ => drop(seen.insert(field.to_owned(), found)),
        }
    }
    seen
}

// Whether a fixed field that differs makes it necessary to make the object again.
fn forces(field: &str, node: &Node, graph: &Graph) -> bool {
    let wanted = node.fields.get(field).map_or(&Json::Null, |field| &field.document);
    let may_differ = |why: &Pending| match why {
        Pending::Config => true,
        Pending::Output { component, .. } => !graph.knows(component),
    };
    !is_pending(wanted) || pending_in(wanted).iter().any(may_differ)
}

fn recorded_outputs(ledger: &Ledger) -> BTreeMap<Key, Document> {
    let seen = |entry: &Entry| match entry.health {
        Health::Missing => false,
        Health::Begun => !entry.outputs.is_empty(),
        _ => true,
    };
    ledger.entries.iter().filter(|(_, e)| seen(e)).map(|(key, entry)| (key.clone(), entry.outputs.clone())).collect()
}

fn still_known(known: &BTreeMap<Key, Document>, planned: &BTreeMap<Key, Document>) -> BTreeMap<Key, Document> {
    let forgotten = |outputs: &Document, planned: &Document| {
        let mut outputs = outputs.clone();
        outputs.extend(planned.iter().filter(|(_, value)| is_pending(value)).map(|(k, v)| (k.clone(), v.clone())));
        outputs
    };
    known
        .iter()
        .filter_map(|(key, outputs)| planned.get(key).map(|planned| (key.clone(), forgotten(outputs, planned))))
        .collect()
}

fn pending_output(key: &str, field: &str) -> Json {
    let why = Pending::Output { component: key.to_owned(), field: field.to_owned() };
    Value::<()>::pending(why).into_field().document
}
