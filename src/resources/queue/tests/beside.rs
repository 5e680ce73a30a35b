//! What pools and tenants of the same run do not keep.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use tf_provider::{Diagnostics, Severity};

use super::{config, flavor};
use crate::{
    composite::Composite,
    neighbours::Neighbours,
    resources::{GpuPool, Queue, Tenant, testing::expanded},
};

const POOL: &str = "mlplat.io/pool";

fn meet<C: Composite>(config: &Json, neighbours: &Neighbours) -> Vec<String> {
    let mut complaints = Diagnostics::new();
    expanded::<C>(config, BTreeMap::new()).0.meet(neighbours, &mut complaints);
    assert!(complaints.iter().all(|told| told.severity == Severity::Warning && told.detail.contains("\n\n")));
    complaints.iter().map(|told| format!("{}: {}", told.path, told.summary)).collect()
}

fn pool(change: &Json) -> Json {
    let mut pool = json!({
        "cluster": "ml-prod", "name": "training", "subnet_ids": ["subnet-a"],
        "instance_types": ["p5.48xlarge"], "size": { "min": 0, "max": 2 },
    });
    let (Some(pool_map), Some(change)) = (pool.as_object_mut(), change.as_object()) else { return pool };
    pool_map.extend(change.clone());
    pool
}

fn queue_on(pool: &str, gpus: &str) -> Json {
    let quota = json!({
        "nvidia.com/gpu": { "nominal": gpus }, "cpu": { "nominal": "384" }, "memory": { "nominal": "4096Gi" },
    });
    config(json!({ "flavors": [flavor("gpu", json!({ "node_labels": { (POOL): pool }, "quota": quota }))] }))
}

#[test]
fn quota_beyond_what_a_pool_can_grow_to_is_told() {
    let neighbours = Neighbours::default();
    assert_eq!(meet::<GpuPool>(&pool(&json!({})), &neighbours), Vec::<String>::new());
    let check = |queue: Json, expected: &[&str]| assert_eq!(meet::<Queue>(&queue, &neighbours), expected);
    check(queue_on("training", "16"), &[]);
    check(
        queue_on("training", "17"),
        &[
            "flavors[0].quota[\"nvidia.com/gpu\"].nominal: The flavor \"gpu\" has quota of 17 nvidia.com/gpu, and its pool has at most 16",
        ],
    );
    check(queue_on("other", "17"), &[]);
    let mut elsewhere = queue_on("training", "17");
    elsewhere["cluster"] = json!("ml-test");
    check(elsewhere, &[]);
    // A later plan of the pool counts.
    meet::<GpuPool>(&pool(&json!({ "size": { "min": 0, "max": 3 } })), &neighbours);
    check(queue_on("training", "17"), &[]);
}

#[test]
fn the_size_of_types_that_are_not_known_is_not_guessed() {
    let neighbours = Neighbours::default();
    meet::<GpuPool>(&pool(&json!({ "instance_types": ["p5.48xlarge", "p9.48xlarge"] })), &neighbours);
    assert_eq!(meet::<Queue>(&queue_on("training", "999"), &neighbours), Vec::<String>::new());
}

// Report 40.
#[test]
fn what_a_tenant_gives_to_containers_and_the_queue_does_not_cover_is_told() {
    let neighbours = Neighbours::default();
    let tenant = |container: Json| json!({ "cluster": "ml-prod", "name": "team-alpha", "container": container });
    let told = [
        "flavors: Containers in namespace \"team-alpha\" get \"ephemeral-storage\" from a LimitRange, and the queue has no quota of it",
    ];
    for key in ["default", "default_request", "max"] {
        meet::<Tenant>(&tenant(json!({ (key): { "ephemeral_storage": "10Gi", "cpu": "1" } })), &neighbours);
        assert_eq!(meet::<Queue>(&config(json!({})), &neighbours), told, "{key}");
    }
    let mut quota = flavor("gpu", json!({}));
    quota["quota"]["ephemeral-storage"] = json!({ "nominal": "1Ti" });
    assert_eq!(meet::<Queue>(&config(json!({ "flavors": [quota] })), &neighbours), Vec::<String>::new());
    assert_eq!(
        meet::<Queue>(&config(json!({ "namespaces": { "team-beta": "gpu" } })), &neighbours),
        Vec::<String>::new()
    );
    meet::<Tenant>(&tenant(json!({})), &neighbours);
    assert_eq!(meet::<Queue>(&config(json!({})), &neighbours), Vec::<String>::new());
}
