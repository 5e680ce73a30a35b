//! The pod: one container under the `restricted` Pod Security Standard, and where it may run.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json, json};

use super::{
    super::{InferenceService, engine},
    environment::environment,
    given,
    probes::probes,
    selector,
    volumes::{node_disk_gib, volumes},
};
use crate::{
    catalog::{instance_types, product_matches},
    resources::Toleration,
};

/// Label that GPU Feature Discovery writes.
const PRODUCT_LABEL: &str = "nvidia.com/gpu.product";

/// Seconds in which load balancers learn that a pod is going, before it stops taking requests.
const DRAIN_SECONDS: u32 = 10;

/// The pod's `spec`.
pub(super) fn pod(service: &InferenceService) -> Json {
    let user = service.engine.get().and_then(|engine| engine.run_as_user.get().copied()).unwrap_or(1000);
    let secrets = service.engine.get().and_then(|engine| engine.image_pull_secrets.get()).into_iter().flatten();
    let secrets: Vec<_> = secrets.map(|name| json!({ "name": name })).collect();
    let selector = service.placement.get().and_then(|placement| placement.node_selector.get());
    let node_selector = selector.cloned().unwrap_or_default();
    json!({
        "serviceAccountName": service.name.get(),
        "automountServiceAccountToken": false,
        // A Service called `vllm` would give every pod a variable VLLM_PORT, which vLLM reads as its port.
        "enableServiceLinks": false,
        "terminationGracePeriodSeconds": grace_seconds(service),
        "securityContext": {
            "runAsNonRoot": true,
            "runAsUser": user,
            "runAsGroup": user,
            "fsGroup": user,
            // The owner of every file of a large volume is not looked at at each start.
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": { "type": "RuntimeDefault" },
        },
        "imagePullSecrets": given(secrets),
        "nodeSelector": given(node_selector),
        "tolerations": given(tolerations(service)),
        "affinity": affinity(service),
        "topologySpreadConstraints": spread(service),
        "containers": [container(service)],
        "volumes": volumes(service).0,
    })
}

fn grace_seconds(service: &InferenceService) -> u32 {
    service.rollout.get().and_then(|rollout| rollout.termination_grace_seconds.get().copied()).unwrap_or(120)
}

fn container(service: &InferenceService) -> Json {
    let Some(engine) = service.engine.get() else { return Json::Null };
    let amounts = amounts(service);
    let mut container = json!({
        "name": "server",
        "image": engine.image.get(),
        "command": engine::command(engine),
        "args": engine::args(service),
        "env": environment(service),
        "ports": [{ "name": "http", "containerPort": engine.port.get(), "protocol": "TCP" }],
        "resources": { "requests": amounts, "limits": amounts },
        "securityContext": {
            "allowPrivilegeEscalation": false,
            "capabilities": { "drop": ["ALL"] },
        },
        "lifecycle": { "preStop": { "sleep": { "seconds": DRAIN_SECONDS.min(grace_seconds(service) / 2).max(1) } } },
        "volumeMounts": volumes(service).1,
    });
    if let Some(container) = container.as_object_mut() {
        container.extend(probes(engine));
    }
    container
}

// Requests and limits alike: a limit left out would be the namespace's default, which is not made for models.
fn amounts(service: &InferenceService) -> Map<String, Json> {
    let resources = service.resources.get();
    let mut amounts = Map::new();
    let mut put = |name: &str, amount: Option<String>| {
        amounts.extend(amount.map(|amount| (name.to_owned(), Json::from(amount))));
    };
    put("cpu", resources.and_then(|resources| resources.cpu.get().cloned()));
    put("memory", resources.and_then(|resources| resources.memory.get().cloned()));
    // A Kueue queue admits nothing that asks for what it does not cover, and few cover the disk.
    if service.queue.is_null() {
        put("ephemeral-storage", Some(format!("{}Gi", node_disk_gib(service))));
    }
    if let Some(gpus) = service.gpus.get()
        && let (Some(name), Some(count)) =
            (gpus.resource_name.get(), gpus.per_replica.get().filter(|count| **count > 0))
    {
        put(name, Some(count.to_string()));
    }
    amounts
}

fn tolerations(service: &InferenceService) -> Vec<Json> {
    let users = service.placement.get().and_then(|placement| placement.tolerations.get()).into_iter().flatten();
    let mut all: Vec<Json> = users.map(Toleration::manifest).collect();
    let resource = service.gpus.get().filter(|gpus| gpus.per_replica.get() != Some(&0));
    let Some(resource) = resource.and_then(|gpus| gpus.resource_name.get()) else { return all };
    let tolerates =
        |one: &Json| one["operator"] == "Exists" && (one["key"].is_null() || one["key"] == resource.as_str());
    if !all.iter().any(tolerates) {
        all.push(json!({ "key": resource, "operator": "Exists" }));
    }
    all
}

// Nodes with the product first. Not a must: the label is there only where GPU Feature Discovery runs.
fn affinity(service: &InferenceService) -> Json {
    let Some(product) = service.gpus.get().and_then(|gpus| gpus.product.get()) else { return Json::Null };
    let devices = instance_types().iter().map(|kind| &kind.accelerator);
    let mut labels: BTreeSet<&str> =
        devices.filter(|device| product_matches(product, device)).filter_map(|device| device.product_label).collect();
    if labels.is_empty() {
        labels.insert(product);
    }
    json!({ "nodeAffinity": { "preferredDuringSchedulingIgnoredDuringExecution": [{
        "weight": 100,
        "preference": { "matchExpressions": [{ "key": PRODUCT_LABEL, "operator": "In", "values": labels }] },
    }] } })
}

fn spread(service: &InferenceService) -> Vec<Json> {
    let constraint = |key: &str| {
        json!({
            "maxSkew": 1,
            "topologyKey": key,
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": { "matchLabels": selector(service) },
        })
    };
    vec![constraint("topology.kubernetes.io/zone"), constraint("kubernetes.io/hostname")]
}
