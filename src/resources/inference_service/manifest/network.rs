//! How the pods are reached and kept up: Service, Ingress, PodDisruptionBudget, PodMonitor.

use serde_json::{Value as Json, json};

use super::{
    super::{Expose, InferenceService, Metrics},
    selector,
};
use crate::components::kube::Labels;

/// The port of the Service: clients need not know the engine's.
const SERVICE_PORT: u16 = 80;

/// The Service.
pub(in super::super) fn service(service: &InferenceService) -> Json {
    json!({ "spec": {
        "type": "ClusterIP",
        "selector": selector(service),
        "ports": [{ "name": "http", "port": SERVICE_PORT, "targetPort": "http", "protocol": "TCP" }],
    } })
}

/// The PodDisruptionBudget.
pub(in super::super) fn disruption_budget(service: &InferenceService) -> Json {
    json!({ "spec": {
        "maxUnavailable": 1,
        "selector": { "matchLabels": selector(service) },
        // A pod that never becomes ready must not keep its node from being drained.
        "unhealthyPodEvictionPolicy": "AlwaysAllow",
    } })
}

/// The Ingress.
pub(in super::super) fn ingress(service: &InferenceService, expose: &Expose) -> Json {
    let host = expose.host.get();
    let backend = json!({ "service": { "name": service.name.get(), "port": { "name": "http" } } });
    let path = json!({
        "path": expose.path.get().map_or("/", String::as_str),
        "pathType": "Prefix",
        "backend": backend,
    });
    let tls = expose.tls_secret.get().map(|secret| json!([{ "hosts": [host], "secretName": secret }]));
    json!({ "spec": {
        "ingressClassName": expose.class.get(),
        "rules": [{ "host": host, "http": { "paths": [path] } }],
        "tls": tls,
    } })
}

/// The annotations of the Ingress. AWS's controller sends to pods only where it is told to, and asks for `/` to know
/// whether they are healthy.
pub(in super::super) fn ingress_annotations(service: &InferenceService, expose: &Expose) -> Labels {
    let mut annotations = Labels::new();
    if expose.class.get().map(String::as_str) == Some("alb") {
        annotations.insert("alb.ingress.kubernetes.io/target-type".to_owned(), "ip".to_owned());
        let path = service.engine.get().and_then(|engine| engine.health_path.get());
        annotations.extend(path.map(|path| ("alb.ingress.kubernetes.io/healthcheck-path".to_owned(), path.clone())));
    }
    annotations.extend(expose.annotations.get().cloned().unwrap_or_default());
    annotations
}

/// The PodMonitor.
pub(in super::super) fn pod_monitor(service: &InferenceService, metrics: &Metrics) -> Json {
    let path = metrics.path.get().map_or("/metrics", String::as_str);
    json!({ "spec": {
        "selector": { "matchLabels": selector(service) },
        "podMetricsEndpoints": [{ "port": "http", "path": path }],
    } })
}
