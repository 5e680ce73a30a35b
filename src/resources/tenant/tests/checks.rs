//! What is complained about.

use serde_json::{Value as Json, json};

use super::{config, whole};
use crate::resources::{Tenant, testing::complaints};

fn check(change: Json, expected: &[&str]) {
    assert_eq!(complaints::<Tenant>(&config(change)), expected);
}

#[test]
fn full_and_unknown_configurations_are_not_complained_about() {
    assert_eq!(complaints::<Tenant>(&whole()), Vec::<String>::new());
    let unknown = json!({
        "name": "(unknown)", "quota": "(unknown)", "container": "(unknown)", "network": "(unknown)",
        "data_access": "(unknown)", "members": "(unknown)", "trusted_registries": "(unknown)", "team": "(unknown)",
    });
    check(unknown, &[]);
}

#[test]
fn names_are_those_that_kubernetes_takes_and_not_its_own() {
    check(json!({ "name": "Team_A" }), &["error at name: The namespace name \"Team_A\" cannot be used"]);
    check(json!({ "name": "kube-system" }), &["error at name: The namespace \"kube-system\" is the cluster's own"]);
    check(json!({ "name": "7b" }), &[]);
    check(json!({ "cluster": "a/b" }), &["error at cluster: The cluster name \"a/b\" cannot be used"]);
    check(json!({ "team": "a b" }), &["error at team: The team \"a b\" cannot be a label's value"]);
    check(
        json!({ "labels": { "kubernetes.io/metadata.name": "x" } }),
        &["error at labels: The label \"kubernetes.io/metadata.name\" is Kubernetes' own"],
    );
    check(
        json!({ "quota": { "gpu_resource_name": "nvidia.com/a b" } }),
        &["error at quota.gpu_resource_name: \"nvidia.com/a b\" is not the name of an accelerator's resource"],
    );
}

#[test]
fn amounts_are_amounts_and_in_order() {
    check(
        json!({ "quota": { "cpu": "four", "gpu_resource_name": "gpu" } }),
        &[
            "error at quota.cpu: \"four\" is not an amount",
            "error at quota.gpu_resource_name: \"gpu\" is not the name of an accelerator's resource",
        ],
    );
    let extended = |names: &[&str]| {
        let counts: serde_json::Map<_, _> = names.iter().map(|name| ((*name).to_owned(), json!(1))).collect();
        json!({ "quota": { "gpus": 1, "gpu_resource_name": "amd.com/gpu", "extended": counts } })
    };
    check(extended(&["cpu"]), &["error at quota.extended: \"cpu\" is not the name of an extended resource"]);
    check(extended(&["amd.com/gpu"]), &["error at quota.extended: \"amd.com/gpu\" is counted twice"]);
    check(extended(&["nvidia.com/gpu", "count/resourceclaims.resource.k8s.io", "example.com/dongle"]), &[]);
    check(
        json!({ "container": { "default": { "memory": "2Gi" }, "max": { "memory": "1024Mi" } } }),
        &["error at container.default.memory: default has more memory than max"],
    );
    check(
        json!({ "container": { "default": { "cpu": "1000m" }, "default_request": { "cpu": "1" }, "max": { "cpu": "1.0" } } }),
        &[],
    );
    check(
        json!({ "quota": { "memory": "1Gi" }, "container": { "default": { "memory": "2Gi" } } }),
        &["error at container.default.memory: One container gets more memory than the whole quota"],
    );
}

#[test]
fn versions_networks_and_registries_have_a_form() {
    check(
        json!({ "pod_security_version": "1.36" }),
        &["error at pod_security_version: \"1.36\" is not a version of the Pod Security Standards"],
    );
    check(
        json!({ "network": { "egress_cidrs": ["10.0.0.0"], "ingress_from_namespaces": ["*"], "enforcer": "cni" } }),
        &[
            "error at network.egress_cidrs: \"10.0.0.0\" is not a range of addresses",
            "error at network.ingress_from_namespaces: \"*\" cannot be the name of a namespace",
            "error at network.enforcer: \"cni\" is not the name of a DaemonSet in a namespace",
        ],
    );
    check(
        json!({ "network": { "isolation": "none", "allow_gang_traffic": true } }),
        &["warning at network.isolation: Without isolation all traffic is allowed"],
    );
    let ranges = ["10.0.0.0/8", "10.1.2.3/32", "0.0.0.0/0", "::/0", "fd00::1/128"];
    check(json!({ "network": { "egress_cidrs": ranges } }), &[]);
    for range in ["10.1.2.3/8", "::1/64", "10.0.0.0/33", "::/129", "0.0.0.1/0"] {
        check(
            json!({ "network": { "service_cidrs": [range] } }),
            &[&format!("error at network.service_cidrs: {range:?} is not a range of addresses")],
        );
    }
    for registry in
        ["ghcr.io//a", "https://ghcr.io", "acme/", "ghcr.io/*", "ghcr.io/acme:v1", "GHCR.io", "ghcr.io:", "it's.io"]
    {
        check(
            json!({ "trusted_registries": [registry] }),
            &[&format!("error at trusted_registries: The registry {registry:?} cannot be used")],
        );
    }
    check(json!({ "trusted_registries": ["localhost:5000", "registry:5000/a/b_c", "docker.io/library/"] }), &[]);
}

#[test]
fn access_to_data_is_checked() {
    let bucket = "arn:aws:s3:::acme";
    check(
        json!({ "cluster": null, "data_access": [{ "bucket_arn": bucket }] }),
        &["error at data_access: Access to data needs an EKS cluster"],
    );
    check(
        json!({ "data_access": [
            { "bucket_arn": "acme", "prefix": "/models" },
            { "bucket_arn": bucket, "prefix": "models/*", "service_account": "A", "kms_key_arn": "alias/x" },
        ] }),
        &[
            "error at data_access[0].bucket_arn: \"acme\" is not the ARN of a bucket",
            "error at data_access[0].prefix: The prefix \"/models\" begins with \"/\"",
            "error at data_access[1].prefix: The prefix \"models/*\" has a wildcard",
            "error at data_access[1].service_account: \"A\" cannot be the name of a service account",
            "error at data_access[1].kms_key_arn: \"alias/x\" is not the ARN of a KMS key",
        ],
    );
    check(
        json!({ "data_access": [{ "bucket_arn": bucket }, { "bucket_arn": bucket, "mode": "write" }] }),
        &["error at data_access[1].bucket_arn: Access to \"\" of \"arn:aws:s3:::acme\" is given twice"],
    );
    check(
        json!({ "oidc_provider_arn": "arn:aws:iam::123456789012:oidc-provider/a.b/id/0A" }),
        &["warning at oidc_provider_arn: The OIDC provider has no effect"],
    );
}

#[test]
fn secrets_and_members_are_checked() {
    check(
        json!({ "external_secrets": [
            { "name": "hf", "store": "aws", "key": "a", "store_kind": "Vault" },
            { "name": "hf", "store": "aws", "key": "b", "refresh_interval": "often" },
        ] }),
        &[
            "error at external_secrets[0].store_kind: \"Vault\" is not a kind of store",
            "error at external_secrets[1].refresh_interval: \"often\" is not an interval",
            "error at external_secrets[1].name: The secret \"hf\" is there twice",
        ],
    );
    check(
        json!({ "external_secrets": [
            { "name": "a", "store": "", "key": " " }, { "name": "b", "store": "aws", "key": "prod/hf/" },
            { "name": "c", "store": "aws", "key": "prod/hf", "property": "tokens[0]" },
            { "name": "d", "store": "aws", "key": "prod/hf/", "secret_key": "token" },
        ] }),
        &[
            "error at external_secrets[0].store: The `store` of a secret is an empty text",
            "error at external_secrets[0].key: The `key` of a secret is an empty text",
            "error at external_secrets[1].key: No key in the Secret follows from \"prod/hf/\"",
            "error at external_secrets[2].property: No key in the Secret follows from \"tokens[0]\"",
        ],
    );
    check(
        json!({ "members": [
            { "role": "edit" }, { "group": "a", "user": "b", "role": "edit" }, { "group": "a", "role": "cluster-admin" },
            { "group": "c", "role": "view" }, { "group": "c", "role": "view" },
        ] }),
        &[
            "error at members[0].role: A member is either a group or a user",
            "error at members[1].user: A member is either a group or a user",
            "warning at members[2].role: This member can lift the tenant's limits",
            "error at members[4].role: The role \"view\" is given to the same member twice",
        ],
    );
}
