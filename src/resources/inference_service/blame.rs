//! Which attribute is behind which part of a manifest: where a message of the API server about that part is shown.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use value::{AttributePath, Value};

use super::{InferenceService, Scaling, Via, manifest};

/// Where a part of a container is.
const CONTAINER: &str = "/spec/template/spec/containers/0";

/// The Deployment's.
pub(super) fn deployment(mut manifest: Value<Json>, service: &InferenceService) -> Value<Json> {
    let engine = |name: &str| service.engine.path().attribute(name);
    let rollout = |name: &str| service.rollout.path().attribute(name);
    for (part, path) in [
        ("/spec/replicas", service.replicas.path()),
        ("/spec/progressDeadlineSeconds", engine("startup_seconds")),
        ("/spec/strategy", rollout("strategy")),
        ("/spec/selector", service.name.path()),
        ("/spec/template/metadata/labels", service.labels.path()),
        ("/spec/template/metadata/labels/kueue.x-k8s.io~1queue-name", service.queue.path()),
        ("/spec/template/spec/serviceAccountName", service.name.path()),
        ("/spec/template/spec/terminationGracePeriodSeconds", rollout("termination_grace_seconds")),
        ("/spec/template/spec/imagePullSecrets", engine("image_pull_secrets")),
        ("/spec/template/spec/nodeSelector", service.placement.path().attribute("node_selector")),
        ("/spec/template/spec/affinity", service.gpus.path().attribute("product")),
    ] {
        manifest = manifest.blamed_at(part, path);
    }
    for part in ["runAsUser", "runAsGroup", "fsGroup"] {
        manifest = manifest.blamed_at(format!("/spec/template/spec/securityContext/{part}"), engine("run_as_user"));
    }
    container(amounts(tolerations(volumes(manifest, service), service), service), service)
}

fn container(mut manifest: Value<Json>, service: &InferenceService) -> Value<Json> {
    let engine = |name: &str| service.engine.path().attribute(name);
    for (part, path) in [
        ("image", engine("image")),
        ("command", engine("command")),
        ("args", engine("args")),
        ("env", engine("env")),
        ("ports", engine("port")),
        ("startupProbe", engine("startup_seconds")),
        ("startupProbe/httpGet/path", engine("health_path")),
        ("livenessProbe", engine("health_path")),
        ("readinessProbe", engine("health_path")),
        ("lifecycle", service.rollout.path().attribute("termination_grace_seconds")),
    ] {
        manifest = manifest.blamed_at(format!("{CONTAINER}/{part}"), path);
    }
    let users = service.engine.get().and_then(|engine| engine.env.get());
    for (at, name) in manifest::variables(service).iter().enumerate() {
        if users.is_some_and(|users| users.contains_key(name)) {
            manifest = manifest.blamed_at(format!("{CONTAINER}/env/{at}"), engine("env").key(name));
        }
    }
    manifest
}

// The user's come first.
fn tolerations(manifest: Value<Json>, service: &InferenceService) -> Value<Json> {
    let path = service.placement.path().attribute("tolerations");
    let users = service.placement.get().and_then(|placement| placement.tolerations.get()).map_or(0, Vec::len);
    let part = "/spec/template/spec/tolerations";
    let whole = manifest.blamed_at(part, path.clone());
    (0..users).fold(whole, |manifest, at| manifest.blamed_at(format!("{part}/{at}"), path.index(at)))
}

fn amounts(mut manifest: Value<Json>, service: &InferenceService) -> Value<Json> {
    let resources = |name: &str| service.resources.path().attribute(name);
    let mut of = BTreeMap::from([
        ("cpu", resources("cpu")),
        ("memory", resources("memory")),
        ("ephemeral-storage", service.model.path().attribute("cache_gib")),
    ]);
    let device = service.gpus.get().and_then(|gpus| gpus.resource_name.get());
    of.extend(device.map(|device| (device.as_str(), service.gpus.path().attribute("per_replica"))));
    for (name, path) in of {
        for what in ["requests", "limits"] {
            let name = name.replace('/', "~1");
            manifest = manifest.blamed_at(format!("{CONTAINER}/resources/{what}/{name}"), path.clone());
        }
    }
    manifest.blamed_at(format!("{CONTAINER}/resources"), service.resources.path())
}

fn volumes(mut manifest: Value<Json>, service: &InferenceService) -> Value<Json> {
    let model = |name: &str| service.model.path().attribute(name);
    for (at, name) in manifest::volume_names(service).iter().enumerate() {
        let path = match name.as_str() {
            "shm" => service.resources.path().attribute("shm_gib"),
            "cache" => model("cache_gib"),
            _ => model("source"),
        };
        let part = format!("/spec/template/spec/volumes/{at}");
        manifest = manifest
            .blamed_at(format!("{CONTAINER}/volumeMounts/{at}"), path.clone())
            .blamed_at(
                format!("{part}/ephemeral/volumeClaimTemplate/spec/storageClassName"),
                model("cache_storage_class"),
            )
            .blamed_at(part, path);
    }
    manifest
}

/// The Ingress's.
pub(super) fn ingress(manifest: Value<Json>, service: &InferenceService) -> Value<Json> {
    let expose = |name: &str| service.expose.path().attribute(name);
    manifest
        .blamed_on(&service.expose)
        .blamed_at("/spec/ingressClassName", expose("class"))
        .blamed_at("/spec/rules/0/host", expose("host"))
        .blamed_at("/spec/rules/0/http/paths/0/path", expose("path"))
        .blamed_at("/spec/tls", expose("tls_secret"))
        .blamed_at("/spec/tls/0/hosts", expose("host"))
}

/// The autoscaler's, of either kind.
pub(super) fn autoscaler(mut manifest: Value<Json>, service: &InferenceService, scaling: &Scaling) -> Value<Json> {
    let of = |name: &str| service.scaling.path().attribute(name);
    let parts: &[(&str, AttributePath)] = match scaling.via.get() {
        Some(Via::Keda) => &[
            ("/spec/minReplicaCount", of("min")),
            ("/spec/maxReplicaCount", of("max")),
            ("/spec/triggers/0/metadata/query", of("signal")),
            ("/spec/triggers/0/metadata/serverAddress", of("prometheus_address")),
            ("/spec/triggers/0/metadata/threshold", of("target")),
        ],
        Some(Via::Hpa) => {
            &[("/spec/minReplicas", of("min")), ("/spec/maxReplicas", of("max")), ("/spec/metrics", of("signal"))]
        }
        None => &[],
    };
    for (part, path) in parts {
        manifest = manifest.blamed_at(*part, path.clone());
    }
    manifest.blamed_on(&service.scaling)
}

/// The PodMonitor's.
pub(super) fn pod_monitor(manifest: Value<Json>, service: &InferenceService) -> Value<Json> {
    let path = service.metrics.path().attribute("path");
    manifest.blamed_on(&service.metrics).blamed_at("/spec/podMetricsEndpoints/0/path", path)
}
