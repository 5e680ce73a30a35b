//! Whether the nodes that are there could hold a pod that chooses among them, told at plan. Pure.
//!
//! Nodes come and go, so most of what is found here is a doubt. Certain is only what holds of every node that may ever
//! have these labels: they name one machine, or one type of machines.

use std::collections::{BTreeMap, BTreeSet};

use converge::{Finding, Place, Severity};
use serde_json::Value as Json;

use super::{
    place::{MANIFEST, escaped},
    readiness::text,
};

/// Labels that leave one machine or one type of machines to choose from.
const PINS: [&str; 2] = ["kubernetes.io/hostname", "node.kubernetes.io/instance-type"];
/// The label of the nodes of a pool of this provider, which may be made in the same run or be empty.
const POOL: &str = "mlplat.io/pool";
/// Taints that pass: those of nodes that start or that are busy.
const PASSING: &str = "node.kubernetes.io/";

/// Where in a workload the spec of its pods is.
pub(super) const SPEC: &str = "/spec/template/spec";

/// A pod's `spec`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pod<'a>(pub(super) &'a Json);

/// What is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look<'a> {
    /// The object whose pods they are, in words.
    pub(super) of: &'a str,
    pub(super) pod: Pod<'a>,
    /// All nodes that have the labels of the pod's selector.
    pub(super) nodes: &'a [Json],
}

// === impl Pod ===

impl<'a> Pod<'a> {
    /// The labels that nodes have to have, as the API takes them.
    pub(super) fn selector(self) -> String {
        let label = |(key, value): (&str, &Json)| format!("{key}={}", value.as_str().unwrap_or_default());
        self.labels().map(label).collect::<Vec<_>>().join(",")
    }

    /// How much of each kind of device a pod asks for.
    pub(super) fn devices(self) -> BTreeMap<&'a str, u64> {
        let containers = self.0.get("containers").and_then(Json::as_array).into_iter().flatten();
        let limits = containers.filter_map(|container| container.pointer("/resources/limits")?.as_object()).flatten();
        let mut devices = BTreeMap::new();
        for (name, amount) in limits.filter(|(name, _)| name.contains('/')) {
            *devices.entry(name.as_str()).or_default() += count(amount);
        }
        devices.retain(|_, count| *count > 0);
        devices
    }

    // The first container that asks for a device.
    fn container_with(self, device: &str) -> usize {
        let mut containers = self.0.get("containers").and_then(Json::as_array).into_iter().flatten();
        let asks =
            |container: &Json| container.pointer("/resources/limits").is_some_and(|all| all.get(device).is_some());
        containers.position(asks).unwrap_or(0)
    }

    fn labels(self) -> impl Iterator<Item = (&'a str, &'a Json)> {
        let labels = self.0.get("nodeSelector").and_then(Json::as_object).into_iter().flatten();
        labels.map(|(key, value)| (key.as_str(), value))
    }

    /// Whether not every node would do.
    pub(super) fn is_choosy(self) -> bool {
        self.labels().next().is_some() || !self.devices().is_empty()
    }

    fn has_label(self, keys: &[&str]) -> bool {
        self.labels().any(|(key, _)| keys.contains(&key))
    }

    fn tolerates(self, taint: &Json) -> bool {
        let tolerations = self.0.get("tolerations").and_then(Json::as_array).into_iter().flatten();
        tolerations.into_iter().any(|one| {
            let exists = text(one, "operator") == "Exists";
            let (key, effect) = (text(one, "key"), text(one, "effect"));
            let is_of = (exists && key.is_empty()) || key == text(taint, "key");
            let is_value = exists || text(one, "value") == text(taint, "value");
            is_of && is_value && (effect.is_empty() || effect == text(taint, "effect"))
        })
    }

    // Label and values that it would rather have.
    fn preferences(self) -> impl Iterator<Item = (&'a str, BTreeSet<&'a str>)> {
        let preferred = self.0.pointer("/affinity/nodeAffinity/preferredDuringSchedulingIgnoredDuringExecution");
        let preferred = preferred.and_then(Json::as_array).into_iter().flatten();
        let terms = preferred.filter_map(|one| one.pointer("/preference/matchExpressions")?.as_array()).flatten();
        terms.filter(|term| text(term, "operator") == "In").map(|term| {
            let values = term.get("values").and_then(Json::as_array).into_iter().flatten();
            (text(term, "key"), values.filter_map(Json::as_str).collect())
        })
    }
}

// === impl Look ===

impl Look<'_> {
    /// What there is to say.
    pub(super) fn findings(&self) -> Vec<Finding> {
        if self.nodes.is_empty() {
            return self.no_node().into_iter().collect();
        }
        let open: Vec<_> = self.nodes.iter().filter(|node| self.closing(node).is_none()).collect();
        if open.is_empty() {
            return vec![self.no_toleration()];
        }
        let few: Vec<_> =
            self.pod.devices().into_iter().filter_map(|(name, asked)| self.few(&open, name, asked)).collect();
        if few.is_empty() { self.others(&open).collect() } else { few }
    }

    fn no_node(&self) -> Option<Finding> {
        // Of a cluster without nodes it says nothing, and a pool's own plan says what it needs.
        let is_telling = self.pod.labels().next().is_some() && !self.pod.has_label(&[POOL]);
        is_telling.then(|| {
            doubt(
                "nodeSelector",
                format!("No node has the labels that pods of {} need", self.of),
                format!(
                    "The cluster has no node with {} now. That is as it should be where an autoscaler brings the first \
                     one, or nodes are made in this run. Else correct the node selector.",
                    self.pod.selector()
                ),
            )
        })
    }

    // The taint of a node that keeps the pod away.
    fn closing<'n>(&self, node: &'n Json) -> Option<&'n Json> {
        let taints = node.pointer("/spec/taints").and_then(Json::as_array).into_iter().flatten();
        taints.into_iter().find(|taint| {
            let is_passing = text(taint, "key").starts_with(PASSING) || text(taint, "effect") == "PreferNoSchedule";
            !is_passing && !self.pod.tolerates(taint)
        })
    }

    fn no_toleration(&self) -> Finding {
        let word = |taint: &Json| {
            let value = Some(text(taint, "value")).filter(|value| !value.is_empty());
            let value = value.map_or_else(String::new, |value| format!("={value}"));
            format!("{}{value}:{}", text(taint, "key"), text(taint, "effect"))
        };
        let taints: BTreeSet<_> = self.nodes.iter().filter_map(|node| self.closing(node)).map(word).collect();
        doubt(
            "tolerations",
            format!("Pods of {} do not tolerate the taints of their nodes", self.of),
            format!(
                "None can be put on {}, because of {}. Add tolerations of these taints, or select other nodes.",
                self.these(self.nodes.len()),
                taints.into_iter().collect::<Vec<_>>().join(", ")
            ),
        )
    }

    fn few(&self, nodes: &[&Json], name: &str, asked: u64) -> Option<Finding> {
        let allocatable = |node: &&Json| node.pointer("/status/allocatable")?.get(name).map(count);
        let most = nodes.iter().filter_map(allocatable).max().unwrap_or(0);
        if most >= asked {
            return None;
        }
        let these = self.these(nodes.len());
        let is_certain = most > 0 && self.pod.has_label(&PINS);
        let or = if is_certain { "select other nodes" } else { "have larger nodes with these labels" };
        let detail = if most == 0 {
            format!(
                "Each pod asks for {asked} {name}, and {these} can give none. Install what makes the devices known to \
                 Kubernetes, such as the device plugin of their maker, or select nodes that have them."
            )
        } else {
            format!(
                "Each pod asks for {asked} {name}, and of {these} none can give more than {most}. Ask for at most \
                 {most}, or {or}."
            )
        };
        let part = format!("containers/{}/resources/limits/{}", self.pod.container_with(name), escaped(name));
        let finding = doubt(&part, format!("No node has {asked} {name} for a pod of {}", self.of), detail);
        Some(Finding { severity: if is_certain { Severity::Error } else { Severity::Warning }, ..finding })
    }

    // Labels that nodes have otherwise than the pod would rather have them. Where none has the label nobody writes it.
    fn others(&self, nodes: &[&Json]) -> impl Iterator<Item = Finding> {
        self.pod.preferences().filter_map(|(key, wanted)| {
            let of = |node: &&Json| node.pointer("/metadata/labels")?.get(key)?.as_str().map(str::to_owned);
            let found: BTreeSet<String> = nodes.iter().filter_map(of).collect();
            let is_other = !found.is_empty() && !found.iter().any(|value| wanted.contains(value.as_str()));
            is_other.then(|| {
                doubt(
                    "affinity",
                    format!("The nodes have another {key} than pods of {} prefer", self.of),
                    format!(
                        "On {} it is {}, and the pods are made for {}. They may be put there all the same, and what was \
                         computed for the one may not hold for the other. Correct it, or select nodes that have it.",
                        self.these(nodes.len()),
                        found.into_iter().collect::<Vec<_>>().join(", "),
                        wanted.into_iter().collect::<Vec<_>>().join(", ")
                    ),
                )
            })
        })
    }

    fn these(&self, count: usize) -> String {
        let nodes = if count == 1 { "the one node".to_owned() } else { format!("the {count} nodes") };
        match self.pod.selector() {
            selector if selector.is_empty() => format!("{nodes} of the cluster"),
            selector => format!("{nodes} with {selector}"),
        }
    }
}

// About a part of the pod's spec.
fn doubt(part: &str, summary: String, detail: String) -> Finding {
    let at = Place::within(MANIFEST, format!("{SPEC}/{part}"));
    Finding { severity: Severity::Warning, at, summary, detail }
}

// Devices are counted in whole numbers, written as text.
fn count(amount: &Json) -> u64 {
    amount.as_u64().or_else(|| amount.as_str()?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(gpus: &str, selector: &Json) -> Json {
        json!({
            "nodeSelector": selector,
            "tolerations": [{ "key": "nvidia.com/gpu", "operator": "Exists" }],
            "affinity": { "nodeAffinity": { "preferredDuringSchedulingIgnoredDuringExecution": [{
                "preference": { "matchExpressions": [
                    { "key": "nvidia.com/gpu.product", "operator": "In", "values": ["NVIDIA-A10G"] },
                ] },
            }] } },
            "containers": [{ "resources": { "limits": { "cpu": "4", "nvidia.com/gpu": gpus } } }],
        })
    }

    fn node(gpus: &str) -> Json {
        json!({
            "metadata": { "labels": { "nvidia.com/gpu.product": "NVIDIA-A10G" } },
            "spec": { "taints": [
                { "key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule" },
                { "key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule" },
            ] },
            "status": { "allocatable": { "cpu": "8", "nvidia.com/gpu": gpus } },
        })
    }

    fn check(pod: &Json, nodes: &[Json], expected: Option<(Severity, &str)>) {
        let found = Look { of: "Deployment \"ml/llm\"", pod: Pod(pod), nodes }.findings();
        let told = found.first().map(|finding| (finding.severity, format!("{}. {}", finding.summary, finding.detail)));
        match (&told, expected) {
            (None, None) => {}
            (Some((severity, text)), Some((wanted, part))) => {
                assert!(*severity == wanted && text.contains(part) && found.len() == 1, "{found:?}");
            }
            _ => panic!("{found:?}"),
        }
    }

    #[test]
    fn nodes_that_have_what_is_asked_for_are_no_finding() {
        check(&pod("4", &json!({ "pool": "a" })), &[node("1"), node("4")], None);
        assert!(!Pod(&pod("0", &json!({}))).is_choosy() && Pod(&pod("0", &json!({ "a": "b" }))).is_choosy());
        assert_eq!(Pod(&pod("4", &json!({ "a/b": "c", "d": "" }))).selector(), "a/b=c,d=");
    }

    #[test]
    fn more_than_any_node_allocates_is_told_with_the_numbers() {
        let text = "of the 2 nodes with pool=a none can give more than 4. Ask for at most 4";
        check(&pod("8", &json!({ "pool": "a" })), &[node("1"), node("4")], Some((Severity::Warning, text)));
        let pinned = json!({ "node.kubernetes.io/instance-type": "g5.xlarge" });
        let certain = Some((Severity::Error, "No node has 2 nvidia.com/gpu for a pod of Deployment \"ml/llm\""));
        check(&pod("2", &pinned), &[node("1")], certain);
    }

    #[test]
    fn nodes_without_a_device_plugin_are_told_as_such() {
        let mut bare = node("0");
        check(&pod("1", &json!({})), &[bare.clone()], Some((Severity::Warning, "the device plugin of their maker")));
        bare["status"]["allocatable"] = json!({ "cpu": "8" });
        let pinned = json!({ "kubernetes.io/hostname": "n" });
        check(&pod("1", &pinned), &[bare], Some((Severity::Warning, "the one node with kubernetes.io/hostname=n")));
    }

    #[test]
    fn labels_of_no_node_are_a_doubt_but_for_those_of_a_pool() {
        let text = "The cluster has no node with pool=a now";
        check(&pod("1", &json!({ "pool": "a" })), &[], Some((Severity::Warning, text)));
        check(&pod("1", &json!({ POOL: "a" })), &[], None);
        check(&pod("1", &json!({})), &[], None);
    }

    #[test]
    fn taints_that_are_not_tolerated_are_named() {
        let mut tainted = node("1");
        tainted["spec"]["taints"] = json!([{ "key": "team", "value": "a", "effect": "NoSchedule" }]);
        check(
            &pod("1", &json!({})),
            &[tainted.clone()],
            Some((Severity::Warning, "None can be put on the one node of the cluster, because of team=a:NoSchedule")),
        );
        check(&pod("1", &json!({})), &[tainted.clone(), node("1")], None);
        let mut pod = pod("1", &json!({}));
        pod["tolerations"] = json!([{ "operator": "Exists" }]);
        check(&pod, &[tainted], None);
    }

    #[test]
    fn another_product_than_the_one_computed_with_is_told() {
        let mut other = node("1");
        other["metadata"]["labels"]["nvidia.com/gpu.product"] = json!("Tesla-T4");
        let text = "On the one node of the cluster it is Tesla-T4, and the pods are made for NVIDIA-A10G";
        check(&pod("1", &json!({})), &[other.clone()], Some((Severity::Warning, text)));
        check(&pod("1", &json!({})), &[other.clone(), node("1")], None);
        other["metadata"]["labels"] = json!({});
        check(&pod("1", &json!({})), &[other], None);
    }
}
