//! Whether anything in a cluster enforces NetworkPolicies. Asks and never writes: "making" it is finding it true.
//!
//! What enforces them is a DaemonSet, known by its name; the one of the Amazon VPC CNI has a switch for it, and on EKS
//! Auto Mode, whose agent is no DaemonSet, the switch is a ConfigMap.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use converge::{
    Changes, Creation, Cx, Driver, Fault, FaultClass, Finding, Observed, Ownership, Readiness, Severity, Step,
};
use serde_json::Value as Json;

use super::{
    address::encode,
    call::{Reply, Request},
    connection::{ClusterClient, Clusters},
    fault::Deed,
    preflight,
};
use crate::{components::kube::NetworkEnforcement, drivers::gather::Gather};

/// Tells whether NetworkPolicies are kept.
pub(super) struct NetworkEnforcementDriver {
    clusters: Arc<Clusters>,
    looks: Gather<Sight>,
}

/// What was seen in a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Sight {
    /// DaemonSets, as `namespace/name`; none where we may not see them.
    daemon_sets: Option<BTreeSet<String>>,
    /// Whether the agent of the Amazon VPC CNI enforces policies; none where that CNI is not there.
    vpc_cni: Option<bool>,
    /// Whether EKS was told to enforce policies.
    is_told: bool,
}

/// Whether policies are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Kept,
    /// Not, and why.
    Ignored(&'static str),
    /// It cannot be seen.
    Hidden,
}

/// DaemonSets that enforce NetworkPolicies by themselves.
const ENFORCERS: [&str; 11] = [
    "anetd",
    "antrea-agent",
    "azure-npm",
    "calico-node",
    "canal",
    "cilium",
    "kindnet",
    "kube-network-policies",
    "kube-router",
    "ovnkube-node",
    "weave-net",
];
const VPC_CNI: &str = "kube-system/aws-node";
const CONFIG: &str = "/api/v1/namespaces/kube-system/configmaps/amazon-vpc-cni";
const PAGE: usize = 500;

const SWITCHED_OFF: &str = "the Amazon VPC CNI is there and its network policy agent is switched off";
const NOBODY: &str = "no program that enforces NetworkPolicies was found in the cluster";
const ADVICE: &str = "Switch the enforcement on: on EKS set `enableNetworkPolicy` to \"true\" in the configuration of \
                      the add-on `vpc-cni`, on EKS Auto Mode `enable-network-policy-controller` to \"true\" in the \
                      ConfigMap kube-system/amazon-vpc-cni. Where another program does it, name its DaemonSet in \
                      `network.enforcer`.";

// === impl NetworkEnforcementDriver ===

impl NetworkEnforcementDriver {
    pub(super) fn new(clusters: &Arc<Clusters>) -> Self {
        Self { clusters: Arc::clone(clusters), looks: Gather::new(1) }
    }

    async fn verdict(&self, cx: &Cx, spec: &NetworkEnforcement) -> Result<Verdict, Fault> {
        let clusters = Arc::clone(&self.clusters);
        let answer = move |names: BTreeSet<String>| {
            let clusters = Arc::clone(&clusters);
            async move { sights(&clusters, names).await }
        };
        let sight = self.looks.ask(cx, spec.cluster.as_deref().unwrap_or_default(), answer).await?;
        Ok(sight.unwrap_or_default().judge(spec.enforcer.as_deref()))
    }

    async fn keep(&self, cx: &Cx, spec: &NetworkEnforcement) -> Result<(), Fault> {
        if spec.enforced != Some(true) {
            return Ok(());
        }
        match self.verdict(cx, spec).await? {
            Verdict::Ignored(why) => Err(broken_promise(spec, why)),
            Verdict::Kept | Verdict::Hidden => Ok(()),
        }
    }
}

impl Driver<NetworkEnforcement> for NetworkEnforcementDriver {
    const ACTIONS: &'static [&'static str] = &["eks:DescribeCluster", "kubernetes:get", "kubernetes:list"];

    async fn observe(&self, cx: &Cx, spec: &NetworkEnforcement) -> Result<Option<Observed<NetworkEnforcement>>, Fault> {
        let enforced = match spec.enforced {
            None => None,
            Some(_) => match self.verdict(cx, spec).await? {
                Verdict::Kept => Some(true),
                Verdict::Ignored(_) => Some(false),
                Verdict::Hidden => spec.enforced,
            },
        };
        Ok(Some(Observed {
            spec: NetworkEnforcement { enforced, ..spec.clone() },
            outputs: (),
            ownership: Ownership::Inherited,
            readiness: Readiness::Ready,
        }))
    }

    async fn create(
        &self,
        cx: &Cx,
        spec: &NetworkEnforcement,
        _creation: &Creation<'_, NetworkEnforcement>,
    ) -> Result<(), Fault> {
        self.keep(cx, spec).await
    }

    async fn update(
        &self,
        cx: &Cx,
        spec: &NetworkEnforcement,
        _changes: &Changes<'_, NetworkEnforcement>,
    ) -> Result<(), Fault> {
        self.keep(cx, spec).await
    }

    async fn delete(
        &self,
        _cx: &Cx,
        _spec: &NetworkEnforcement,
        _found: &Observed<NetworkEnforcement>,
    ) -> Result<(), Fault> {
        Ok(())
    }

    async fn preflight(&self, cx: &Cx, spec: &NetworkEnforcement, _step: &Step) -> Vec<Finding> {
        let is_promise = spec.enforced == Some(true);
        // What is not known yet is absent here.
        if spec.namespace.is_empty() || !(is_promise || spec.warn) {
            return Vec::new();
        }
        match preflight::soon(cx, self.verdict(cx, spec)).await {
            Some(Ok(verdict)) => finding(spec, verdict, is_promise).into_iter().collect(),
            Some(Err(_)) | None => Vec::new(),
        }
    }
}

// === impl Sight ===

impl Sight {
    fn see(&mut self, daemon_set: &Json) {
        let text = |pointer| daemon_set.pointer(pointer).and_then(Json::as_str).unwrap_or_default();
        let path = format!("{}/{}", text("/metadata/namespace"), text("/metadata/name"));
        if path == VPC_CNI {
            self.vpc_cni = Some(is_switched_on(daemon_set));
        }
        self.daemon_sets.get_or_insert_default().insert(path);
    }

    fn judge(&self, enforcer: Option<&str>) -> Verdict {
        let Some(daemon_sets) = &self.daemon_sets else { return Verdict::Hidden };
        let name = |path: &str| path.split_once('/').map_or_else(|| path.to_owned(), |(_, name)| name.to_owned());
        let is_enforcer = |path: &String| ENFORCERS.contains(&name(path).as_str()) || enforcer == Some(path.as_str());
        match self.vpc_cni {
            _ if daemon_sets.iter().any(is_enforcer) => Verdict::Kept,
            Some(true) => Verdict::Kept,
            Some(false) => Verdict::Ignored(SWITCHED_OFF),
            None if self.is_told => Verdict::Kept,
            None => Verdict::Ignored(NOBODY),
        }
    }
}

async fn sights(clusters: &Clusters, names: BTreeSet<String>) -> Result<BTreeMap<String, Sight>, Fault> {
    let mut sights = BTreeMap::new();
    for name in names {
        let client = clusters.client(Some(name.as_str()).filter(|name| !name.is_empty())).await?;
        sights.insert(name, look(&client).await?);
    }
    Ok(sights)
}

async fn look(client: &ClusterClient) -> Result<Sight, Fault> {
    let mut sight = Sight { daemon_sets: Some(BTreeSet::new()), ..Sight::default() };
    let first = format!("/apis/apps/v1/daemonsets?limit={PAGE}");
    let mut next = first.clone();
    loop {
        let Some(page) = read(client, "list daemonsets", &next).await? else { return Ok(Sight::default()) };
        for daemon_set in page.pointer("/items").and_then(Json::as_array).into_iter().flatten() {
            sight.see(daemon_set);
        }
        match page.pointer("/metadata/continue").and_then(Json::as_str) {
            Some(token) if !token.is_empty() => next = format!("{first}&continue={}", encode(token)),
            _ => break,
        }
    }
    // Only where no DaemonSet tells is this asked.
    if sight.judge(None) == Verdict::Ignored(NOBODY) {
        let config = read(client, "get configmaps", CONFIG).await?;
        sight.is_told = config.is_some_and(|config| {
            config.pointer("/data/enable-network-policy-controller").and_then(Json::as_str) == Some("true")
        });
    }
    Ok(sight)
}

// None where it is not there or not for us to see.
async fn read(client: &ClusterClient, verb: &str, path: &str) -> Result<Option<Json>, Fault> {
    let deed = Deed { action: format!("kubernetes:{verb}"), object: "network isolation".to_owned(), is_write: false };
    match client.ask(&deed, &Request::get(path)).await? {
        Reply::Refused { http: 403 | 404, .. } => Ok(None),
        reply => reply.done(&deed).map(|answer| Some(answer.body)),
    }
}

fn is_switched_on(daemon_set: &Json) -> bool {
    let containers = daemon_set.pointer("/spec/template/spec/containers").and_then(Json::as_array);
    let agents = containers.into_iter().flatten().filter_map(|container| container.get("args")?.as_array());
    let mut arguments = agents.flatten().filter_map(Json::as_str);
    arguments.any(|argument| ["--enable-network-policy", "--enable-network-policy=true"].contains(&argument))
}

fn finding(spec: &NetworkEnforcement, verdict: Verdict, is_promise: bool) -> Option<Finding> {
    let cluster = of(spec);
    let field = if is_promise { "enforced" } else { "warn" };
    match verdict {
        Verdict::Ignored(why) => Some(Finding {
            severity: if is_promise { Severity::Error } else { Severity::Warning },
            at: field.into(),
            summary: format!("{cluster} does not enforce NetworkPolicies"),
            detail: format!("Policies are stored and ignored there: {why}.\n\n{ADVICE}"),
        }),
        Verdict::Hidden if is_promise => Some(Finding {
            severity: Severity::Warning,
            at: field.into(),
            summary: format!("Whether {cluster} enforces NetworkPolicies cannot be seen"),
            detail:
                "The credentials do not allow to list DaemonSets in all namespaces.\n\nAllow it, or make sure of it \
                     yourself."
                    .to_owned(),
        }),
        Verdict::Kept | Verdict::Hidden => None,
    }
}

fn broken_promise(spec: &NetworkEnforcement, why: &str) -> Fault {
    let object = format!("network isolation of namespace {:?}", spec.namespace);
    let message = format!("{} does not enforce NetworkPolicies, as strict isolation promises: {why}", of(spec));
    Fault::new(FaultClass::Invalid, object, message).advise(ADVICE)
}

fn of(spec: &NetworkEnforcement) -> String {
    spec.cluster.as_ref().map_or_else(|| "The cluster".to_owned(), |cluster| format!("Cluster {cluster:?}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn daemon_set(namespace: &str, name: &str, arguments: &Json) -> Json {
        let containers = json!([{ "name": "agent", "args": arguments }, { "name": "other" }]);
        json!({
            "metadata": { "namespace": namespace, "name": name },
            "spec": { "template": { "spec": { "containers": containers } } },
        })
    }

    fn seen(daemon_sets: &[Json]) -> Sight {
        let mut sight = Sight { daemon_sets: Some(BTreeSet::new()), ..Sight::default() };
        for daemon_set in daemon_sets {
            sight.see(daemon_set);
        }
        sight
    }

    #[test]
    fn the_switch_of_the_vpc_cni_decides() {
        let vpc_cni = |arguments| seen(&[daemon_set("kube-system", "aws-node", &arguments)]).judge(None);
        assert_eq!(vpc_cni(json!(["--enable-network-policy=true"])), Verdict::Kept);
        assert_eq!(vpc_cni(json!(["--enable-network-policy=false"])), Verdict::Ignored(SWITCHED_OFF));
        assert_eq!(vpc_cni(json!([])), Verdict::Ignored(SWITCHED_OFF));
    }

    #[test]
    fn another_program_enforces_whatever_the_vpc_cni_does() {
        let vpc_cni = daemon_set("kube-system", "aws-node", &json!(["--enable-network-policy=false"]));
        assert_eq!(seen(&[vpc_cni, daemon_set("calico-system", "calico-node", &json!([]))]).judge(None), Verdict::Kept);
        let own = seen(&[daemon_set("net", "my-cni", &json!([]))]);
        assert_eq!(own.judge(Some("net/my-cni")), Verdict::Kept);
        assert_eq!(own.judge(Some("net/other")), Verdict::Ignored(NOBODY));
    }

    #[test]
    fn auto_mode_has_no_daemon_set_and_is_told_by_its_configuration() {
        assert_eq!(Sight { is_told: true, ..seen(&[]) }.judge(None), Verdict::Kept);
        assert_eq!(seen(&[]).judge(None), Verdict::Ignored(NOBODY));
    }

    #[test]
    fn what_cannot_be_seen_is_doubted_only_where_it_was_promised() {
        let spec = NetworkEnforcement { namespace: "a".to_owned(), ..NetworkEnforcement::default() };
        assert_eq!(Sight::default().judge(None), Verdict::Hidden);
        assert_eq!(finding(&spec, Verdict::Hidden, false), None);
        assert_eq!(finding(&spec, Verdict::Hidden, true).map(|told| told.severity), Some(Severity::Warning));
        let ignored = |is_promise| finding(&spec, Verdict::Ignored(NOBODY), is_promise).map(|told| told.severity);
        assert_eq!((ignored(true), ignored(false)), (Some(Severity::Error), Some(Severity::Warning)));
    }
}
