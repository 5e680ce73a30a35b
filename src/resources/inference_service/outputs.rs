//! Computed attributes: what the Deployment tells, and the address that follows from the configuration.

use converge::Handle;
use value::{Pending, Value};

use super::{InferenceService, load_balancer};
use crate::components::kube::{Deployment, Object, ObjectOutputs};

/// Sets them.
pub(super) fn set_outputs(service: &mut InferenceService, deployment: &Handle<Object<Deployment>>) {
    let status = deployment.output(ObjectOutputs::STATUS);
    service.ready_replicas = status.map(|status| status["readyReplicas"].as_i64().unwrap_or(0));
    service.live_replicas = deployment.output(ObjectOutputs::REPLICAS);
    service.pod_reasons = status.map(|status| {
        let reasons = status["podReasons"].as_array().into_iter().flatten();
        reasons.filter_map(|reason| reason.as_str().map(str::to_owned)).collect()
    });
    service.service_url = service_url(service);
}

fn service_url(service: &InferenceService) -> Value<String> {
    match service.expose.get() {
        Some(expose) if !expose.host.is_null() => {
            let balancer = expose.class.with(&expose.annotations, load_balancer::entrance);
            let entrance = balancer.with(&expose.tls_secret, |balancer, secret| {
                balancer.copied().flatten().unwrap_or((if secret.is_some() { "https" } else { "http" }, None))
            });
            entrance
                .with(&expose.host, |entrance, host| {
                    let (scheme, port) = entrance.copied().unwrap_or(("http", None));
                    let port = port.map(|port| format!(":{port}")).unwrap_or_default();
                    format!("{scheme}://{}{port}", host.map_or("", String::as_str))
                })
                .with(&expose.path, |url: Option<&String>, path| {
                    let path = path.map_or("", |path| path.trim_end_matches('/'));
                    format!("{}{path}", url.map_or("", String::as_str))
                })
        }
        None if service.expose.is_pending() => Value::pending(Pending::Config),
        _ => service.name.with(&service.namespace, |name, namespace| {
            format!("http://{}.{}.svc", name.map_or("", String::as_str), namespace.map_or("", String::as_str))
        }),
    }
}
