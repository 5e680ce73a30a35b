//! Who moves the number of replicas, and by what: the manifests of the two autoscalers.

use serde_json::{Value as Json, json};

use super::{
    EngineKind, InferenceService, Scaling,
    signal::{Scope, Signal},
};

/// The name that the Prometheus operator gives, in the namespace where it is usually installed.
pub(super) const PROMETHEUS: &str = "http://prometheus-operated.monitoring.svc:9090";

/// Seconds that load has to be low before a replica goes: one that is missed takes minutes to start again.
const SCALE_DOWN_SECONDS: u32 = 600;

/// A metric by its name in Prometheus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Metric {
    /// The name.
    pub name: String,
    /// Where it is measured.
    pub scope: Scope,
}

/// The metric of a signal; none where this engine has none.
pub(super) fn metric(signal: &Signal, engine: EngineKind) -> Option<Metric> {
    let name = match (signal, engine) {
        (Signal::Metric { name, scope }, _) => return Some(Metric { name: name.clone(), scope: *scope }),
        (Signal::GpuUtilization, _) => "DCGM_FI_DEV_GPU_UTIL",
        (Signal::QueueDepth, EngineKind::Vllm) => "vllm:num_requests_waiting",
        (Signal::KvCache, EngineKind::Vllm) => "vllm:kv_cache_usage_perc",
        (Signal::QueueDepth, EngineKind::Sglang) => "sglang:num_queue_reqs",
        (Signal::KvCache, EngineKind::Sglang) => "sglang:token_usage",
        (Signal::QueueDepth | Signal::KvCache, EngineKind::Custom) => return None,
    };
    Some(Metric { name: name.to_owned(), scope: Scope::Pods })
}

/// The HorizontalPodAutoscaler.
pub(super) fn horizontal_pod_autoscaler(service: &InferenceService, scaling: &Scaling) -> Json {
    json!({ "spec": {
        "scaleTargetRef": { "apiVersion": "apps/v1", "kind": "Deployment", "name": service.name.get() },
        "minReplicas": scaling.min.get(),
        "maxReplicas": scaling.max.get(),
        "metrics": wanted(service, scaling).map(|(metric, target)| vec![hpa_metric(&metric, target)]),
        "behavior": { "scaleDown": scale_down() },
    } })
}

/// KEDA's ScaledObject.
pub(super) fn scaled_object(service: &InferenceService, scaling: &Scaling) -> Json {
    json!({ "spec": {
        "scaleTargetRef": { "name": service.name.get() },
        "minReplicaCount": scaling.min.get(),
        "maxReplicaCount": scaling.max.get(),
        "advanced": { "horizontalPodAutoscalerConfig": { "behavior": { "scaleDown": scale_down() } } },
        "triggers": wanted(service, scaling).map(|(metric, target)| vec![trigger(service, scaling, &metric, target)]),
    } })
}

fn wanted(service: &InferenceService, scaling: &Scaling) -> Option<(Metric, f64)> {
    let engine = *service.engine.get()?.kind.get()?;
    Some((metric(scaling.signal.get()?, engine)?, *scaling.target.get()?))
}

fn scale_down() -> Json {
    json!({
        "stabilizationWindowSeconds": SCALE_DOWN_SECONDS,
        "policies": [{ "type": "Pods", "value": 1, "periodSeconds": 120 }],
    })
}

fn hpa_metric(metric: &Metric, target: f64) -> Json {
    // A colon has no place in the path of the metrics API; adapters rename it so.
    let name = metric.name.replace(':', "_");
    let part = json!({
        "metric": { "name": name },
        "target": { "type": "AverageValue", "averageValue": quantity(target) },
    });
    match metric.scope {
        Scope::Pods => json!({ "type": "Pods", "pods": part }),
        Scope::External => json!({ "type": "External", "external": part }),
    }
}

fn trigger(service: &InferenceService, scaling: &Scaling, metric: &Metric, target: f64) -> Json {
    json!({
        "type": "prometheus",
        // The sum over all pods, divided by their number.
        "metricType": "AverageValue",
        "metadata": {
            "serverAddress": scaling.prometheus_address.get().map_or(PROMETHEUS, String::as_str),
            "query": query(service, metric),
            "threshold": target.to_string(),
        },
    })
}

// Of this service's pods only: a metric summed over the namespace would mix all the models in it.
fn query(service: &InferenceService, metric: &Metric) -> String {
    let name = &metric.name;
    let (Some(namespace), Some(pods), Scope::Pods) = (service.namespace.get(), service.name.get(), metric.scope) else {
        return format!("sum({name})");
    };
    let selected = format!(r#"{name}{{namespace="{namespace}",pod=~"{pods}-[a-z0-9]+-[a-z0-9]+"}}"#);
    // Several GPUs of a pod count once.
    if name.starts_with("DCGM_") { format!("sum(avg by (pod) ({selected}))") } else { format!("sum({selected})") }
}

/// A number as Kubernetes writes it: in thousandths where it is not whole.
pub(super) fn quantity(number: f64) -> String {
    let thousandths = (number * 1000.0).round();
    if thousandths % 1000.0 == 0.0 { (thousandths / 1000.0).to_string() } else { format!("{thousandths}m") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_quantity() {
        for (number, text) in [(4.0, "4"), (0.8, "800m"), (1.5, "1500m"), (80.0, "80"), (0.0001, "0")] {
            assert_eq!(quantity(number), text);
        }
    }

    #[test]
    fn a_custom_engine_has_no_queue_that_is_known() {
        assert_eq!(metric(&Signal::QueueDepth, EngineKind::Custom), None);
        let sglang = metric(&Signal::KvCache, EngineKind::Sglang).map(|metric| metric.name);
        assert_eq!(sglang.as_deref(), Some("sglang:token_usage"));
    }
}
