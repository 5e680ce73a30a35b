//! The driver of every kind on the fake cloud. Stricter than a cloud where that finds mistakes: it refuses to change
//! what the facts call fixed, and to touch what it was not told to.

use std::time::Duration;

use futures::{FutureExt, future::BoxFuture};
use serde_json::Value as Json;

use super::cloud::{FakeCloud, FakeObject, Fate, Place, World};
use crate::{
    AnyChanges, AnyCreation, AnyDriver, Cx, Document, Fault, FaultClass, Finding, Found, KindFacts, Ownership,
    Readiness, Severity, Step,
    compare::{SLOT, is_fixed},
};

/// The fake driver of one kind.
pub(super) struct FakeDriver {
    pub(super) cloud: FakeCloud,
    pub(super) facts: KindFacts,
}

/// Where an object is in the cloud.
pub(super) fn place(facts: &KindFacts, spec: &Document) -> Place {
    let names = facts.identity.iter().filter(|field| **field != SLOT).filter_map(|field| spec.get(*field));
    let slot = spec.get(SLOT).filter(|_| facts.slots);
    let text = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    (facts.kind.to_owned(), names.chain(slot).map(text).collect::<Vec<_>>().join("/"))
}

impl FakeDriver {
    fn found(&self, world: &World, object: &FakeObject, spec: &Document) -> Found {
        let mut document = object.document.clone();
        // What steers the driver is no part of the object, and the initial values are nobody's.
        for field in self.facts.local {
            document.remove(*field);
            document.extend(spec.get(*field).map(|value| ((*field).to_owned(), value.clone())));
        }
        let ownership = match &object.owner {
            _ if self.facts.part => Ownership::Inherited,
            Some(owner) => Ownership::Marked(owner.clone()),
            None => Ownership::Unmarked,
        };
        let readiness = match &object.broken {
            Some(reasons) => Readiness::broken(reasons),
            None if object.waits > 0 => Readiness::Waiting("CREATING".to_owned()),
            None => Readiness::Ready,
        };
        Found { document, outputs: world.outputs_of(object), ownership, readiness }
    }

    fn observed(&self, world: &mut World, place: &Place, spec: &Document) -> Option<Found> {
        world.log(self.facts.kind, "observe", &place.1);
        let object = world.objects.get(place).cloned()?;
        let found = self.found(world, &object, spec);
        if let Some(object) = world.objects.get_mut(place) {
            object.waits = object.waits.saturating_sub(1);
        }
        Some(found)
    }

    fn fault(&self, class: FaultClass) -> Fault {
        Fault::new(class, self.facts.noun, format!("{class:?} by request of the test"))
    }

    // Does one write; a caller that dies at it never hears of it again.
    async fn write(
        &self,
        verb: &str,
        spec: &Document,
        effect: impl FnOnce(&mut World, &Place) -> Result<(), Fault> + Send,
    ) -> Result<(), Fault> {
        let place = place(&self.facts, spec);
        let (fate, outcome) = {
            let mut world = self.cloud.world();
            if world.is_crashed() {
                (Fate { takes_effect: false, fault: None, crashes: true }, Ok(()))
            } else {
                world.log(self.facts.kind, verb, &place.1);
                let fate = world.write();
                let outcome = if fate.takes_effect { effect(&mut world, &place) } else { Ok(()) };
                (fate, outcome)
            }
        };
        if fate.crashes {
            std::future::pending::<()>().await;
        }
        match fate.fault {
            Some(class) => Err(self.fault(class)),
            None => outcome,
        }
    }
}

impl AnyDriver for FakeDriver {
    fn facts(&self) -> KindFacts {
        self.facts
    }

    fn actions(&self) -> &'static [&'static str] {
        &[]
    }

    fn poll(&self) -> Duration {
        Duration::from_secs(2)
    }

    fn observe<'a>(&'a self, _cx: &'a Cx, spec: &'a Document) -> BoxFuture<'a, Result<Option<Found>, Fault>> {
        async move {
            let place = place(&self.facts, spec);
            // None where the caller has died.
            let outcome = {
                let mut world = self.cloud.world();
                let fault = if world.is_crashed() { None } else { world.read() };
                (!world.is_crashed()).then(|| match fault {
                    Some(class) => Err(self.fault(class)),
                    None => Ok(self.observed(&mut world, &place, spec)),
                })
            };
            match outcome {
                Some(outcome) => outcome,
                None => std::future::pending().await,
            }
        }
        .boxed()
    }

    fn create<'a>(
        &'a self,
        _cx: &'a Cx,
        spec: &'a Document,
        creation: AnyCreation<'a>,
    ) -> BoxFuture<'a, Result<(), Fault>> {
        let owner = (!self.facts.part).then(|| creation.owner.clone());
        self.write("create", spec, move |world, place| world.create(place, spec, owner)).boxed()
    }

    fn update<'a>(
        &'a self,
        _cx: &'a Cx,
        spec: &'a Document,
        changes: &'a AnyChanges,
        _found: &'a Found,
    ) -> BoxFuture<'a, Result<(), Fault>> {
        self.write("update", spec, move |world, place| {
            if let Some(field) = changes.fields.iter().find(|field| is_fixed(&self.facts, field)) {
                return Err(Fault::new(FaultClass::Invalid, self.facts.noun, format!("{field} cannot be changed")));
            }
            // A field given back has the server's default again.
            let mut spec = spec.clone();
            for field in &changes.fields {
                if let (false, Some(default)) = (spec.contains_key(field), world.default_of(self.facts.kind, field)) {
                    spec.insert(field.clone(), default);
                }
            }
            let Some(object) = world.objects.get_mut(place) else {
                return Err(Fault::new(FaultClass::NotFound, self.facts.noun, "it is not there"));
            };
            for field in &changes.fields {
                apply(&self.facts, object, field, &spec, changes);
            }
            if changes.owner_missing {
                object.owner = Some(changes.owner.clone());
            }
            world.touched(place);
            Ok(())
        })
        .boxed()
    }

    fn delete<'a>(&'a self, _cx: &'a Cx, spec: &'a Document, _found: &'a Found) -> BoxFuture<'a, Result<(), Fault>> {
        self.write("delete", spec, |world, place| {
            world.remove(place);
            Ok(())
        })
        .boxed()
    }

    fn may_delete(&self, _spec: &Document, _found: &Found) -> Result<(), Fault> {
        if self.cloud.world().kept.contains(self.facts.kind) {
            return Err(Fault::new(FaultClass::HoldsData, self.facts.noun, "it is not empty"));
        }
        Ok(())
    }

    fn preflight<'a>(&'a self, _cx: &'a Cx, _spec: &'a Document, _step: &'a Step) -> BoxFuture<'a, Vec<Finding>> {
        let finding = Finding {
            severity: Severity::Error,
            at: "".into(),
            summary: format!("The {} will be refused", self.facts.noun),
            detail: "It is, by request of the test.\n\nAsk for another test.".to_owned(),
        };
        async move { self.cloud.world().refuses.then_some(finding).into_iter().collect() }.boxed()
    }
}

fn apply(facts: &KindFacts, object: &mut FakeObject, field: &str, spec: &Document, changes: &AnyChanges) {
    if facts.merged.contains(&field) {
        let map = object.document.entry(field).or_insert_with(|| Json::Object(Document::new()));
        let Some(map) = map.as_object_mut() else { return };
        for key in changes.removed_keys.get(field).into_iter().flatten() {
            map.remove(key);
        }
        map.extend(spec.get(field).and_then(Json::as_object).cloned().unwrap_or_default());
        return;
    }
    match spec.get(field) {
        Some(value) => object.document.insert(field.to_owned(), value.clone()),
        None => object.document.remove(field),
    };
}
