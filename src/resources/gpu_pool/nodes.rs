//! What the nodes of a pool carry in Kubernetes: labels and taints, what a workload needs to be scheduled there, and
//! what Cluster Autoscaler is told of a node that does not exist yet.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};
use value::{Back, Value};

use super::{
    GpuPool,
    attributes::{Taint, TaintEffect, Toleration},
    hardware::Hardware,
};
use crate::{
    catalog::Vendor,
    components::aws::{self, Tags},
    resources::{
        kubernetes::label_value,
        tags::{MANAGED_BY, WORKLOAD_TYPE, texts},
        together,
    },
    settings::Settings,
};

/// Label with the pool's name, by which workloads select its nodes.
pub(in crate::resources) const POOL_LABEL: &str = "mlplat.io/pool";

/// Label by which Cluster Autoscaler knows that a node without ready accelerators is going to have some.
pub(super) const ACCELERATOR_LABEL: &str = "k8s.amazonaws.com/accelerator";

/// Label that GPU Feature Discovery writes, told to Cluster Autoscaler and never put on nodes by us.
const PRODUCT_LABEL: &str = "nvidia.com/gpu.product";

const AUTOSCALER: &str = "k8s.io/cluster-autoscaler/";
const TEMPLATE: &str = "k8s.io/cluster-autoscaler/node-template/";

/// AWS's limit for the key of a tag.
const TAG_KEY_LIMIT: usize = 128;

type Labels = BTreeMap<String, String>;

/// The labels that the provider sets.
pub(super) fn own_labels(pool: &GpuPool, settings: &Settings, hardware: &Value<Hardware>) -> Value<Labels> {
    let accelerator: Value<String> =
        hardware.and_then(|hardware| Value::from(hardware.product_label().map(accelerator_value)));
    pool.purpose
        .with(&settings.cost_allocation, |purpose, costs| {
            let mut labels = Labels::from([(MANAGED_BY.0.to_owned(), MANAGED_BY.1.to_owned())]);
            labels.extend(purpose.map(|purpose| (WORKLOAD_TYPE.to_owned(), purpose.to_string())));
            labels.extend(
                costs.into_iter().flatten().filter_map(|(key, value)| Some((key.clone(), label_value(value)?))),
            );
            labels
        })
        .with(&pool.name, |labels: Option<&Labels>, name| {
            let mut labels = labels.cloned().unwrap_or_default();
            labels.extend(name.map(|name| (POOL_LABEL.to_owned(), name.clone())));
            labels
        })
        .with(&accelerator, |labels: Option<&Labels>, accelerator| {
            let mut labels = labels.cloned().unwrap_or_default();
            labels.extend(accelerator.map(|value| (ACCELERATOR_LABEL.to_owned(), value.clone())));
            labels
        })
}

/// The provider's labels and the user's, which win.
pub(super) fn labels(pool: &GpuPool, own: &Value<Labels>) -> Value<Labels> {
    let merged = pool.labels.with(own, |user, own| {
        let mut labels = own.cloned().unwrap_or_default();
        labels.extend(user.cloned().unwrap_or_default());
        labels
    });
    let own = own.get().cloned();
    merged.blamed_on(&pool.labels).mirrored(&pool.labels, move |found| match (&own, texts(found)) {
        (Some(own), Some(found)) => {
            let users: Labels = found.into_iter().filter(|(key, value)| own.get(key) != Some(value)).collect();
            Back::Is(json!(users))
        }
        _ => Back::Unsaid,
    })
}

// Such as `nvidia-a10g`.
fn accelerator_value(product: &str) -> String {
    product.to_ascii_lowercase()
}

/// The taint that a pool has where its configuration says nothing.
pub(super) fn default_taints(vendor: Vendor) -> BTreeSet<Taint> {
    BTreeSet::from([Taint {
        key: Value::from(vendor.resource_name()),
        value: Value::from("present"),
        effect: Value::known(TaintEffect::NoSchedule),
    }])
}

/// The taints as the node group has them. Pending where a part of one is.
pub(super) fn taints(pool: &GpuPool) -> Value<BTreeSet<aws::Taint>> {
    let taints = pool.taints.and_then(|taints| together(taints.iter().map(plain_taint)));
    let taints = taints.map(|taints| taints.iter().cloned().collect::<BTreeSet<_>>());
    taints.blamed_on(&pool.taints).mirrored(&pool.taints, |found| {
        let found: Option<BTreeSet<aws::Taint>> = serde_json::from_value(found.clone()).ok();
        // An effect that this version does not know cannot stand in the attribute.
        let known = found.filter(|taints| taints.iter().all(|taint| TaintEffect::from_word(&taint.effect).is_some()));
        known.map_or(Back::Unsaid, |taints| Back::Is(Json::Array(taints.iter().map(attribute_of).collect())))
    })
}

fn plain_taint(taint: &Taint) -> Value<aws::Taint> {
    taint.key.with(&taint.value, |key, value| (key.cloned(), value.cloned())).with(&taint.effect, |rest, effect| {
        let (key, value) = rest.cloned().unwrap_or_default();
        aws::Taint {
            key: key.unwrap_or_default(),
            value: value.unwrap_or_default(),
            effect: effect.map_or("", TaintEffect::as_str).to_owned(),
        }
    })
}

fn attribute_of(taint: &aws::Taint) -> Json {
    if taint.value.is_empty() {
        return json!({ "key": taint.key, "effect": taint.effect });
    }
    json!({ "key": taint.key, "value": taint.value, "effect": taint.effect })
}

/// What a workload has to tolerate.
pub(super) fn tolerations(taints: &Value<BTreeSet<aws::Taint>>) -> Value<Vec<Toleration>> {
    taints.map(|taints| {
        let toleration = |taint: &aws::Taint| Toleration {
            key: Value::from(taint.key.as_str()),
            operator: Value::from("Exists"),
            effect: Value::from(taint.effect.as_str()),
        };
        taints.iter().map(toleration).collect()
    })
}

/// What of a pool Cluster Autoscaler has to be told.
pub(super) struct NodeTemplate<'a> {
    /// The cluster's name.
    pub cluster: &'a Value<String>,
    /// Labels of the nodes.
    pub labels: &'a Value<Labels>,
    /// Taints of the nodes.
    pub taints: &'a Value<BTreeSet<aws::Taint>>,
    /// The instance types.
    pub hardware: &'a Value<Hardware>,
    /// Size of the volume.
    pub disk_gib: &'a Value<u32>,
}

// === impl NodeTemplate ===

impl NodeTemplate<'_> {
    /// The tags on the scaling group. Without them a group of no nodes never grows.
    pub(super) fn tags(&self) -> Value<Tags> {
        let resources = self.hardware.with(self.disk_gib, |hardware, disk| {
            let mut tags = Tags::new();
            if let Some(hardware) = hardware {
                tags.extend(hardware_tags(hardware));
            }
            tags.extend(disk.map(|size| (format!("{TEMPLATE}resources/ephemeral-storage"), format!("{size}Gi"))));
            tags
        });
        let nodes = self.labels.with(self.taints, |labels, taints| {
            let labels = labels.into_iter().flatten().map(|(key, value)| (label_tag(key), value.clone()));
            labels.chain(taints.into_iter().flatten().map(taint_tag)).collect::<Tags>()
        });
        let discovery = self.cluster.map(|cluster| {
            let enabled = (format!("{AUTOSCALER}enabled"), "true".to_owned());
            Tags::from([enabled, (format!("{AUTOSCALER}{cluster}"), "owned".to_owned())])
        });
        let both = |left: Option<&Tags>, right: Option<&Tags>| -> Tags {
            left.into_iter().chain(right).flatten().map(|(key, value)| (key.clone(), value.clone())).collect()
        };
        let mut tags = discovery.with(&resources, both).with(&nodes, both);
        if let Some(known) = tags.get() {
            let fitting = known.iter().filter(|(key, _)| key.len() <= TAG_KEY_LIMIT);
            tags = tags.map(|_| fitting.map(|(key, value)| (key.clone(), value.clone())).collect());
        }
        tags
    }
}

/// Whether a label's key is too long to be told to Cluster Autoscaler.
pub(super) fn is_too_long_to_tell(key: &str) -> bool {
    label_tag(key).len() > TAG_KEY_LIMIT
}

fn hardware_tags(hardware: &Hardware) -> Tags {
    let mut tags = Tags::new();
    if let (Some(vendor), Some((count, _))) = (hardware.vendor(), hardware.counts()) {
        tags.insert(format!("{TEMPLATE}resources/{}", vendor.resource_name()), count.to_string());
    }
    if let Some(product) = hardware.product_label() {
        tags.insert(label_tag(PRODUCT_LABEL), product.to_owned());
    }
    tags
}

fn label_tag(key: &str) -> String {
    format!("{TEMPLATE}label/{key}")
}

fn taint_tag(taint: &aws::Taint) -> (String, String) {
    (format!("{TEMPLATE}taint/{}", taint.key), format!("{}:{}", taint.value, taint.effect))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_too_long_for_a_tag_is_not_told() {
        assert!(!is_too_long_to_tell("team"));
        assert!(is_too_long_to_tell(&format!("{}.io/x", "d".repeat(90))));
    }
}
