//! Isolation that the cluster can or cannot keep.

use crate::support::{Stage, errors, tenancy};
use acceptance_tests::Rule;
use anyhow::Result;
use insta::assert_snapshot;
use serde_json::{Value, json};

const STRICT: &str = "  network = { isolation = \"strict\" }";

#[test]
fn a_promise_that_the_cluster_cannot_keep_fails_the_plan() -> Result<()> {
    tenancy("promised", |stage| {
        stage.workspace.configure(&stage.tenant(STRICT))?;
        assert_snapshot!("strict", errors(&stage.workspace.plan()?.failed()?));
        assert!(stage.api.take_journal().writes().is_empty());
        // Where it is not promised, it is told.
        stage.workspace.configure(&stage.tenant(""))?;
        assert_snapshot!("standard", errors(&stage.workspace.plan()?.ok()?));
        stage.workspace.configure(&stage.tenant("  network = { isolation = \"none\" }"))?;
        let plan = stage.workspace.plan()?.ok()?;
        assert!(!plan.says("does not enforce"), "{}", plan.stdout);
        Ok(())
    })
}

#[test]
fn a_promise_is_kept_where_something_enforces_policies() -> Result<()> {
    const NAMED: &str = "  network = { isolation = \"strict\", enforcer = \"enforced-cni/my-cni\" }";
    tenancy("enforced", |stage| {
        stage.cluster.namespace("enforced-cni")?;
        stage.client().create(&daemon_set("enforced-cni", "my-cni", &json!([])))?;
        let stage = stage.with_tenant(NAMED)?;
        // When it is gone, the promise is broken: the plan says so, the apply does not pretend, and a destroy is not
        // kept from its work.
        stage.client().delete("/apis/apps/v1/namespaces/enforced-cni/daemonsets/my-cni")?;
        stage.client().wait_gone("/apis/apps/v1/namespaces/enforced-cni/daemonsets/my-cni", crate::support::LIMIT)?;
        assert_snapshot!("enforcement_lost", errors(&stage.workspace.plan()?.ok()?));
        let refused = stage.workspace.apply()?.failed()?;
        assert!(refused.says("as strict isolation promises"), "{}", refused.stderr);
        stage.destroy_with_namespace()
    })
}

#[test]
fn the_switch_of_the_vpc_cni_is_looked_at() -> Result<()> {
    tenancy("vpc-cni", |stage| {
        stage.workspace.configure(&stage.tenant(STRICT))?;
        answer(&stage, &json!(["--enable-network-policy=false"]));
        let refused = stage.workspace.plan()?.failed()?;
        assert!(refused.says("its network policy agent is switched off"), "{}", refused.stderr);
        answer(&stage, &json!(["--enable-network-policy=true"]));
        stage.apply()?;
        stage.destroy_with_namespace()
    })
}

#[test]
fn a_promise_that_cannot_be_looked_after_is_a_warning() -> Result<()> {
    tenancy("hidden", |stage| {
        stage.workspace.configure(&stage.tenant(STRICT))?;
        stage.api.add_rule(Rule::on("list.daemonsets").access_denied());
        let plan = stage.workspace.plan()?.ok()?;
        assert!(plan.says("The credentials do not allow to list DaemonSets in all namespaces"), "{}", plan.stdout);
        stage.apply()?;
        stage.destroy_with_namespace()
    })
}

#[test]
fn a_half_made_tenant_that_could_not_be_made_now_is_destroyed() -> Result<()> {
    tenancy("half-made", |stage| {
        stage.workspace.configure(&stage.tenant(&format!("{STRICT}\n  quota = {{ pods = 3 }}")))?;
        answer(&stage, &json!(["--enable-network-policy=true"]));
        stage.api.add_rule(Rule::on("apply.resourcequotas").access_denied());
        stage.workspace.apply()?.failed()?;
        answer(&stage, &json!(["--enable-network-policy=false"]));
        let plan = stage.workspace.plan()?.ok()?;
        assert!(plan.says("must be replaced") && plan.says("does not enforce NetworkPolicies"), "{}", plan.stdout);
        stage.destroy_with_namespace()
    })
}

#[test]
fn a_change_that_the_cluster_cannot_keep_fails_the_plan_and_the_tenant_can_be_destroyed() -> Result<()> {
    tenancy("made-worse", |stage| {
        let stage = stage.with_tenant("  network = { isolation = \"none\" }")?;
        stage.workspace.configure(&stage.tenant(STRICT))?;
        let refused = stage.workspace.plan()?.failed()?;
        assert!(refused.says("does not enforce NetworkPolicies"), "{}", refused.stderr);
        // Without a look at what is there Terraform does not plan it first.
        stage.workspace.run(&["destroy", "-auto-approve", "-refresh=false"])?.ok()?;
        stage.destroy_with_namespace()
    })
}

/// Let the cluster have the Amazon VPC CNI with these arguments of its agent, and nothing else.
fn answer(stage: &Stage, arguments: &Value) {
    stage.api.clear_rules();
    let list = json!({
        "apiVersion": "apps/v1", "kind": "DaemonSetList", "metadata": {},
        "items": [daemon_set("kube-system", "aws-node", arguments)],
    });
    stage.api.add_rule(Rule::on("list.daemonsets").respond_json(200, &list));
}

fn daemon_set(namespace: &str, name: &str, arguments: &Value) -> Value {
    let labels = json!({"app": name});
    json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "nodeSelector": {"none": "such"},
                    "containers": [{"name": "agent", "image": "registry.test/cni", "args": arguments}],
                },
            },
        },
    })
}
