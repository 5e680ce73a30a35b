//! A cloud in memory: objects by kind and name, whose they are, and what was called.
//!
//! Faults, crashes and drift are asked for by tests. Handles share one cloud; [`FakeCloud::fork`] makes another.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use super::driver::FakeDriver;
use crate::{Document, Drivers, Fault, FaultClass, KindFacts, Owner};

/// A cloud in memory. A clone is another handle of the same cloud.
#[derive(Clone, Default)]
pub struct FakeCloud {
    world: Arc<Mutex<World>>,
}

/// An object in the cloud.
#[derive(Clone, Debug, PartialEq)]
pub struct FakeObject {
    /// Its kind.
    pub kind: String,
    /// Its name: the values of its identifying fields, and the second slot, joined by `/`.
    pub name: String,
    /// What it is like.
    pub document: Document,
    /// Whose mark it carries.
    pub owner: Option<Owner>,
    /// How many more observations find it not ready.
    pub waits: u32,
    /// Why it is broken.
    pub broken: Option<String>,
}

/// Whether something happens before a call takes effect or after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// The call does nothing.
    Before,
    /// The call takes effect, and its answer is lost.
    After,
}

type OutputsOf = Arc<dyn Fn(&Document) -> Document + Send + Sync>;

/// What lies in the objects of a kind: those of these kinds whose field is one of its outputs.
#[derive(Clone)]
struct Contents {
    kinds: BTreeSet<String>,
    field: &'static str,
}

/// The name of an object within the cloud.
pub(super) type Place = (String, String);

#[derive(Clone, Default)]
pub(super) struct World {
    pub(super) objects: BTreeMap<Place, FakeObject>,
    parts: BTreeSet<String>,
    contents: BTreeMap<String, Contents>,
    journal: Vec<String>,
    writes: usize,
    faults: BTreeMap<usize, (When, FaultClass)>,
    crash: Option<(usize, When)>,
    reads: usize,
    read_faults: BTreeMap<usize, FaultClass>,
    crash_at_read: Option<usize>,
    crashed: CancellationToken,
    outputs: BTreeMap<String, OutputsOf>,
    defaults: BTreeMap<String, Document>,
    slow: u32,
    pub(super) kept: BTreeSet<String>,
    pub(super) refuses: bool,
}

/// What the cloud does with one write.
pub(super) struct Fate {
    pub(super) takes_effect: bool,
    pub(super) fault: Option<FaultClass>,
    pub(super) crashes: bool,
}

// === impl FakeCloud ===

impl FakeCloud {
    /// An empty cloud.
    pub fn new() -> Self {
        Self::default()
    }

    /// Drivers of the given kinds that work on this cloud.
    pub fn drivers(&self, kinds: &[KindFacts]) -> Drivers {
        let mut drivers = Drivers::default();
        for facts in kinds {
            if facts.part {
                self.world().parts.insert(facts.kind.to_owned());
            }
            drivers.insert(Arc::new(FakeDriver { cloud: self.clone(), facts: *facts }));
        }
        drivers
    }

    /// Outputs of a kind, made from an object's document, in addition to `id`, `arn` and `name`.
    #[must_use]
    pub fn with_outputs(self, kind: &str, outputs: impl Fn(&Document) -> Document + Send + Sync + 'static) -> Self {
        self.world().outputs.insert(kind.to_owned(), Arc::new(outputs));
        self
    }

    /// What the server puts in the place of fields left out.
    #[must_use]
    pub fn with_defaults(self, kind: &str, defaults: &Json) -> Self {
        self.world().defaults.insert(kind.to_owned(), defaults.as_object().cloned().unwrap_or_default());
        self
    }

    /// Objects of `kind` take along what lies in them: what is of `kinds` and has one of their outputs in `field`.
    #[must_use]
    pub fn with_contents(self, kind: &str, field: &'static str, kinds: impl IntoIterator<Item = &'static str>) -> Self {
        let kinds = kinds.into_iter().map(str::to_owned).collect();
        self.world().contents.insert(kind.to_owned(), Contents { kinds, field });
        self
    }

    /// Every object is found not ready this often after each write.
    #[must_use]
    pub fn slow(self, observations: u32) -> Self {
        self.world().slow = observations;
        self
    }

    /// Another cloud in the same state, with nothing called and no fault due.
    #[must_use]
    pub fn fork(&self) -> Self {
        let mut world = self.world().clone();
        world.journal.clear();
        world.writes = 0;
        world.faults.clear();
        world.crash = None;
        world.reads = 0;
        world.read_faults.clear();
        world.crash_at_read = None;
        world.crashed = CancellationToken::new();
        Self { world: Arc::new(Mutex::new(world)) }
    }

    /// The objects, by kind and name.
    pub fn objects(&self) -> Vec<FakeObject> {
        self.world().objects.values().cloned().collect()
    }

    /// The calls so far: `kind.verb name`.
    pub fn journal(&self) -> Vec<String> {
        self.world().journal.clone()
    }

    /// How many writes were called so far.
    pub fn writes(&self) -> usize {
        self.world().writes
    }

    /// How many observations were called so far.
    pub fn reads(&self) -> usize {
        self.world().reads
    }

    /// The `nth` observation from now, counted from one, fails.
    pub fn fail_read(&self, nth: usize, class: FaultClass) {
        let mut world = self.world();
        let read = world.reads + nth;
        world.read_faults.insert(read, class);
    }

    /// As [`FakeCloud::crash`], at the `nth` observation from now.
    pub fn crash_at_read(&self, nth: usize) {
        let mut world = self.world();
        world.crash_at_read = Some(world.reads + nth);
    }

    /// The `nth` write from now, counted from one, fails.
    pub fn fail(&self, nth: usize, when: When, class: FaultClass) {
        let mut world = self.world();
        let write = world.writes + nth;
        world.faults.insert(write, (when, class));
    }

    /// At the `nth` write from now, counted from one, the caller dies: that call and all later ones never answer,
    /// and [`FakeCloud::crashed`] ends. The test then drops the run.
    pub fn crash(&self, nth: usize, when: When) {
        let mut world = self.world();
        world.crash = Some((world.writes + nth, when));
    }

    /// Ends when the caller died.
    pub async fn crashed(&self) {
        let crashed = self.world().crashed.clone();
        crashed.cancelled().await;
    }

    /// What there is of a kind may not be deleted with its resource.
    pub fn keep(&self, kind: &str) {
        self.world().kept.insert(kind.to_owned());
    }

    /// From now on every question at plan time is answered by a certain failure. Writes are not.
    pub fn refuse(&self) {
        self.world().refuses = true;
    }

    /// Puts an object there, as somebody else would.
    pub fn put(&self, object: FakeObject) {
        self.world().objects.insert((object.kind.clone(), object.name.clone()), object);
    }

    /// Lets time pass: every object that was not ready is ready.
    pub fn settle(&self) {
        self.world().objects.values_mut().for_each(|object| object.waits = 0);
    }

    /// Takes an object away, as somebody else would.
    pub fn take(&self, kind: &str, name: &str) -> Option<FakeObject> {
        self.world().remove(&(kind.to_owned(), name.to_owned()))
    }

    /// Changes an object, as somebody else would.
    pub fn alter(&self, kind: &str, name: &str, change: impl FnOnce(&mut FakeObject)) {
        if let Some(object) = self.world().objects.get_mut(&(kind.to_owned(), name.to_owned())) {
            change(object);
        }
    }

    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl World ===

impl World {
    pub(super) fn log(&mut self, kind: &str, verb: &str, name: &str) {
        self.journal.push(format!("{kind}.{verb} {name}"));
    }

    /// Counts a write and says what becomes of it.
    pub(super) fn write(&mut self) -> Fate {
        self.writes += 1;
        let crash = self.crash.filter(|(write, _)| *write == self.writes).map(|(_, when)| when);
        let fault = self.faults.remove(&self.writes);
        if crash.is_some() {
            self.crashed.cancel();
        }
        let is_before = crash == Some(When::Before) || fault.is_some_and(|(when, _)| when == When::Before);
        Fate { takes_effect: !is_before, fault: fault.map(|(_, class)| class), crashes: crash.is_some() }
    }

    /// Counts an observation; the class of the fault it ends with, if it does. The caller may die at it.
    pub(super) fn read(&mut self) -> Option<FaultClass> {
        self.reads += 1;
        if self.crash_at_read == Some(self.reads) {
            self.crashed.cancel();
        }
        self.read_faults.remove(&self.reads)
    }

    pub(super) fn is_crashed(&self) -> bool {
        self.crashed.is_cancelled()
    }

    pub(super) fn create(&mut self, place: &Place, spec: &Document, owner: Option<Owner>) -> Result<(), Fault> {
        if self.objects.contains_key(place) {
            return Err(Fault::new(FaultClass::AlreadyExists, &place.1, format!("{} {} exists", place.0, place.1)));
        }
        let mut document = self.defaults.get(&place.0).cloned().unwrap_or_default();
        document.extend(spec.clone());
        let (kind, name) = place.clone();
        let object = FakeObject { kind, name, document, owner, waits: self.slow, broken: None };
        self.objects.insert(place.clone(), object);
        Ok(())
    }

    /// The values a server gives to fields left out.
    pub(super) fn default_of(&self, kind: &str, field: &str) -> Option<Json> {
        self.defaults.get(kind).and_then(|defaults| defaults.get(field)).cloned()
    }

    pub(super) fn touched(&mut self, place: &Place) {
        let slow = self.slow;
        if let Some(object) = self.objects.get_mut(place) {
            object.waits = slow;
        }
    }

    /// Removes an object, and with it the parts that name it and what lies in it.
    pub(super) fn remove(&mut self, place: &Place) -> Option<FakeObject> {
        let object = self.objects.remove(place)?;
        let names = self.outputs_of(&object);
        let is_named = |value: &Json| names.values().any(|name| name == value);
        let parts = &self.parts;
        if !parts.contains(&object.kind) {
            self.objects.retain(|(kind, _), part| !parts.contains(kind) || !part.document.values().any(is_named));
        }
        if let Some(Contents { kinds, field }) = self.contents.get(&object.kind) {
            let lies_in = |one: &FakeObject| one.document.get(*field).is_some_and(is_named);
            self.objects.retain(|(kind, _), one| !kinds.contains(kind) || !lies_in(one));
        }
        Some(object)
    }

    pub(super) fn outputs_of(&self, object: &FakeObject) -> Document {
        let FakeObject { kind, name, .. } = object;
        let all = json!({ "id": format!("{kind}:{name}"), "arn": format!("arn:fake:{kind}/{name}"), "name": name });
        let mut outputs = all.as_object().cloned().unwrap_or_default();
        if let Some(more) = self.outputs.get(kind) {
            outputs.extend(more(&object.document));
        }
        outputs
    }
}
