//! What the scenarios share: a stage (account, API server behind a proxy, namespace, workspace) and its questions.

use acceptance_tests::{
    Account, Cluster, Emulator, Output, Proxy, Workspace,
    kubernetes::{Client, ControlPlane, Node, lacking},
    printed,
};
use anyhow::{Context, Result, ensure};
use regex::Regex;
use serde_json::{Value, json};
use std::{collections::BTreeSet, thread, time::Duration};

/// The service of most scenarios.
pub(crate) const SERVICE: &str = "mlplat_inference_service.llm";
/// Longer than anything takes on a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_mins(1);
/// Far below the default patience with a start, far above what a busy machine needs.
pub(crate) const EARLY: Duration = Duration::from_mins(2);
/// A time at which everything that is still so has been so for long enough.
pub(crate) const LONG_AGO: &str = "2020-01-01T00:00:00Z";
/// The tenant of most scenarios.
pub(crate) const TENANT: &str = "mlplat_tenant.team";
/// Where the objects of services and tenants live, and of what they are made. Without a namespace: named after it.
const KINDS: [&str; 16] = [
    "/api/v1/namespaces/{}/persistentvolumeclaims",
    "/api/v1/namespaces/{}/limitranges",
    "/api/v1/namespaces/{}/resourcequotas",
    "/api/v1/namespaces/{}/secrets",
    "/api/v1/namespaces/{}/serviceaccounts",
    "/api/v1/namespaces/{}/services",
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
    "/apis/apps/v1/namespaces/{}/deployments",
    "/apis/apps/v1/namespaces/{}/replicasets",
    "/apis/autoscaling/v2/namespaces/{}/horizontalpodautoscalers",
    "/apis/networking.k8s.io/v1/namespaces/{}/ingresses",
    "/apis/networking.k8s.io/v1/namespaces/{}/networkpolicies",
    "/apis/rbac.authorization.k8s.io/v1/namespaces/{}/rolebindings",
    "/apis/policy/v1/namespaces/{}/poddisruptionbudgets",
    "/api/v1/namespaces/{}/pods",
];

/// An account whose cluster "ml-prod" is the shared control plane, and a namespace with one GPU node of its own.
pub(crate) struct Stage {
    pub(crate) account: Account,
    /// Where the cluster is in the account.
    pub(crate) network: Cluster,
    pub(crate) workspace: Workspace,
    /// Before the API server.
    pub(crate) api: Proxy,
    pub(crate) cluster: &'static ControlPlane,
    pub(crate) namespace: &'static str,
}

/// Play a scenario in a namespace of its own, or say why this machine cannot.
pub(crate) fn scene(namespace: &'static str, play: impl FnOnce(Stage) -> Result<()>) -> Result<()> {
    tenancy(namespace, |stage| {
        stage.furnish()?;
        play(stage)
    })
}

/// As [`scene`], where it is for the scenario to make the namespace.
pub(crate) fn tenancy(namespace: &'static str, play: impl FnOnce(Stage) -> Result<()>) -> Result<()> {
    match lacking() {
        Some(reason) => {
            eprintln!("left out: {reason}");
            Ok(())
        }
        None => play(Stage::new(namespace)?),
    }
}

impl Stage {
    fn new(namespace: &'static str) -> Result<Self> {
        let cluster = ControlPlane::shared()?;
        let api = cluster.proxy()?;
        let mut account = Emulator::shared()?.account()?;
        let network = account.seed_cluster()?;
        account.lead_to_kubernetes(api.url(), &cluster.ca_pem())?;
        account.set_baseline()?;
        let mut workspace = Workspace::new(&account)?;
        workspace.hide(api.url(), "<api server>");
        Ok(Self { account, network, workspace, api, cluster, namespace })
    }

    /// The namespace, and a node for its pods.
    fn furnish(&self) -> Result<()> {
        let namespace = self.namespace;
        self.cluster.namespace(namespace)?;
        // What the provider makes has to pass there, whatever a scenario is about.
        let restricted = json!({"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}});
        self.client().patch("mlplat-test", &self.own_target(), &restricted)?;
        self.add_gpus().map(drop)
    }

    /// A node with GPUs for the namespace's pods.
    pub(crate) fn add_gpus(&self) -> Result<Value> {
        let node = Node::with_gpus(&format!("gpu-{}", self.namespace), 4);
        self.cluster.add_node(&node.label("pool", self.namespace))
    }

    /// The same stage with this configuration applied; both journals begin after that.
    pub(crate) fn applied(self, configuration: &str) -> Result<Self> {
        self.workspace.configure(configuration)?;
        self.apply()?;
        self.api.take_journal();
        self.account.proxy().take_journal();
        Ok(self)
    }

    /// A service with these attributes, applied.
    pub(crate) fn with_service(self, attributes: &str) -> Result<Self> {
        let configuration = self.service(attributes);
        self.applied(&configuration)
    }

    /// The configuration of a service on the namespace's own node.
    pub(crate) fn service(&self, attributes: &str) -> String {
        self.service_with(MODEL, attributes)
    }

    /// The same with another model.
    pub(crate) fn service_with(&self, model: &str, attributes: &str) -> String {
        let namespace = self.namespace;
        format!(
            "resource \"mlplat_inference_service\" \"llm\" {{\n  cluster   = \"ml-prod\"\n  \
             namespace = \"{namespace}\"\n  name      = \"llm\"\n  {model}\n  gpus = {{ per_replica = 1, product = \
             \"NVIDIA-A10G\" }}\n  placement = {{ node_selector = {{ pool = \"{namespace}\" }}, gpu_capacity = 4 }}\n\
             {}{attributes}\n}}\n",
            if attributes.contains("engine =") { "" } else { ENGINE }
        )
    }

    /// A tenant with these attributes, applied.
    pub(crate) fn with_tenant(self, attributes: &str) -> Result<Self> {
        let configuration = self.tenant(attributes);
        self.applied(&configuration)
    }

    /// The configuration of a tenant whose namespace is the scenario's own.
    pub(crate) fn tenant(&self, attributes: &str) -> String {
        let namespace = self.namespace;
        format!(
            "resource \"mlplat_tenant\" \"team\" {{\n  cluster = \"ml-prod\"\n  name    = \"{namespace}\"\n{attributes}\n}}\n"
        )
    }

    /// Apply, which must succeed and leave nothing to do.
    pub(crate) fn apply(&self) -> Result<Output> {
        let output = self.workspace.apply()?.ok()?;
        self.settled()?;
        Ok(output)
    }

    /// Apply, and do this once there is such a pod.
    pub(crate) fn apply_and_meanwhile(
        &self,
        is_such: fn(&Value) -> bool,
        act: impl FnOnce(&Value) -> Result<()>,
    ) -> Result<Output> {
        let find = |pods: &Value| pods["items"].as_array()?.iter().find(|pod| is_such(pod)).cloned();
        thread::scope(|scope| {
            let apply = scope.spawn(|| self.workspace.apply());
            let pods = format!("/api/v1/namespaces/{}/pods", self.namespace);
            let listed = self.client().wait(&pods, LIMIT, |pods| find(pods).is_some())?;
            act(&find(&listed).context("no pod")?)?;
            apply.join().ok().context("the apply panicked")?
        })
    }

    /// Let everything that is so of a pod have been so for long.
    pub(crate) fn age(&self, pod: &Value) -> Result<()> {
        let mut conditions = pod["status"]["conditions"].clone();
        for condition in conditions.as_array_mut().context("no conditions")? {
            condition["lastTransitionTime"] = json!(LONG_AGO);
        }
        let target = format!("{}/status", self.pod(pod)?);
        self.client().patch("mlplat-test", &target, &json!({"status": {"conditions": conditions}})).map(drop)
    }

    /// Where a pod of the namespace lives.
    pub(crate) fn pod(&self, pod: &Value) -> Result<String> {
        self.target(&format!("pods/{}", pod["metadata"]["name"].as_str().context("a pod without a name")?))
    }

    /// Nothing is left to do.
    pub(crate) fn settled(&self) -> Result<()> {
        self.workspace.plan()?.no_changes().map(drop)
    }

    /// The calls that changed something in the cluster since the journal was last taken, sorted. One that was refused
    /// changed nothing: what somebody else manages is asked for before it is taken back.
    pub(crate) fn writes(&self) -> Vec<String> {
        let journal = self.api.take_journal();
        let done = journal.entries().iter().filter(|call| call.write && call.status.is_some_and(|status| status < 300));
        let mut writes: Vec<_> = done.map(|call| call.name.clone()).collect();
        writes.sort();
        writes
    }

    /// Apply and say which calls changed something in the cluster.
    pub(crate) fn apply_and_tell_writes(&self) -> Result<Vec<String>> {
        self.api.take_journal();
        self.workspace.apply()?.ok()?;
        let writes = self.writes();
        self.settled()?;
        Ok(writes)
    }

    /// The plan's output, reduced; it must have changes.
    pub(crate) fn plan(&self) -> Result<String> {
        let output = self.workspace.plan()?.ok()?;
        ensure!(output.status == 2, "the plan was expected to have changes:\n{}", output.stdout);
        Ok(without_names(&printed::shown(&output)))
    }

    /// Destroy, which must leave what was there before and nothing else.
    pub(crate) fn destroy(&self) -> Result<()> {
        self.workspace.destroy()?.ok()?;
        let left = self.account.leftovers()?;
        ensure!(left.is_empty(), "left over in the account: {left:#?}");
        let left = self.objects()?;
        ensure!(left.is_empty(), "left over in the namespace: {left:#?}");
        Ok(())
    }

    /// As [`Stage::destroy`], where the namespace has to be gone as well.
    pub(crate) fn destroy_with_namespace(&self) -> Result<()> {
        self.destroy()?;
        let left = self.client().find(&self.own_target())?;
        ensure!(left.is_none(), "the namespace is still there: {left:#?}");
        Ok(())
    }

    /// Everything in the namespace or named after it, as kind/name, but for what every namespace has and for what only
    /// follows from other objects.
    pub(crate) fn objects(&self) -> Result<BTreeSet<String>> {
        let mut found = BTreeSet::new();
        for kind in KINDS.iter().filter(|kind| !kind.ends_with("/replicasets") && !kind.ends_with("/pods")) {
            let place = kind.replace("{}", self.namespace);
            let plural = kind.rsplit('/').next().unwrap_or_default();
            let objects = self.client().list(&place)?;
            let names = objects.iter().filter_map(|object| object["metadata"]["name"].as_str());
            let is_ours = |name: &&str| *kind != place || name.starts_with(&format!("mlplat-{}-", self.namespace));
            found.extend(names.filter(is_ours).map(|name| format!("{plural}/{name}")));
        }
        found.remove("serviceaccounts/default");
        Ok(found)
    }

    /// Where an object of the namespace lives, by its plural, as in "deployments/llm"; "" is the namespace itself.
    pub(crate) fn target(&self, object: &str) -> Result<String> {
        if object.is_empty() {
            return Ok(self.own_target());
        }
        let (plural, name) = object.split_once('/').context("an object is plural/name")?;
        let kind = KINDS.iter().find(|kind| kind.rsplit('/').next() == Some(plural)).context("an unknown kind")?;
        Ok(format!("{}/{name}", kind.replace("{}", self.namespace)))
    }

    /// Where the namespace itself lives.
    pub(crate) fn own_target(&self) -> String {
        format!("/api/v1/namespaces/{}", self.namespace)
    }

    /// An object of the namespace, as in "deployments/llm".
    pub(crate) fn object(&self, object: &str) -> Result<Value> {
        self.client().get(&self.target(object)?)
    }

    /// Calls past the proxy.
    pub(crate) fn client(&self) -> &Client {
        self.cluster.client()
    }
}

/// What terraform complained of, with the pods' names made the same in every run.
pub(crate) fn errors(output: &Output) -> String {
    without_names(&printed::errors(output))
}

/// Pods and their sets have names that differ from run to run, and hashes of what they are made from.
fn without_names(text: &str) -> String {
    let names = Regex::new(r"\bllm-[0-9a-z]{8,10}(-[0-9a-z]{5})?\b").expect("a constant");
    names.replace_all(text, "llm-<pod>").into_owned()
}

const ENGINE: &str = "  engine = { kind = \"vllm\", image = \"registry.test/vllm:v0.11.0\" }\n";
const MODEL: &str = "model = {\n    source             = \"hf://Qwen/Qwen2.5-7B-Instruct\"\n    \
                     parameters_billion = 7.6\n    dtype              = \"bfloat16\"\n    max_context        = 8192\n  }";
