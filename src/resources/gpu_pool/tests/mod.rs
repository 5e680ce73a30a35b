//! Tests of `mlplat_gpu_pool`.

mod checks;
mod graph;
mod plans;

use serde_json::{Value as Json, json};

/// The least configuration, changed.
fn config(change: Json) -> Json {
    let mut config = json!({
        "cluster": "ml-prod",
        "name": "gpu",
        "instance_types": ["g5.xlarge"],
        "subnet_ids": ["subnet-a", "subnet-b"],
        "size": { "max": 4 },
    });
    if let (Some(config), Json::Object(change)) = (config.as_object_mut(), change) {
        config.extend(change);
        config.retain(|_, value| !value.is_null());
    }
    config
}
