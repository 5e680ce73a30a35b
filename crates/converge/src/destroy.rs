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
    /// Parts and what is inside, with the objects that they vanish with.
    along: BTreeMap<Doomed, (Entry, BTreeSet<Key>)>,
}

/// What became of an object that was to be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Gone,
    /// It is somebody else's.
    LeftAlone,
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
            Some((doomed, _, Ok(end))) => {
                if end == End::LeftAlone {
                    rest.stay_with(&doomed);
                }
                rest.gone(work, &doomed);
            }
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
        let mut rest =
            Self { left: doomed.iter().filter_map(entry).collect(), started: BTreeSet::new(), along: BTreeMap::new() };
        let wholes = |entry: &Entry| {
            let wholes = entry.inside.iter().cloned().collect::<BTreeSet<_>>();
            if wholes.is_empty() { wholes_of_part(work, &ledger, entry) } else { wholes }
        };
        for (one, entry) in std::mem::take(&mut rest.left) {
            let wholes = wholes(&entry);
            if !wholes.is_empty() && wholes.iter().all(|key| is_going(doomed, key)) {
                rest.along.insert(one, (entry, wholes));
            } else {
                rest.left.insert(one, entry);
            }
        }
        rest
    }

    // An object that nothing left needs. Where edges run in a circle, which a record cut off midway may have, any.
    fn next(&mut self, is_stuck_otherwise: bool) -> Option<(Doomed, Entry)> {
        let open = || self.left.iter().filter(|(doomed, _)| !self.started.contains(*doomed));
        // What is inside another object needs its whole in another way: it goes when that one does.
        let needs = |entry: &Entry, key: &Key| entry.after.contains(key) && entry.inside.as_ref() != Some(key);
        let is_inside = |entry: &&Entry| entry.inside.is_some();
        let is_free = |doomed: &Doomed| {
            let along = self.along.values().map(|(entry, _)| entry).filter(is_inside);
            let others = self.left.iter().filter(|(other, _)| other.key != doomed.key).map(|(_, entry)| entry);
            !others.chain(along).any(|entry| needs(entry, &doomed.key))
        };
        let free = open().find(|(doomed, _)| is_free(doomed));
        let next = free.or_else(|| open().next().filter(|_| is_stuck_otherwise));
        let (doomed, entry) = next.map(|(doomed, entry)| (doomed.clone(), entry.clone()))?;
        self.started.insert(doomed.clone());
        Some((doomed, entry))
    }

    fn gone(&mut self, work: &Work<'_>, doomed: &Doomed) {
        self.left.remove(doomed);
        let mut vanished = vec![doomed.clone()];
        while let Some(next) = self.next_along() {
            self.along.remove(&next);
            vanished.push(next);
        }
        work.change(|ledger| {
            for doomed in vanished {
                let entries = if doomed.is_retired { &mut ledger.retired } else { &mut ledger.entries };
                entries.remove(&doomed.key);
            }
        });
    }

    // Something all of whose wholes are gone.
    fn next_along(&self) -> Option<Doomed> {
        let is_there =
            |key: &Key| self.left.keys().chain(self.along.keys()).any(|there| there.key == *key && !there.is_retired);
        self.along.iter().find(|(_, (_, wholes))| !wholes.iter().any(is_there)).map(|(doomed, _)| doomed.clone())
    }

    // What is inside an object that stays does not go by itself.
    fn stay_with(&mut self, whole: &Doomed) {
        let is_inside = |entry: &Entry| entry.inside.as_ref() == Some(&whole.key) && !whole.is_retired;
        let (own, along) = std::mem::take(&mut self.along).into_iter().partition(|(_, (entry, _))| is_inside(entry));
        self.along = along;
        self.left.extend(own.into_iter().map(|(doomed, (entry, _))| (doomed, entry)));
    }
}

fn is_going(doomed: &BTreeSet<Doomed>, key: &str) -> bool {
    doomed.iter().any(|doomed| doomed.key == key && !doomed.is_retired)
}

// What a part is part of: of the objects it comes after, those that hold data, or else those that are no parts.
fn wholes_of_part(work: &Work<'_>, ledger: &Ledger, part: &Entry) -> BTreeSet<Key> {
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

async fn remove_one(work: &Work<'_>, doomed: &Doomed, entry: &Entry) -> Result<End, Stop> {
    work.not_cancelled().map_err(Stop::during(During::Delete))?;
    let upstream = entry.after.iter().cloned().chain([doomed.key.clone()]).collect();
    let object = Object::new(work, &doomed.key, &entry.kind, upstream).map_err(Stop::during(During::Delete))?;
    let end = match object.observe(&entry.document).await? {
        Some(found) => remove_found(&object, doomed, &entry.document, found).await?,
        None => End::Gone,
    };
    if object.facts.slots && !doomed.is_retired && !work.ledger().retired.contains_key(&doomed.key) {
        remove_other(&object, &entry.document).await?;
    }
    Ok(end)
}

async fn remove_found(object: &Object<'_>, doomed: &Doomed, spec: &Document, found: Found) -> Result<End, Stop> {
    let words = object.words(spec);
    if let Some(stranger) = stranger(object.work.run.owner, true, &found.ownership) {
        tracing::warn!(object = words, "not deleted, because it {}", stranger.whose);
        return Ok(End::LeftAlone);
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
    object.erase(spec, found).await.map(|()| End::Gone)
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
