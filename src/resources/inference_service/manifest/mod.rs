//! The manifests of a service. Built when all they are made from is known and defaults are filled in.
//!
//! Not decided here: which objects there are (`expand`), and what is computed from the model's size (`sizing`).

mod environment;
mod network;
mod pod;
mod probes;
mod volumes;

use serde_json::{Map, Value as Json, json};

use super::{InferenceService, rollout};
use crate::components::kube::Labels;

pub(super) use self::network::{disruption_budget, ingress, ingress_annotations, pod_monitor, service};

/// The label that selects the pods of a service. Nobody else writes it, and it never changes: a Deployment's selector
/// cannot.
pub(super) const SERVICE_LABEL: &str = "mlplat.io/inference-service";

/// The label by which Kueue knows the queue.
pub(super) const QUEUE_LABEL: &str = "kueue.x-k8s.io/queue-name";

/// The annotation of pods that makes a new token replace them.
const TOKEN_ANNOTATION: &str = "mlplat.io/token-version";

/// The annotation of pods that makes another role replace them: credentials are injected when a pod is admitted.
const ROLE_ANNOTATION: &str = "mlplat.io/role";

/// Seconds for a node to be added and an image to be pulled, which count as progress of a Deployment but not as the
/// start of a container.
const NODE_AND_IMAGE_SECONDS: u32 = 1200;

/// The labels that select the pods.
pub(super) fn selector(service: &InferenceService) -> Labels {
    let name = service.name.get().cloned().unwrap_or_default();
    Labels::from([(SERVICE_LABEL.to_owned(), name)])
}

/// The labels of the pods and of the Deployment, which Kueue reads both.
pub(super) fn workload_labels(service: &InferenceService, labels: &Labels) -> Labels {
    let mut labels = labels.clone();
    labels.extend(service.queue.get().map(|queue| (QUEUE_LABEL.to_owned(), queue.clone())));
    labels
}

/// The Deployment.
pub(super) fn deployment(service: &InferenceService, labels: &Labels) -> Json {
    let startup = service.engine.get().and_then(|engine| engine.startup_seconds.get().copied()).unwrap_or_default();
    let mut pod_labels = workload_labels(service, labels);
    pod_labels.extend(selector(service));
    let mut annotations = Labels::new();
    if let Some(version) = service.model.get().and_then(|model| model.token_wo_version.get()) {
        annotations.insert(TOKEN_ANNOTATION.to_owned(), version.to_string());
    }
    if let Some((arn, method)) = service.access.get().and_then(|access| access.role_arn.get().zip(access.method.get()))
    {
        annotations.insert(ROLE_ANNOTATION.to_owned(), format!("{method} {arn}"));
    }
    json!({ "spec": {
        // Null where an autoscaler has the number: then it is never sent.
        "replicas": service.replicas.get(),
        "revisionHistoryLimit": 3,
        "progressDeadlineSeconds": startup.saturating_add(NODE_AND_IMAGE_SECONDS),
        "selector": { "matchLabels": selector(service) },
        "strategy": rollout::decide(service).replacing.manifest(),
        "template": {
            "metadata": { "labels": pod_labels, "annotations": given(annotations) },
            "spec": pod::pod(service),
        },
    } })
}

// An empty list or map is left out: it would say that somebody else's entries are not wanted.
fn given(collection: impl serde::Serialize) -> Json {
    let collection = json!(collection);
    let is_empty =
        collection.as_array().is_some_and(Vec::is_empty) || collection.as_object().is_some_and(Map::is_empty);
    if is_empty { Json::Null } else { collection }
}
