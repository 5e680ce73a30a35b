//! The stack of a whole platform, as users find it below examples/.

use crate::support::{LIMIT, scene};
use acceptance_tests::kubernetes::Node;
use anyhow::{Context, Result, ensure};
use std::{fs, path::Path};

#[test]
fn a_platform_is_made_in_one_apply_and_destroyed() -> Result<()> {
    scene("platform", |stage| {
        let stack = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/stacks/platform/main.tf");
        // The stack says itself where its providers come from.
        stage.workspace.remove("versions.tf")?;
        stage.workspace.configure(&fs::read_to_string(&stack).context("no stack")?)?;
        stage.workspace.write("terraform.tfvars", "namespace = \"team-platform\"\n")?;
        let node = Node::with_gpus("platform-pool", 1).label("mlplat.io/pool", "gpu-inference");
        stage.cluster.add_node(&node)?;
        let applied = stage.apply()?;
        ensure!(applied.stdout.contains("4 added"), "{}", applied.stdout);
        let service = stage.workspace.attributes("mlplat_inference_service.qwen")?;
        assert_eq!(
            (&service["ready_replicas"], &service["service_url"]),
            (&1.into(), &"http://vllm-qwen.team-platform.svc".into())
        );
        let deployment = stage.client().get("/apis/apps/v1/namespaces/team-platform/deployments/vllm-qwen")?;
        // The pool has place for one more replica than there ever are.
        assert_eq!(deployment["spec"]["strategy"]["rollingUpdate"]["maxSurge"], 1);
        stage.destroy()?;
        stage.client().wait_gone("/api/v1/namespaces/team-platform", LIMIT)
    })
}
