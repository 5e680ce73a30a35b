//! Whether Kubernetes and EKS would take the labels and taints of a pool.

use std::collections::{BTreeMap, BTreeSet};

use tf_provider::Diagnostics;

use super::{
    GpuPool,
    attributes::{Scaler, TaintEffect},
    nodes::is_too_long_to_tell,
};

/// Tags on a scaling group; AWS allows 50, and EKS and the provider set some.
const MOST_TOLD: usize = 30;

/// Domains of labels that nodes may not set, or that others set.
const RESERVED: [(&str, &str); 5] = [
    ("karpenter.sh", "Karpenter's own: its values steer what Karpenter does with nodes"),
    ("eks.amazonaws.com", "EKS's own"),
    ("mlplat.io", "this provider's own"),
    ("kubernetes.io", "Kubernetes' own: the kubelet refuses to start with such a label"),
    ("k8s.io", "Kubernetes' own: the kubelet refuses to start with such a label"),
];

/// What of those the kubelet allows all the same.
const ALLOWED: [&str; 2] = ["kubelet.kubernetes.io", "node.kubernetes.io"];

pub(super) fn check(pool: &GpuPool, complaints: &mut Diagnostics) {
    check_labels(pool, complaints);
    check_taints(pool, complaints);
    check_told(pool, complaints);
}

fn check_labels(pool: &GpuPool, complaints: &mut Diagnostics) {
    for (key, value) in pool.labels.get().into_iter().flatten() {
        let reason = key_fault(key).or_else(|| value_fault(value)).or_else(|| reserved(key));
        if let Some(reason) = reason {
            complaints.error(
                &pool.labels,
                format!("The label {key:?} cannot be used"),
                format!("{reason}\n\nChoose another key or value, for example \"node-type\" = \"gpu-inference\"."),
            );
        }
    }
}

fn check_taints(pool: &GpuPool, complaints: &mut Diagnostics) {
    let mut seen = BTreeSet::new();
    for taint in pool.taints.get().into_iter().flatten() {
        let Some(key) = taint.key.get() else { continue };
        let reason = key_fault(key).or_else(|| taint.value.get().and_then(|value| value_fault(value)));
        if let Some(reason) = reason {
            complaints.error(
                &pool.taints,
                format!("The taint {key:?} cannot be used"),
                format!("{reason}\n\nChoose another key or value."),
            );
        }
        if let Some(effect) = taint.effect.get().filter(|effect| !seen.insert((key, **effect))) {
            complaints.error(
                &pool.taints,
                format!("The taint {key:?} is there twice with the effect {effect}"),
                "Kubernetes tells taints apart by key and effect, whatever their values are.\n\nKeep one of them.",
            );
        }
    }
    let keys_of = |effect| seen.iter().filter(move |(_, e)| *e == effect).map(|(key, _)| *key);
    for key in keys_of(TaintEffect::NoExecute).filter(|key| keys_of(TaintEffect::NoSchedule).any(|k| k == *key)) {
        complaints.warn(
            &pool.taints,
            format!("The taint {key:?} has two effects"),
            "Cluster Autoscaler can be told only one taint for each key.\n\nNoExecute alone does what both do.",
        );
    }
}

fn check_told(pool: &GpuPool, complaints: &mut Diagnostics) {
    if !(pool.scaler.is_null() || pool.scaler.get() == Some(&Scaler::ClusterAutoscaler)) {
        return;
    }
    for key in pool.labels.get().into_iter().flatten().map(|(key, _)| key).filter(|key| is_too_long_to_tell(key)) {
        complaints.warn(
            &pool.labels,
            format!("Cluster Autoscaler cannot be told of the label {key:?}"),
            "A tag on the scaling group tells it, and the key is too long for one. A pod that selects the label does \
             not make an empty pool grow.\n\nUse a shorter key.",
        );
    }
    let told = pool.labels.get().map_or(0, BTreeMap::len) + pool.taints.get().map_or(0, BTreeSet::len);
    if told > MOST_TOLD {
        complaints.error(
            &pool.labels,
            format!("The pool has too many labels and taints: {told}"),
            format!(
                "Each is a tag on the scaling group, which can have 50 with those of EKS and the provider.\n\nGive at most \
                 {MOST_TOLD}."
            ),
        );
    }
}

// What is wrong with a key: `[domain/]name`.
fn key_fault(key: &str) -> Option<String> {
    let (domain, name) = key.rsplit_once('/').map_or((None, key), |(domain, name)| (Some(domain), name));
    if let Some(domain) = domain {
        let is_part = |part: &str| {
            !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        };
        if domain.len() > 253 || !domain.split('.').all(is_part) {
            return Some(format!("{domain:?}, before the slash, is not a domain name."));
        }
    }
    if name.is_empty() || !is_word(name) {
        return Some(format!(
            "The name {name:?} in its key has to be 1 to 63 letters, digits, \"-\", \"_\" and \".\", with a letter or digit at both ends."
        ));
    }
    None
}

fn value_fault(value: &str) -> Option<String> {
    (!value.is_empty() && !is_word(value)).then(|| {
        format!("Its value {value:?} has to be at most 63 letters, digits, \"-\", \"_\" and \".\", with a letter or digit at both ends.")
    })
}

fn is_word(text: &str) -> bool {
    let is_end = |c: char| c.is_ascii_alphanumeric();
    text.len() <= 63
        && text.chars().all(|c| is_end(c) || "-_.".contains(c))
        && text.starts_with(is_end)
        && text.ends_with(is_end)
}

fn reserved(key: &str) -> Option<String> {
    if key == "nvidia.com/gpu.product" {
        return Some(
            "GPU Feature Discovery writes it on the nodes. Cluster Autoscaler is told of it already.".to_owned(),
        );
    }
    let (domain, _) = key.rsplit_once('/')?;
    let is_in = |other: &str| domain == other || domain.strip_suffix(other).is_some_and(|rest| rest.ends_with('.'));
    let (of, whose) = RESERVED.iter().find(|(other, _)| is_in(other))?;
    if ALLOWED.iter().any(|allowed| is_in(allowed)) {
        return None;
    }
    Some(format!("Labels in {of:?} are {whose}."))
}
