//! The resources under test, and what of them no schema tells.

use serde_json::{Value as Json, json};
use tf_provider::{Attribute, Nesting, Provider as _, Schema, Shape};

use crate::json::{Place, configs, place};

/// A resource.
pub(crate) struct Subject {
    /// Its type.
    pub(crate) resource: &'static str,
    /// Every attribute that can be set, each changed once.
    pub(crate) changes: fn() -> Vec<Change>,
    /// Attributes that this version refuses, or takes one value of.
    pub(crate) unsupported: &'static [&'static str],
    /// Fields of child objects whose drift shows in an attribute: component, field, attribute.
    pub(crate) mirrors: &'static [(&'static str, &'static str, &'static str)],
}

/// A change of one attribute of a configuration.
pub(crate) struct Change {
    /// The configuration it is a change of.
    pub(crate) of: &'static str,
    pub(crate) attribute: &'static str,
    pub(crate) to: Json,
    /// What has to change along with it.
    pub(crate) along: Vec<(&'static str, Json)>,
    pub(crate) effect: Effect,
}

/// What a change does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Objects are changed.
    InPlace,
    /// An object is made beside the old one and takes its place.
    Rolls,
    /// The whole resource is replaced.
    Replaces,
    /// Only the state changes.
    StateOnly,
}

pub(crate) const SUBJECTS: &[Subject] = &[
    Subject {
        resource: "mlplat_gpu_pool",
        changes: gpu_pool,
        unsupported: &["capacity.reservation_id", "efa", "placement.strategy", "placement.zone"],
        mirrors: &[
            ("node_group", "ami_type", "image.family"),
            ("node_group", "capacity_type", "capacity.type"),
            ("node_group", "instance_types", "instance_types"),
            ("node_group", "labels", "labels"),
            ("node_group", "max", "size.max"),
            ("node_group", "min", "size.min"),
            ("node_group", "node_repair", "node_repair"),
            ("node_group", "node_role_arn", "node_role_arn"),
            ("node_group", "subnet_ids", "subnet_ids"),
            ("node_group", "tags", "tags"),
            ("node_group", "taints", "taints"),
            ("launch_template", "volume_iops", "disk.iops"),
            ("launch_template", "volume_size_gib", "disk.size_gib"),
            ("launch_template", "volume_throughput_mibps", "disk.throughput_mibps"),
            ("launch_template", "volume_type", "disk.type"),
        ],
    },
    Subject {
        resource: "mlplat_model_bucket",
        changes: model_bucket,
        unsupported: &[],
        mirrors: &[
            ("bucket", "tags", "tags"),
            ("encryption", "kms_key_arn", "kms_key_arn"),
            ("versioning", "enabled", "versioning"),
        ],
    },
];

/// Every resource with each of its configurations, and the configuration's name.
pub(crate) fn cases() -> impl Iterator<Item = (&'static Subject, String, Json)> {
    SUBJECTS
        .iter()
        .flat_map(|subject| configs(subject.resource).into_iter().map(move |(name, config)| (subject, name, config)))
}

fn change(of: &'static str, effect: Effect, attribute: &'static str, to: Json) -> Change {
    Change { of, attribute, to, along: Vec::new(), effect }
}

fn gpu_pool() -> Vec<Change> {
    use Effect::{InPlace, Replaces, Rolls, StateOnly};
    let full = |effect, attribute, to| change("full", effect, attribute, to);
    vec![
        full(Replaces, "cluster", json!("ml-dev")),
        full(Replaces, "name", json!("gpu-other")),
        full(InPlace, "purpose", json!("interactive")),
        full(Rolls, "instance_types", json!(["g5.xlarge"])),
        full(Rolls, "subnet_ids", json!(["subnet-0c2d3e4f506172839"])),
        full(InPlace, "size.min", json!(1)),
        full(InPlace, "size.max", json!(9)),
        full(InPlace, "size.initial", json!(4)),
        full(Rolls, "capacity.type", json!("spot")),
        full(InPlace, "scaler", json!("none")),
        full(Rolls, "image.family", json!("bottlerocket")),
        full(InPlace, "image.release", json!("1.36.1-20261201")),
        full(InPlace, "disk.size_gib", json!(500)),
        Change { along: vec![("disk.throughput_mibps", Json::Null)], ..full(InPlace, "disk.type", json!("io1")) },
        full(InPlace, "disk.iops", json!(5000)),
        full(InPlace, "disk.throughput_mibps", json!(400)),
        full(Rolls, "node_role_arn", json!("arn:aws:iam::123456789012:role/other-nodes")),
        full(InPlace, "labels", json!({ "node-type": "gpu", "tier": "b" })),
        full(InPlace, "taints", json!([{ "key": "team", "value": "search", "effect": "NoExecute" }])),
        full(InPlace, "taints", json!([])),
        full(InPlace, "node_repair", json!(true)),
        full(InPlace, "max_hourly_cost_usd", json!(91.5)),
        full(InPlace, "tags", json!({ "data-class": "internal" })),
        full(StateOnly, "timeouts.create", json!("46m")),
        full(StateOnly, "timeouts.update", json!("46m")),
        full(StateOnly, "timeouts.delete", json!("46m")),
        change("asking", Rolls, "accelerator.product", json!("L4")),
        change("asking", Rolls, "accelerator.count", json!(4)),
        change("asking", InPlace, "accelerator.memory_gib_min", json!(13)),
    ]
}

fn model_bucket() -> Vec<Change> {
    use Effect::{InPlace, Replaces, StateOnly};
    let full = |effect, attribute, to| change("full", effect, attribute, to);
    vec![
        full(Replaces, "name", json!("acme-ml-models-lab")),
        full(InPlace, "versioning", json!(false)),
        full(InPlace, "kms_key_arn", json!("arn:aws:kms:us-east-1:123456789012:key/ffff")),
        full(InPlace, "retention", json!([{ "prefix": "logs/", "expire_after_days": 15 }])),
        full(InPlace, "retention", json!([])),
        full(InPlace, "protected_prefixes", json!(["released/"])),
        full(InPlace, "protected_prefixes", json!([])),
        full(InPlace, "noncurrent_expire_after_days", json!(46)),
        full(InPlace, "abort_incomplete_uploads_after_days", json!(4)),
        full(InPlace, "readers", json!(["arn:aws:iam::123456789012:role/other"])),
        full(InPlace, "writers", json!(["arn:aws:iam::123456789012:role/other"])),
        full(InPlace, "allow_destroy_with_data", json!(false)),
        full(InPlace, "tags", json!({ "data-class": "secret", "more": "" })),
        full(StateOnly, "timeouts.create", json!("46m")),
        full(StateOnly, "timeouts.update", json!("46m")),
        full(StateOnly, "timeouts.delete", json!("46m")),
    ]
}

/// An attribute that can be set, somewhere in a schema.
pub(crate) struct Input {
    pub(crate) place: Place,
    pub(crate) attribute: Attribute,
    /// Its own description and those of the attributes around it.
    pub(crate) descriptions: String,
    /// Within a collection.
    pub(crate) is_element: bool,
}

// === impl Subject ===

impl Subject {
    pub(crate) fn address(&self) -> String {
        format!("{}.law", self.resource)
    }

    pub(crate) fn schema(&self) -> Schema {
        let resources = mlplat::provider::Provider::new().resources();
        let found = resources.iter().find(|resource| resource.type_name() == self.resource);
        found.unwrap_or_else(|| panic!("the provider has no {}", self.resource)).schema()
    }

    /// The attributes that can be set and have no attributes of their own, and collections.
    pub(crate) fn inputs(&self) -> Vec<Input> {
        let block = self.schema().block;
        let mut inputs = Vec::new();
        gather(&block.attributes, &Vec::new(), "", false, &mut inputs);
        for nested in &block.blocks {
            gather(&nested.block.attributes, &place(&nested.name), "", false, &mut inputs);
        }
        inputs
    }
}

// === impl Change ===

impl Change {
    pub(crate) fn place(&self) -> Place {
        place(self.attribute)
    }
}

fn gather(attributes: &[Attribute], at: &Place, around: &str, is_element: bool, inputs: &mut Vec<Input>) {
    for attribute in attributes.iter().filter(|attribute| attribute.required || attribute.optional) {
        let place: Place = at.iter().cloned().chain([attribute.name.clone()]).collect();
        let descriptions = format!("{around} {}", attribute.description.replace('\n', " "));
        let inner = match &attribute.shape {
            Shape::Nested(nesting, inner) => Some((*nesting == Nesting::Single, inner)),
            Shape::Plain(_) => None,
        };
        match inner {
            Some((true, inner)) => gather(inner, &place, &descriptions, is_element, inputs),
            _ => inputs.push(Input { place, attribute: attribute.clone(), descriptions, is_element }),
        }
    }
}
