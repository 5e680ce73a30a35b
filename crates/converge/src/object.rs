//! One object during a run: looking at it, waiting for it, deleting it. Every call of the run goes through here or
//! through [`crate::bring`].
//!
//! **Invariant:** a write that has begun is waited for, whatever else ends; none begins after cancellation.

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::Value as Json;

use crate::{
    AnyDriver, Document, During, Entry, Failure, Fault, FaultClass, Found, Key, KindFacts, Ownership, Readiness,
    compare::SLOT,
    retry::{self, Poll, Retry, SETTLING},
    work::Work,
};

/// How long something that this run found broken may take to notice that its cause is gone: autoscalers look every
/// ten seconds.
const OUTLASTING: Duration = Duration::from_secs(20);

/// One object, with everything needed to work on it.
pub(crate) struct Object<'a> {
    pub(crate) work: &'a Work<'a>,
    pub(crate) key: Key,
    pub(crate) facts: KindFacts,
    pub(crate) driver: Arc<dyn AnyDriver>,
    /// The object itself and all that it needs.
    pub(crate) upstream: BTreeSet<Key>,
}

/// Why work on an object stopped.
#[derive(Debug)]
pub(crate) struct Stop {
    pub(crate) during: During,
    pub(crate) fault: Fault,
}

// === impl Stop ===

impl Stop {
    /// For `map_err`.
    pub(crate) fn during(during: During) -> impl Fn(Fault) -> Self {
        move |fault| Self { during, fault }
    }

    /// The failure of the object `key`.
    pub(crate) fn failure(self, key: Key, noun: &'static str) -> Failure {
        Failure { key, noun, during: self.during, fault: self.fault, origin: None }
    }
}

// === impl Object ===

impl<'a> Object<'a> {
    pub(crate) fn new(work: &'a Work<'a>, key: &str, kind: &str, upstream: BTreeSet<Key>) -> Result<Self, Fault> {
        let driver = Arc::clone(work.run.drivers.get(kind)?);
        Ok(Self { work, key: key.to_owned(), facts: driver.facts(), driver, upstream })
    }

    /// The object in words, such as `IAM role "ml-nodes"`.
    pub(crate) fn words(&self, spec: &Document) -> String {
        let fields = self.facts.identity.iter().filter(|field| !self.facts.place.contains(field));
        let names: Vec<_> = fields.filter_map(|field| spec.get(*field)).map(plain).collect();
        match (self.facts.noun, names.as_slice()) {
            (noun, []) => noun.to_owned(),
            (noun, names) => format!("{noun} {:?}", names.join("/")),
        }
    }

    pub(crate) fn entry(&self) -> Option<Entry> {
        self.work.ledger().entries.get(&self.key).cloned()
    }

    pub(crate) fn retry(&self) -> Retry<'a> {
        Retry::new(self.work.run.cx, self.work.fresh_until(&self.upstream))
    }

    pub(crate) async fn observe(&self, spec: &Document) -> Result<Option<Found>, Stop> {
        let cx = self.work.run.cx;
        retry::read(cx, self.work.fresh_until(&self.upstream), || self.driver.observe(cx, spec))
            .await
            .map_err(Stop::during(During::Observe))
    }

    /// Fails where no write may begin any more.
    pub(crate) fn may_write(&self, during: During) -> Result<(), Stop> {
        self.work.not_cancelled().map_err(Stop::during(during))
    }

    pub(crate) fn now(&self) -> Instant {
        self.work.run.cx.clock.now()
    }

    /// Waits until the object can be used or is broken; none where it is gone. An object written moments ago may
    /// not be visible yet.
    pub(crate) async fn wait(&self, spec: &Document, seen: impl Fn(&Found)) -> Result<Option<Found>, Stop> {
        let since = self.now();
        let mut poll = Poll::new(self.driver.poll());
        loop {
            let found = self.observe(spec).await?;
            let state = match &found {
                None if self.now().saturating_duration_since(since) > SETTLING => return Ok(None),
                None => "not visible yet",
                Some(found) => {
                    seen(found);
                    match &found.readiness {
                        Readiness::Waiting(state) => state,
                        Readiness::Ready | Readiness::Broken { .. } => return Ok(Some(found.clone())),
                    }
                }
            };
            self.pause(&mut poll, since, (During::Wait, state)).await?;
        }
    }

    /// Waits while the object is broken, for as long as what was put right elsewhere may need to be seen.
    pub(crate) async fn outlast(&self, spec: &Document, seen: impl Fn(&Found)) -> Result<Option<Found>, Stop> {
        let since = self.now();
        let mut poll = Poll::new(self.driver.poll());
        loop {
            let found = self.observe(spec).await?;
            found.iter().for_each(&seen);
            let Some(Readiness::Broken { reasons, .. }) = found.as_ref().map(|found| &found.readiness) else {
                return Ok(found);
            };
            if self.now().saturating_duration_since(since) > OUTLASTING {
                return Ok(found);
            }
            self.pause(&mut poll, since, (During::Wait, reasons)).await?;
        }
    }

    /// Deletes the object that was found and waits until it is gone.
    pub(crate) async fn erase(&self, spec: &Document, mut found: Found) -> Result<(), Stop> {
        let mut retry = self.retry();
        loop {
            self.may_write(During::Delete)?;
            let outcome = self.driver.delete(self.work.run.cx, spec, &found).await;
            self.work.wrote(&self.key);
            let paused = match outcome {
                // A setting put back may leave nothing to see of its end: suspended versioning looks like any other.
                Ok(()) if self.facts.part => return Ok(()),
                Ok(()) => return self.wait_gone(spec, &found).await,
                Err(fault) if fault.class == FaultClass::NotFound => retry.after_surprise(fault).await,
                Err(fault) => retry.after(fault).await,
            };
            paused.map_err(Stop::during(During::Delete))?;
            match self.observe(spec).await? {
                Some(seen) => found = seen,
                None => return Ok(()),
            }
        }
    }

    async fn wait_gone(&self, spec: &Document, before: &Found) -> Result<(), Stop> {
        let since = self.now();
        let mut poll = Poll::new(self.driver.poll());
        while let Some(found) = self.observe(spec).await? {
            let state = match &found.readiness {
                Readiness::Waiting(state) => state,
                // Nobody's, and not on its way out: one that came after ours, or that we have let go.
                Readiness::Ready if found.ownership == Ownership::Adoptable => return Ok(()),
                Readiness::Ready => "there",
                // What was broken before may look so for a moment more.
                Readiness::Broken { reasons, .. }
                    if found.readiness != before.readiness
                        || self.now().saturating_duration_since(since) > SETTLING =>
                {
                    let fault = Fault::new(FaultClass::Broken, self.words(spec), reasons);
                    return Err(Stop { during: During::Delete, fault });
                }
                Readiness::Broken { reasons, .. } => reasons,
            };
            self.pause(&mut poll, since, (During::Delete, state)).await?;
        }
        Ok(())
    }

    // Pauses between two observations; where waiting has to end, the fault names the state.
    async fn pause(&self, poll: &mut Poll, since: Instant, (during, state): (During, &str)) -> Result<(), Stop> {
        self.work.run.cx.sleep(poll.pause()).await.map_err(|fault| {
            let waited = self.now().saturating_duration_since(since).as_secs();
            let state = if state.is_empty() { "waiting" } else { state };
            let message = format!("{}: still {state} after {}m{:02}s", fault.message, waited / 60, waited % 60);
            Stop { during, fault: Fault { message, ..fault } }
        })
    }
}

/// The document for one of the two slots.
pub(crate) fn in_slot(document: &Document, slot: Option<&str>) -> Document {
    let mut document = document.clone();
    match slot {
        Some(slot) => document.insert(SLOT.to_owned(), Json::from(slot)),
        None => document.remove(SLOT),
    };
    document
}

/// The slot that a document is in; none is the first.
pub(crate) fn slot_of(document: &Document) -> Option<String> {
    document.get(SLOT).and_then(Json::as_str).map(str::to_owned)
}

/// The other of the two slots.
pub(crate) fn other_slot(slot: Option<&str>) -> Option<String> {
    slot.is_none().then(|| "b".to_owned())
}

fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
