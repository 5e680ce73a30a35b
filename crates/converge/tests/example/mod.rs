//! A small resource to try the engine with: a role, a template, a node group that rolls, tags that are a part of the
//! group, and a bucket that holds data.

use std::collections::BTreeMap;

use converge::{Component, Document, Draft, Graph, Key, KindFacts, Output, Owner, Volatile};
use serde::{Deserialize, Serialize};
use serde_json::json;
use value::{AttributePath, Field, Value};

/// What every object of the example says of itself.
#[derive(Serialize, Deserialize)]
pub(crate) struct Names {
    id: String,
    arn: String,
}

pub(crate) const ID: Output<Names, String> = Output::new("id");
pub(crate) const ARN: Output<Names, String> = Output::new("arn");

macro_rules! component {
    ($name:ident, $draft:ident, $facts:expr, $($field:ident: $of:ty),*) => {
        #[derive(Serialize, Deserialize, Default)]
        #[serde(default)]
        pub(crate) struct $name { $($field: Option<$of>),* }

        #[derive(Default)]
        pub(crate) struct $draft { $(pub(crate) $field: Value<$of>),* }

        impl Component for $name {
            const FACTS: KindFacts = $facts;
            type Outputs = Names;
        }

        impl Draft for $draft {
            type Of = $name;
            fn fields(self) -> Vec<(&'static str, Field)> {
                vec![$((stringify!($field), self.$field.into_field())),*]
            }
        }
    };
}

component!(
    Role, RoleDraft,
    KindFacts { identity: &["name"], fixed: &["name", "path"], merged: &["tags"], ..KindFacts::plain("role", "role") },
    name: String, path: String, tags: BTreeMap<String, String>
);
component!(
    Template, TemplateDraft,
    KindFacts {
        identity: &["name"],
        fixed: &["name"],
        volatile: &[Volatile { output: "version", moved_by: &["image"] }],
        ..KindFacts::plain("template", "template")
    },
    name: String, image: String, disks: Vec<u32>
);
component!(
    Group, GroupDraft,
    KindFacts {
        identity: &["name"],
        fixed: &["name", "role", "zones"],
        initial: &["desired"],
        local: &["patience"],
        slots: true,
        ..KindFacts::plain("group", "node group")
    },
    name: String, role: String, zones: Vec<String>, template: String, version: u32, max: u32, desired: u32,
    patience: String, slot: String
);
component!(
    Tags, TagsDraft,
    KindFacts { identity: &["of"], fixed: &["of"], merged: &["tags"], part: true, ..KindFacts::plain("tags", "tags") },
    of: String, tags: BTreeMap<String, String>
);
component!(
    Bucket, BucketDraft,
    KindFacts { identity: &["name"], fixed: &["name", "region"], holds_data: true, ..KindFacts::plain("bucket", "bucket") },
    name: String, region: String, versioned: bool
);

component!(
    Alarm,
    AlarmDraft,
    KindFacts { identity: &["name"], fixed: &["name"], ..KindFacts::plain("alarm", "alarm") },
    name: String, above: u32
);

pub(crate) const KINDS: &[KindFacts] =
    &[Alarm::FACTS, Role::FACTS, Template::FACTS, Group::FACTS, Tags::FACTS, Bucket::FACTS];

/// The example's configuration.
#[derive(Clone)]
pub(crate) struct Pool {
    pub(crate) role_path: &'static str,
    pub(crate) image: Value<String>,
    pub(crate) zones: Value<Vec<String>>,
    pub(crate) max: Value<u32>,
    pub(crate) desired: u32,
    pub(crate) patience: &'static str,
    pub(crate) tags: &'static [(&'static str, &'static str)],
    pub(crate) bucket: Option<&'static str>,
    pub(crate) with_tags: bool,
    pub(crate) alarm: &'static str,
}

impl Default for Pool {
    fn default() -> Self {
        Self {
            role_path: "/",
            image: Value::from("al2023").at(&AttributePath::new("image")),
            zones: Value::known(vec!["a".to_owned(), "b".to_owned()]).at(&AttributePath::new("zones")),
            max: Value::known(3).at(&AttributePath::new("size").attribute("max")),
            desired: 1,
            patience: "10m",
            tags: &[("team", "ml"), ("env", "prod")],
            bucket: Some("eu"),
            with_tags: true,
            alarm: "gpu-idle",
        }
    }
}

pub(crate) fn owner() -> Owner {
    Owner("mlplat_pool/gpu".to_owned())
}

/// A cloud in which templates have versions.
pub(crate) fn cloud() -> converge::testing::FakeCloud {
    let version = |document: &Document| {
        let image = document.get("image").and_then(|image| image.as_str()).unwrap_or_default();
        json!({ "version": image.len() }).as_object().cloned().unwrap_or_default()
    };
    converge::testing::FakeCloud::new()
        .with_outputs("template", version)
        .with_defaults("role", &json!({ "session": 3600 }))
        .slow(1)
}

impl Pool {
    pub(crate) fn expand(&self, known: BTreeMap<Key, Document>) -> Graph {
        let mut graph = Graph::new(known);
        let tags = || -> Value<BTreeMap<String, String>> {
            Value::known(self.tags.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect())
        };
        let role = graph.add(
            "role",
            RoleDraft {
                name: "gpu-nodes".into(),
                path: Value::from(self.role_path).at(&AttributePath::new("role_path")),
                tags: tags().at(&AttributePath::new("tags")),
            },
        );
        let template = graph.add(
            "template",
            TemplateDraft { name: "gpu".into(), image: self.image.clone(), disks: Value::known(vec![100]) },
        );
        let group = graph.add(
            "group",
            GroupDraft {
                name: "gpu".into(),
                role: role.output(ARN),
                zones: self.zones.clone(),
                template: template.output(ID),
                version: template.output(Output::new("version")),
                max: self.max.clone(),
                desired: Value::known(self.desired),
                patience: self.patience.into(),
                slot: Value::null(),
            },
        );
        if self.with_tags {
            graph.add("tags", TagsDraft { of: group.output(ID), tags: tags() });
        }
        graph.add("alarm", AlarmDraft { name: self.alarm.into(), above: Value::known(90) });
        if let Some(region) = self.bucket {
            let bucket = BucketDraft { name: "gpu-data".into(), region: region.into(), versioned: Value::known(true) };
            graph.add("bucket", bucket);
        }
        graph
    }
}
