//! What Kubernetes would refuse of a service, and what would not do what it seems to.

use serde_json::Value as Json;
use tf_provider::Diagnostics;
use value::Value;

use super::{
    Access, AccessMethod, Engine, EngineKind, Expose, InferenceService, Placement, Resources, Rollout, Via,
    check_model, check_place, check_scaling, check_texts, load_balancer,
};
use crate::{
    components::kube::Quantity,
    resources::{
        arn,
        kubernetes::{NameRule, label_fault, name_fault},
    },
};

/// A Service's name is a DNS label.
const NAME_LIMIT: usize = 63;
/// KEDA puts `keda-hpa-` before the name.
const KEDA_NAME_LIMIT: usize = 54;
/// The Secret's name goes on with `-hf-token`; 253 is far away, so the Service's limit holds.
const NAMESPACE_LIMIT: usize = 63;
const MOST_STARTUP_SECONDS: u32 = 7 * 24 * 3600;

pub(super) fn check(service: &InferenceService, complaints: &mut Diagnostics) {
    check_names(service, complaints);
    if let Some(engine) = service.engine.get() {
        check_engine(engine, complaints);
    }
    check_model::check(service, complaints);
    check_scaling::check(service, complaints);
    check_place::check(service, complaints);
    check_texts::check(service, complaints);
    if let Some(placement) = service.placement.get() {
        check_placement(placement, complaints);
    }
    if let Some(resources) = service.resources.get() {
        check_resources(resources, complaints);
    }
    if let Some(rollout) = service.rollout.get() {
        check_rollout(rollout, complaints);
    }
    if let Some(expose) = service.expose.get() {
        check_expose(expose, complaints);
    }
    if let Some(access) = service.access.get() {
        check_access(access, service, complaints);
    }
    if let Some(fault) = service.labels.get().and_then(label_fault) {
        complaints.error(&service.labels, "A label cannot be used", fault);
    }
}

fn check_names(service: &InferenceService, complaints: &mut Diagnostics) {
    let is_keda = service.scaling.get().and_then(|scaling| scaling.via.get()) == Some(&Via::Keda);
    let limit = if is_keda { KEDA_NAME_LIMIT } else { NAME_LIMIT };
    for (value, of, rule) in [
        (&service.namespace, "namespace", NameRule::Label(NAMESPACE_LIMIT)),
        (&service.name, "service name", NameRule::Label(limit)),
        (&service.queue, "queue name", NameRule::Subdomain),
    ] {
        check_name(value, of, rule, complaints);
    }
    if service.cluster.get().is_some_and(String::is_empty) {
        complaints.error(
            &service.cluster,
            "The cluster's name is empty",
            "An empty text is not the same as none.\n\nLeave `cluster` out for the provider's `kubernetes` block.",
        );
    }
}

/// Complains of a name that Kubernetes does not take.
pub(super) fn check_name(value: &Value<String>, of: &str, rule: NameRule, complaints: &mut Diagnostics) {
    if let Some((name, fault)) = value.get().and_then(|name| Some((name, name_fault(name, rule)?))) {
        complaints.error(value, format!("The {of} {name:?} cannot be used"), fault);
    }
}

fn check_engine(engine: &Engine, complaints: &mut Diagnostics) {
    check_image(&engine.image, complaints);
    if engine.kind.get() == Some(&EngineKind::Custom) {
        check_custom(engine, complaints);
    }
    let path = &engine.health_path;
    if let Some(text) = path.get().filter(|text| !text.starts_with('/')) {
        complaints.error(
            path,
            format!("The health path {text:?} is not a path"),
            format!("Paths begin with a slash.\n\nWrite \"/{text}\"."),
        );
    }
    if engine.run_as_user.get().is_some_and(|user| *user <= 0) {
        complaints.error(
            &engine.run_as_user,
            "The server cannot run as root",
            "The `restricted` Pod Security Standard refuses user id 0, and there are none below.\n\nGive one from 1 on, \
             such as 1000, or build an image that does not need root.",
        );
    }
    if engine.port.get() == Some(&0) {
        complaints.error(&engine.port, "The port is 0", "Nothing can listen there.\n\nGive 1 to 65535.");
    }
    if let Some(seconds) = engine.startup_seconds.get().filter(|seconds| !(1..=MOST_STARTUP_SECONDS).contains(*seconds))
    {
        complaints.error(
            &engine.startup_seconds,
            "The time for a start is out of range",
            format!("`engine.startup_seconds` is {seconds}.\n\nGive 1 to {MOST_STARTUP_SECONDS}, which is a week."),
        );
    }
}

fn check_image(image: &Value<String>, complaints: &mut Diagnostics) {
    let Some(text) = image.get() else { return };
    if text.is_empty() || text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        complaints.error(
            image,
            format!("{text:?} is not an image"),
            "It is empty or has a space in it.\n\nGive one such as \"vllm/vllm-openai:v0.32.0\".",
        );
        return;
    }
    // Before the first slash there may be a host, which is of either case.
    let path = text.split_once('/').map_or(text.as_str(), |(_, path)| path);
    let (path, name) = (path.split([':', '@']).next().unwrap_or_default(), text.rsplit('/').next().unwrap_or_default());
    if path.is_empty() || path.chars().any(char::is_uppercase) {
        complaints.error(
            image,
            format!("{text:?} is not an image"),
            "The name of an image has only lower-case letters, so no node could pull it.\n\nGive one such as \
             \"vllm/vllm-openai:v0.32.0\".",
        );
        return;
    }
    if !text.contains('@') && (!name.contains(':') || name.ends_with(":latest")) {
        complaints.warn(
            image,
            format!("The image {text:?} may be another one tomorrow"),
            "Without a version each pod starts whatever is the latest then, and replicas come to differ.\n\nName a \
             version, such as \"vllm/vllm-openai:v0.32.0\", or a digest.",
        );
    }
}

// Of another engine nothing is known.
fn check_custom(engine: &Engine, complaints: &mut Diagnostics) {
    for (name, is_missing, example) in
        [("port", engine.port.is_null(), "8080"), ("health_path", engine.health_path.is_null(), "\"/healthz\"")]
    {
        if is_missing {
            complaints.error(
                &engine.kind,
                format!("A custom engine needs `{name}`"),
                format!(
                    "What another engine listens on and how it tells that it is healthy is not known here.\n\nGive \
                     `engine.{name}`, such as {example}."
                ),
            );
        }
    }
}

fn check_placement(placement: &Placement, complaints: &mut Diagnostics) {
    for toleration in placement.tolerations.get().into_iter().flatten() {
        toleration.check(complaints);
    }
}

fn check_resources(resources: &Resources, complaints: &mut Diagnostics) {
    for (value, name, example) in [(&resources.cpu, "cpu", "\"4\""), (&resources.memory, "memory", "\"24Gi\"")] {
        if let Some(text) = value.get().filter(|text| !Quantity::parse(text).is_some_and(Quantity::is_positive)) {
            complaints.error(
                value,
                format!("`resources.{name}` is not an amount"),
                format!("Kubernetes cannot read {text:?} as one above zero.\n\nWrite it such as {example}."),
            );
        }
    }
    let memory = resources.memory.get().and_then(|memory| Quantity::parse(memory));
    let (Some(memory), Some(shm)) = (memory, resources.shm_gib.get()) else { return };
    if *shm > 0 && Quantity::parse(&format!("{shm}Gi")).is_some_and(|shm| shm >= memory) {
        complaints.error(
            &resources.shm_gib,
            "The shared memory is all the memory there is",
            format!(
                "What is in `/dev/shm` counts as the pod's memory, and {shm} GiB of it leave nothing of {} for the \
                 server.\n\nRaise `resources.memory`, or lower `resources.shm_gib`.",
                resources.memory.get().map_or("", String::as_str)
            ),
        );
    }
}

fn check_rollout(rollout: &Rollout, complaints: &mut Diagnostics) {
    if rollout.termination_grace_seconds.get().is_some_and(|seconds| *seconds < 2) {
        complaints.error(
            &rollout.termination_grace_seconds,
            "Pods would be killed at once",
            "Requests that run are lost then, and load balancers send more for some seconds.\n\nGive at least 30 \
             seconds.",
        );
    }
}

fn check_expose(expose: &Expose, complaints: &mut Diagnostics) {
    if let Some(host) = expose.host.get() {
        let plain = host.strip_prefix("*.").unwrap_or(host);
        if let Some(fault) = name_fault(plain, NameRule::Subdomain) {
            complaints.error(&expose.host, format!("{host:?} is not a host name"), fault);
        }
    }
    if let Some(path) = expose.path.get().filter(|path| !path.starts_with('/')) {
        complaints.error(
            &expose.path,
            format!("The path {path:?} does not begin with a slash"),
            format!("An Ingress takes only such paths.\n\nWrite \"/{path}\"."),
        );
    }
    if expose.tls_secret.is_known() && load_balancer::is_meant(expose.class.get(), expose.annotations.get()) {
        complaints.warn(
            &expose.tls_secret,
            "The load balancer does not read this Secret",
            "AWS Load Balancer Controller takes certificates from AWS Certificate Manager, by the annotation \
             `alb.ingress.kubernetes.io/certificate-arn`, or by the host's name where `listen-ports` has HTTPS; without \
             either the service is reached over HTTP.\n\nLeave `expose.tls_secret` out, and give one of the \
             annotations in `expose.annotations`.",
        );
    }
}

fn check_access(access: &Access, service: &InferenceService, complaints: &mut Diagnostics) {
    if let Some(text) = access.role_arn.get().filter(|text| arn::role_name(text).is_none()) {
        complaints.error(
            &access.role_arn,
            "The role is not given by its ARN",
            format!(
                "{text:?} is not the ARN of an IAM role.\n\nGive one such as \"arn:aws:iam::123456789012:role/models\"."
            ),
        );
    }
    let is_pod_identity = match access.method.get() {
        Some(method) => *method == AccessMethod::PodIdentity,
        None => access.method.is_null(),
    };
    if is_pod_identity && service.cluster.is_null() {
        complaints.error(
            &access.method,
            "Pod Identity needs the name of the EKS cluster",
            "An association is made in EKS, and `cluster` is left out.\n\nGive `cluster`, or use the method \"irsa\".",
        );
    }
}

/// Texts in a list, for a message.
pub(super) fn listed<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|item| Json::from(item.to_string()).to_string()).collect::<Vec<_>>().join(", ")
}
