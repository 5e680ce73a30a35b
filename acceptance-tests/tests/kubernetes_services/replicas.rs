//! Who moves the number of replicas.

use crate::support::{LIMIT, SERVICE, scene};
use acceptance_tests::kubernetes::Crds;
use anyhow::Result;
use insta::assert_snapshot;
use serde_json::json;

#[test]
fn replicas_that_an_autoscaler_moved_stay_as_they_are() -> Result<()> {
    const SCALED: &str = "  scaling = { min = 1, max = 3, target = 4 }\n";
    scene("scaled", |stage| {
        let stage = stage.with_service(SCALED)?;
        let target = stage.target("deployments/llm")?;
        stage.client().patch("autoscaler", &format!("{target}/scale"), &json!({"spec": {"replicas": 3}}))?;
        stage.client().wait(&target, LIMIT, |deployment| deployment["status"]["readyReplicas"] == 3)?;
        stage.settled()?;
        stage.workspace.configure(&stage.service(SCALED).replace("v0.11.0", "v0.12.0"))?;
        assert_eq!(stage.apply_and_tell_writes()?, ["apply.deployments"]);
        let deployment = stage.object("deployments/llm")?;
        assert_eq!(deployment["spec"]["replicas"], 3);
        assert_eq!(deployment["spec"]["template"]["spec"]["containers"][0]["image"], "registry.test/vllm:v0.12.0");
        assert_eq!(stage.workspace.attributes(SERVICE)?["live_replicas"], 3);
        stage.destroy()
    })
}

#[test]
fn an_autoscaler_that_is_not_installed_is_named_and_used_once_it_is() -> Result<()> {
    scene("keda", |stage| {
        stage.workspace.configure(&stage.service("  scaling = { min = 1, max = 3, target = 4, via = \"keda\" }\n"))?;
        assert_snapshot!("keda_missing", crate::support::errors(&stage.workspace.apply()?.failed()?));
        stage.cluster.install(&[Crds::Keda])?;
        stage.apply()?;
        let scaled = stage.client().get("/apis/keda.sh/v1alpha1/namespaces/keda/scaledobjects/llm")?;
        assert_eq!(scaled["spec"]["maxReplicaCount"], 3);
        stage.destroy()
    })
}

#[test]
fn replicas_without_an_autoscaler_are_the_configurations() -> Result<()> {
    scene("counted", |stage| {
        let stage = stage.with_service("  replicas = 2\n")?;
        let target = stage.target("deployments/llm")?;
        stage.client().patch("somebody", &format!("{target}/scale"), &json!({"spec": {"replicas": 3}}))?;
        let plan = stage.plan()?;
        assert!(plan.contains("is 3, want 2"), "{plan}");
        assert_eq!(stage.apply_and_tell_writes()?, ["apply.deployments"]);
        assert_eq!(stage.object("deployments/llm")?["spec"]["replicas"], 2);
        stage.destroy()
    })
}
