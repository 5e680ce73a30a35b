//! The laws that every resource obeys, held against each with configurations that matter.

use std::collections::BTreeMap;

use converge::{
    Document, Graph, Source,
    testing::laws::{self, Case},
};
use serde_json::{Value as Json, json};

use super::{
    GpuPool, InferenceService, ModelBucket, Queue, SharedFilesystem, Tenant,
    testing::{KINDS, cloud, expanded, owner},
};
use crate::composite::Composite;

fn graph<C: Composite>(config: &Json) -> impl Fn(BTreeMap<String, Document>) -> Graph {
    move |outputs| expanded::<C>(config, outputs).1
}

async fn made<C: Composite>(config: &Json) -> Result<(), String> {
    let (source, cloud) = (graph::<C>(config), cloud());
    laws::all(&Case { name: C::NOUN, source: &source, before: None, owner: owner(), kinds: KINDS, cloud: &cloud }).await
}

async fn changed<C: Composite>(before: &Json, after: &Json) -> Result<(), String> {
    let (earlier, source, cloud) = (graph::<C>(before), graph::<C>(after), cloud());
    let before: Source<'_> = &earlier;
    let case =
        Case { name: C::NOUN, source: &source, before: Some(before), owner: owner(), kinds: KINDS, cloud: &cloud };
    laws::all(&case).await
}

fn bucket() -> Json {
    json!({ "name": "acme-ml-models" })
}

fn full_bucket() -> Json {
    json!({
        "name": "acme-ml-models",
        "kms_key_arn": "arn:aws:kms:us-east-1:123456789012:key/0a1b",
        "retention": [{ "prefix": "checkpoints/", "expire_after_days": 30 }],
        "protected_prefixes": ["models/"],
        "readers": ["arn:aws:iam::123456789012:role/server"],
        "tags": { "data": "public" },
    })
}

fn pool() -> Json {
    json!({
        "cluster": "ml-prod",
        "name": "gpu",
        "instance_types": ["g5.xlarge"],
        "subnet_ids": ["subnet-a", "subnet-b"],
        // Of an object made again a changed `initial` would be another one.
        "size": { "min": 1, "max": 4, "initial": 2 },
        "taints": [{ "key": "a", "effect": "NO_SCHEDULE" }],
    })
}

fn full_pool() -> Json {
    let mut pool = pool();
    pool["disk"] = json!({ "size_gib": 300, "iops": 6000 });
    pool["size"] = json!({ "min": 2, "max": 6, "initial": 2 });
    pool["labels"] = json!({ "node-type": "gpu" });
    pool["tags"] = json!({ "data": "public" });
    pool
}

fn service() -> Json {
    json!({
        "cluster": "ml-prod",
        "namespace": "ml",
        "name": "vllm-qwen",
        "engine": { "kind": "vllm", "image": "vllm/vllm-openai:v0.32.0" },
        "model": { "source": "hf://Qwen/Qwen2.5-7B-Instruct", "parameters_billion": 7.6 },
    })
}

fn full_service() -> Json {
    let mut service = service();
    service["model"]["token_wo"] = json!("hf_secret");
    service["model"]["token_wo_version"] = json!(1);
    service["scaling"] = json!({ "max": 8, "target": 4 });
    service["expose"] = json!({ "host": "qwen.example.com", "class": "alb" });
    service["queue"] = json!("gpu");
    service["access"] = json!({ "role_arn": "arn:aws:iam::123456789012:role/models" });
    service["metrics"] = json!({ "pod_monitor": true });
    service["labels"] = json!({ "data": "public" });
    service
}

fn queue() -> Json {
    let quota = json!({ "nvidia.com/gpu": { "nominal": "8" }, "cpu": { "nominal": "64" } });
    json!({
        "cluster": "ml-prod",
        "name": "gpu",
        "flavors": [{ "name": "on-demand", "node_labels": { "a": "b" }, "quota": quota }],
        "namespaces": { "team-alpha": "gpu" },
    })
}

fn full_queue() -> Json {
    let mut queue = queue();
    let quota = queue["flavors"][0]["quota"].clone();
    queue["flavors"] = json!([
        { "name": "spot", "taints": [{ "key": "spot", "effect": "NoSchedule" }], "quota": quota },
        {
            "name": "on-demand",
            "node_labels": { "a": "b" },
            "topology": { "name": "racks", "levels": ["rack", "kubernetes.io/hostname"] },
            "quota": quota,
        },
    ]);
    queue["cohort"] = json!("all");
    queue["namespaces"] = json!({ "team-alpha": "other", "team-beta": "gpu" });
    queue["priorities"] = json!({ "interactive": 1000 });
    queue["labels"] = json!({ "data": "public" });
    queue
}

#[tokio::test]
async fn a_queue_obeys_the_laws() -> Result<(), String> {
    made::<Queue>(&queue()).await?;
    made::<Queue>(&full_queue()).await
}

#[tokio::test]
async fn a_queue_that_grows_and_shrinks_obeys_the_laws() -> Result<(), String> {
    changed::<Queue>(&queue(), &full_queue()).await?;
    changed::<Queue>(&full_queue(), &queue()).await
}

#[tokio::test]
async fn a_model_bucket_obeys_the_laws() -> Result<(), String> {
    made::<ModelBucket>(&bucket()).await?;
    changed::<ModelBucket>(&bucket(), &full_bucket()).await?;
    changed::<ModelBucket>(&full_bucket(), &bucket()).await
}

#[tokio::test]
async fn a_gpu_pool_obeys_the_laws() -> Result<(), String> {
    made::<GpuPool>(&pool()).await
}

#[tokio::test]
async fn a_gpu_pool_changed_in_place_obeys_the_laws() -> Result<(), String> {
    changed::<GpuPool>(&pool(), &full_pool()).await
}

#[tokio::test]
async fn a_gpu_pool_that_rolls_obeys_the_laws() -> Result<(), String> {
    let mut rolled = full_pool();
    rolled["instance_types"] = json!(["g6.xlarge"]);
    rolled["image"] = json!({ "family": "bottlerocket" });
    changed::<GpuPool>(&pool(), &rolled).await
}

#[tokio::test]
async fn a_gpu_pool_that_gives_up_its_role_and_scaler_obeys_the_laws() -> Result<(), String> {
    let mut lean = pool();
    lean["scaler"] = json!("none");
    lean["node_role_arn"] = json!("arn:aws:iam::123456789012:role/nodes");
    changed::<GpuPool>(&pool(), &lean).await
}

#[tokio::test]
async fn an_inference_service_obeys_the_laws() -> Result<(), String> {
    made::<InferenceService>(&service()).await?;
    made::<InferenceService>(&full_service()).await
}

#[tokio::test]
async fn an_inference_service_that_grows_and_shrinks_obeys_the_laws() -> Result<(), String> {
    changed::<InferenceService>(&service(), &full_service()).await?;
    changed::<InferenceService>(&full_service(), &service()).await
}

#[tokio::test]
async fn an_inference_service_that_gets_another_autoscaler_obeys_the_laws() -> Result<(), String> {
    let mut other = full_service();
    other["scaling"]["via"] = json!("keda");
    changed::<InferenceService>(&full_service(), &other).await
}

fn tenant() -> Json {
    json!({ "cluster": "ml-prod", "name": "team-alpha", "network": { "isolation": "none" } })
}

fn full_tenant() -> Json {
    let mut tenant = tenant();
    tenant["quota"] = json!({ "gpus": 8, "cpu": "64" });
    tenant["trusted_registries"] = json!(["ghcr.io/acme/"]);
    tenant["data_access"] = json!([{ "bucket_arn": "arn:aws:s3:::acme", "prefix": "models/" }]);
    tenant["members"] = json!([{ "group": "team-alpha", "role": "edit" }]);
    tenant
}

#[tokio::test]
async fn a_tenant_obeys_the_laws() -> Result<(), String> {
    made::<Tenant>(&full_tenant()).await
}

#[tokio::test]
async fn a_tenant_that_is_isolated_and_no_longer_obeys_the_laws() -> Result<(), String> {
    let mut isolated = tenant();
    isolated["network"] = json!({ "isolation": "strict", "ingress_from_namespaces": ["ingress-nginx"] });
    isolated["external_secrets"] = json!([{ "name": "hf", "store": "aws", "key": "prod/hf" }]);
    changed::<Tenant>(&tenant(), &isolated).await?;
    changed::<Tenant>(&isolated, &tenant()).await
}

#[tokio::test]
async fn a_tenant_that_changes_its_method_of_access_obeys_the_laws() -> Result<(), String> {
    let access = |method: &str| {
        let mut tenant = tenant();
        tenant["data_access"] = full_tenant()["data_access"].clone();
        tenant["access_method"] = json!(method);
        tenant
    };
    changed::<Tenant>(&access("pod_identity"), &access("irsa")).await?;
    changed::<Tenant>(&access("irsa"), &access("pod_identity")).await
}

fn filesystem() -> Json {
    json!({
        "name": "ml-shared",
        "subnet_ids": ["subnet-a1", "subnet-b1"],
        "client_security_group_ids": ["sg-nodes"],
    })
}

fn full_filesystem() -> Json {
    let mut filesystem = filesystem();
    filesystem["subnet_ids"] = json!(["subnet-a1", "subnet-c1"]);
    filesystem["throughput"] = json!({ "mode": "provisioned", "mibps": 256 });
    filesystem["transition_to_ia_after_days"] = json!(30);
    filesystem["backup"] = json!(true);
    filesystem["cluster"] = json!("ml-prod");
    filesystem["volumes"] = json!([
        { "namespace": "ml", "name": "weights", "path": "/models", "size_gib": 50, "read_only": true },
        { "namespace": "ml", "name": "code", "path": "/code", "size_gib": 5 },
    ]);
    filesystem["tags"] = json!({ "data": "public" });
    filesystem
}

#[tokio::test]
async fn a_shared_filesystem_obeys_the_laws() -> Result<(), String> {
    made::<SharedFilesystem>(&filesystem()).await?;
    made::<SharedFilesystem>(&full_filesystem()).await
}

#[tokio::test]
async fn a_shared_filesystem_that_grows_and_shrinks_obeys_the_laws() -> Result<(), String> {
    changed::<SharedFilesystem>(&filesystem(), &full_filesystem()).await?;
    changed::<SharedFilesystem>(&full_filesystem(), &filesystem()).await
}
