//! Looks at every object of a resource at once, for Terraform's Read: what is there, how it differs from what we
//! applied, and what that says of the attributes. Writes nothing to the world.

use std::{collections::BTreeMap, sync::Arc};

use futures::{FutureExt, StreamExt, stream};
use serde_json::Value as Json;
use value::{AttributePath, Back, Field, is_pending};

use crate::{
    AnyDriver, Cx, Difference, Document, Drivers, During, Entry, Failure, Fault, Found, Graph, Health, Key, KindFacts,
    Ledger, Node, Owner, Ownership, Readiness,
    compare::{SLOT, differences, only_keys, same},
    decide::stranger,
    look::{Sight, Slots, choose},
    object::{in_slot, other_slot},
    retry,
};

/// As many objects are looked at at once.
const AT_ONCE: usize = 16;

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
/// With a record: compares with what we applied, field by field, and reports differing fields as drift. A field found
/// other than the attributes of `graph` have it is written back through its mirrors; an equal one is not, so the
/// user's spelling stays.
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
    let looker = Looker { drivers, cx, owner, graph };
    let had_nothing = ledger.is_some_and(|ledger| ledger.entries.is_empty());
    let (ledger, failures, write_backs) = match ledger {
        Some(ledger) => looker.compare(ledger).await,
        None => looker.rebuild().await,
    };
    if !failures.is_empty() {
        return Err(failures);
    }
    let is_missing = |entry: &Entry| entry.health == Health::Missing;
    let gone = !had_nothing && ledger.retired.is_empty() && ledger.entries.values().all(is_missing);
    Ok(Inspection { ledger, write_backs, gone })
}

/// What one look at the world needs.
struct Looker<'a> {
    drivers: &'a Drivers,
    cx: &'a Cx,
    owner: &'a Owner,
    graph: &'a Graph,
}

type Outcome = (Ledger, Vec<Failure>, Vec<WriteBack>);

// === impl Looker ===

impl Looker<'_> {
    async fn compare(&self, ledger: &Ledger) -> Outcome {
        let (entries, mut failures) = self.observe_all(&ledger.entries).await;
        let (retired, more) = self.observe_all(&ledger.retired).await;
        failures.extend(more);
        let mut seen = ledger.clone();
        let mut write_backs = Vec::new();
        for (key, found) in entries {
            let Some(entry) = seen.entries.get_mut(&key) else { continue };
            self.refresh(entry, found.as_ref());
            let is_ours = !matches!(entry.health, Health::Foreign(_));
            if let (Some(found), Some(node), true) = (found, self.graph.nodes().get(&key), is_ours) {
                write_backs.extend(drift_back(node, entry, &found.document));
            }
        }
        for (key, _) in retired.into_iter().filter(|(_, found)| found.is_none()) {
            seen.retired.remove(&key);
        }
        (seen, failures, write_backs)
    }

    // Puts what was seen into the entry.
    fn refresh(&self, entry: &mut Entry, found: Option<&Found>) {
        let Some(found) = found else {
            entry.health = Health::Missing;
            return;
        };
        if let Ownership::Marked(mark) = &found.ownership
            && mark != self.owner
        {
            entry.health = Health::Foreign(mark.0.clone());
            return;
        }
        entry.outputs.clone_from(&found.outputs);
        entry.imported &= found.ownership.is_unmarked();
        let differences = match self.drivers.get(&entry.kind) {
            Ok(driver) => differences(&driver.facts(), &entry.document, &entry.document, &found.document),
            Err(_) => Vec::new(),
        };
        entry.health = health(entry, found, &differences);
    }

    async fn observe_all(&self, entries: &BTreeMap<Key, Entry>) -> (Vec<(Key, Option<Found>)>, Vec<Failure>) {
        let looks: Vec<_> = entries.iter().map(|(key, entry)| self.observe_entry(key, entry).boxed()).collect();
        partition(stream::iter(looks).buffered(AT_ONCE).collect().await)
    }

    async fn observe_entry(&self, key: &Key, entry: &Entry) -> Result<(Key, Option<Found>), Failure> {
        let found = match self.drivers.get(&entry.kind) {
            Ok(driver) => self.observe(driver, &entry.document).await,
            Err(fault) => Err(fault),
        };
        found.map(|found| (key.clone(), found)).map_err(|fault| self.failure(key, &entry.kind, fault))
    }

    async fn sight_of(&self, key: &Key, node: &Node) -> Result<(Key, Sight), Failure> {
        let found = self.sight(node).await;
        found.map(|sight| (key.clone(), sight)).map_err(|fault| self.failure(key, node.facts.kind, fault))
    }

    async fn rebuild(&self) -> Outcome {
        let looks: Vec<_> = self.graph.nodes().iter().map(|(key, node)| self.sight_of(key, node).boxed()).collect();
        let (sights, failures) = partition(stream::iter(looks).buffered(AT_ONCE).collect().await);
        let (mut ledger, mut write_backs) = (Ledger::default(), Vec::new());
        for (key, sight) in sights {
            let Some(node) = self.graph.nodes().get(&key) else { continue };
            if let Some(other) = &sight.other {
                let slot = other_slot(sight.slot.as_deref());
                ledger.retired.insert(key.clone(), self.adopted(node, other, slot.as_deref()));
            }
            if let Some(found) = &sight.found {
                let entry = self.adopted(node, found, sight.slot.as_deref());
                write_backs.extend(all_back(node, &found.document));
                ledger.entries.insert(key, entry);
            }
        }
        (ledger, failures, write_backs)
    }

    async fn sight(&self, node: &Node) -> Result<Sight, Fault> {
        let driver = self.drivers.get(node.facts.kind)?;
        let wanted = in_slot(&node.known_document(), None);
        // Named by what is not known yet: seen once more outputs are known.
        if node.fields.iter().any(|(name, f)| node.facts.identity.contains(name) && is_pending(&f.document)) {
            return Ok(Sight::default());
        }
        let here = self.observe(driver, &wanted).await?;
        if !node.facts.slots {
            return Ok(Sight { slot: None, found: here, other: None });
        }
        let there = self.observe(driver, &in_slot(&wanted, other_slot(None).as_deref())).await?;
        let slots = Slots { here: (None, here), there, is_recorded: false };
        Ok(choose(&node.facts, self.owner, &wanted, slots))
    }

    // The record of an object found without one.
    fn adopted(&self, node: &Node, found: &Found, slot: Option<&str>) -> Entry {
        let document = in_slot(&ours_of(node, &found.document), slot);
        let imported = found.ownership.is_unmarked();
        let mut entry = Entry {
            kind: node.facts.kind.to_owned(),
            document,
            outputs: found.outputs.clone(),
            after: node.after.clone(),
            inside: node.inside.clone(),
            imported,
            holds_data: node.facts.holds_data,
            ..Entry::default()
        };
        entry.health = match &found.ownership {
            Ownership::Marked(mark) if stranger(self.owner, true, &found.ownership).is_some() => {
                Health::Foreign(mark.0.clone())
            }
            _ => health(&entry, found, &[]),
        };
        entry
    }

    async fn observe(&self, driver: &Arc<dyn AnyDriver>, spec: &Document) -> Result<Option<Found>, Fault> {
        retry::read(self.cx, None, || driver.observe(self.cx, spec)).await
    }

    fn failure(&self, key: &str, kind: &str, fault: Fault) -> Failure {
        let noun = self.drivers.get(kind).map_or("object", |driver| driver.facts().noun);
        Failure { key: key.to_owned(), noun, during: During::Observe, fault, origin: None }
    }
}

fn partition<T>(outcomes: Vec<Result<T, Failure>>) -> (Vec<T>, Vec<Failure>) {
    let (mut values, mut failures) = (Vec::new(), Vec::new());
    for outcome in outcomes {
        match outcome {
            Ok(value) => values.push(value),
            Err(failure) => failures.push(failure),
        }
    }
    (values, failures)
}

// What has to be repaired most counts: a plan made from this health must lead to all that is amiss being seen.
fn health(entry: &Entry, found: &Found, differences: &[Difference]) -> Health {
    match &found.readiness {
        Readiness::Broken { reasons, .. } => Health::Broken(reasons.clone()),
        _ if !differences.is_empty() => Health::Drifted(differences.to_vec()),
        _ if found.ownership.is_unmarked() && !entry.imported => Health::Unmarked,
        Readiness::Waiting(state) => Health::Waiting(state.clone()),
        Readiness::Ready => Health::Ready,
    }
}

// The part of a found document that is ours: what identifies it, what is wanted, and what attributes mirror.
fn ours_of(node: &Node, found: &Document) -> Document {
    let facts = &node.facts;
    let mut document = Document::new();
    for (name, field) in &node.fields {
        let is_steering = facts.local.contains(name) || facts.initial.contains(name);
        let is_ours = facts.identity.contains(name) || !field.document.is_null() || !field.mirrors.is_empty();
        let value = match () {
            () if is_steering && is_pending(&field.document) => Json::Null,
            () if is_steering => field.document.clone(),
            () if is_ours => our_keys(facts, name, found.get(*name).unwrap_or(&Json::Null), &[&field.document]),
            () => Json::Null,
        };
        if !value.is_null() && *name != SLOT {
            document.insert((*name).to_owned(), value);
        }
    }
    document
}

// Of a map shared with others, the keys that are ours; all of it where ours are not known.
fn our_keys(facts: &KindFacts, field: &str, found: &Json, ours: &[&Json]) -> Json {
    let known: Vec<_> = ours.iter().filter(|ours| ours.is_object() && !is_pending(ours)).collect();
    if !facts.merged.contains(&field) || known.is_empty() {
        return found.clone();
    }
    let mut keys = Document::new();
    known.iter().filter_map(|ours| ours.as_object()).for_each(|ours| keys.extend(ours.clone()));
    only_keys(found, &Json::Object(keys))
}

// Compared with what the attributes say, not with what we applied: an attribute into which an earlier look wrote drift
// gets its value back when somebody else has undone the drift.
fn drift_back(node: &Node, entry: &Entry, found: &Document) -> Vec<WriteBack> {
    let facts = &node.facts;
    let is_steering = |name: &&str| facts.local.contains(name) || facts.initial.contains(name) || *name == SLOT;
    let fields = node.fields.iter().filter(|(name, field)| !is_steering(name) && !is_pending(&field.document));
    let differing = fields.filter_map(|(name, field)| {
        let applied = entry.document.get(*name).unwrap_or(&Json::Null);
        // Neither applied nor wanted: not ours.
        if applied.is_null() && field.document.is_null() {
            return None;
        }
        let ours = [applied, &field.document];
        let found = our_keys(facts, name, found.get(*name).unwrap_or(&Json::Null), &ours);
        (!same(&found, &field.document)).then(|| news(field, &found))
    });
    differing.flatten().collect()
}

// What the difference says of attributes, not of those that other parts of the field tell: their spelling stays.
fn news(field: &Field, found: &Json) -> Vec<WriteBack> {
    let said = back(field, &field.document);
    back(field, found).into_iter().filter(|news| !said.contains(news)).collect()
}

fn all_back(node: &Node, found: &Document) -> Vec<WriteBack> {
    let fields = node.fields.iter().filter(|(name, _)| !node.facts.local.contains(*name) && **name != SLOT);
    // All of a map shared with others: which keys are the user's is not known before the attributes are.
    fields.flat_map(|(name, field)| back(field, found.get(*name).unwrap_or(&Json::Null))).collect()
}

fn back(field: &Field, found: &Json) -> Vec<WriteBack> {
    let said = |mirror: &value::Mirror| match mirror.back(found) {
        Back::Is(value) => Some(WriteBack { path: mirror.path.clone(), value }),
        Back::Unsaid => None,
    };
    field.mirrors.iter().filter_map(said).collect()
}
