//! Nodes that exist only as objects; kwok keeps them ready and runs what the scheduler puts on them.

use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A node to be: begin with [`Node::new`] or [`Node::with_gpus`].
#[derive(Clone, Debug)]
pub struct Node {
    name: String,
    labels: BTreeMap<String, String>,
    taints: Vec<Value>,
    allocatable: BTreeMap<String, String>,
}

impl Node {
    /// A node with 8 CPUs, 32 GiB and no accelerator.
    pub fn new(name: &str) -> Self {
        let size = [("cpu", "8"), ("memory", "32Gi"), ("ephemeral-storage", "100Gi"), ("pods", "110")];
        Self {
            name: name.to_owned(),
            labels: BTreeMap::from([("kubernetes.io/hostname".to_owned(), name.to_owned())]),
            taints: Vec::new(),
            allocatable: size.map(|(resource, amount)| (resource.to_owned(), amount.to_owned())).into(),
        }
    }

    /// A node of a GPU pool, with the taint that keeps other pods away.
    pub fn with_gpus(name: &str, gpus: u32) -> Self {
        Self::new(name)
            .allocatable("cpu", "96")
            .allocatable("memory", "1024Gi")
            .allocatable("ephemeral-storage", "1024Gi")
            .allocatable("nvidia.com/gpu", &gpus.to_string())
            .taint("nvidia.com/gpu", "true", "NoSchedule")
    }

    /// A label.
    #[must_use]
    pub fn label(mut self, key: &str, value: &str) -> Self {
        self.labels.insert(key.to_owned(), value.to_owned());
        self
    }

    /// A taint; the effect is "NoSchedule", "PreferNoSchedule" or "NoExecute".
    #[must_use]
    pub fn taint(mut self, key: &str, value: &str, effect: &str) -> Self {
        self.taints.push(json!({"key": key, "value": value, "effect": effect}));
        self
    }

    /// No taint at all.
    #[must_use]
    pub fn untainted(mut self) -> Self {
        self.taints.clear();
        self
    }

    /// How much there is of a resource.
    #[must_use]
    pub fn allocatable(mut self, resource: &str, amount: &str) -> Self {
        self.allocatable.insert(resource.to_owned(), amount.to_owned());
        self
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn object(&self, kubelet: u16) -> Value {
        json!({
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": self.name, "labels": self.labels},
            "spec": {"taints": self.taints},
            "status": {
                "capacity": self.allocatable,
                "allocatable": self.allocatable,
                "daemonEndpoints": {"kubeletEndpoint": {"Port": kubelet}},
            },
        })
    }

    /// Ready, and the taint gone that it had until then.
    pub(super) fn is_usable(node: &Value) -> bool {
        let has =
            |list: &Value, keep: &dyn Fn(&Value) -> bool| list.as_array().is_some_and(|items| items.iter().any(keep));
        has(&node["status"]["conditions"], &|condition| condition["type"] == "Ready" && condition["status"] == "True")
            && !has(&node["spec"]["taints"], &|taint| taint["key"] == "node.kubernetes.io/not-ready")
    }
}
