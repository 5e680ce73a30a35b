//! Tests of `mlplat_tenant`.

mod checks;
mod graph;

use serde_json::{Value as Json, json};

fn config(change: Json) -> Json {
    let mut config = json!({ "cluster": "ml-prod", "name": "team-alpha" });
    if let (Some(config), Json::Object(change)) = (config.as_object_mut(), change) {
        config.extend(change);
        config.retain(|_, value| !value.is_null());
    }
    config
}

/// Everything that can be set.
fn whole() -> Json {
    config(json!({
        "team": "alpha",
        "quota": {
            "gpus": 8, "gpu_resource_name": "nvidia.com/gpu", "cpu": "64000m", "memory": "256Gi", "storage": "2Ti",
            "persistent_volume_claims": 10, "pods": 100, "extended": { "example.com/dongle": 2 },
        },
        "container": {
            "default": { "cpu": "1", "memory": "2Gi" },
            "default_request": { "cpu": "500m", "memory": "1Gi" },
            "max": { "cpu": "32", "memory": "128Gi" },
        },
        "pod_security": "baseline",
        "pod_security_version": "v1.35",
        "network": {
            "isolation": "strict", "ingress_from_namespaces": ["ingress-nginx", "monitoring"],
            "allow_gang_traffic": true, "egress_cidrs": ["10.0.0.0/8"], "service_cidrs": ["172.20.0.0/16"],
            "enforcer": "kube-system/my-cni",
        },
        "trusted_registries": ["ghcr.io/acme/", "docker.io/vllm/vllm-openai", "quay.io"],
        "data_access": [
            { "bucket_arn": "arn:aws:s3:::acme-models", "prefix": "models/", "mode": "read", "service_account": "trainer" },
            { "bucket_arn": "arn:aws:s3:::acme-runs", "prefix": "alpha/", "mode": "write", "service_account": "trainer",
              "kms_key_arn": "arn:aws:kms:us-east-1:123456789012:key/0a" },
        ],
        "access_method": "pod_identity",
        "annotate_service_accounts": false,
        "external_secrets": [{
            "name": "hf", "store": "aws", "store_kind": "SecretStore", "key": "prod/hf", "property": "token",
            "secret_key": "hf-token", "refresh_interval": "30m",
        }],
        "members": [{ "group": "team-alpha", "role": "edit" }, { "user": "Ann@acme.com", "role": "view" }],
        "labels": { "data": "public" },
        "tags": { "data": "public" },
        "adopt": "if_unmanaged",
    }))
}
