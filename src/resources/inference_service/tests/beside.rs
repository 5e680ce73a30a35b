//! What tenants and pools of the same run do not give.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use tf_provider::{Diagnostics, Severity};

use super::config;
use crate::{
    composite::Composite,
    neighbours::Neighbours,
    resources::{GpuPool, InferenceService, Tenant, testing::expanded},
};

fn meet<C: Composite>(config: &Json, neighbours: &Neighbours) -> Vec<String> {
    let mut complaints = Diagnostics::new();
    expanded::<C>(config, BTreeMap::new()).0.meet(neighbours, &mut complaints);
    assert!(complaints.iter().all(|told| told.severity == Severity::Warning && told.detail.contains("\n\n")));
    complaints.iter().map(|told| format!("{}: {}", told.path, told.summary)).collect()
}

fn tenant() -> Json {
    json!({
        "cluster": "ml-prod", "name": "ml",
        "quota": { "gpus": 2, "cpu": "16", "memory": "64Gi" },
        "container": { "max": { "cpu": "12" } },
        "trusted_registries": ["docker.io/vllm/"],
    })
}

fn check(neighbours: &Neighbours, change: Json, expected: &[&str]) {
    assert_eq!(meet::<InferenceService>(&config(change), neighbours), expected);
}

#[test]
fn what_a_tenant_of_the_same_run_will_refuse_is_told() {
    let neighbours = Neighbours::default();
    assert_eq!(meet::<Tenant>(&tenant(), &neighbours), Vec::<String>::new());
    check(&neighbours, json!({ "gpus": { "per_replica": 1 }, "replicas": 2, "resources": { "memory": "32Gi" } }), &[]);
    check(
        &neighbours,
        json!({
            "gpus": { "per_replica": 1 }, "replicas": 3, "resources": { "cpu": "14", "memory": "20Gi" },
            "engine": { "kind": "vllm", "image": "ghcr.io/acme/vllm:1" },
        }),
        &[
            "engine.image: The tenant \"ml\" does not trust the image \"ghcr.io/acme/vllm:1\"",
            "resources.cpu: A container in namespace \"ml\" may have 12 of cpu, and this one asks for 14",
            "gpus.per_replica: The tenant \"ml\" has a quota of 2 nvidia.com/gpu, and 3 replicas ask for 1 each",
            "resources.cpu: The tenant \"ml\" has a quota of 16 cpu, and 3 replicas ask for 14 each",
        ],
    );
    // An autoscaler begins with the least.
    check(&neighbours, json!({ "scaling": { "min": 2, "max": 8, "signal": "queue_depth", "target": 4 } }), &[]);
    // Another namespace, and another cluster.
    let large = json!({ "gpus": { "per_replica": 8 } });
    let mut elsewhere = large.clone();
    elsewhere["namespace"] = json!("other");
    check(&neighbours, elsewhere, &[]);
    let mut elsewhere = large;
    elsewhere["cluster"] = json!("ml-test");
    check(&neighbours, elsewhere, &[]);
}

#[test]
fn more_than_a_pool_of_the_same_run_can_grow_to_is_told() {
    let neighbours = Neighbours::default();
    let pool = json!({
        "cluster": "ml-prod", "name": "gpu", "subnet_ids": ["subnet-a"],
        "instance_types": ["g5.xlarge"], "size": { "min": 0, "max": 2 },
    });
    assert_eq!(meet::<GpuPool>(&pool, &neighbours), Vec::<String>::new());
    let on = |replicas: u32| {
        json!({
            "replicas": replicas, "resources": { "cpu": "3", "memory": "12Gi" },
            "placement": { "node_selector": { "mlplat.io/pool": "gpu" } },
        })
    };
    check(&neighbours, on(2), &[]);
    check(
        &neighbours,
        on(3),
        &[
            "gpus.per_replica: The pool \"gpu\" has at most 2 nvidia.com/gpu, and 3 replicas ask for 1 each",
            "resources.cpu: The pool \"gpu\" has at most 8 cpu, and 3 replicas ask for 3 each",
            "resources.memory: The pool \"gpu\" has at most 32Gi memory, and 3 replicas ask for 12Gi each",
        ],
    );
}
