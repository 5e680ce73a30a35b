//! A fake cloud with a Terraform core and the provider on it.

use std::{
    collections::BTreeMap,
    fmt::Write,
    sync::{Arc, Mutex, PoisonError},
};

use converge::{
    Ledger,
    testing::{FakeCloud, FakeObject, InstantClock, without_slot},
};
use mlplat::{
    bridge::Ground,
    provider::Provider,
    testing::{KINDS, cloud, settings},
};
use serde_json::{Value as Json, json};
use tf_provider::{
    Cty,
    testing::{Action, Core, Failure, Instance, Planned},
};

use crate::subjects::Subject;

/// The outcome of a law: where it is broken, the story.
pub(crate) type Held = Result<(), String>;

pub(crate) struct World {
    pub(crate) subject: &'static Subject,
    pub(crate) cloud: FakeCloud,
    pub(crate) core: Core,
    pub(crate) address: String,
}

// === impl World ===

impl World {
    pub(crate) fn new(subject: &'static Subject) -> Self {
        Self::on(subject, cloud())
    }

    fn on(subject: &'static Subject, cloud: FakeCloud) -> Self {
        let ground =
            Ground { settings: settings(), drivers: cloud.drivers(KINDS), cx: InstantClock::cx(), ..Ground::default() };
        let core = Core::new(move || Arc::new(Provider::on(ground.clone()).only(subject.resource)));
        Self { subject, cloud, core, address: subject.address() }
    }

    /// The same in another provider process, and a cloud of its own in the same state.
    pub(crate) fn fork(&self) -> Self {
        let mut fork = Self::on(self.subject, self.cloud.fork());
        if let Some(instance) = self.core.state(&self.address) {
            fork.core.put(&self.address, instance.clone());
        }
        fork
    }

    /// As it is made. Many laws begin with the same, which is made once: a fork shows nothing of another.
    pub(crate) async fn made(subject: &'static Subject, config: &Json) -> Result<Self, String> {
        static MADE: Mutex<BTreeMap<String, World>> = Mutex::new(BTreeMap::new());
        let made = || MADE.lock().unwrap_or_else(PoisonError::into_inner);
        let key = format!("{} {config}", subject.resource);
        if let Some(world) = made().get(&key) {
            return Ok(world.fork());
        }
        let mut world = Self::new(subject);
        world.run(config, "create").await?;
        made().insert(key, world.fork());
        Ok(world)
    }

    pub(crate) async fn run(&mut self, config: &Json, what: &str) -> Result<Action, String> {
        self.core.run(&self.address, config.clone()).await.map_err(|failure| self.story(what, &failure))
    }

    pub(crate) async fn plan(&self, config: &Json, what: &str) -> Result<Planned, String> {
        self.core.plan(&self.address, config.clone()).await.map_err(|failure| self.story(what, &failure))
    }

    pub(crate) async fn refresh(&mut self, what: &str) -> Held {
        let outcome = self.core.refresh(&self.address).await;
        outcome.map(drop).map_err(|failure| self.story(what, &failure))
    }

    /// The plan is empty.
    pub(crate) async fn settled(&self, config: &Json, what: &str) -> Held {
        let planned = self.plan(config, what).await?;
        if planned.action == Action::NoOp {
            return Ok(());
        }
        Err(self.told(what, &format!("the plan is {}", shown(&planned))))
    }

    /// Destroys, and leaves nothing.
    pub(crate) async fn destroyed(mut self, what: &str) -> Held {
        let outcome = self.core.destroy(&self.address).await;
        outcome.map_err(|failure| self.story(&format!("destroy after {what}"), &failure))?;
        self.is_empty(what)
    }

    pub(crate) fn is_empty(&self, what: &str) -> Held {
        match (self.cloud.objects().as_slice(), self.core.state(&self.address)) {
            ([], None) => Ok(()),
            (left, state) => {
                Err(self.told(what, &format!("destroy left {left:#?}\nand in the state {:?}", state.map(|s| &s.value))))
            }
        }
    }

    pub(crate) fn is_like(&self, other: &Self, what: &str) -> Held {
        let (here, there) = (self.contents(), other.contents());
        if here == there {
            return Ok(());
        }
        Err(self.told(what, &format!("ended with {here:#?}\nand not with {there:#?}")))
    }

    pub(crate) fn instance(&self) -> Result<&Instance, String> {
        self.core.state(&self.address).ok_or_else(|| self.told("the state", "has nothing"))
    }

    pub(crate) fn attribute(&self, dotted: &str) -> Cty {
        let start = self.core.state(&self.address).map_or(Cty::Null, |instance| instance.value.clone());
        dotted.split('.').fold(start, |value, name| value.get(name).clone())
    }

    pub(crate) fn component_state(&self, key: &str) -> String {
        let state = self.attribute(&format!("components.{key}.state"));
        state.as_str().unwrap_or_default().to_owned()
    }

    /// The record that the state carries.
    pub(crate) fn ledger(&self) -> Result<Ledger, String> {
        let private: Json = serde_json::from_slice(&self.instance()?.private).map_err(|error| error.to_string())?;
        serde_json::from_value(private["ledger"].clone()).map_err(|error| error.to_string())
    }

    pub(crate) fn story(&self, what: &str, failure: &Failure) -> String {
        self.told(what, &failure.to_string())
    }

    pub(crate) fn told(&self, what: &str, broken: &str) -> String {
        format!("{}: {what}: {broken}", self.subject.resource)
    }

    /// What is there, whichever of the two slots it is in, and ready.
    fn contents(&self) -> BTreeMap<(String, String), Json> {
        let one = |object: FakeObject| {
            let mut document = object.document;
            // Nobody owns what is sent at creation only, and what steers a driver is no part of the object.
            let facts = KINDS.iter().find(|facts| facts.kind == object.kind);
            let ours = facts.iter().flat_map(|facts| facts.initial.iter().chain(facts.local)).chain([&"slot"]);
            ours.for_each(|field| drop(document.remove(*field)));
            // A map of which nothing is left is none.
            document.retain(|_, value| !value.is_null() && value.as_object().is_none_or(|map| !map.is_empty()));
            let owner = object.owner.map(|owner| owner.0);
            let content = without_slot(&json!({ "document": document, "owner": owner, "broken": object.broken }));
            ((object.kind, object.name.trim_end_matches("/b").to_owned()), content)
        };
        self.cloud.objects().into_iter().map(one).collect()
    }
}

/// A plan in words: what is to be done, and the attributes that differ.
pub(crate) fn shown(planned: &Planned) -> String {
    format!("{:?}{}", planned.action, difference(&planned.before, &planned.after))
}

/// The attributes in which two values differ.
pub(crate) fn difference(before: &Cty, after: &Cty) -> String {
    let mut text = String::new();
    if let (Cty::Object(before), Cty::Object(after)) = (before, after) {
        for (name, after) in after {
            let before = before.get(name).unwrap_or(&Cty::Null);
            if !same(before, after) {
                let _ = write!(text, "\n  {name}: {before:?}\n    -> {after:?}");
            }
        }
    }
    text
}

/// Whether two values are the same; sets have no order.
fn same(one: &Cty, other: &Cty) -> bool {
    match (one, other) {
        (Cty::Set(ones), Cty::Set(others)) => {
            let is_in = |one: &Cty, all: &[Cty]| all.iter().any(|other| same(one, other));
            ones.len() == others.len() && ones.iter().all(|one| is_in(one, others))
        }
        (Cty::List(ones), Cty::List(others)) => {
            ones.len() == others.len() && ones.iter().zip(others).all(|(one, other)| same(one, other))
        }
        (Cty::Object(ones), Cty::Object(others)) | (Cty::Map(ones), Cty::Map(others)) => {
            ones.keys().eq(others.keys()) && ones.values().zip(others.values()).all(|(one, other)| same(one, other))
        }
        _ => one == other,
    }
}
