//! Deletes recorded objects, in reverse over the recorded edges.
//!
//! Knows nothing of what is wanted: what is to go is decided before.

use std::collections::{BTreeMap, BTreeSet};

use futures::{StreamExt, stream::FuturesUnordered};

use crate::{
    Document, During, Entry, Failure, Fault, FaultClass, Found, Health, Key, KindFacts, Ledger, Ownership,
    decide::stranger,
    engine::AT_ONCE,
    object::{Object, Stop, in_slot, other_slot, slot_of},
    work::Work,
};

/// A recorded object that is to be deleted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Doomed {
    key: Key,
    is_retired: bool,
    /// The resource as a whole goes, and data with it.
    with_data: bool,
}

/// What is still to be deleted, and what goes along with something else.
struct Rest {
    left: BTreeMap<Doomed, Entry>,
    started: BTreeSet<Doomed>,
    /// Parts, with the objects that they vanish with.
    parts: BTreeMap<Doomed, BTreeSet<Key>>,
}

// === impl Doomed ===

impl Doomed {
    pub(crate) fn entry(key: &str) -> Self {
        Self { key: key.to_owned(), is_retired: false, with_data: false }
    }

    pub(crate) fn retired(key: &str) -> Self {
        Self { is_retired: true, ..Self::entry(key) }
    }

    /// Everything recorded.
    pub(crate) fn all(ledger: &Ledger) -> BTreeSet<Self> {
        let all =
            ledger.entries.keys().map(|key| Self::entry(key)).chain(ledger.retired.keys().map(|k| Self::retired(k)));
        all.map(|doomed| Self { with_data: true, ..doomed }).collect()
    }
}

/// Asks of everything doomed that holds data whether it may go, before anything goes.
pub(crate) async fn refusals(work: &Work<'_>, doomed: &BTreeSet<Doomed>) -> Vec<Failure> {
    let mut failures = Vec::new();
    for doomed in doomed {
        let entries = if doomed.is_retired { work.ledger().retired.clone() } else { work.ledger().entries.clone() };
        let Some(entry) = entries.get(&doomed.key).filter(|entry| entry.holds_data) else { continue };
        if let Err(stop) = may_go(work, doomed, entry).await {
            let noun = work.run.drivers.get(&entry.kind).map_or("object", |driver| driver.facts().noun);
            failures.push(stop.failure(doomed.key.clone(), noun));
        }
    }
    failures
}

async fn may_go(work: &Work<'_>, doomed: &Doomed, entry: &Entry) -> Result<(), Stop> {
    let object = Object::new(work, &doomed.key, &entry.kind, BTreeSet::new()).map_err(Stop::during(During::Delete))?;
    let Some(found) = object.observe(&entry.document).await? else { return Ok(()) };
    if stranger(work.run.owner, true, &found.ownership).is_some() {
        return Ok(());
    }
    object.driver.may_delete(&entry.document, &found).map_err(Stop::during(During::Delete))
}

/// Deletes what is doomed, each object after all that needed it. What fails stays in the record, and so does what
/// it needs.
pub(crate) async fn remove(work: &Work<'_>, doomed: &BTreeSet<Doomed>) -> Vec<Failure> {
    let mut rest = Rest::new(work, doomed);
    let mut failures = Vec::new();
    let mut running = FuturesUnordered::new();
    loop {
        while running.len() < AT_ONCE
            && let Some((doomed, entry)) = rest.next(running.is_empty() && failures.is_empty())
        {
            running.push(async move {
                let outcome = remove_one(work, &doomed, &entry).await;
                (doomed, entry, outcome)
            });
        }
        match running.next().await {
            Some((doomed, _, Ok(()))) => rest.gone(work, &doomed),
            Some((doomed, entry, Err(stop))) => {
                let noun = work.run.drivers.get(&entry.kind).map_or("object", |driver| driver.facts().noun);
                failures.push(stop.failure(doomed.key, noun));
            }
            None => return failures,
        }
    }
}

// === impl Rest ===

impl Rest {
    fn new(work: &Work<'_>, doomed: &BTreeSet<Doomed>) -> Self {
        let ledger = work.ledger();
        let entry = |doomed: &Doomed| {
            let entries = if doomed.is_retired { &ledger.retired } else { &ledger.entries };
            entries.get(&doomed.key).map(|entry| (doomed.clone(), entry.clone()))
        };
        let mut left: BTreeMap<_, _> = doomed.iter().filter_map(entry).collect();
        let parts: BTreeMap<_, _> = left
            .iter()
            .map(|(part, entry)| (part.clone(), wholes(work, &ledger, entry)))
            .filter(|(_, wholes)| !wholes.is_empty() && wholes.iter().all(|key| is_going(doomed, key)))
            .collect();
        left.retain(|doomed, _| !parts.contains_key(doomed));
        Self { left, started: BTreeSet::new(), parts }
    }

    // An object that nothing left needs. Where edges run in a circle, which a record cut off midway may have, any.
    fn next(&mut self, is_stuck_otherwise: bool) -> Option<(Doomed, Entry)> {
        let open = || self.left.iter().filter(|(doomed, _)| !self.started.contains(*doomed));
        let is_free = |doomed: &Doomed| {
            !self.left.iter().any(|(other, entry)| other.key != doomed.key && entry.after.contains(&doomed.key))
        };
        let free = open().find(|(doomed, _)| is_free(doomed));
        let next = free.or_else(|| open().next().filter(|_| is_stuck_otherwise));
        let (doomed, entry) = next.map(|(doomed, entry)| (doomed.clone(), entry.clone()))?;
        self.started.insert(doomed.clone());
        Some((doomed, entry))
    }

    fn gone(&mut self, work: &Work<'_>, doomed: &Doomed) {
        self.left.remove(doomed);
        let is_there = |key: &Key| self.left.keys().any(|left| left.key == *key && !left.is_retired);
        let vanished: Vec<_> =
            self.parts.iter().filter(|(_, w)| !w.iter().any(is_there)).map(|(part, _)| part.clone()).collect();
        self.parts.retain(|part, _| !vanished.contains(part));
        work.change(|ledger| {
            for doomed in vanished.iter().chain([doomed]) {
                let entries = if doomed.is_retired { &mut ledger.retired } else { &mut ledger.entries };
                entries.remove(&doomed.key);
            }
        });
    }
}

fn is_going(doomed: &BTreeSet<Doomed>, key: &str) -> bool {
    doomed.iter().any(|doomed| doomed.key == key && !doomed.is_retired)
}

// What a part is part of: of the objects it comes after, those that hold data, or else those that are no parts.
fn wholes(work: &Work<'_>, ledger: &Ledger, part: &Entry) -> BTreeSet<Key> {
    let facts = |entry: &Entry| work.run.drivers.get(&entry.kind).map(|driver| driver.facts()).ok();
    if !facts(part).is_some_and(|facts| facts.part) {
        return BTreeSet::new();
    }
    let needs: Vec<(&Key, KindFacts)> = part
        .after
        .iter()
        .filter_map(|key| Some((key, facts(ledger.entries.get(key)?)?)))
        .filter(|(_, facts)| !facts.part)
        .collect();
    let holds_data = needs.iter().any(|(_, facts)| facts.holds_data);
    needs.into_iter().filter(|(_, facts)| facts.holds_data == holds_data).map(|(key, _)| key.clone()).collect()
}

async fn remove_one(work: &Work<'_>, doomed: &Doomed, entry: &Entry) -> Result<(), Stop> {
    work.not_cancelled().map_err(Stop::during(During::Delete))?;
    let upstream = entry.after.iter().cloned().chain([doomed.key.clone()]).collect();
    let object = Object::new(work, &doomed.key, &entry.kind, upstream).map_err(Stop::during(During::Delete))?;
    if let Some(found) = object.observe(&entry.document).await? {
        remove_found(&object, doomed, &entry.document, found).await?;
    }
    if object.facts.slots && !doomed.is_retired && !work.ledger().retired.contains_key(&doomed.key) {
        remove_other(&object, &entry.document).await?;
    }
    Ok(())
}

async fn remove_found(object: &Object<'_>, doomed: &Doomed, spec: &Document, found: Found) -> Result<(), Stop> {
    let words = object.words(spec);
    if let Some(stranger) = stranger(object.work.run.owner, true, &found.ownership) {
        tracing::warn!(object = words, "not deleted, because it {}", stranger.whose);
        return Ok(());
    }
    if object.facts.holds_data && !doomed.with_data {
        let fault = Fault::new(FaultClass::HoldsData, &words, format!("{words} is no longer wanted, but holds data"))
            .advise("Replace the resource with terraform apply -replace if the data may go.");
        return Err(Stop::during(During::Delete)(fault));
    }
    object.work.change(|ledger| {
        let entries = if doomed.is_retired { &mut ledger.retired } else { &mut ledger.entries };
        if let Some(entry) = entries.get_mut(&doomed.key) {
            entry.health = Health::Begun;
        }
    });
    object.erase(spec, found).await
}

// A run that was cut off may have made a second object that this record does not know of.
async fn remove_other(object: &Object<'_>, spec: &Document) -> Result<(), Stop> {
    let spec = in_slot(spec, other_slot(slot_of(spec).as_deref()).as_deref());
    match object.observe(&spec).await? {
        Some(found) if found.ownership == Ownership::Marked(object.work.run.owner.clone()) => {
            object.erase(&spec, found).await
        }
        _ => Ok(()),
    }
}
