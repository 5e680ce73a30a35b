//! Computed attributes: what the Deployment tells, and the address that follows from the configuration.

use converge::Handle;
use value::{Pending, Value};

use super::InferenceService;
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
            let scheme = expose.tls_secret.with(&expose.annotations, |secret, annotations| {
                let listens = annotations
                    .is_some_and(|all| all.keys().any(|key| key == "alb.ingress.kubernetes.io/certificate-arn"));
                if secret.is_some() || listens { "https" } else { "http" }
            });
            scheme
                .with(&expose.host, |scheme, host| {
                    format!("{}://{}", scheme.unwrap_or(&"http"), host.map_or("", String::as_str))
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
