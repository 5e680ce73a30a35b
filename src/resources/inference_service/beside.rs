//! What a service asks for that the tenant of its namespace or the pool of its nodes, planned in the same run, does not
//! give. Of what is there already the cluster tells.

use std::collections::BTreeMap;

use tf_provider::{Diagnostic, Diagnostics};
use value::{AttributePath, Value};

use super::InferenceService;
use crate::{
    components::kube::Quantity,
    neighbours::{Neighbours, Place, Rules},
    resources::{gpu_pool::POOL_LABEL, tenant::registries},
};

/// What one pod asks for of a resource.
struct Ask {
    name: String,
    amount: String,
    path: AttributePath,
}

pub(super) fn check(service: &InferenceService, neighbours: &Neighbours, complaints: &mut Diagnostics) {
    if service.cluster.is_pending() {
        return;
    }
    let place = |name: &str| Place { cluster: service.cluster.get().cloned(), name: name.to_owned() };
    let asks = asks(service);
    if let Some(namespace) = service.namespace.get()
        && let Some(rules) = neighbours.namespace(&place(namespace))
    {
        check_image(service, namespace, &rules, complaints);
        check_namespace(service, &asks, namespace, &rules, complaints);
    }
    // Other labels may be those of several pools, of which not all need be known here.
    let selector = service.placement.get().and_then(|placement| placement.node_selector.get());
    if let Some(pool) = selector.and_then(|labels| labels.get(POOL_LABEL))
        && let Some(most) = neighbours.pool(&place(pool))
    {
        check_pool(service, &asks, pool, &most, complaints);
    }
}

fn asks(service: &InferenceService) -> Vec<Ask> {
    let resources = service.resources.get();
    let mut asks = Vec::new();
    let mut ask = |name: &str, amount: Option<String>, path: AttributePath| {
        asks.extend(amount.map(|amount| Ask { name: name.to_owned(), amount, path }));
    };
    if let Some(gpus) = service.gpus.get()
        && let Some(name) = gpus.resource_name.get()
    {
        ask(name, gpus.per_replica.get().map(ToString::to_string), gpus.per_replica.path());
    }
    let of = |amount: Option<&Value<String>>| amount.and_then(Value::get).cloned();
    ask("cpu", of(resources.map(|all| &all.cpu)), service.resources.path().attribute("cpu"));
    ask("memory", of(resources.map(|all| &all.memory)), service.resources.path().attribute("memory"));
    asks
}

// How many pods there are at least.
fn pods(service: &InferenceService) -> Option<u32> {
    match service.scaling.get() {
        Some(scaling) => scaling.min.get().copied(),
        None => service.replicas.get().copied(),
    }
}

fn check_image(service: &InferenceService, namespace: &str, rules: &Rules, complaints: &mut Diagnostics) {
    let Some(engine) = service.engine.get() else { return };
    let Some(image) = engine.image.get() else { return };
    if rules.registries.is_empty() || registries::trusts(&rules.registries, image) {
        return;
    }
    let trusted: Vec<_> = rules.registries.iter().map(String::as_str).collect();
    complaints.warn(
        &engine.image,
        format!("The tenant {namespace:?} does not trust the image {image:?}"),
        format!(
            "Its pods may have images from {} only, so none of this service would start.\n\nTake the image from there, \
             or add its registry to the tenant's `trusted_registries`.",
            trusted.join(", ")
        ),
    );
}

// Tells what so many pods ask more of than there can be, in words of its own for each resource.
fn compare(
    asks: &[Ask],
    pods: u32,
    most: &BTreeMap<String, String>,
    complaints: &mut Diagnostics,
    told: impl Fn(&Ask, &str) -> (String, &'static str),
) {
    for ask in asks {
        let Some(most) = most.get(&ask.name).filter(|most| is_more(&ask.amount, pods, most)) else { continue };
        let (summary, detail) = told(ask, most);
        complaints.push(Diagnostic::warning(&ask.path, summary, detail));
    }
}

fn check_namespace(
    service: &InferenceService,
    asks: &[Ask],
    namespace: &str,
    rules: &Rules,
    complaints: &mut Diagnostics,
) {
    compare(asks, 1, &rules.most, complaints, |Ask { name, amount, .. }, most| {
        (
            format!("A container in namespace {namespace:?} may have {most} of {name}, and this one asks for {amount}"),
            "The tenant's maximum refuses its pods, so none would start.\n\nAsk for less, or raise the tenant's \
             `container.max`.",
        )
    });
    let Some(pods) = pods(service) else { return };
    compare(asks, pods, &rules.quota, complaints, |Ask { name, amount, .. }, quota| {
        (
            format!("The tenant {namespace:?} has a quota of {quota} {name}, and {} for {amount} each", ask_of(pods)),
            "Pods beyond the quota are refused, so the service would not become ready.\n\nAsk for less, or raise the \
             tenant's `quota`.",
        )
    });
}

fn check_pool(
    service: &InferenceService,
    asks: &[Ask],
    pool: &str,
    most: &BTreeMap<String, String>,
    complaints: &mut Diagnostics,
) {
    let Some(pods) = pods(service) else { return };
    compare(asks, pods, most, complaints, |Ask { name, amount, .. }, most| {
        (
            format!("The pool {pool:?} has at most {most} {name}, and {} for {amount} each", ask_of(pods)),
            "Pods beyond that wait for nodes which never come.\n\nAsk for less, or raise the `size.max` of the pool.",
        )
    });
}

fn ask_of(pods: u32) -> String {
    if pods == 1 { "one replica asks".to_owned() } else { format!("{pods} replicas ask") }
}

fn is_more(amount: &str, count: u32, most: &str) -> bool {
    let all = Quantity::parse(amount).and_then(|amount| amount.times(count));
    all.zip(Quantity::parse(most)).is_some_and(|(all, most)| all > most)
}
