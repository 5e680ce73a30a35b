//! The child objects of an inference service.

use converge::{Component, Graph, Handle};
use serde_json::{Value as Json, json};
use value::{Pending, Value};

use super::{
    Access, AccessMethod, Expose, InferenceService, Metrics, Scaling, Via, blame, defaults::fill_in_defaults, manifest,
    outputs::set_outputs, scaling,
};
use crate::{
    components::{
        aws::PodIdentityAssociationDraft,
        kube::{
            Deployment, HorizontalPodAutoscaler, Ingress, Labels, Object, PodDisruptionBudget, PodMonitor,
            ScaledObject, Service, ServiceAccount, TokenSecret, TokenSecretDraft,
        },
    },
    resources::{
        fill_in,
        kubernetes::{self, Common, is_settled},
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

fn add_deployment(
    service: &InferenceService,
    parts: &Parts,
    memory: Value<Labels>,
    is_stub: bool,
    graph: &mut Graph,
) -> Handle<Object<Deployment>> {
    let labels = parts.common.labels.get();
    let build = || labels.map_or(Json::Null, |labels| manifest::deployment(service, labels));
    let manifest = if is_stub { Value::null() } else { kubernetes::manifest(parts.is_known, build) };
    let mut draft = parts.common.object::<Deployment>(&service.name, blame::deployment(manifest, service));
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
    let manifest = kubernetes::manifest(is_known, || manifest::ingress(service, expose));
    let mut draft = parts.common.object::<Ingress>(&service.name, blame::ingress(manifest, service));
    let health_path = service.engine.and_then(|engine| engine.health_path.map(Clone::clone));
    let is_known = is_settled(&service.expose) && !health_path.is_pending();
    let annotations = is_known.then(|| Value::known(manifest::ingress_annotations(service, expose)));
    draft.annotations = annotations.unwrap_or_else(|| Value::pending(Pending::Config)).blamed_on(&service.expose);
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
    let mut draft = parts.common.object::<PodMonitor>(&service.name, blame::pod_monitor(manifest, service));
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
        blame::autoscaler(kubernetes::manifest(is_known, || build(service, scaling)), service, scaling)
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
