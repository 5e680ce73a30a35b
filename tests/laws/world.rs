//! A fake cloud with a Terraform core and the provider on it.

use std::{
    collections::BTreeMap,
    fmt::Write,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use converge::{
    Component, Document, KindFacts, Ledger,
    testing::{FakeCloud, FakeObject, InstantClock},
};
use mlplat::{bridge::Ground, components::aws, provider::Provider, settings::Settings};
use serde_json::{Value as Json, json};
use tf_provider::{
    Cty,
    testing::{Action, Core, Failure, Instance, Planned},
};
use value::Value;

use crate::subjects::Subject;

/// The outcome of a law: where it is broken, the story.
pub(crate) type Held = Result<(), String>;

/// The kinds that resources are made of.
pub(crate) const KINDS: &[KindFacts] = &[
    aws::AutoscalingTags::FACTS,
    aws::Bucket::FACTS,
    aws::BucketEncryption::FACTS,
    aws::BucketLifecycle::FACTS,
    aws::BucketOwnershipControls::FACTS,
    aws::BucketPolicy::FACTS,
    aws::BucketPublicAccessBlock::FACTS,
    aws::BucketVersioning::FACTS,
    aws::IamRole::FACTS,
    aws::LaunchTemplate::FACTS,
    aws::NodeGroup::FACTS,
];

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
        let core = Core::new(move || Arc::new(Provider::on(ground.clone())));
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

    pub(crate) async fn made(subject: &'static Subject, config: &Json) -> Result<Self, String> {
        let mut world = Self::new(subject);
        world.run(config, "create").await?;
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
            let owner = object.owner.map(|owner| owner.0);
            let content = without_slot(&json!({ "document": document, "owner": owner, "broken": object.broken }));
            ((object.kind, object.name.trim_end_matches("/b").to_owned()), content)
        };
        self.cloud.objects().into_iter().map(one).collect()
    }
}

fn without_slot(value: &Json) -> Json {
    match value {
        Json::String(text) => Json::String(text.trim_end_matches("/b").to_owned()),
        Json::Array(items) => Json::Array(items.iter().map(without_slot).collect()),
        Json::Object(map) => Json::Object(map.iter().map(|(key, value)| (key.clone(), without_slot(value))).collect()),
        other => other.clone(),
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

fn settings() -> Settings {
    let map = |pairs: &[(&str, &str)]| {
        Value::known(pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect())
    };
    Settings {
        region: Value::from("us-east-1"),
        default_tags: map(&[("env", "prod")]),
        cost_allocation: map(&[("team", "search")]),
    }
}

/// A cloud that tells of objects what AWS tells.
fn cloud() -> FakeCloud {
    let text =
        |document: &Document, field: &str| document.get(field).and_then(Json::as_str).unwrap_or_default().to_owned();
    FakeCloud::new()
        .with_outputs(aws::IamRole::FACTS.kind, move |role| {
            object(json!({ "arn": format!("arn:aws:iam::123456789012:role/{}", text(role, "name")) }))
        })
        .with_outputs(aws::LaunchTemplate::FACTS.kind, |template| {
            // Another content is another version.
            let content: Document =
                template.iter().filter(|(name, _)| *name != "tags").map(|(k, v)| (k.clone(), v.clone())).collect();
            let mut hasher = DefaultHasher::new();
            Json::Object(content).to_string().hash(&mut hasher);
            object(json!({ "version": hasher.finish().to_string() }))
        })
        .with_outputs(aws::NodeGroup::FACTS.kind, move |group| {
            let slot = if group.contains_key("slot") { "/b" } else { "" };
            let scaling_group = format!("eks-{}{slot}", text(group, "name"));
            object(json!({
                "status": "ACTIVE",
                "live_size": group.get("initial"),
                "autoscaling_group_names": [&scaling_group],
                // By this the cloud knows what goes with the group.
                "scaling_group": scaling_group,
            }))
        })
        .with_outputs(aws::Bucket::FACTS.kind, move |bucket| {
            let domain_name = format!("{}.s3.us-east-1.amazonaws.com", text(bucket, "name"));
            object(json!({ "region": "us-east-1", "domain_name": domain_name }))
        })
        .slow(1)
}

fn object(value: Json) -> Document {
    if let Json::Object(object) = value { object } else { Document::new() }
}
