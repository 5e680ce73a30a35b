//! Tests of `mlplat_inference_service`.

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
        "namespace": "ml",
        "name": "vllm-qwen",
        "engine": { "kind": "vllm", "image": "vllm/vllm-openai:v0.32.0" },
        "model": { "source": "hf://Qwen/Qwen2.5-7B-Instruct", "parameters_billion": 7.6, "dtype": "bfloat16" },
    });
    if let (Some(config), Json::Object(change)) = (config.as_object_mut(), change) {
        config.extend(change);
        config.retain(|_, value| !value.is_null());
    }
    config
}

/// The configuration of the interface's example, with all that can be there at once.
fn whole() -> Json {
    config(json!({
        "model": {
            "source": "hf://Qwen/Qwen2.5-7B-Instruct",
            "revision": "main",
            "parameters_billion": 7.6,
            "dtype": "bfloat16",
            "max_context": 8192,
            "token_wo": "hf_secret",
            "token_wo_version": 1,
        },
        "gpus": { "per_replica": 1, "product": "NVIDIA-A10G" },
        "placement": {
            "node_selector": { "mlplat.io/pool": "gpu-inference" },
            "tolerations": [{ "key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule" }],
        },
        "scaling": { "min": 1, "max": 8, "signal": "queue_depth", "target": 4 },
        "expose": { "host": "qwen.example.com", "class": "alb" },
        "queue": "gpu",
        "access": { "role_arn": "arn:aws:iam::123456789012:role/models" },
        "resources": { "cpu": "4", "memory": "24Gi", "shm_gib": 8 },
        "metrics": { "pod_monitor": true, "labels": { "release": "prometheus" } },
        "labels": { "data": "public" },
    }))
}
