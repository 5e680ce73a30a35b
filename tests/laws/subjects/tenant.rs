//! `mlplat_tenant`.

use serde_json::json;

use super::{Change, Effect, Subject, change, timeouts};

pub(crate) const SUBJECT: Subject =
    Subject { resource: "mlplat_tenant", changes, unsupported: &[], mirrors: &[], twin: Vec::new };

fn changes() -> Vec<Change> {
    use Effect::{InPlace, Replaces};
    let full = |effect, attribute, to| change("full", effect, attribute, to);
    let mut changes = vec![
        full(Replaces, "cluster", json!("ml-dev")),
        full(Replaces, "name", json!("team-beta")),
        full(InPlace, "team", json!("beta")),
        full(InPlace, "quota.gpus", json!(4)),
        full(InPlace, "quota.gpu_resource_name", json!("nvidia.com/gpu")),
        full(InPlace, "quota.extended", json!({ "nvidia.com/mig-1g.10gb": 7 })),
        full(InPlace, "quota.cpu", json!("65")),
        full(InPlace, "quota.memory", json!("128Gi")),
        full(InPlace, "quota.storage", json!("1Ti")),
        full(InPlace, "quota.persistent_volume_claims", json!(3)),
        full(InPlace, "quota.pods", json!(50)),
        full(InPlace, "container.default.cpu", json!("2")),
        full(InPlace, "container.default.memory", json!("3Gi")),
        full(InPlace, "container.default.ephemeral_storage", json!("11Gi")),
        full(InPlace, "container.default_request.cpu", json!("250m")),
        full(InPlace, "container.default_request.memory", json!("512Mi")),
        full(InPlace, "container.default_request.ephemeral_storage", json!("1Gi")),
        full(InPlace, "container.max.cpu", json!("40")),
        full(InPlace, "container.max.memory", json!("100Gi")),
        full(InPlace, "container.max.ephemeral_storage", json!("100Gi")),
        full(InPlace, "pod_security", json!("privileged")),
        full(InPlace, "pod_security_version", json!("v1.34")),
        full(InPlace, "network.isolation", json!("none")).swept(),
        full(InPlace, "network.ingress_from_namespaces", json!(["ingress-nginx"])),
        full(InPlace, "network.allow_gang_traffic", json!(true)),
        full(InPlace, "network.egress_cidrs", json!(["10.1.0.0/16"])),
        full(InPlace, "network.service_cidrs", json!(["10.96.0.0/12"])),
        full(InPlace, "network.enforcer", json!("kube-system/another")),
        full(InPlace, "trusted_registries", json!([])),
        full(InPlace, "data_access", json!([])),
        full(InPlace, "access_method", json!("pod_identity")).swept(),
        full(InPlace, "oidc_provider_arn", json!("arn:aws:iam::123456789012:oidc-provider/oidc.example.com/id/1")),
        full(InPlace, "annotate_service_accounts", json!(false)),
        full(InPlace, "external_secrets", json!([])),
        full(InPlace, "members", json!([{ "group": "team-alpha", "role": "admin" }])),
        full(InPlace, "labels", json!({ "tier": "silver" })),
        full(InPlace, "tags", json!({ "data-class": "secret" })),
        full(InPlace, "adopt", json!("always")),
    ];
    changes.extend(timeouts("full"));
    changes
}
