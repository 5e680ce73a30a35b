//! Brings one object to what is wanted: look, decide, do, and again until nothing is left to do.
//!
//! Resumable at every point: each round starts from what is there, and the record is written before and after
//! every call.

mod record;

use std::collections::BTreeSet;

use self::record::is_seen;
use crate::{
    AnyCreation, Cx, Document, During, Entry, Fault, FaultClass, Health, Key, Node, Readiness,
    compare::changed,
    decide::{Case, Deed, Update, decide, foreign, stranger},
    look::{Sight, look},
    object::{Object, Stop, in_slot, other_slot},
    retry::Retry,
    token::token,
};

/// More deeds than any object needs: replaced, made, changed, changed again for what the first change left.
const DEEDS: u32 = 8;

/// The work on one wanted object whose fields are all known.
pub(crate) struct Bring<'a> {
    object: &'a Object<'a>,
    node: &'a Node,
    wanted: Document,
    is_disposable: bool,
    retry: Retry<'a>,
    before: (Option<Entry>, Option<Entry>),
    tried: BTreeSet<String>,
    deeds: u32,
    has_outlasted: bool,
}

impl<'a> Bring<'a> {
    pub(crate) fn new(object: &'a Object<'a>, node: &'a Node, is_disposable: bool) -> Self {
        let before = {
            let ledger = object.work.ledger();
            (ledger.entries.get(&object.key).cloned(), ledger.retired.get(&object.key).cloned())
        };
        let wanted = in_slot(&node.document(), None);
        let retry = object.retry();
        Self {
            object,
            node,
            wanted,
            is_disposable,
            retry,
            before,
            tried: BTreeSet::new(),
            deeds: 0,
            has_outlasted: false,
        }
    }

    /// Gives the outputs of the object, ready.
    pub(crate) async fn run(mut self) -> Result<Document, Stop> {
        self.leave_old_names().await?;
        let mut sight = look(self.object, &self.wanted).await?;
        while self.deeds < DEEDS {
            sight = match self.decide(&sight)? {
                Deed::Settle => match self.settle(sight).await? {
                    Ok(outputs) => return Ok(outputs),
                    Err(sight) => sight,
                },
                Deed::Outlast => self.outlast(sight).await?,
                Deed::Create => self.create(sight).await?,
                Deed::Update(update) => self.update(sight, update).await?,
                Deed::Replace => self.clear(sight).await?,
                Deed::Roll => self.roll(sight).await?,
            };
        }
        let message = format!("{} is not as wanted after {DEEDS} changes", self.words());
        Err(Stop::during(During::Update)(Fault::new(FaultClass::Bug, self.words(), message)))
    }

    /// Deletes what the record has in this object's place under another name, or of another kind.
    async fn leave_old_names(&self) -> Result<(), Stop> {
        let (work, key) = (self.object.work, &self.object.key);
        let recorded = {
            let ledger = work.ledger();
            [ledger.entries.get(key).cloned(), ledger.retired.get(key).cloned()]
        };
        for entry in recorded.into_iter().flatten().filter(|entry| self.is_elsewhere(entry)) {
            let old = Object::new(work, key, &entry.kind, self.object.upstream.clone());
            let old = old.map_err(Stop::during(During::Observe))?;
            if let Some(found) = old.observe(&entry.document).await?
                && stranger(work.run.owner, is_seen(&entry), &found.ownership).is_none()
            {
                self.may_leave(&old, &entry)?;
                self.note_health(Health::Begun);
                old.erase(&entry.document, found).await?;
            }
            let stays =
                |other: &Key, at: &mut Entry| other != key || at.kind != entry.kind || at.document != entry.document;
            work.change(|ledger| {
                ledger.entries.retain(stays);
                ledger.retired.retain(stays);
            });
        }
        Ok(())
    }

    fn may_leave(&self, old: &Object<'_>, entry: &Entry) -> Result<(), Stop> {
        if self.is_disposable && !old.facts.holds_data {
            return Ok(());
        }
        let words = old.words(&entry.document);
        let message = format!("{words} is to become {}, and cannot be deleted before by itself", self.words());
        let fault = Fault::new(FaultClass::Invalid, words, message)
            .advise("Replace the resource with terraform apply -replace.");
        Err(Stop::during(During::Delete)(fault))
    }

    fn is_elsewhere(&self, entry: &Entry) -> bool {
        let facts = &self.object.facts;
        let changed = changed(facts, &entry.document, &self.wanted);
        entry.kind != facts.kind || facts.identity.iter().any(|field| changed.contains(*field))
    }

    fn decide(&self, sight: &Sight) -> Result<Deed, Stop> {
        let entry = self.recorded(sight).filter(|entry| self.deeds > 0 || is_seen(entry));
        let case = Case {
            facts: &self.object.facts,
            object: &self.words(),
            owner: self.object.work.run.owner,
            applied: entry.as_ref().map(|entry| &entry.document),
            wanted: &self.wanted,
            found: sight.found.as_ref(),
            has_other: sight.other.is_some(),
            is_disposable: self.is_disposable,
            is_tried: self.deeds > 0 || self.has_outlasted,
            tried: &self.tried,
        };
        // What this run made and found broken, or found in its way, is not created as far as the user is concerned.
        let is_new = case.found.is_none() || !self.before.0.as_ref().is_some_and(is_seen);
        let during = if is_new { During::Create } else { During::Update };
        decide(&case).map_err(|fault| {
            if fault.class == FaultClass::Broken {
                self.note_health(Health::Broken(fault.message.clone()));
            }
            Stop { during, fault }
        })
    }

    async fn create(&mut self, sight: Sight) -> Result<Sight, Stop> {
        self.object.may_write(During::Create)?;
        let spec = self.spec(&sight);
        self.begin(&sight, &spec);
        let run = self.object.work.run;
        let creation = AnyCreation {
            owner: run.owner,
            token: token(run.owner, &self.object.key, &spec),
            previous: sight.other.as_ref(),
        };
        let outcome = self.object.driver.create(&self.cx(), &spec, creation).await;
        self.object.work.wrote(&self.object.key);
        match outcome {
            Ok(()) => self.done(sight, &spec).await,
            Err(fault) => match self.again(fault, sight, During::Create).await {
                Ok(sight) => Ok(sight),
                Err((stop, sight)) => {
                    // Of a call that may still take effect the record goes on saying that it was begun.
                    if !matches!(stop.fault.class, FaultClass::MaybeSent | FaultClass::Cancelled) {
                        self.after_failed_creation(&sight, &spec).await;
                    }
                    Err(stop)
                }
            },
        }
    }

    // Of a write, which may need the object's secrets.
    fn cx(&self) -> Cx {
        self.object.work.run.cx.with_secrets(&self.node.secrets)
    }

    async fn update(&mut self, sight: Sight, update: Update) -> Result<Sight, Stop> {
        self.object.may_write(During::Update)?;
        let spec = self.spec(&sight);
        self.begin(&sight, &spec);
        let Some(found) = sight.found.as_ref() else { return Ok(sight) };
        let outcome = self.object.driver.update(&self.cx(), &spec, &update.changes, found).await;
        self.object.work.wrote(&self.object.key);
        match outcome {
            Ok(()) => {
                self.tried = update.cures;
                self.done(sight, &spec).await
            }
            Err(fault) => self.again(fault, sight, During::Update).await.map_err(|(stop, _)| stop),
        }
    }

    /// Deletes what is in the way, in its place.
    async fn clear(&mut self, sight: Sight) -> Result<Sight, Stop> {
        self.object.may_write(During::Delete)?;
        let spec = self.spec(&sight);
        self.begin(&sight, &spec);
        if let Some(found) = sight.found {
            self.object.erase(&spec, found).await?;
        }
        self.change(|entry| {
            entry.health = Health::Missing;
            entry.outputs = Document::new();
        });
        Ok(Sight { found: None, ..sight })
    }

    /// Makes room in the other slot and turns to it. What stood in this one is retired, not yet deleted.
    async fn roll(&mut self, sight: Sight) -> Result<Sight, Stop> {
        self.object.may_write(During::Create)?;
        let slot = other_slot(sight.slot.as_deref());
        let spec = in_slot(&self.wanted, slot.as_deref());
        let in_the_way = match sight.other {
            Some(other) => Some(other),
            None => self.object.observe(&spec).await?,
        };
        if let Some(other) = in_the_way {
            if let Some(whose) = stranger(self.object.work.run.owner, false, &other.ownership) {
                return Err(Stop::during(During::Create)(foreign(&self.words(), &whose)));
            }
            self.object.erase(&spec, other).await?;
        }
        let next = Sight { slot, found: None, other: sight.found };
        self.begin(&next, &spec);
        Ok(next)
    }

    /// Waits until the object can be used and records it so; another sight where it changed meanwhile.
    async fn settle(&mut self, sight: Sight) -> Result<Result<Document, Sight>, Stop> {
        let spec = self.spec(&sight);
        let Some(found) = sight.found.as_ref() else { return Ok(Err(sight)) };
        if matches!(found.readiness, Readiness::Waiting(_)) {
            self.take_up(&sight, &spec);
            let found = self.object.wait(&spec, |found| self.note(found)).await?;
            return Ok(Err(Sight { found, ..sight }));
        }
        self.take_up(&sight, &spec);
        let is_unmarked = found.ownership.is_unmarked();
        self.change(|entry| {
            entry.document = spec;
            entry.outputs.clone_from(&found.outputs);
            entry.after.clone_from(&self.node.after);
            entry.inside.clone_from(&self.node.inside);
            entry.health = Health::Ready;
            entry.imported &= is_unmarked;
        });
        Ok(Ok(found.outputs.clone()))
    }

    /// Waits for a moment whether a broken object becomes whole without a write of ours.
    async fn outlast(&mut self, sight: Sight) -> Result<Sight, Stop> {
        let spec = self.spec(&sight);
        self.take_up(&sight, &spec);
        self.has_outlasted = true;
        let found = self.object.outlast(&spec, |found| self.note(found)).await?;
        Ok(Sight { found, ..sight })
    }

    // A write succeeded: record what is applied now, and wait for it.
    async fn done(&mut self, sight: Sight, spec: &Document) -> Result<Sight, Stop> {
        self.deeds += 1;
        self.retry.succeeded(self.object.now());
        self.change(|entry| entry.document.clone_from(spec));
        let found = self.object.wait(spec, |found| self.note(found)).await?;
        Ok(Sight { found, ..sight })
    }

    // A write failed: pause and look again where that may help.
    async fn again(&mut self, fault: Fault, sight: Sight, during: During) -> Result<Sight, (Stop, Sight)> {
        let class = fault.class;
        let is_surprise = match during {
            During::Create => class == FaultClass::AlreadyExists,
            _ => class == FaultClass::NotFound,
        };
        let paused = if is_surprise { self.retry.after_surprise(fault).await } else { self.retry.after(fault).await };
        if let Err(fault) = paused {
            return Err((Stop::during(during)(fault), sight));
        }
        if is_surprise || class == FaultClass::MaybeSent {
            return look(self.object, &self.wanted).await.map_err(|stop| (stop, sight));
        }
        Ok(sight)
    }

    fn spec(&self, sight: &Sight) -> Document {
        in_slot(&self.wanted, sight.slot.as_deref())
    }

    fn words(&self) -> String {
        self.object.words(&self.wanted)
    }
}
