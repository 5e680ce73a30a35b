//! Tenants that cannot be destroyed: what keeps them is named, and the next destroy goes on.

use crate::support::{errors, tenancy};
use anyhow::Result;
use insta::assert_snapshot;
use serde_json::json;

const SHORT: &str = "  timeouts { delete = \"10s\" }
  quota = { pods = 3 }
  trusted_registries = [\"ghcr.io\"]";

#[test]
fn a_namespace_that_a_finalizer_holds_is_told_of_and_destroyed_later() -> Result<()> {
    tenancy("held", |stage| {
        let stage = stage.with_tenant(SHORT)?;
        let held = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "lock", "namespace": "held", "finalizers": ["example.com/operator"]},
        });
        let target = stage.client().target(&held)?;
        stage.client().create(&held)?;
        let refused = stage.workspace.destroy()?.failed()?;
        assert_snapshot!("held", errors(&refused));
        // What guards it from outside stays until it is gone, and what is inside goes with it.
        assert_eq!(stage.writes(), ["delete.namespaces"]);
        assert!(stage.object("validatingadmissionpolicybindings/mlplat-held-trusted-registries").is_ok());
        // It is not forgotten, and a plan shows what is going on and does not trip over it.
        let plan = stage.workspace.plan()?.ok()?;
        assert!(plan.says("being deleted"), "{}", plan.stdout);
        assert!(plan.says("example.com/operator"), "{}", plan.stdout);
        stage.client().patch("operator", &target, &json!({"metadata": {"finalizers": []}}))?;
        stage.destroy_with_namespace()
    })
}
