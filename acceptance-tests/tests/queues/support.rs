//! What the scenarios share: a stage with a namespace of its own, the queue of most of them, and jobs that wait in it.

use acceptance_tests::{
    Output, Stage,
    kubernetes::{ControlPlane, Node, Script, lacking},
    printed,
};
use anyhow::{Context, Result, ensure};
use regex::Regex;
use serde_json::{Value, json};
use std::{collections::BTreeSet, ops::Deref, time::Duration};

/// The queue of most scenarios.
pub(crate) const QUEUE: &str = "mlplat_queue.gpu";
/// Longer than anything takes on a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_mins(1);
/// Where the objects of Kueue are.
pub(crate) const KUEUE: &str = "/apis/kueue.x-k8s.io/v1beta2";
/// What a queue is made of.
const PLURALS: [&str; 5] = ["clusterqueues", "localqueues", "resourceflavors", "topologies", "workloadpriorityclasses"];

/// A stage, and the name of its namespace and of everything else in it that has to be the only one of its name.
pub(crate) struct Scene {
    stage: Stage,
    pub(crate) name: &'static str,
}

impl Deref for Scene {
    type Target = Stage;

    fn deref(&self) -> &Stage {
        &self.stage
    }
}

/// Play a scenario in a namespace of its own, or say why this machine cannot.
pub(crate) fn scene(name: &'static str, play: impl FnOnce(&Scene) -> Result<()>) -> Result<()> {
    if let Some(reason) = lacking() {
        eprintln!("left out: {reason}");
        return Ok(());
    }
    let cluster = ControlPlane::shared()?;
    cluster.start_kueue()?;
    let scene = Scene { stage: Stage::before(cluster)?, name };
    scene.namespace(name)?;
    play(&scene)
}

impl Scene {
    /// A namespace in which jobs run until they are deleted.
    pub(crate) fn namespace(&self, name: &str) -> Result<()> {
        self.cluster.namespace(name)?;
        self.cluster.play(name, &Script::RunsFor(Duration::from_hours(1)))
    }

    /// Nodes with one GPU each, which the scene's flavor finds.
    pub(crate) fn add_nodes(&self, number: u32) -> Result<()> {
        for at in 0..number {
            let node = Node::with_gpus(&format!("{}-{at}", self.name), 1).label("pool", self.name);
            self.cluster.add_node(&node)?;
        }
        Ok(())
    }

    /// The configuration of the scene's queue: so many GPUs for its namespace, and these attributes.
    pub(crate) fn queue(&self, gpus: u32, attributes: &str) -> String {
        let flavor = self.flavor(&format!("{}-gpu", self.name), &gpus.to_string());
        self.queue_of(&flavor, attributes)
    }

    /// The same with these flavors.
    pub(crate) fn queue_of(&self, flavors: &str, attributes: &str) -> String {
        let name = self.name;
        let namespaces = format!("  namespaces = {{ {name} = \"gpu\" }}\n");
        let namespaces = if attributes.contains("namespaces =") { "" } else { &namespaces };
        format!(
            "resource \"mlplat_queue\" \"gpu\" {{\n  cluster = \"ml-prod\"\n  name    = \"{name}\"\n  flavors = \
             [{flavors}]\n{namespaces}{attributes}\n}}\n"
        )
    }

    /// A flavor of the scene's nodes.
    pub(crate) fn flavor(&self, name: &str, gpus: &str) -> String {
        format!(
            "{{\n    name = \"{name}\"\n    node_labels = {{ pool = \"{}\" }}\n    tolerations = [{{ key = \
             \"nvidia.com/gpu\", operator = \"Exists\" }}]\n    quota = {}\n  }}",
            self.name,
            quota(gpus)
        )
    }

    /// Create a job of so many pods with one GPU each, in this namespace's LocalQueue "gpu".
    pub(crate) fn submit(&self, namespace: &str, name: &str, pods: u32, priority: Option<&str>) -> Result<()> {
        self.submit_to("gpu", (namespace, name), pods, priority)
    }

    /// The same in another LocalQueue.
    pub(crate) fn submit_to(
        &self,
        queue: &str,
        (namespace, name): (&str, &str),
        pods: u32,
        priority: Option<&str>,
    ) -> Result<()> {
        let mut labels = json!({"kueue.x-k8s.io/queue-name": queue});
        if let Some(priority) = priority {
            labels["kueue.x-k8s.io/priority-class"] = json!(priority);
        }
        let resources = json!({"limits": {"nvidia.com/gpu": 1}, "requests": {"cpu": "1", "memory": "1Gi"}});
        let container = json!({"name": "train", "image": "registry.test/train:v1", "resources": resources});
        let job = json!({
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name, "namespace": namespace, "labels": labels},
            "spec": {
                "suspend": true,
                "parallelism": pods,
                "completions": pods,
                "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
            },
        });
        self.client().create(&job).map(drop)
    }

    /// Wait until all pods of a job run.
    pub(crate) fn runs(&self, namespace: &str, name: &str) -> Result<()> {
        let runs =
            |job: &Value| job["spec"]["suspend"] == false && job["status"]["ready"] == job["spec"]["parallelism"];
        self.client().wait(&job_target(namespace, name), LIMIT, runs).map(drop)
    }

    /// Wait until Kueue says why a job does not run.
    pub(crate) fn waits(&self, namespace: &str, name: &str) -> Result<String> {
        let target = format!("{KUEUE}/namespaces/{namespace}/workloads");
        let found = self.client().wait(&target, LIMIT, |list| pending(list, name).is_some())?;
        ensure!(self.client().get(&job_target(namespace, name))?["spec"]["suspend"] == true, "{name} runs");
        pending(&found, name).context("no reason")
    }

    /// Delete a job with its pods, and wait until Kueue has seen it.
    pub(crate) fn cancel(&self, namespace: &str, name: &str) -> Result<()> {
        self.client().delete(&format!("{}?propagationPolicy=Background", job_target(namespace, name)))?;
        let target = format!("{KUEUE}/namespaces/{namespace}/workloads");
        let is_gone = |list: &Value| workload(list, name).is_none();
        self.client().wait(&target, LIMIT, is_gone).map(drop)
    }

    /// The scene's LocalQueue once it counts as many pending and admitted workloads.
    pub(crate) fn counts(&self, pending: i64, admitted: i64) -> Result<()> {
        let target = format!("{KUEUE}/namespaces/{}/localqueues/gpu", self.name);
        let wanted = |queue: &Value| {
            let status = &queue["status"];
            (status["pendingWorkloads"].as_i64(), status["admittedWorkloads"].as_i64())
                == (Some(pending), Some(admitted))
        };
        self.client().wait(&target, LIMIT, wanted).map(drop)
    }

    /// The objects of Kueue that carry the provider's mark and whose resource has this name, as plural/name.
    pub(crate) fn objects_of(&self, name: &str) -> Result<BTreeSet<String>> {
        let mut found = BTreeSet::new();
        for plural in PLURALS {
            let ours = format!("{KUEUE}/{plural}?labelSelector=mlplat.io/owner-hash,app.kubernetes.io/name={name}");
            let names = self.client().list(&ours)?;
            let names = names.iter().filter_map(|object| object["metadata"]["name"].as_str());
            found.extend(names.map(|name| format!("{plural}/{name}")));
        }
        Ok(found)
    }

    /// Destroy, which must leave nothing in the account and nothing of Kueue.
    pub(crate) fn destroy(&self) -> Result<()> {
        self.stage.destroy()?;
        let left = self.objects_of(self.name)?;
        ensure!(left.is_empty(), "left over in the cluster: {left:#?}");
        Ok(())
    }
}

/// The quota of a flavor: so many GPUs, and as much of the rest as nobody needs.
pub(crate) fn quota(gpus: &str) -> String {
    format!(
        "{{ \"nvidia.com/gpu\" = {{ nominal = \"{gpus}\" }}, cpu = {{ nominal = 64 }}, memory = {{ nominal = \"1Ti\" }} }}"
    )
}

/// Where an object is that has no namespace.
pub(crate) fn target(plural: &str, name: &str) -> String {
    format!("{KUEUE}/{plural}/{name}")
}

/// What terraform complained of, with the names of workloads made the same in every run.
pub(crate) fn errors(output: &Output) -> String {
    let hashes = Regex::new(r"\bjob-([a-z]+)-[0-9a-f]{5}\b").expect("a constant");
    hashes.replace_all(&printed::errors(output), "job-$1-<hash>").into_owned()
}

fn job_target(namespace: &str, name: &str) -> String {
    format!("/apis/batch/v1/namespaces/{namespace}/jobs/{name}")
}

/// The workload of a job in a list.
fn workload<'l>(list: &'l Value, job: &str) -> Option<&'l Value> {
    list["items"].as_array()?.iter().find(|workload| workload["metadata"]["ownerReferences"][0]["name"] == job)
}

/// Why the workload of a job has no quota.
fn pending(list: &Value, job: &str) -> Option<String> {
    let conditions = workload(list, job)?["status"]["conditions"].as_array()?;
    let found = conditions.iter().find(|one| one["type"] == "QuotaReserved" && one["status"] == "False")?;
    found["message"].as_str().map(str::to_owned)
}
