//! A platform: bucket, GPU pool, a team's place in the cluster, a queue and a model server, on a real Kubernetes API
//! server with Kueue's real controller.

use std::{fs, time::Duration};

use acceptance_tests::{Sandbox, Workspace, kubernetes::Client};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::Life;

/// Longer than pods of a played node take to become ready.
const LIMIT: Duration = Duration::from_mins(1);
/// What examples/stacks/platform/main.tf calls the namespace and the model server.
const NAMESPACE: &str = "/api/v1/namespaces/ml";
const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/ml/deployments/vllm-qwen";
const JOBS: &str = "/apis/batch/v1/namespaces/ml/jobs";
const WORKLOADS: &str = "/apis/kueue.x-k8s.io/v1beta2/namespaces/ml/workloads";
const AUTOSCALER: &str = "/apis/autoscaling/v2/namespaces/ml/horizontalpodautoscalers/vllm-qwen";

/// From nothing to nothing in this sandbox, which has Kubernetes.
pub(super) fn live(life: &mut Life<'_>, sandbox: &Sandbox) -> Result<()> {
    let cluster = sandbox.kubernetes().context("the sandbox has no Kubernetes")?;
    println!("Kubernetes at {}", cluster.endpoint());
    let client = cluster.client();
    life.plan("terraform plan: a platform")?;
    life.change("terraform apply: bucket, pool, tenant, queue and model server in one go", Workspace::apply)?;
    life.nothing_to_do("terraform plan again: nothing to do")?;

    life.steps.step("Let an autoscaler go from 1 to 3 replicas", || scale(client))?;
    life.nothing_to_do("terraform plan: the autoscaler's business, nothing to do")?;

    life.steps.step("Submit a training job of 2 GPUs: with 3 of 4 in use it waits", || submit(client))?;
    life.nothing_to_do("terraform plan: what Kueue counts is no drift, nothing to do")?;
    life.steps.step("Raise the number of GPUs in main.tf from 4 to 6", || raise(life.workspace))?;
    life.plan("terraform plan: pool, tenant and queue change, and what the model server knows of the pool")?;
    life.change("terraform apply", Workspace::apply)?;
    life.steps.step("The job is admitted and runs to its end", || complete(client))?;

    life.drift("Let somebody raise what the autoscaler may do", || drift(client))?;
    life.destroy(sandbox.account())?;
    life.steps.step("What is left in the cluster", || nothing_left(client))
}

fn scale(client: &Client) -> Result<()> {
    client.patch("autoscaler", &format!("{DEPLOYMENT}/scale"), &json!({"spec": {"replicas": 3}}))?;
    let deployment = client.wait(DEPLOYMENT, LIMIT, |deployment| deployment["status"]["readyReplicas"] == 3)?;
    println!("{} replicas are ready", deployment["status"]["readyReplicas"]);
    Ok(())
}

fn submit(client: &Client) -> Result<()> {
    let locked = json!({
        "allowPrivilegeEscalation": false,
        "runAsNonRoot": true,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    });
    let resources = json!({"requests": {"cpu": "1", "memory": "4Gi"}, "limits": {"nvidia.com/gpu": 1}});
    let container =
        json!({"name": "train", "image": "registry.test/train:v1", "resources": resources, "securityContext": locked});
    let job = json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": "train",
            "namespace": "ml",
            "labels": {"kueue.x-k8s.io/queue-name": "gpu", "kueue.x-k8s.io/priority-class": "training"},
        },
        "spec": {
            "parallelism": 2,
            "completions": 2,
            "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
        },
    });
    client.create(&job)?;
    let reason = |list: &Value| -> Option<String> {
        let workload =
            list["items"].as_array()?.iter().find(|one| one["metadata"]["ownerReferences"][0]["name"] == "train")?;
        let conditions = workload["status"]["conditions"].as_array()?;
        let waits = conditions.iter().find(|one| one["type"] == "QuotaReserved" && one["status"] == "False")?;
        waits["message"].as_str().map(str::to_owned)
    };
    let seen = client.wait(WORKLOADS, LIMIT, |list| reason(list).is_some())?;
    println!("Kueue: {}", reason(&seen).unwrap_or_default());
    Ok(())
}

fn raise(workspace: &Workspace) -> Result<()> {
    let text = fs::read_to_string(workspace.path().join("main.tf"))?;
    let raised = text.replace("gpus = 4", "gpus = 6");
    ensure!(raised != text, "the stack has no `gpus = 4`");
    workspace.configure(&raised)
}

fn complete(client: &Client) -> Result<()> {
    let job = client.wait(&format!("{JOBS}/train"), LIMIT, |job| job["status"]["succeeded"] == 2)?;
    println!("{} of 2 pods have ended well", job["status"]["succeeded"]);
    Ok(())
}

// At three in the morning, with kubectl.
fn drift(client: &Client) -> Result<Vec<String>> {
    client.patch("kubectl-edit", AUTOSCALER, &json!({"spec": {"maxReplicas": 9}}))?;
    Ok(vec!["kubectl edit: HorizontalPodAutoscaler vllm-qwen may now go to 9 replicas".to_owned()])
}

fn nothing_left(client: &Client) -> Result<()> {
    client.wait_gone(NAMESPACE, LIMIT)?;
    for kind in ["/api/v1/namespaces", "/apis/apps/v1/deployments", "/apis/rbac.authorization.k8s.io/v1/rolebindings"] {
        let left = client.list(&format!("{kind}?labelSelector=mlplat.io/owner-hash"))?;
        ensure!(left.is_empty(), "left over: {left:#?}");
    }
    println!("nothing: the namespace is gone with all that was in it");
    Ok(())
}
