//! The child objects of a tenant, and its defaults and outputs.

use converge::{Graph, Handle};
use serde_json::{Value as Json, json};
use tf_provider::Attributes;
use value::Value;

use super::{
    attributes::{ExternalSecretCopy, Isolation, Tenant},
    blame, expand_access, limits, network, registries,
};
use crate::{
    components::kube::{
        ExternalSecret, Kind, Labels, LimitRange, Namespace, NetworkEnforcementDraft, NetworkPolicy, Object,
        ObjectDraft, ResourceQuota, RoleBinding, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
    },
    resources::{
        fill_in,
        kubernetes::{self, Common, is_settled},
        names,
    },
    settings::Settings,
};

/// The label and tag value of `workload-type`.
pub(super) const WORKLOAD: &str = "tenant";

/// Kubernetes' limit for names of objects outside namespaces and of most within.
const NAME: usize = 253;

/// What several objects are made from.
pub(super) struct Parts<'a> {
    pub(super) common: Common,
    pub(super) namespace: Handle<Object<Namespace>>,
    pub(super) settings: &'a Settings,
}

pub(super) fn expand(tenant: &mut Tenant, settings: &Settings, graph: &mut Graph) {
    let memory = kubernetes::memory(tenant);
    fill_in_defaults(tenant);
    let labels = labels(tenant, settings);
    let common = Common {
        cluster: tenant.cluster.clone(),
        namespace: tenant.name.map(Clone::clone),
        labels: labels.map(Clone::clone),
        adopt: tenant.adopt.clone(),
    };
    let mut draft = common.object::<Namespace>(&tenant.name, Value::known(json!({})));
    draft.namespace = Value::null();
    draft.labels = namespace_labels(tenant, &labels);
    draft.annotations = memory;
    let parts = Parts { namespace: graph.add("namespace", draft), common, settings };
    add_limits(tenant, &parts, graph);
    add_network(tenant, &parts, graph);
    add_registries(tenant, &parts, graph);
    add_members(tenant, &parts, graph);
    add_secrets(tenant, &parts, graph);
    expand_access::add(tenant, &parts, graph);
}

fn fill_in_defaults(tenant: &mut Tenant) {
    tenant.fill_defaults();
    let quota = tenant.quota.clone();
    fill_in(&mut tenant.container, |container| limits::fill_in_requests(container, &quota));
    for secret in tenant.external_secrets.get_mut().into_iter().flatten() {
        fill_in_secret_key(secret);
    }
}

/// The key in the Secret where none is given: the property, else the last part of the key in the store.
pub(super) fn fill_in_secret_key(secret: &mut ExternalSecretCopy) {
    let last = secret.key.map(|key| key.rsplit(['/', ':']).next().unwrap_or(key).to_owned());
    let from = secret.property.with(&last, |property, last| property.or(last).cloned().unwrap_or_default());
    secret.secret_key.default_to_value(from);
}

fn labels(tenant: &Tenant, settings: &Settings) -> Value<Labels> {
    let user = tenant.labels.with(&tenant.team, |labels, team| {
        let mut all = Labels::new();
        all.extend(team.and_then(|team| Some(("team".to_owned(), kubernetes::label_value(team)?))));
        all.extend(labels.cloned().unwrap_or_default());
        all
    });
    kubernetes::labels(settings, &tenant.name, WORKLOAD, &user)
}

// The level and the version for each of what the admission controller does: refuse, warn, write down.
fn namespace_labels(tenant: &Tenant, labels: &Value<Labels>) -> Value<Labels> {
    let standard = tenant.pod_security.with(&tenant.pod_security_version, |level, version| {
        let level = level.map_or("restricted", |level| level.as_str());
        let version = version.map_or("", String::as_str);
        let pairs = ["enforce", "warn", "audit"].into_iter().flat_map(|mode| {
            let key = format!("pod-security.kubernetes.io/{mode}");
            [(format!("{key}-version"), version.to_owned()), (key, level.to_owned())]
        });
        pairs.collect::<Labels>()
    });
    labels
        .with(&standard, |labels, standard| {
            let mut all = labels.cloned().unwrap_or_default();
            all.extend(standard.cloned().unwrap_or_default());
            all
        })
        .blamed_on(&tenant.pod_security)
}

// === impl Parts ===

impl Parts<'_> {
    /// Adds an object in the namespace, which goes with it.
    fn add<K: Kind>(
        &self,
        graph: &mut Graph,
        key: impl Into<String>,
        name: &str,
        manifest: Value<Json>,
    ) -> Handle<Object<K>> {
        self.put(graph, key, self.common.object::<K>(&Value::from(name), manifest))
    }

    /// As [`Parts::add`], of a draft that was changed after.
    pub(super) fn put<K: Kind>(
        &self,
        graph: &mut Graph,
        key: impl Into<String>,
        draft: ObjectDraft<K>,
    ) -> Handle<Object<K>> {
        let object = graph.add(key.into(), draft);
        graph.inside(&object, &self.namespace);
        object
    }
}

fn add_limits(tenant: &Tenant, parts: &Parts<'_>, graph: &mut Graph) {
    let quota = graph.shape(&tenant.quota).filter(|quota| limits::is_limited(quota));
    if let Some(quota) = quota {
        let manifest = kubernetes::manifest(is_settled(&tenant.quota), || limits::resource_quota(quota));
        parts.add::<ResourceQuota>(graph, "quota", "mlplat", blame::quota(manifest, tenant));
    }
    let container = graph.shape(&tenant.container).filter(|container| limits::says_anything(container));
    if let Some(container) = container {
        let manifest = kubernetes::manifest(is_settled(&tenant.container), || limits::limit_range(container));
        parts.add::<LimitRange>(graph, "limits", "mlplat", blame::limits(manifest, tenant));
    }
}

fn add_network(tenant: &Tenant, parts: &Parts<'_>, graph: &mut Graph) {
    let Some(network) = graph.shape(&tenant.network) else { return };
    let isolation = graph.shape(&network.isolation).copied();
    let enforcement = NetworkEnforcementDraft {
        cluster: tenant.cluster.map(Clone::clone),
        namespace: tenant.name.map(Clone::clone),
        enforced: Value::from((isolation == Some(Isolation::Strict)).then_some(true)).blamed_on(&network.isolation),
        warn: Value::known(isolation == Some(Isolation::Standard)).blamed_on(&network.isolation),
        enforcer: network.enforcer.map(Clone::clone),
    };
    let enforcement = graph.add("network_enforcement", enforcement);
    graph.after(&enforcement, &parts.namespace);
    if isolation.is_none_or(|isolation| isolation == Isolation::None) {
        return;
    }
    // These two decide which policies there are.
    graph.shape(&network.ingress_from_namespaces);
    graph.shape(&network.allow_gang_traffic);
    let is_known = is_settled(&tenant.network) && tenant.name.is_known();
    let namespace = tenant.name.get().map_or("", String::as_str);
    for (key, name, policy) in network::policies(network, namespace) {
        let manifest = kubernetes::manifest(is_known, || policy).blamed_on(&tenant.network);
        parts.add::<NetworkPolicy>(graph, key, name, manifest);
    }
}

fn add_registries(tenant: &Tenant, parts: &Parts<'_>, graph: &mut Graph) {
    let trusted = graph.shape(&tenant.trusted_registries).filter(|registries| !registries.is_empty());
    let Some(registries) = trusted else { return };
    let name = tenant.name.map(|namespace| names::fitted(&format!("mlplat-{namespace}-trusted-registries"), NAME));
    let blamed = &tenant.trusted_registries;
    let manifest = Value::known(registries::policy(registries)).blamed_on(blamed);
    let mut draft = parts.common.object::<ValidatingAdmissionPolicy>(&name, manifest);
    draft.namespace = Value::null();
    let policy: Handle<Object<ValidatingAdmissionPolicy>> = graph.add("registries_policy", draft);
    let manifest = name.with(&tenant.name, |policy, namespace| {
        registries::binding(policy.map_or("", String::as_str), namespace.map_or("", String::as_str))
    });
    let mut draft = parts.common.object::<ValidatingAdmissionPolicyBinding>(&name, manifest.blamed_on(blamed));
    draft.namespace = Value::null();
    let binding = graph.add("registries_binding", draft);
    graph.after(&binding, &policy);
    // A guard outside the namespace is there before any pod can be in it, and until the last is gone.
    graph.after(&parts.namespace, &binding);
}

fn add_members(tenant: &Tenant, parts: &Parts<'_>, graph: &mut Graph) {
    for member in graph.shape(&tenant.members).into_iter().flatten() {
        let (kind, who) = if member.user.is_null() { ("Group", &member.group) } else { ("User", &member.user) };
        let (Some(who), Some(role)) = (graph.shape(who), graph.shape(&member.role)) else { continue };
        let word = kind.to_lowercase();
        // A role cannot be changed in a binding, so it is in its name: another role is another binding.
        let name = binding_name(&word, who, role);
        let manifest = json!({
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role },
            "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": who }],
        });
        let manifest = Value::known(manifest).blamed_on(&member.role);
        let key = if word == "group" { format!("member_{who}_{role}") } else { format!("member_user_{who}_{role}") };
        parts.add::<RoleBinding>(graph, key, &name, manifest);
    }
}

// Names in a directory may hold what names in Kubernetes may not; a hash then tells two of them apart.
fn binding_name(kind: &str, who: &str, role: &str) -> String {
    let plain = |text: &str| -> String {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        text.chars().map(|c| if is_plain(c) { c } else { '-' }).collect()
    };
    let whole = format!("mlplat-{kind}-{who}-{role}");
    let name = plain(&whole);
    if name == whole {
        return names::fitted(&name, NAME);
    }
    // Made longer than any limit, so that what is cut off stands as the hash of the whole.
    let hashed = names::fitted(&format!("{whole}{}", " ".repeat(NAME)), NAME);
    let hash = hashed.rsplit('-').next().unwrap_or_default();
    format!("{}-{hash}", names::fitted(&name, NAME - 16))
}

fn add_secrets(tenant: &Tenant, parts: &Parts<'_>, graph: &mut Graph) {
    for (at, secret) in graph.shape(&tenant.external_secrets).into_iter().flatten().enumerate() {
        let Some(name) = graph.shape(&secret.name) else { continue };
        let parts_of = [
            &secret.store,
            &secret.store_kind,
            &secret.key,
            &secret.property,
            &secret.secret_key,
            &secret.refresh_interval,
        ];
        let is_known = !parts_of.iter().any(|part| part.is_pending());
        let manifest = kubernetes::manifest(is_known, || external_secret(name, secret));
        let manifest = blame::external_secret(manifest, &tenant.external_secrets.path().index(at));
        parts.add::<ExternalSecret>(graph, format!("secret_{name}"), name, manifest);
    }
}

fn external_secret(name: &str, secret: &ExternalSecretCopy) -> Json {
    let text = |value: &Value<String>| value.get().cloned().unwrap_or_default();
    let mut remote = json!({ "key": text(&secret.key) });
    if let Some(property) = secret.property.get() {
        remote["property"] = Json::from(property.as_str());
    }
    json!({ "spec": {
        "refreshInterval": text(&secret.refresh_interval),
        "secretStoreRef": { "name": text(&secret.store), "kind": text(&secret.store_kind) },
        "target": { "name": name, "creationPolicy": "Owner" },
        "data": [{ "secretKey": text(&secret.secret_key), "remoteRef": remote }],
    } })
}
