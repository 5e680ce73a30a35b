//! What somebody changes of a tenant behind terraform's back: shown by name, repaired alone.

use crate::{
    drift::{Drift, drifted},
    support::{LIMIT, tenancy},
};
use anyhow::{Context, Result};
use insta::assert_snapshot;
use serde_json::json;

const ATTRIBUTES: &str = "  team = \"alpha\"
  quota = { gpus = 2, memory = \"64Gi\" }
  container = { default = { cpu = \"1\", memory = \"2Gi\" } }
  network = { ingress_from_namespaces = [\"ingress-nginx\"] }
  trusted_registries = [\"ghcr.io/acme/\"]
  data_access = [{ bucket_arn = \"arn:aws:s3:::acme-models\", prefix = \"models/\" }]
  members = [{ group = \"researchers\", role = \"edit\" }]";

const DRIFTS: &[(&str, Drift)] = &[
    (
        "namespace: weaker standard",
        Drift::Patched("", || json!({"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "privileged"}}})),
    ),
    ("namespace: cost label", Drift::Patched("", || json!({"metadata": {"labels": {"team": null}}}))),
    (
        "quota: raised",
        Drift::Patched("resourcequotas/mlplat", || json!({"spec": {"hard": {"requests.nvidia.com/gpu": "9"}}})),
    ),
    ("limits: none", Drift::Patched("limitranges/mlplat", || json!({"spec": {"limits": []}}))),
    (
        "network: default deny of fewer pods",
        Drift::Patched(
            "networkpolicies/mlplat-default-deny",
            || json!({"spec": {"podSelector": {"matchLabels": {"a": "b"}}}}),
        ),
    ),
    (
        "network: another namespace let in",
        Drift::Patched(
            "networkpolicies/mlplat-same-namespace",
            || json!({"spec": {"ingress": [{"from": [{"namespaceSelector": {}}]}]}}),
        ),
    ),
    (
        "registries: warned of only",
        Drift::Patched(
            "validatingadmissionpolicybindings/mlplat-tenant-drift-trusted-registries",
            || json!({"spec": {"validationActions": ["Warn"]}}),
        ),
    ),
    (
        "registries: failures ignored",
        Drift::Patched(
            "validatingadmissionpolicies/mlplat-tenant-drift-trusted-registries",
            || json!({"spec": {"failurePolicy": "Ignore"}}),
        ),
    ),
    (
        "member: another group as well",
        Drift::Patched("rolebindings/mlplat-group-researchers-edit", || {
            let group = |name| json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": name});
            json!({"subjects": [group("researchers"), group("interns")]})
        }),
    ),
    ("quota: deleted", Drift::Deleted("resourcequotas/mlplat")),
    ("network: default deny deleted", Drift::Deleted("networkpolicies/mlplat-default-deny")),
    (
        "registries: binding deleted",
        Drift::Deleted("validatingadmissionpolicybindings/mlplat-tenant-drift-trusted-registries"),
    ),
    ("member: deleted", Drift::Deleted("rolebindings/mlplat-group-researchers-edit")),
];

#[test]
fn drift_of_each_object_of_a_tenant_is_named_and_repaired_alone() -> Result<()> {
    tenancy("tenant-drift", |stage| {
        let stage = stage.with_tenant(ATTRIBUTES)?;
        let mut table = Vec::new();
        for (name, drift) in DRIFTS {
            table.push(drifted(&stage, name, drift).with_context(|| (*name).to_owned())?);
        }
        assert_snapshot!("tenant_drift", table.join("\n"));
        stage.destroy_with_namespace()
    })
}

#[test]
fn what_others_add_to_a_tenant_is_left_to_them() -> Result<()> {
    tenancy("added", |stage| {
        let stage = stage.with_tenant(ATTRIBUTES)?;
        let theirs = json!({"metadata": {
            "labels": {"istio-injection": "enabled"},
            "annotations": {"scheduler.alpha.kubernetes.io/node-selector": "pool=a"},
        }});
        stage.client().patch("mesh", &stage.own_target(), &theirs)?;
        let quota = json!({"spec": {"hard": {"services": "5"}}});
        stage.client().patch("somebody", &stage.target("resourcequotas/mlplat")?, &quota)?;
        stage.settled()?;
        let labels = stage.client().get(&stage.own_target())?["metadata"]["labels"].clone();
        assert_eq!(labels["istio-injection"], "enabled");
        stage.destroy_with_namespace()
    })
}

#[test]
fn a_tenant_whose_namespace_was_deleted_is_made_again_whole() -> Result<()> {
    tenancy("lost", |stage| {
        let stage = stage.with_tenant(ATTRIBUTES)?;
        stage.client().delete(&stage.own_target())?;
        stage.client().wait_gone(&stage.own_target(), LIMIT)?;
        stage.plan()?;
        stage.apply()?;
        assert!(stage.objects()?.contains("resourcequotas/mlplat"));
        stage.destroy_with_namespace()
    })
}
