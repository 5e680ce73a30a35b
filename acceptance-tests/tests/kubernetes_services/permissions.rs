//! The role that the reference gives is enough: everything a service and a tenant do is done with no more than that.

use crate::support::{LIMIT, Stage, tenancy};
use acceptance_tests::kubernetes::poll;
use anyhow::{Context, Result};
use serde_json::json;
use std::{fs, path::Path};

const KEY: &str = "LEASTPRIVILEGED";
const GROUP: &str = "mlplat-least";

#[test]
fn the_role_of_the_reference_is_enough() -> Result<()> {
    tenancy("least", |mut stage| {
        bind(&stage)?;
        stage.cluster.tokens().set_groups(KEY, &[GROUP]);
        stage.workspace.set_env("AWS_ACCESS_KEY_ID", KEY);
        stage.add_gpus()?;
        let tenant = stage.tenant(
            "  quota = { gpus = 2, cpu = \"16\", memory = \"64Gi\" }\n  container = { max = { cpu = \"16\" } }\n  \
             trusted_registries = [\"registry.test/\"]\n  members = [{ group = \"researchers\", role = \"edit\" }]\n  \
             network = { isolation = \"standard\" }",
        );
        let service = stage.service(
            "  scaling = { min = 1, max = 2, signal = \"queue_depth\", target = 4 }\n  expose = { host = \
             \"least.example.com\", class = \"nginx\" }\n  depends_on = [mlplat_tenant.team]",
        );
        stage.workspace.configure(&format!("{tenant}{service}"))?;
        stage.apply()?;
        stage.workspace.configure(&format!("{tenant}{}", service.replace("v0.11.0", "v0.12.0")))?;
        stage.apply()?;
        stage.destroy_with_namespace()?;
        let journal = stage.api.take_journal();
        let denied: Vec<_> = journal.entries().iter().filter(|call| call.status == Some(403)).collect();
        // Secrets are never listed, and a policy that is new takes a moment to be in force.
        let unforeseen: Vec<_> = denied.iter().filter(|call| !call.name.starts_with("list.secrets")).collect();
        assert!(unforeseen.is_empty(), "{unforeseen:#?}");
        Ok(())
    })
}

/// The role of the reference, given to the group.
fn bind(stage: &Stage) -> Result<()> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guides/permissions.md");
    let page = fs::read_to_string(page)?;
    let role = page.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).context("no role")?;
    stage.client().apply_yaml("mlplat-test", role)?;
    let group = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": GROUP});
    stage.client().create(&json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": GROUP},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "mlplat"},
        "subjects": [group],
    }))?;
    // Roles reach the authoriser a moment after they are written.
    let client = stage.cluster.client_as("somebody", Some(GROUP))?;
    let lists = || Ok((client.send("GET", "/api/v1/nodes?limit=1", "", b"")?.status == 200).then_some(()));
    poll(LIMIT, lists)?.context("the role is never in force")
}
