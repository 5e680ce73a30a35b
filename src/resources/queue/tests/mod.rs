//! Tests of `mlplat_queue`.

mod beside;
mod checks;
mod graph;
mod plans;
mod reports;

use serde_json::{Value as Json, json};

/// The least configuration, changed.
fn config(change: Json) -> Json {
    let mut config = json!({
        "cluster": "ml-prod",
        "name": "gpu-cluster-queue",
        "flavors": [flavor("on-demand-gpu", json!({}))],
        "namespaces": { "team-alpha": "gpu" },
    });
    if let (Some(config), Json::Object(change)) = (config.as_object_mut(), change) {
        config.extend(change);
        config.retain(|_, value| !value.is_null());
    }
    config
}

/// A flavor with quotas of what pods ask for, changed.
fn flavor(name: &str, change: Json) -> Json {
    let mut flavor = json!({
        "name": name,
        "node_labels": { "node-type": name },
        "quota": {
            "nvidia.com/gpu": { "nominal": "32" },
            "cpu": { "nominal": "512" },
            "memory": { "nominal": "2Ti" },
        },
    });
    if let (Some(flavor), Json::Object(change)) = (flavor.as_object_mut(), change) {
        flavor.extend(change);
        flavor.retain(|_, value| !value.is_null());
    }
    flavor
}

/// All that can be there at once.
fn whole() -> Json {
    let quota = |limit: &str| json!({ "nominal": "64", "borrowing_limit": limit, "lending_limit": "32" });
    config(json!({
        "cohort": "all",
        "flavors": [
            flavor("on-demand-gpu", json!({
                "taints": [{ "key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE" }],
                "tolerations": [{ "key": "nvidia.com/gpu", "operator": "Exists" }],
                "topology": { "name": "racks", "levels": ["example.com/rack", "kubernetes.io/hostname"] },
            })),
            flavor("spot-gpu", json!({
                "node_labels": {},
                "taints": [{ "key": "spot", "effect": "NoSchedule" }],
                "quota": {
                    "nvidia.com/gpu": quota("16"), "cpu": { "nominal": "1000m" }, "memory": { "nominal": "2048Gi" },
                },
            })),
            flavor("shared-gpu", json!({ "existing": true, "node_labels": null })),
        ],
        "preemption": {
            "within_queue": "LowerOrNewerEqualPriority",
            "reclaim_within_cohort": "LowerPriority",
            "borrow_within_cohort": { "max_priority_threshold": 100 },
        },
        "flavor_fungibility": { "when_can_borrow": "TryNextFlavor" },
        "queueing_strategy": "StrictFIFO",
        "stop_policy": "Hold",
        "namespaces": { "team-alpha": "gpu", "team-beta": "batch" },
        "priorities": { "interactive": 1000, "training": 100 },
        "labels": { "data": "public" },
        "adopt": "if_unmanaged",
    }))
}
