//! `mlplat_inference_service`.

use serde_json::{Value as Json, json};

use super::{Change, Effect, Subject, change, timeouts};

pub(crate) const SUBJECT: Subject =
    Subject { resource: "mlplat_inference_service", changes, unsupported: &[], mirrors: &[], twin: Vec::new };

#[expect(clippy::too_many_lines, reason = "a table: one row for each attribute")]
fn changes() -> Vec<Change> {
    use Effect::{InPlace, Replaces};
    let full = |effect, attribute, to| change("full", effect, attribute, to);
    let mut changes = vec![
        full(Replaces, "cluster", json!("ml-dev")),
        full(Replaces, "namespace", json!("other")),
        full(Replaces, "name", json!("vllm-other")),
        full(InPlace, "engine.kind", json!("sglang")),
        full(InPlace, "engine.image", json!("vllm/vllm-openai:v0.33.0")),
        full(InPlace, "engine.args", json!([])),
        full(InPlace, "engine.env", json!({ "VLLM_LOGGING_LEVEL": "DEBUG" })),
        full(InPlace, "engine.command", json!(["vllm", "serve", "--verbose"])),
        full(InPlace, "engine.port", json!(8081)),
        full(InPlace, "engine.health_path", json!("/ready")),
        full(InPlace, "engine.startup_seconds", json!(1200)),
        full(InPlace, "engine.run_as_user", json!(3000)),
        full(InPlace, "engine.image_pull_secrets", json!([])),
        full(InPlace, "model.source", json!("hf://Qwen/Qwen2.5-14B")),
        full(InPlace, "model.revision", json!("v2")),
        full(InPlace, "model.served_name", json!("other")),
        change("typical", InPlace, "model.parameters_billion", json!(6.5)),
        full(InPlace, "model.size_gib", json!(28.5)),
        full(InPlace, "model.dtype", json!("float16")),
        full(InPlace, "model.max_context", json!(2048)),
        Change {
            along: vec![("model.token_wo_version", json!(2))],
            ..change("typical", InPlace, "model.token_wo", json!("hf_other"))
        },
        Change {
            along: vec![("model.token_wo", json!("hf_another"))],
            ..change("typical", InPlace, "model.token_wo_version", json!(3))
        },
        full(InPlace, "model.token_secret.name", json!("other")),
        full(InPlace, "model.token_secret.key", json!("hf")),
        full(InPlace, "model.cache_gib", json!(90)),
        full(InPlace, "model.cache_storage_class", json!("gp2")),
        full(InPlace, "gpus.per_replica", json!(4)),
        full(InPlace, "gpus.product", json!("NVIDIA-L40S")),
        full(InPlace, "gpus.resource_name", json!("nvidia.com/mig-1g.10gb")),
        full(InPlace, "placement.node_selector", json!({ "mlplat.io/pool": "other" })),
        full(InPlace, "placement.tolerations", json!([])),
        full(InPlace, "placement.gpu_capacity", json!(32)),
        change("custom", InPlace, "replicas", json!(3)),
        full(InPlace, "scaling.min", json!(2)),
        full(InPlace, "scaling.max", json!(6)),
        full(InPlace, "scaling.signal", json!("queue_depth")),
        full(InPlace, "scaling.target", json!(0.7)),
        Change {
            along: vec![("scaling.prometheus_address", Json::Null)],
            ..full(InPlace, "scaling.via", json!("hpa"))
        },
        full(InPlace, "scaling.prometheus_address", json!("http://other.monitoring.svc:9090")),
        full(InPlace, "rollout.strategy", json!("recreate")),
        full(InPlace, "rollout.termination_grace_seconds", json!(90)),
        full(InPlace, "expose.host", json!("other.example.com")),
        full(InPlace, "expose.path", json!("/")),
        full(InPlace, "expose.class", json!("alb")),
        full(InPlace, "expose.tls_secret", json!("other")),
        full(InPlace, "expose.annotations", json!({})),
        full(InPlace, "queue", json!("other")),
        full(InPlace, "access.role_arn", json!("arn:aws:iam::123456789012:role/other")),
        full(InPlace, "access.method", json!("irsa")),
        full(InPlace, "resources.cpu", json!("7")),
        full(InPlace, "resources.memory", json!("48Gi")),
        full(InPlace, "resources.shm_gib", json!(10)),
        full(InPlace, "metrics.pod_monitor", json!(false)),
        full(InPlace, "metrics.path", json!("/metrics")),
        full(InPlace, "metrics.labels", json!({})),
        full(InPlace, "labels", json!({ "tier": "silver" })),
        full(InPlace, "adopt", json!("always")),
    ];
    changes.extend(timeouts("full"));
    changes
}
