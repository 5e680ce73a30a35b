//! The child objects of an inference service, and its defaults and outputs.

use std::collections::BTreeMap;

use converge::{Component, Graph, Handle};
use serde_json::{Value as Json, json};
use value::{Pending, Value};

use super::{
    Access, AccessMethod, Engine, Expose, Gpus, InferenceService, Metrics, Model, RolloutStrategy, Scaling, Via,
    engine, manifest, scaling, signal::Signal, sizing::Sizing,
};
use crate::{
    catalog::{Vendor, instance_types, product_matches},
    components::{
        aws::PodIdentityAssociationDraft,
        kube::{
            Deployment, HorizontalPodAutoscaler, Ingress, Labels, Object, ObjectOutputs, PodDisruptionBudget,
            PodMonitor, ScaledObject, Service, ServiceAccount, TokenSecret, TokenSecretDraft,
        },
    },
    resources::{
        fill_in,
        kubernetes::{self, Adopt, Common, is_settled},
        tags,
    },
    settings::Settings,
};

/// The label value of [`tags::WORKLOAD_TYPE`].
const WORKLOAD: &str = "inference";

/// The annotation by which IAM roles for service accounts are given.
const ROLE_ANNOTATION: &str = "eks.amazonaws.com/role-arn";

/// The key of the token in its Secret.
const TOKEN_KEY: &str = "token";

/// What several objects are made from.
struct Parts {
    common: Common,
    /// Everything that pods are made from is known.
    is_known: bool,
}

pub(super) fn expand(service: &mut InferenceService, settings: &Settings, graph: &mut Graph) {
    let token = take_token(service);
    let memory = kubernetes::memory(service);
    let is_known = memory.is_known() && [&service.namespace, &service.name].iter().all(|name| name.is_known());
    let is_stub = is_stub(service);
    if !is_stub {
        fill_in_defaults(service);
    }
    let labels = kubernetes::labels(settings, &service.name, WORKLOAD, &service.labels);
    let parts = Parts {
        is_known: is_known && labels.is_known(),
        common: Common {
            cluster: service.cluster.clone(),
            namespace: service.namespace.clone(),
            labels,
            adopt: service.adopt.clone(),
        },
    };
    let deployment = add_deployment(service, &parts, memory, is_stub, graph);
    // An import's first look: what else there is follows from what the Deployment remembers.
    if is_stub {
        return;
    }
    add_identity(service, settings, &parts, &deployment, graph);
    add_token(service, &token, &parts, &deployment, graph);
    add_network(service, &parts, &deployment, graph);
    add_autoscaler(service, &parts, &deployment, graph);
    set_outputs(service, &deployment);
}

// The token goes to its Secret and nowhere else; whether it is known says nothing of the other objects.
fn take_token(service: &mut InferenceService) -> Value<String> {
    let token = service.model.and_then(|model| model.token_wo.clone());
    if service.model.is_known() {
        fill_in(&mut service.model, |model| model.token_wo = Value::null());
    }
    token
}

fn is_stub(service: &InferenceService) -> bool {
    match service.engine.get() {
        Some(engine) => engine.kind.is_null(),
        None => service.engine.is_null(),
    }
}

fn fill_in_defaults(service: &mut InferenceService) {
    service.labels.default_to(Labels::new());
    service.adopt.default_to(Adopt::Never);
    fill_in(&mut service.placement, |placement| {
        placement.node_selector.default_to(BTreeMap::new());
        placement.tolerations.default_to(Vec::new());
        if let Some(tolerations) = placement.tolerations.get() {
            let mut tolerations = tolerations.clone();
            tolerations.iter_mut().for_each(|one| one.operator.default_to("Equal".to_owned()));
            let filled = Value::known(tolerations);
            placement.tolerations =
                if let Some(path) = placement.tolerations.origin() { filled.at(path) } else { filled };
        }
    });
    fill_in(&mut service.rollout, |rollout| {
        rollout.strategy.default_to(RolloutStrategy::Auto);
        rollout.termination_grace_seconds.default_to(120);
    });
    fill_in(&mut service.metrics, |metrics| {
        metrics.pod_monitor.default_to(false);
        metrics.path.default_to("/metrics".to_owned());
        metrics.labels.default_to(BTreeMap::new());
    });
    fill_in(&mut service.gpus, fill_in_gpus);
    let sizing = sizing(service);
    if service.engine.is_known() {
        fill_in(&mut service.engine, |engine| fill_in_engine(engine, &sizing));
    }
    if service.model.is_known() {
        fill_in(&mut service.model, |model| fill_in_model(model, &sizing));
    }
    fill_in_resources(service, &sizing);
    fill_in_scale(service);
}

fn fill_in_gpus(gpus: &mut Gpus) {
    gpus.per_replica.default_to(1);
    let name = gpus.product.with(&Value::<()>::null(), |product, _| resource_name(product.map_or("", String::as_str)));
    gpus.resource_name.default_to_value(name);
}

fn resource_name(product: &str) -> String {
    let known = instance_types().iter().map(|kind| &kind.accelerator).find(|device| product_matches(product, device));
    known.map_or(Vendor::Nvidia, |device| device.vendor).resource_name().to_owned()
}

// What is computed from the model waits for all it is computed from.
fn sizing(service: &InferenceService) -> Value<Sizing> {
    let model = |pending: fn(&Model) -> bool| service.model.get().is_some_and(pending);
    let is_pending = service.model.is_pending()
        || service.gpus.is_pending()
        || model(|model| {
            model.source.is_pending()
                || model.size_gib.is_pending()
                || model.parameters_billion.is_pending()
                || model.dtype.is_pending()
        })
        || service.gpus.get().is_some_and(|gpus| gpus.per_replica.is_pending());
    if is_pending { Value::pending(Pending::Config) } else { Value::known(Sizing::of(service)) }
}

fn fill_in_engine(engine: &mut Engine, sizing: &Value<Sizing>) {
    engine.args.default_to(Vec::new());
    engine.env.default_to(BTreeMap::new());
    engine.port.default_to_value(engine.kind.and_then(|kind| Value::from(engine::default_port(*kind))));
    let health_path = engine.kind.and_then(|kind| Value::from(engine::default_health_path(*kind).map(str::to_owned)));
    engine.health_path.default_to_value(health_path);
    engine.startup_seconds.default_to_value(sizing.map(Sizing::startup_seconds));
    engine.run_as_user.default_to(1000);
    engine.image_pull_secrets.default_to(Vec::new());
}

fn fill_in_model(model: &mut Model, sizing: &Value<Sizing>) {
    let name = model.source.and_then(|source| Value::from(engine::default_served_name(source)));
    model.served_name.default_to_value(name);
    model.cache_gib.default_to_value(sizing.map(Sizing::cache_gib));
}

fn fill_in_resources(service: &mut InferenceService, sizing: &Value<Sizing>) {
    fill_in(&mut service.resources, |resources| {
        resources.cpu.default_to_value(sizing.map(|sizing| sizing.cpus().to_string()));
        resources.shm_gib.default_to_value(sizing.map(Sizing::shm_gib));
        let memory = sizing.with(&resources.shm_gib, |sizing, shm| {
            let gib = sizing.zip(shm).map_or(0, |(sizing, shm)| sizing.memory_gib(*shm));
            format!("{gib}Gi")
        });
        resources.memory.default_to_value(memory);
    });
}

fn fill_in_scale(service: &mut InferenceService) {
    if service.scaling.is_null() {
        service.replicas.default_to(1);
    }
    if service.scaling.is_known() {
        fill_in(&mut service.scaling, |scaling| {
            scaling.min.default_to(1);
            scaling.signal.default_to(Signal::QueueDepth);
            scaling.via.default_to(Via::Hpa);
            let address =
                scaling.via.and_then(|via| Value::from((*via == Via::Keda).then(|| scaling::PROMETHEUS.to_owned())));
            scaling.prometheus_address.default_to_value(address);
        });
    }
    if service.expose.is_known() {
        fill_in(&mut service.expose, |expose| {
            expose.path.default_to("/".to_owned());
            expose.annotations.default_to(BTreeMap::new());
        });
    }
    if service.access.is_known() {
        fill_in(&mut service.access, |access| access.method.default_to(AccessMethod::PodIdentity));
    }
}

fn add_deployment(
    service: &InferenceService,
    parts: &Parts,
    memory: Value<Labels>,
    is_stub: bool,
    graph: &mut Graph,
) -> Handle<Object<Deployment>> {
    let labels = parts.common.labels.get();
    let manifest = match is_stub {
        true => Value::null(),
        false => kubernetes::manifest(parts.is_known, || {
            labels.map_or(Json::Null, |labels| manifest::deployment(service, labels))
        }),
    };
    let mut draft = parts.common.object::<Deployment>(&service.name, manifest);
    draft.labels = parts.common.labels.with(&service.queue, |labels, _| {
        labels.map_or_else(Labels::new, |labels| manifest::workload_labels(service, labels))
    });
    draft.annotations = memory;
    graph.add("deployment", draft)
}

// Who the pods are, before there are any: AWS credentials are injected when a pod is admitted, and never later.
fn add_identity(
    service: &InferenceService,
    settings: &Settings,
    parts: &Parts,
    deployment: &Handle<Object<Deployment>>,
    graph: &mut Graph,
) {
    let access = graph.shape(&service.access).filter(|access| !access.role_arn.is_null());
    let method = access.and_then(|access| graph.shape(&access.method)).copied();
    let mut draft = parts
        .common
        .object::<ServiceAccount>(&service.name, Value::known(json!({ "automountServiceAccountToken": false })));
    if let (Some(access), Some(AccessMethod::Irsa)) = (access, method) {
        draft.annotations = access.role_arn.map(|arn| Labels::from([(ROLE_ANNOTATION.to_owned(), arn.clone())]));
    }
    let account = graph.add("service_account", draft);
    graph.after(deployment, &account);
    if let (Some(access), Some(AccessMethod::PodIdentity)) = (access, method) {
        let association = graph.add("pod_identity", pod_identity(service, settings, access));
        graph.after(&association, &account);
        graph.after(deployment, &association);
    }
}

fn pod_identity(service: &InferenceService, settings: &Settings, access: &Access) -> PodIdentityAssociationDraft {
    PodIdentityAssociationDraft {
        cluster: service.cluster.map(Clone::clone),
        namespace: service.namespace.map(Clone::clone),
        service_account: service.name.map(Clone::clone),
        role_arn: access.role_arn.clone(),
        tags: tags::stamps(settings, &Value::from(WORKLOAD)),
    }
}

/// The Secret and the key in it that hold the token, where there is one.
pub(super) fn token_source(service: &InferenceService) -> Option<(String, String)> {
    let model = service.model.get()?;
    if model.token_wo_version.is_known() {
        return Some((token_name(service.name.get()?), TOKEN_KEY.to_owned()));
    }
    let given = model.token_secret.get()?;
    Some((given.name.get()?.clone(), given.key.get()?.clone()))
}

fn token_name(service: &str) -> String {
    format!("{service}-hf-token")
}

// Whether there is a Secret is told by the version, which the state has; the token is there only while a
// configuration is at hand.
fn add_token(
    service: &InferenceService,
    token: &Value<String>,
    parts: &Parts,
    deployment: &Handle<Object<Deployment>>,
    graph: &mut Graph,
) {
    let Some(model) = graph.shape(&service.model) else { return };
    if graph.shape(&model.token_wo_version).is_none() {
        return;
    }
    let secret = graph.add(
        "token",
        TokenSecretDraft {
            cluster: service.cluster.map(Clone::clone),
            namespace: service.namespace.map(Clone::clone),
            name: service.name.map(|name| token_name(name)),
            labels: parts.common.labels.map(Clone::clone),
            annotations: Value::null(),
            key: Value::from(TOKEN_KEY),
            version: model.token_wo_version.clone(),
            adopt: parts.common.adopt_word(),
        },
    );
    graph.secret(&secret, TokenSecret::SECRET, token);
    graph.after(deployment, &secret);
}

fn add_network(service: &InferenceService, parts: &Parts, deployment: &Handle<Object<Deployment>>, graph: &mut Graph) {
    let is_named = service.name.is_known();
    let front = kubernetes::manifest(is_named, || manifest::service(service));
    let front = graph.add("service", parts.common.object::<Service>(&service.name, front));
    let budget = kubernetes::manifest(is_named, || manifest::disruption_budget(service));
    let budget = graph.add("pdb", parts.common.object::<PodDisruptionBudget>(&service.name, budget));
    graph.after(&budget, deployment);
    if let Some(expose) = graph.shape(&service.expose).filter(|expose| !expose.host.is_null()) {
        let ingress = add_ingress(service, expose, parts, graph);
        graph.after(&ingress, &front);
    }
    let monitored = graph
        .shape(&service.metrics)
        .filter(|metrics| metrics.pod_monitor.is_pending() || metrics.pod_monitor.get() == Some(&true));
    if let Some(metrics) = monitored.filter(|metrics| graph.shape(&metrics.pod_monitor) == Some(&true)) {
        let monitor = add_pod_monitor(service, metrics, parts, graph);
        graph.after(&monitor, deployment);
    }
}

fn add_ingress(
    service: &InferenceService,
    expose: &Expose,
    parts: &Parts,
    graph: &mut Graph,
) -> Handle<Object<Ingress>> {
    let is_known = service.name.is_known() && is_settled(&service.expose);
    let manifest = kubernetes::manifest(is_known, || manifest::ingress(service, expose)).blamed_on(&service.expose);
    let mut draft = parts.common.object::<Ingress>(&service.name, manifest);
    let health_path = service.engine.and_then(|engine| engine.health_path.map(Clone::clone));
    draft.annotations = match is_settled(&service.expose) && !health_path.is_pending() {
        true => Value::known(manifest::ingress_annotations(service, expose)).blamed_on(&service.expose),
        false => Value::pending(Pending::Config),
    };
    graph.add("ingress", draft)
}

fn add_pod_monitor(
    service: &InferenceService,
    metrics: &Metrics,
    parts: &Parts,
    graph: &mut Graph,
) -> Handle<Object<PodMonitor>> {
    let is_known = service.name.is_known() && is_settled(&service.metrics);
    let manifest = kubernetes::manifest(is_known, || manifest::pod_monitor(service, metrics));
    let mut draft = parts.common.object::<PodMonitor>(&service.name, manifest.blamed_on(&service.metrics));
    draft.labels = parts.common.labels.with(&metrics.labels, |labels, more| {
        let mut labels = labels.cloned().unwrap_or_default();
        labels.extend(more.cloned().unwrap_or_default());
        labels
    });
    graph.add("pod_monitor", draft)
}

fn add_autoscaler(
    service: &InferenceService,
    parts: &Parts,
    deployment: &Handle<Object<Deployment>>,
    graph: &mut Graph,
) {
    let Some(scaling) = graph.shape(&service.scaling).filter(|scaling| !scaling.max.is_null()) else { return };
    let kind = service.engine.and_then(|engine| engine.kind.clone());
    let is_known =
        is_settled(&service.scaling) && !kind.is_pending() && service.name.is_known() && service.namespace.is_known();
    let manifest = |build: fn(&InferenceService, &Scaling) -> Json| {
        kubernetes::manifest(is_known, || build(service, scaling)).blamed_on(&service.scaling)
    };
    match graph.shape(&scaling.via) {
        Some(Via::Hpa) => {
            let manifest = manifest(scaling::horizontal_pod_autoscaler);
            let draft = parts.common.object::<HorizontalPodAutoscaler>(&service.name, manifest);
            follow(draft, deployment, graph);
        }
        Some(Via::Keda) => {
            let draft = parts.common.object::<ScaledObject>(&service.name, manifest(scaling::scaled_object));
            follow(draft, deployment, graph);
        }
        None => {}
    }
}

fn follow<D: converge::Draft>(draft: D, deployment: &Handle<Object<Deployment>>, graph: &mut Graph)
where
    D::Of: Component,
{
    let autoscaler = graph.add("autoscaler", draft);
    graph.after(&autoscaler, deployment);
}

fn set_outputs(service: &mut InferenceService, deployment: &Handle<Object<Deployment>>) {
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
