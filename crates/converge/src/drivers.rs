//! The drivers of a run, by kind, over documents: what the engine calls, and what the fake cloud implements.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use futures::{FutureExt, future::BoxFuture};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value as Json;

use crate::{
    Changes, Component, Creation, Cx, Document, Driver, Fault, FaultClass, Finding, KindFacts, Observed, Owner,
    Ownership, Readiness, Step,
};

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
