//! A team's place and its model server, made in one run.

use crate::support::{LIMIT, SERVICE, scene};
use anyhow::Result;

#[test]
fn a_tenant_and_a_service_in_it_are_made_and_destroyed_in_one_run() -> Result<()> {
    scene("tenancy", |stage| {
        let tenant = "resource \"mlplat_tenant\" \"alpha\" {\n  cluster = \"ml-prod\"\n  name    = \"team-alpha\"\n  \
                      quota   = { gpus = 2 }\n}\n";
        let service = stage.service("").replace("namespace = \"tenancy\"", "namespace = mlplat_tenant.alpha.name");
        stage.workspace.configure(&format!("{tenant}{service}"))?;
        let plan = stage.plan()?;
        assert!(plan.contains("Plan: 2 to add"), "{plan}");
        stage.apply()?;
        assert_eq!(stage.workspace.attributes(SERVICE)?["ready_replicas"], 1);
        let namespace = stage.client().get("/api/v1/namespaces/team-alpha")?;
        assert_eq!(namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"], "restricted");
        stage.destroy()?;
        stage.client().wait_gone("/api/v1/namespaces/team-alpha", LIMIT)
    })
}
