//! A platform: bucket, GPU pool, a team's place in the cluster and a model server, on a real Kubernetes API server.

use std::time::Duration;

use acceptance_tests::{Sandbox, Workspace, kubernetes::Client};
use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::Life;

/// Longer than pods of a played node take to become ready.
const LIMIT: Duration = Duration::from_mins(1);
/// What examples/stacks/platform/main.tf calls the namespace and the model server.
const NAMESPACE: &str = "/api/v1/namespaces/ml";
const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/ml/deployments/vllm-qwen";
const AUTOSCALER: &str = "/apis/autoscaling/v2/namespaces/ml/horizontalpodautoscalers/vllm-qwen";

/// From nothing to nothing in this sandbox, which has Kubernetes.
pub(super) fn live(life: &mut Life<'_>, sandbox: &Sandbox) -> Result<()> {
    let cluster = sandbox.kubernetes().context("the sandbox has no Kubernetes")?;
    println!("Kubernetes at {}", cluster.endpoint());
    let client = cluster.client();
    life.plan("terraform plan: a platform")?;
    life.change("terraform apply: bucket, pool, tenant and model server in one go", Workspace::apply)?;
    life.nothing_to_do("terraform plan again: nothing to do")?;

    life.steps.step("Let an autoscaler go from 1 to 3 replicas", || scale(client))?;
    life.nothing_to_do("terraform plan: the autoscaler's business, nothing to do")?;

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
