//! The stack of a whole platform, as users find it below examples/.

use crate::support::{LIMIT, scene, target};
use acceptance_tests::kubernetes::Node;
use anyhow::{Context, Result, ensure};
use std::{fs, path::Path};

#[test]
fn a_platform_is_made_in_one_apply_and_destroyed() -> Result<()> {
    scene("platform", |scene| {
        let stack = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/stacks/platform/main.tf");
        // The stack says itself where its providers come from.
        scene.workspace.remove("versions.tf")?;
        scene.workspace.configure(&fs::read_to_string(&stack).context("no stack")?)?;
        scene.workspace.write("terraform.tfvars", "namespace = \"team-platform\"\n")?;
        let node = Node::with_gpus("platform-pool", 1).label("mlplat.io/pool", "gpu-inference");
        scene.cluster.add_node(&node)?;
        let applied = scene.apply()?;
        ensure!(applied.stdout.contains("5 added"), "{}", applied.stdout);
        // The quota fits the pool.
        ensure!(!applied.says("its pool has at most"), "{}", applied.stdout);
        let service = scene.workspace.attributes("mlplat_inference_service.qwen")?;
        assert_eq!(
            (&service["ready_replicas"], &service["service_url"]),
            (&1.into(), &"http://vllm-qwen.team-platform.svc".into())
        );
        let deployment = scene.client().get("/apis/apps/v1/namespaces/team-platform/deployments/vllm-qwen")?;
        // The pool has place for one more replica than there ever are.
        assert_eq!(deployment["spec"]["strategy"]["rollingUpdate"]["maxSurge"], 1);
        // The model server has its GPU through the queue.
        let admitted = |queue: &serde_json::Value| queue["status"]["admittedWorkloads"] == 1;
        scene.client().wait(&target("clusterqueues", "gpu"), LIMIT, admitted)?;
        scene.destroy()?;
        scene.client().wait_gone("/api/v1/namespaces/team-platform", LIMIT)
    })
}
