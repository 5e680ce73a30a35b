//! How much a tenant may use: the quota of the namespace, and what containers get that say nothing.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};
use value::{Pending, Value};

use super::attributes::{Amounts, Container, Quota, Tenant};
use crate::{
    catalog::{accelerator_quota_keys, quota_key},
    components::kube::Quantity,
    neighbours::{Neighbours, Place, Rules},
    resources::fill_in,
};

/// What a container requests that says nothing, where it has to request something.
const DEFAULT_CPU: &str = "500m";
const DEFAULT_MEMORY: &str = "1Gi";

/// Fills in the requests that the quota makes mandatory.
pub(super) fn fill_in_requests(container: &mut Container, quota: &Value<Quota>) {
    let cpu = request(container, quota, |amounts| &amounts.cpu, |quota| &quota.cpu, DEFAULT_CPU);
    let memory = request(container, quota, |amounts| &amounts.memory, |quota| &quota.memory, DEFAULT_MEMORY);
    if container.default_request.is_null() && !cpu.is_known() && !memory.is_known() {
        // Whether there will be any is not known before both are.
        if cpu.is_pending() || memory.is_pending() {
            container.default_request.default_to_value(Value::pending(Pending::Config));
        }
        return;
    }
    fill_in(&mut container.default_request, |request| {
        request.cpu.default_to_value(cpu);
        request.memory.default_to_value(memory);
    });
}

fn request(
    container: &Container,
    quota: &Value<Quota>,
    of: fn(&Amounts) -> &Value<String>,
    counted: fn(&Quota) -> &Value<String>,
    least: &str,
) -> Value<String> {
    let amount = |amounts: &Value<Amounts>| amounts.and_then(|amounts| of(amounts).map(Clone::clone));
    let (limit, max) = (amount(&container.default), amount(&container.max));
    let counted = quota.and_then(|quota| counted(quota).map(|_| ()));
    let wanted = counted.with(&limit, |counted, limit| counted.is_some() && limit.is_none());
    wanted
        .with(&max, |is_wanted, max| is_wanted.copied().unwrap_or(false).then(|| at_most(least, max)))
        .and_then(|request| Value::from(request.clone()))
}

// The amount, or the most that is allowed.
fn at_most(amount: &str, max: Option<&String>) -> String {
    let exceeds =
        |max: &&String| Quantity::parse(amount).zip(Quantity::parse(max)).is_some_and(|(one, most)| one > most);
    max.filter(exceeds).map_or(amount, String::as_str).to_owned()
}

/// Whether the quota limits anything.
pub(super) fn is_limited(quota: &Quota) -> bool {
    !(quota.gpus.is_null()
        && quota.extended.is_null()
        && quota.cpu.is_null()
        && quota.memory.is_null()
        && quota.storage.is_null()
        && quota.persistent_volume_claims.is_null()
        && quota.pods.is_null())
}

/// Whether anything is said of containers.
pub(super) fn says_anything(container: &Container) -> bool {
    [&container.default, &container.default_request, &container.max]
        .into_iter()
        .any(|amounts| amounts.get().is_some_and(|amounts| !of(amounts).is_empty()))
}

/// The manifest of the ResourceQuota. Of extended resources Kubernetes counts requests only; of cpu and memory limits
/// are not counted either, since then every container would need a limit.
pub(super) fn resource_quota(quota: &Quota) -> Json {
    let mut hard = accelerators(quota);
    let mut put = |key: &str, amount: Option<String>| {
        if let Some(amount) = amount {
            hard.insert(key.to_owned(), Json::from(amount));
        }
    };
    put("requests.cpu", quota.cpu.get().cloned());
    put("requests.memory", quota.memory.get().cloned());
    put("requests.storage", quota.storage.get().cloned());
    put("persistentvolumeclaims", quota.persistent_volume_claims.get().map(ToString::to_string));
    put("pods", quota.pods.get().map(ToString::to_string));
    json!({ "spec": { "hard": hard } })
}

/// Under what the ResourceQuota counts `gpus`.
pub(super) fn gpu_key(quota: &Quota) -> String {
    quota_key(quota.gpu_resource_name.get().map_or("nvidia.com/gpu", String::as_str))
}

// Where accelerators are limited, those under other names are none but what is said of them: a part of a GPU is a way
// round the limit, and so is a GPU of another maker.
fn accelerators(quota: &Quota) -> Map<String, Json> {
    let mut hard = Map::new();
    if let Some(gpus) = quota.gpus.get() {
        hard.extend(accelerator_quota_keys().map(|key| (key, Json::from("0"))));
        hard.insert(gpu_key(quota), Json::from(gpus.to_string()));
    }
    let extended = quota.extended.get().into_iter().flatten();
    hard.extend(extended.map(|(name, count)| (quota_key(name), Json::from(count.to_string()))));
    hard
}

/// The manifest of the LimitRange.
pub(super) fn limit_range(container: &Container) -> Json {
    let mut limit = Map::from_iter([("type".to_owned(), Json::from("Container"))]);
    for (key, amounts) in
        [("default", &container.default), ("defaultRequest", &container.default_request), ("max", &container.max)]
    {
        let amounts = amounts.get().map(of).unwrap_or_default();
        if !amounts.is_empty() {
            limit.insert(key.to_owned(), Json::Object(amounts));
        }
    }
    json!({ "spec": { "limits": [limit] } })
}

/// Tells what the namespace asks of pods. Kubernetes makes limits of maxima that have none, and requests of limits.
pub(super) fn introduce(tenant: &Tenant, neighbours: &Neighbours) {
    let Some(name) = tenant.name.get().filter(|_| !tenant.cluster.is_pending()) else { return };
    let mut rules =
        Rules { registries: tenant.trusted_registries.get().cloned().unwrap_or_default(), ..Rules::default() };
    if let Some(container) = tenant.container.get() {
        let amounts = [&container.default, &container.default_request, &container.max];
        rules.requested = amounts.into_iter().filter_map(Value::get).flat_map(of).map(|(key, _)| key).collect();
        rules.most = container.max.get().map(|max| texts(of(max))).unwrap_or_default();
    }
    if let Some(quota) = tenant.quota.get() {
        let hard = resource_quota(quota)["spec"]["hard"].as_object().cloned().unwrap_or_default();
        let of_pods = |(key, amount): (String, String)| Some((key.strip_prefix("requests.")?.to_owned(), amount));
        rules.quota = texts(hard).into_iter().filter_map(of_pods).collect();
    }
    neighbours.tell_namespace(Place { cluster: tenant.cluster.get().cloned(), name: name.clone() }, rules);
}

fn texts(amounts: Map<String, Json>) -> BTreeMap<String, String> {
    amounts.into_iter().filter_map(|(key, amount)| Some((key, amount.as_str()?.to_owned()))).collect()
}

fn of(amounts: &Amounts) -> Map<String, Json> {
    let all = [("cpu", &amounts.cpu), ("memory", &amounts.memory), ("ephemeral-storage", &amounts.ephemeral_storage)];
    all.into_iter().filter_map(|(key, amount)| Some((key.to_owned(), Json::from(amount.get()?.as_str())))).collect()
}
