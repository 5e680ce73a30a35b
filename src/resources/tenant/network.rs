//! Who may talk to the pods of a tenant, as NetworkPolicies. They add up: what none allows is refused.
//!
//! **Invariant:** no egress rule selects the pods of the namespace alone. The network policy controller of EKS does not
//! see that such a rule allows the addresses of Services in front of those pods, so these are allowed by themselves.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use super::attributes::Network;

/// Where the DNS cache of a node listens.
const NODE_LOCAL_DNS: &str = "169.254.20.10/32";
/// Where the agent of EKS Pod Identity listens on a node.
const POD_IDENTITY_AGENT: [&str; 2] = ["169.254.170.23/32", "fd00:ec2::23/128"];
const NAMESPACE: &str = "kubernetes.io/metadata.name";

/// The policies that a tenant has: key, name, manifest.
pub(super) fn policies(network: &Network, namespace: &str) -> Vec<(&'static str, &'static str, Json)> {
    let from = network.ingress_from_namespaces.get().filter(|namespaces| !namespaces.is_empty());
    let is_gang = network.allow_gang_traffic.get() == Some(&true);
    let empty = BTreeSet::new();
    let services = network.service_cidrs.get().unwrap_or(&empty);
    let addresses = network.egress_cidrs.get().unwrap_or(&empty);
    let mut policies = vec![
        ("network_default_deny", "mlplat-default-deny", policy(None, None)),
        ("network_same_namespace", "mlplat-same-namespace", same_namespace(namespace, services)),
        ("network_dns", "mlplat-dns", policy(None, Some(vec![dns(services)]))),
        ("network_api", "mlplat-api", policy(None, Some(api(addresses)))),
    ];
    if let Some(from) = from {
        policies.push(("network_ingress", "mlplat-ingress", policy(Some(vec![ingress(from)]), None)));
    }
    if is_gang {
        policies.push(("network_gang", "mlplat-gang", gang(namespace)));
    }
    policies
}

// A direction that is named and has no rules is refused: both are named where neither has any.
fn policy(ingress: Option<Vec<Json>>, egress: Option<Vec<Json>>) -> Json {
    let mut spec = json!({ "podSelector": {} });
    let both = ingress.is_none() && egress.is_none();
    let mut types = Vec::new();
    if both || ingress.is_some() {
        types.push("Ingress");
    }
    if both || egress.is_some() {
        types.push("Egress");
    }
    spec["policyTypes"] = json!(types);
    if let Some(rules) = ingress {
        spec["ingress"] = json!(rules);
    }
    if let Some(rules) = egress {
        spec["egress"] = json!(rules);
    }
    json!({ "spec": spec })
}

fn same_namespace(namespace: &str, services: &BTreeSet<String>) -> Json {
    let tcp = json!([{ "protocol": "TCP" }]);
    let mut to = vec![own_pods(namespace)];
    to.extend(services.iter().map(|cidr| block(cidr)));
    let ingress = json!({ "from": [own_pods(namespace)], "ports": tcp });
    policy(Some(vec![ingress]), Some(vec![json!({ "to": to, "ports": tcp })]))
}

fn gang(namespace: &str) -> Json {
    policy(Some(vec![json!({ "from": [own_pods(namespace)] })]), Some(vec![json!({ "to": [own_pods(namespace)] })]))
}

fn own_pods(namespace: &str) -> Json {
    json!({ "namespaceSelector": { "matchLabels": { NAMESPACE: namespace } } })
}

fn ingress(from: &BTreeSet<String>) -> Json {
    let selector = json!({ "matchExpressions": [{ "key": NAMESPACE, "operator": "In", "values": from }] });
    json!({ "from": [{ "namespaceSelector": selector }] })
}

// On EKS Auto Mode no pod answers, but the node itself at the Service's address.
fn dns(services: &BTreeSet<String>) -> Json {
    let pods = json!({
        "namespaceSelector": { "matchLabels": { NAMESPACE: "kube-system" } },
        "podSelector": { "matchLabels": { "k8s-app": "kube-dns" } },
    });
    let mut to = vec![pods, block(NODE_LOCAL_DNS)];
    to.extend(services.iter().map(|cidr| block(cidr)));
    json!({ "to": to, "ports": [port("TCP", 53), port("UDP", 53)] })
}

// The API server is no pod, and its addresses are known to nobody before it is there. Without addresses there is no
// rule for them: one whose list is empty would allow all.
fn api(addresses: &BTreeSet<String>) -> Vec<Json> {
    let agent: Vec<Json> = POD_IDENTITY_AGENT.iter().map(|cidr| block(cidr)).collect();
    let mut rules = vec![json!({ "to": agent, "ports": [port("TCP", 80)] })];
    if !addresses.is_empty() {
        let to: Vec<Json> = addresses.iter().map(|cidr| block(cidr)).collect();
        rules.push(json!({ "to": to, "ports": [port("TCP", 443), port("TCP", 6443)] }));
    }
    rules
}

fn block(cidr: &str) -> Json {
    json!({ "ipBlock": { "cidr": cidr } })
}

fn port(protocol: &str, port: u16) -> Json {
    json!({ "protocol": protocol, "port": port })
}
