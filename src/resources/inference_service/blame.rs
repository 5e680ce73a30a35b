//! Which attribute is behind which part of a manifest: where a message of the API server about that part is shown.

use serde_json::Value as Json;
use value::{AttributePath, Value};

use super::{InferenceService, Scaling, Via};

/// Where a part of a container is.
const CONTAINER: &str = "/spec/template/spec/containers/0";

/// A part, as a JSON pointer, and its attribute.
type Part = (String, AttributePath);

/// The Deployment's. Of one that is not known yet nobody speaks.
pub(super) fn deployment(manifest: Value<Json>, service: &InferenceService) -> Value<Json> {
    let Some(known) = manifest.get() else { return manifest };
    let parts = [
        whole(service),
        container(service),
        variables(known, service),
        tolerations(service),
        amounts(service),
        volumes(known, service),
    ];
    let parts = parts.concat();
    manifest.blamed_within(parts)
}

fn whole(service: &InferenceService) -> Vec<Part> {
    let engine = |name: &str| service.engine.path().attribute(name);
    let rollout = |name: &str| service.rollout.path().attribute(name);
    let parts = [
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
        ("/spec/template/spec/securityContext/runAsUser", engine("run_as_user")),
        ("/spec/template/spec/securityContext/runAsGroup", engine("run_as_user")),
        ("/spec/template/spec/securityContext/fsGroup", engine("run_as_user")),
    ];
    parts.map(|(part, path)| (part.to_owned(), path)).to_vec()
}

fn container(service: &InferenceService) -> Vec<Part> {
    let engine = |name: &str| service.engine.path().attribute(name);
    let parts = [
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
        ("resources", service.resources.path()),
    ];
    parts.map(|(part, path)| (format!("{CONTAINER}/{part}"), path)).to_vec()
}

// Those that the user set.
fn variables(manifest: &Json, service: &InferenceService) -> Vec<Part> {
    let users = service.engine.get().and_then(|engine| engine.env.get());
    let path = service.engine.path().attribute("env");
    let list = format!("{CONTAINER}/env");
    let theirs = names(manifest, &list).filter(|(_, name)| users.is_some_and(|users| users.contains_key(*name)));
    theirs.map(|(at, name)| (format!("{list}/{at}"), path.key(name))).collect()
}

// The user's come first.
fn tolerations(service: &InferenceService) -> Vec<Part> {
    let path = service.placement.path().attribute("tolerations");
    let users = service.placement.get().and_then(|placement| placement.tolerations.get()).map_or(0, Vec::len);
    let list = "/spec/template/spec/tolerations";
    let each = (0..users).map(|at| (format!("{list}/{at}"), path.index(at)));
    each.chain([(list.to_owned(), path.clone())]).collect()
}

fn amounts(service: &InferenceService) -> Vec<Part> {
    let resources = |name: &str| service.resources.path().attribute(name);
    let device = service.gpus.get().and_then(|gpus| gpus.resource_name.get());
    let mut of = vec![
        ("cpu", resources("cpu")),
        ("memory", resources("memory")),
        ("ephemeral-storage", service.model.path().attribute("cache_gib")),
    ];
    of.extend(device.map(|device| (device.as_str(), service.gpus.path().attribute("per_replica"))));
    let both = |(name, path): (&str, AttributePath)| {
        let name = name.replace('/', "~1");
        ["requests", "limits"].map(|what| (format!("{CONTAINER}/resources/{what}/{name}"), path.clone()))
    };
    of.into_iter().flat_map(both).collect()
}

fn volumes(manifest: &Json, service: &InferenceService) -> Vec<Part> {
    let model = |name: &str| service.model.path().attribute(name);
    let list = "/spec/template/spec/volumes";
    let of = |(at, name): (usize, &str)| {
        let path = match name {
            "shm" => service.resources.path().attribute("shm_gib"),
            "cache" => model("cache_gib"),
            _ => model("source"),
        };
        [
            (format!("{CONTAINER}/volumeMounts/{at}"), path.clone()),
            (format!("{list}/{at}/ephemeral/volumeClaimTemplate/spec/storageClassName"), model("cache_storage_class")),
            (format!("{list}/{at}"), path),
        ]
    };
    names(manifest, list).flat_map(of).collect()
}

// The names of the entries of a list, each with its place.
fn names<'m>(manifest: &'m Json, list: &str) -> impl Iterator<Item = (usize, &'m str)> {
    let entries = manifest.pointer(list).and_then(Json::as_array).into_iter().flatten();
    entries.map(|entry| entry.get("name").and_then(Json::as_str).unwrap_or_default()).enumerate()
}

/// The Ingress's.
pub(super) fn ingress(manifest: Value<Json>, service: &InferenceService) -> Value<Json> {
    let expose = |name: &str| service.expose.path().attribute(name);
    manifest.blamed_on(&service.expose).blamed_within([
        ("/spec/ingressClassName", expose("class")),
        ("/spec/rules/0/host", expose("host")),
        ("/spec/rules/0/http/paths/0/path", expose("path")),
        ("/spec/tls", expose("tls_secret")),
        ("/spec/tls/0/hosts", expose("host")),
    ])
}

/// The autoscaler's, of either kind.
pub(super) fn autoscaler(manifest: Value<Json>, service: &InferenceService, scaling: &Scaling) -> Value<Json> {
    let of = |name: &str| service.scaling.path().attribute(name);
    let parts = match scaling.via.get() {
        Some(Via::Keda) => vec![
            ("/spec/minReplicaCount", of("min")),
            ("/spec/maxReplicaCount", of("max")),
            ("/spec/triggers/0/metadata/query", of("signal")),
            ("/spec/triggers/0/metadata/serverAddress", of("prometheus_address")),
            ("/spec/triggers/0/metadata/threshold", of("target")),
        ],
        Some(Via::Hpa) => {
            vec![("/spec/minReplicas", of("min")), ("/spec/maxReplicas", of("max")), ("/spec/metrics", of("signal"))]
        }
        None => Vec::new(),
    };
    manifest.blamed_on(&service.scaling).blamed_within(parts)
}

/// The PodMonitor's.
pub(super) fn pod_monitor(manifest: Value<Json>, service: &InferenceService) -> Value<Json> {
    let path = service.metrics.path().attribute("path");
    manifest.blamed_on(&service.metrics).blamed_at("/spec/podMetricsEndpoints/0/path", path)
}
