//! What Kubernetes or AWS would refuse of a tenant, and what would not do what it seems to.

use std::{collections::BTreeMap, net::IpAddr};

use tf_provider::Diagnostics;
use value::Value;

use super::{
    Tenant,
    attributes::{Amounts, Container, Isolation, Network, Quota},
    check_access, registries,
};
use crate::{
    components::kube::Quantity,
    resources::{kubernetes, tags},
};

const CLUSTER_NAME_LIMIT: usize = 100;
/// Written by the API server, whatever is asked for.
const NAMESPACE_LABEL: &str = "kubernetes.io/metadata.name";

pub(super) fn check(tenant: &Tenant, complaints: &mut Diagnostics) {
    check_names(tenant, complaints);
    if let Some(quota) = tenant.quota.get() {
        check_quota(quota, complaints);
    }
    if let Some(container) = tenant.container.get() {
        check_container(container, tenant.quota.get(), complaints);
    }
    check_version(&tenant.pod_security_version, complaints);
    if let Some(network) = tenant.network.get() {
        check_network(network, complaints);
    }
    check_registries(tenant, complaints);
    check_access::check(tenant, complaints);
    check_labels(tenant, complaints);
    tags::check(&tenant.tags, complaints);
}

fn check_names(tenant: &Tenant, complaints: &mut Diagnostics) {
    if let Some(name) = tenant.name.get() {
        if !is_label(name) {
            complaints.error(
                &tenant.name,
                format!("The namespace name {name:?} cannot be used"),
                format!(
                    "It has {} characters.\n\nUse 1 to 63 lower-case letters, digits and hyphens, with a letter or \
                     digit at both ends.",
                    name.chars().count()
                ),
            );
        } else if name == "default" || name.starts_with("kube-") {
            complaints.error(
                &tenant.name,
                format!("The namespace {name:?} is the cluster's own"),
                "Destroying the tenant would delete it, and its policies would stop what runs in it.\n\nChoose another \
                 name.",
            );
        }
    }
    if let Some(cluster) = tenant.cluster.get().filter(|name| !is_cluster(name)) {
        complaints.error(
            &tenant.cluster,
            format!("The cluster name {cluster:?} cannot be used"),
            format!(
                "It has {} characters.\n\nUse 1 to {CLUSTER_NAME_LIMIT} letters, digits, hyphens and underscores, with \
                 a letter or digit at both ends.",
                cluster.chars().count()
            ),
        );
    }
    if let Some(team) = tenant.team.get().filter(|team| kubernetes::label_value(team).as_ref() != Some(*team)) {
        complaints.error(
            &tenant.team,
            format!("The team {team:?} cannot be a label's value"),
            "Costs are told of the label, so it has to be exact.\n\nUse at most 63 letters, digits, hyphens, underscores \
             and dots, with a letter or digit at both ends.",
        );
    }
}

/// Whether the text can name a namespace.
pub(super) fn is_label(name: &str) -> bool {
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_fine = name.starts_with(is_inner) && name.ends_with(is_inner);
    is_fine && name.len() <= 63 && name.chars().all(|c| is_inner(c) || c == '-')
}

fn is_cluster(name: &str) -> bool {
    let is_end = |c: char| c.is_ascii_alphanumeric();
    let is_fine = name.starts_with(is_end) && name.ends_with(is_end) && name.len() <= CLUSTER_NAME_LIMIT;
    is_fine && name.chars().all(|c| is_end(c) || c == '-' || c == '_')
}

fn check_quota(quota: &Quota, complaints: &mut Diagnostics) {
    for amount in [&quota.cpu, &quota.memory, &quota.storage] {
        check_amount(amount, complaints);
    }
    check_extended(quota, complaints);
    let name = quota.gpu_resource_name.get();
    if let Some(name) = name.filter(|name| !is_extended(name)) {
        complaints.error(
            &quota.gpu_resource_name,
            format!("{name:?} is not the name of an accelerator's resource"),
            "Kubernetes counts accelerators under a domain and a name.\n\nGive one such as \"nvidia.com/gpu\" or \
             \"aws.amazon.com/neuron\".",
        );
    }
}

// Whether it can be the name of an extended resource: Kubernetes has those under a domain.
fn is_extended(name: &str) -> bool {
    name.contains('/') && kubernetes::is_qualified_name(name)
}

fn check_extended(quota: &Quota, complaints: &mut Diagnostics) {
    let names = || quota.extended.get().into_iter().flatten().map(|(name, _)| name);
    if let Some(name) = names().find(|name| !is_extended(name)) {
        complaints.error(
            &quota.extended,
            format!("{name:?} is not the name of an extended resource"),
            "Kubernetes counts those under a domain and a name.\n\nGive one such as \"nvidia.com/mig-1g.10gb\"; CPUs, \
             memory, storage and pods have attributes of their own.",
        );
    }
    if let Some(name) = names().find(|name| quota.gpus.is_known() && quota.gpu_resource_name.get() == Some(*name)) {
        complaints.error(
            &quota.extended,
            format!("{name:?} is counted twice"),
            "`quota.gpus` limits it too.\n\nGive one of both.",
        );
    }
}

fn check_amount(amount: &Value<String>, complaints: &mut Diagnostics) {
    let is_fine = |text: &&String| Quantity::parse(text).is_some_and(|amount| !amount.is_negative());
    if let Some(text) = amount.get().filter(|text| !is_fine(text)) {
        complaints.error(
            amount,
            format!("{text:?} is not an amount"),
            "Kubernetes does not take it.\n\nGive a number with or without a suffix, such as \"4\", \"500m\", \"256Gi\" \
             or \"2Ti\".",
        );
    }
}

type Part = (&'static str, fn(&Amounts) -> &Value<String>);

const PARTS: [Part; 3] = [
    ("CPU", |amounts| &amounts.cpu),
    ("memory", |amounts| &amounts.memory),
    ("disk", |amounts| &amounts.ephemeral_storage),
];

fn check_container(container: &Container, quota: Option<&Quota>, complaints: &mut Diagnostics) {
    let all = [&container.default, &container.default_request, &container.max];
    for (_, part) in PARTS {
        all.iter().filter_map(|amounts| amounts.get()).for_each(|amounts| check_amount(part(amounts), complaints));
    }
    for (what, part) in PARTS {
        let [limit, request, max] = all.map(|amounts| amounts.get().map(part));
        let limits = [(limit, max, "default", "max"), (request, limit, "default_request", "default")];
        for (less, more, less_name, more_name) in limits.into_iter().chain([(request, max, "default_request", "max")]) {
            if let (Some(less), Some(more)) = (less, more) {
                check_order((what, less_name, less), (more_name, more), complaints);
            }
        }
    }
    if let Some(quota) = quota {
        check_within(container, quota, complaints);
    }
}

fn check_order(
    (what, less_name, less): (&str, &str, &Value<String>),
    (more_name, more): (&str, &Value<String>),
    complaints: &mut Diagnostics,
) {
    let (Some(one), Some(other)) = (less.get(), more.get()) else { return };
    if exceeds(one, other) {
        complaints.error(
            less,
            format!("{less_name} has more {what} than {more_name}"),
            format!(
                "{one:?} is more than {other:?}, so no container could have it.\n\nLower {less_name} or raise \
                 {more_name}."
            ),
        );
    }
}

// A default that is more than all pods together may have lets no pod start.
fn check_within(container: &Container, quota: &Quota, complaints: &mut Diagnostics) {
    for (what, counted, part) in [("CPU", &quota.cpu, PARTS[0].1), ("memory", &quota.memory, PARTS[1].1)] {
        for amounts in [&container.default_request, &container.default] {
            let Some(amount) = amounts.get().map(part) else { continue };
            if let (Some(one), Some(all)) = (amount.get(), counted.get())
                && exceeds(one, all)
            {
                complaints.error(
                    amount,
                    format!("One container gets more {what} than the whole quota"),
                    format!(
                        "A container that says nothing gets {one:?}, and all pods together may have {all:?}, so none \
                         could start.\n\nLower the default or raise the quota."
                    ),
                );
            }
        }
    }
}

fn exceeds(one: &str, other: &str) -> bool {
    Quantity::parse(one).zip(Quantity::parse(other)).is_some_and(|(one, other)| one > other)
}

fn check_version(version: &Value<String>, complaints: &mut Diagnostics) {
    let is_number =
        |text: &str| !text.is_empty() && text.len() <= 3 && text.bytes().all(|digit| digit.is_ascii_digit());
    if let Some(text) =
        version.get().filter(|text| !text.strip_prefix("v1.").is_some_and(is_number) && *text != "latest")
    {
        complaints.error(
            version,
            format!("{text:?} is not a version of the Pod Security Standards"),
            "They are counted as Kubernetes' minor versions are.\n\nGive one such as \"v1.36\", or \"latest\", with \
             which an upgrade of the cluster may refuse pods that ran before.",
        );
    }
}

fn check_network(network: &Network, complaints: &mut Diagnostics) {
    for cidrs in [&network.egress_cidrs, &network.service_cidrs] {
        for cidr in cidrs.get().into_iter().flatten().filter(|cidr| !is_cidr(cidr)) {
            complaints.error(
                cidrs,
                format!("{cidr:?} is not a range of addresses"),
                "A range is an address, a slash and the number of bits that count; the bits behind them are zero.\n\nGive \
                 one such as \"10.0.0.0/8\" or \"::/0\".",
            );
        }
    }
    let from = &network.ingress_from_namespaces;
    for name in from.get().into_iter().flatten().filter(|name| !is_label(name)) {
        complaints.error(
            from,
            format!("{name:?} cannot be the name of a namespace"),
            "No pod would be let in by it.\n\nGive names of namespaces; patterns are not possible.",
        );
    }
    let is_named =
        |text: &&String| text.split_once('/').is_some_and(|(space, name)| is_label(space) && !name.is_empty());
    if let Some(text) = network.enforcer.get().filter(|text| !is_named(text)) {
        complaints.error(
            &network.enforcer,
            format!("{text:?} is not the name of a DaemonSet in a namespace"),
            "It is looked up in the cluster.\n\nGive `namespace/name`, such as \"kube-system/my-cni\".",
        );
    }
    let is_idle = network.isolation.get() == Some(&Isolation::None);
    if is_idle && (from.get().is_some_and(|from| !from.is_empty()) || network.allow_gang_traffic.get() == Some(&true)) {
        complaints.warn(
            &network.isolation,
            "Without isolation all traffic is allowed",
            "There are no NetworkPolicies, so what is allowed here has no effect.\n\nSet `isolation` to \"standard\" or \
             \"strict\", or leave the rest out.",
        );
    }
}

fn is_cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else { return false };
    let Ok(bits) = bits.parse::<u32>() else { return false };
    // What is left when the bits that count are shifted out.
    match address.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => bits <= 32 && address.to_bits().checked_shl(bits).unwrap_or(0) == 0,
        Ok(IpAddr::V6(address)) => bits <= 128 && address.to_bits().checked_shl(bits).unwrap_or(0) == 0,
        Err(_) => false,
    }
}

fn check_registries(tenant: &Tenant, complaints: &mut Diagnostics) {
    for registry in tenant.trusted_registries.get().into_iter().flatten() {
        if let Some(reason) = registries::fault(registry) {
            complaints.error(&tenant.trusted_registries, format!("The registry {registry:?} cannot be used"), reason);
        }
    }
}

fn check_labels(tenant: &Tenant, complaints: &mut Diagnostics) {
    let empty = BTreeMap::new();
    let labels = tenant.labels.get().unwrap_or(&empty);
    let standard = labels.keys().find(|key| key.starts_with("pod-security.kubernetes.io/"));
    if labels.contains_key(NAMESPACE_LABEL) {
        complaints.error(
            &tenant.labels,
            format!("The label {NAMESPACE_LABEL:?} is Kubernetes' own"),
            "It is always the namespace's name, and policies go by it.\n\nChoose another key.",
        );
    } else if let Some(key) = standard {
        complaints.error(
            &tenant.labels,
            format!("The label {key:?} is set by the tenant itself"),
            "It says which Pod Security Standard counts.\n\nUse `pod_security` and `pod_security_version`.",
        );
    } else if let Some(reason) = kubernetes::label_fault(labels) {
        complaints.error(&tenant.labels, "A label cannot be used", reason);
    }
}
