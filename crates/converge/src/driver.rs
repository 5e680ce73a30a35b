//! The effects of a kind of component: observe, create, update, delete, and questions asked at plan time.
//!
//! A driver makes calls and translates. It does not retry (the engine does, by fault class), does not wait (the
//! engine observes until [`Readiness::Ready`]), does not sleep and keeps no state but its client.

use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
    sync::Arc,
    time::Duration,
};

use futures::{FutureExt, future::BoxFuture};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value as Json;

use crate::{Component, Cx, Document, Fault, FaultClass, KindFacts, Owner, Place, Step};

/// The effects of one kind of component.
///
/// # Guarantees of the engine
/// - `observe` comes before any write, and the mark it reported was ours or the object was not there.
/// - `create` is called when `observe` found nothing; again after a fault that may have taken effect, once `observe`
///   still finds nothing.
/// - Only one write of a component runs at a time; `cx.lock` serialises across components.
///
/// # Assumptions
/// - `create` fails with [`FaultClass::AlreadyExists`] where the object is there; it may also succeed if it is ours.
/// - `delete` of something absent succeeds.
pub trait Driver<C: Component>: Send + Sync + 'static {
    /// IAM actions or Kubernetes verbs it uses; documents and advice are made from it.
    const ACTIONS: &'static [&'static str];
    /// The longest pause between two observations while waiting for readiness; waiting starts far quicker.
    const POLL: Duration = Duration::from_secs(2);

    /// What is there, by the identifying fields of `spec`; the others may be defaults. `None` where it is absent.
    /// Identifying and `local` fields are copied from `spec` into what is returned.
    fn observe(&self, cx: &Cx, spec: &C) -> impl Future<Output = Result<Option<Observed<C>>, Fault>> + Send;
    /// Makes the object, carrying the owner's mark from the first call on.
    fn create(&self, cx: &Cx, spec: &C, creation: &Creation<C>) -> impl Future<Output = Result<(), Fault>> + Send;
    /// Makes the named fields as wanted. `spec` is wanted whole; a field given back has its default there.
    fn update(&self, cx: &Cx, spec: &C, changes: &Changes<C>) -> impl Future<Output = Result<(), Fault>> + Send;
    /// Starts the object's deletion; the engine waits until `observe` finds nothing.
    fn delete(&self, cx: &Cx, spec: &C, found: &Observed<C>) -> impl Future<Output = Result<(), Fault>> + Send;
    /// Whether an object that holds data may go with its resource. Asked before anything of the resource is deleted,
    /// so that a refusal leaves all of it as it is.
    fn may_delete(&self, _spec: &C, _found: &Observed<C>) -> Result<(), Fault> {
        Ok(())
    }
    /// Read-only questions at plan time about an object to be created or changed, as `step` says. `spec` may be partial:
    /// fields not known yet have their defaults. Must not fail for want of permissions: then it finds nothing.
    fn preflight(&self, _cx: &Cx, _spec: &C, _step: &Step) -> impl Future<Output = Vec<Finding>> + Send {
        async { Vec::new() }
    }
}

/// What `observe` found.
#[derive(Clone, Debug)]
pub struct Observed<C: Component> {
    /// The object in the component's words.
    pub spec: C,
    /// Its outputs.
    pub outputs: C::Outputs,
    /// Whose it is.
    pub ownership: Ownership,
    /// Whether it can be used.
    pub readiness: Readiness,
}

/// Whose an object is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// It carries this mark.
    Marked(Owner),
    /// It could carry a mark and carries none.
    Unmarked,
    /// It carries none, and the spec says that such an object may be taken over.
    Adoptable,
    /// It carries none, and the user can have it taken over.
    Claimable {
        /// The tool that manages it by its own mark, such as "Helm".
        manager: Option<&'static str>,
        /// How the user says so, as a sentence.
        advice: &'static str,
    },
    /// It is part of another object, whose mark counts.
    Inherited,
}

/// Whether an object can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// Yes.
    Ready,
    /// Not yet; the state in the API's words.
    Waiting(String),
    /// It will not become ready by itself.
    Broken {
        /// Why, in the API's words.
        reasons: String,
        /// What the user can do, as a sentence, where there is more to say than to correct the cause.
        advice: Option<String>,
    },
}

// === impl Readiness ===

impl Readiness {
    /// Broken for these reasons, which say what to do as well.
    pub fn broken(reasons: impl Into<String>) -> Self {
        Self::Broken { reasons: reasons.into(), advice: None }
    }
}

/// What a creation is told beside the spec.
pub struct Creation<'a, C: Component> {
    /// The mark to put on the object.
    pub owner: &'a Owner,
    /// A token that is the same for every attempt to create this object with this content (for APIs that take one);
    /// 64 characters, hexadecimal.
    pub token: String,
    /// The object that this one takes the place of, where `KindFacts::slots` has both side by side.
    pub previous: Option<&'a Observed<C>>,
}

/// What an update is to change.
pub struct Changes<'a, C: Component> {
    /// The mark, to be put on where [`Changes::owner_missing`].
    pub owner: &'a Owner,
    /// Names of the fields that differ.
    pub fields: BTreeSet<String>,
    /// For merged maps, the keys that were ours and are no longer wanted.
    pub removed_keys: BTreeMap<String, BTreeSet<String>>,
    /// The object was adopted or its mark was taken off: mark it again.
    pub owner_missing: bool,
    /// What we last applied, where there is a record of it.
    pub applied: Option<C>,
    /// What is there now.
    pub found: &'a Observed<C>,
}

/// Something found at plan time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Certain failures are errors (the provider's `preflight` setting may lower them), doubts are warnings.
    pub severity: Severity,
    /// What it is about, for the attribute path.
    pub at: Place,
    /// One line.
    pub summary: String,
    /// Reason, then advice.
    pub detail: String,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Apply would fail.
    Error,
    /// Apply may fail, or the outcome may surprise.
    Warning,
}

/// As [`Observed`], in documents.
#[derive(Clone, Debug)]
pub struct Found {
    /// The object's document.
    pub document: Document,
    /// The outputs' document.
    pub outputs: Document,
    /// Whose it is.
    pub ownership: Ownership,
    /// Whether it can be used.
    pub readiness: Readiness,
}

/// As [`Changes`], in documents.
#[derive(Clone, Debug)]
pub struct AnyChanges {
    /// See [`Changes::owner`].
    pub owner: Owner,
    /// See [`Changes::fields`].
    pub fields: BTreeSet<String>,
    /// See [`Changes::removed_keys`].
    pub removed_keys: BTreeMap<String, BTreeSet<String>>,
    /// See [`Changes::owner_missing`].
    pub owner_missing: bool,
    /// See [`Changes::applied`].
    pub applied: Option<Document>,
}

/// The object-safe twin of [`Driver`], over documents. Implemented by [`Drivers::register`]'s adapter and by the
/// fake cloud.
pub trait AnyDriver: Send + Sync {
    /// The kind's facts.
    fn facts(&self) -> KindFacts;
    /// See [`Driver::ACTIONS`].
    fn actions(&self) -> &'static [&'static str];
    /// See [`Driver::POLL`].
    fn poll(&self) -> Duration;
    /// See [`Driver::observe`].
    fn observe<'a>(&'a self, cx: &'a Cx, spec: &'a Document) -> BoxFuture<'a, Result<Option<Found>, Fault>>;
    /// See [`Driver::create`].
    fn create<'a>(
        &'a self,
        cx: &'a Cx,
        spec: &'a Document,
        creation: AnyCreation<'a>,
    ) -> BoxFuture<'a, Result<(), Fault>>;
    /// See [`Driver::update`].
    fn update<'a>(
        &'a self,
        cx: &'a Cx,
        spec: &'a Document,
        changes: &'a AnyChanges,
        found: &'a Found,
    ) -> BoxFuture<'a, Result<(), Fault>>;
    /// See [`Driver::delete`].
    fn delete<'a>(&'a self, cx: &'a Cx, spec: &'a Document, found: &'a Found) -> BoxFuture<'a, Result<(), Fault>>;
    /// See [`Driver::may_delete`].
    fn may_delete(&self, _spec: &Document, _found: &Found) -> Result<(), Fault> {
        Ok(())
    }
    /// See [`Driver::preflight`].
    fn preflight<'a>(&'a self, cx: &'a Cx, spec: &'a Document, step: &'a Step) -> BoxFuture<'a, Vec<Finding>>;
}

/// As [`Creation`], in documents.
#[derive(Clone, Debug)]
pub struct AnyCreation<'a> {
    /// See [`Creation::owner`].
    pub owner: &'a Owner,
    /// See [`Creation::token`].
    pub token: String,
    /// See [`Creation::previous`].
    pub previous: Option<&'a Found>,
}

/// The drivers of a run, by kind.
#[derive(Clone, Default)]
pub struct Drivers(BTreeMap<&'static str, Arc<dyn AnyDriver>>);

struct Typed<C, D> {
    driver: D,
    component: std::marker::PhantomData<fn() -> C>,
}

// === impl Drivers ===

impl Drivers {
    /// Adds the driver of a kind.
    pub fn register<C: Component>(&mut self, driver: impl Driver<C>) {
        self.insert(Arc::new(Typed { driver, component: std::marker::PhantomData::<fn() -> C> }));
    }

    /// Adds a driver over documents; replaces the kind's earlier one.
    pub fn insert(&mut self, driver: Arc<dyn AnyDriver>) {
        self.0.insert(driver.facts().kind, driver);
    }

    /// The kind's driver. Its absence is a bug of the provider, or a ledger of a newer one.
    pub fn get(&self, kind: &str) -> Result<&Arc<dyn AnyDriver>, Fault> {
        self.0.get(kind).ok_or_else(|| {
            Fault::new(FaultClass::Bug, kind, format!("this version of the provider has no driver for {kind:?}"))
                .advise("Use the provider version that made this resource, or a newer one.")
        })
    }

    /// All drivers, by kind.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn AnyDriver>> {
        self.0.values()
    }
}

// === impl Typed ===

impl<C: Component, D: Driver<C>> AnyDriver for Typed<C, D> {
    fn facts(&self) -> KindFacts {
        C::FACTS
    }

    fn actions(&self) -> &'static [&'static str] {
        D::ACTIONS
    }

    fn poll(&self) -> Duration {
        D::POLL
    }

    fn observe<'a>(&'a self, cx: &'a Cx, spec: &'a Document) -> BoxFuture<'a, Result<Option<Found>, Fault>> {
        async move {
            let spec: C = read(C::FACTS, spec)?;
            match self.driver.observe(cx, &spec).await? {
                None => Ok(None),
                Some(observed) => Ok(Some(Found {
                    document: write(C::FACTS, &observed.spec)?,
                    outputs: write(C::FACTS, &observed.outputs)?,
                    ownership: observed.ownership,
                    readiness: observed.readiness,
                })),
            }
        }
        .boxed()
    }

    fn create<'a>(
        &'a self,
        cx: &'a Cx,
        spec: &'a Document,
        creation: AnyCreation<'a>,
    ) -> BoxFuture<'a, Result<(), Fault>> {
        async move {
            let spec: C = read(C::FACTS, spec)?;
            let previous = creation.previous.map(typed::<C>).transpose()?;
            let AnyCreation { owner, token, .. } = creation;
            self.driver.create(cx, &spec, &Creation { owner, token, previous: previous.as_ref() }).await
        }
        .boxed()
    }

    fn update<'a>(
        &'a self,
        cx: &'a Cx,
        spec: &'a Document,
        changes: &'a AnyChanges,
        found: &'a Found,
    ) -> BoxFuture<'a, Result<(), Fault>> {
        async move {
            let spec: C = read(C::FACTS, spec)?;
            let changes = Changes {
                owner: &changes.owner,
                fields: changes.fields.clone(),
                removed_keys: changes.removed_keys.clone(),
                owner_missing: changes.owner_missing,
                applied: changes.applied.as_ref().map(|applied| read(C::FACTS, applied)).transpose()?,
                found: &typed(found)?,
            };
            self.driver.update(cx, &spec, &changes).await
        }
        .boxed()
    }

    fn delete<'a>(&'a self, cx: &'a Cx, spec: &'a Document, found: &'a Found) -> BoxFuture<'a, Result<(), Fault>> {
        async move {
            let spec: C = read(C::FACTS, spec)?;
            self.driver.delete(cx, &spec, &typed(found)?).await
        }
        .boxed()
    }

    fn may_delete(&self, spec: &Document, found: &Found) -> Result<(), Fault> {
        self.driver.may_delete(&read(C::FACTS, spec)?, &typed(found)?)
    }

    fn preflight<'a>(&'a self, cx: &'a Cx, spec: &'a Document, step: &'a Step) -> BoxFuture<'a, Vec<Finding>> {
        async move {
            match read::<C>(C::FACTS, spec) {
                Ok(spec) => self.driver.preflight(cx, &spec, step).await,
                Err(_) => Vec::new(),
            }
        }
        .boxed()
    }
}

fn typed<C: Component>(found: &Found) -> Result<Observed<C>, Fault> {
    Ok(Observed {
        spec: read(C::FACTS, &found.document)?,
        outputs: read(C::FACTS, &found.outputs)?,
        ownership: found.ownership.clone(),
        readiness: found.readiness.clone(),
    })
}

fn read<T: DeserializeOwned>(facts: KindFacts, document: &Document) -> Result<T, Fault> {
    // `()` as the outputs type is an empty document.
    let json = Json::Object(document.clone());
    serde_json::from_value(json).or_else(|error| {
        if document.is_empty() {
            return serde_json::from_value(Json::Null).map_err(|_| misfit(facts, &error));
        }
        Err(misfit(facts, &error))
    })
}

fn write<T: Serialize>(facts: KindFacts, value: &T) -> Result<Document, Fault> {
    match serde_json::to_value(value).map_err(|error| misfit(facts, &error))? {
        Json::Object(map) => Ok(map.into_iter().filter(|(_, value)| !value.is_null()).collect()),
        _ => Ok(Document::new()),
    }
}

fn misfit(facts: KindFacts, error: &serde_json::Error) -> Fault {
    Fault::new(FaultClass::Bug, facts.noun, format!("the document of a {} does not fit: {error}", facts.noun))
        .advise("Report this with the text above; it is always a problem with the provider.")
}

// === impl Ownership ===

impl Ownership {
    /// Whether a mark is missing that could be there.
    pub fn is_unmarked(&self) -> bool {
        matches!(self, Self::Unmarked | Self::Adoptable | Self::Claimable { .. })
    }
}
