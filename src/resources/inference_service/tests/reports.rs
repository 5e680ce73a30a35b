//! Faults that users of neighbouring tools reported, each with the smallest input that shows it.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use tf_provider::Diagnostics;

use super::{config, whole};
use crate::{
    composite::Composite,
    resources::{
        InferenceService,
        testing::{complaints, decoded, expanded},
    },
};

fn deployment(change: Json) -> Json {
    expanded::<InferenceService>(&config(change), BTreeMap::new()).1.nodes()["deployment"].document()["manifest"]["spec"]
        .clone()
}

fn container(change: Json) -> Json {
    deployment(change)["template"]["spec"]["containers"][0].clone()
}

// Report 3.
#[test]
fn replicas_are_never_sent_beside_an_autoscaler() {
    for via in ["hpa", "keda"] {
        let scaled = deployment(json!({ "scaling": { "min": 3, "max": 8, "target": 4, "via": via } }));
        assert_eq!(scaled.get("replicas"), None);
    }
    assert_eq!(deployment(json!({}))["replicas"], 1);
    assert_eq!(deployment(json!({ "replicas": 0 }))["replicas"], 0);
}

// Report 24.
#[test]
fn a_huge_model_on_a_network_file_system_is_told_of_and_gets_the_time() {
    let model = json!({ "model": { "source": "pvc://weights/big", "size_gib": 894 } });
    let resource: InferenceService = decoded(&config(model.clone()));
    let mut complaints = Diagnostics::new();
    resource.check(&mut complaints);
    let told = complaints.iter().next().expect("a warning");
    assert_eq!(told.summary, "Each start reads 894 GiB from a volume");
    insta::assert_snapshot!(told.detail, @r#"
    From EFS with elastic throughput that takes about 43 minutes, for each pod. So a start is allowed 5700 s, 2 times
    894 GiB / 0.345 GiB a second + 240 s for the engine + 1 x 15 s for its GPUs = 2846 s

    Stream the weights from S3 ("s3://bucket/prefix"), or make sure that the claim is of a faster file system.
    "#);
    let probe = container(model)["startupProbe"].clone();
    assert!(probe["failureThreshold"].as_u64().unwrap_or(0) * 10 > 2 * 43 * 60, "{probe}");
}

#[test]
fn a_start_that_is_given_less_than_it_takes_is_told_of_with_the_arithmetic() {
    let engine = |seconds: u32| json!({ "kind": "vllm", "image": "vllm:v1", "startup_seconds": seconds });
    let told = |seconds: u32| {
        let model = json!({ "source": "hf://o/n", "size_gib": 140 });
        let resource: InferenceService = decoded(&config(json!({ "model": model, "engine": engine(seconds) })));
        let mut complaints = Diagnostics::new();
        resource.check(&mut complaints);
        complaints.iter().map(|one| format!("{}: {}\n{}", one.path, one.summary, one.detail)).collect::<Vec<_>>()
    };
    assert_eq!(told(1655), Vec::<String>::new());
    insta::assert_snapshot!(told(600).join("\n"), @r"
    engine.startup_seconds: Pods may be killed before the model is loaded
    A start is expected to take
    140 GiB / 0.1 GiB a second + 240 s for the engine + 1 x 15 s for its GPUs = 1655 s
    and `engine.startup_seconds` allows 600 s.

    Leave it out, which allows 2 times as much (3360 s), or raise it.
    ");
}

// Report 33. What comes back from the server in another spelling is the driver's to compare.
#[test]
fn the_users_spelling_of_an_amount_is_kept() {
    let limits =
        container(json!({ "resources": { "cpu": "1000m", "memory": "20480Mi" } }))["resources"]["limits"].clone();
    assert_eq!((&limits["cpu"], &limits["memory"]), (&json!("1000m"), &json!("20480Mi")));
}

// Report 34.
#[test]
fn the_token_reaches_pods_by_reference_only() {
    let (service, graph) = expanded::<InferenceService>(&whole(), BTreeMap::new());
    let manifest = graph.nodes()["deployment"].document()["manifest"].clone();
    let env = manifest["spec"]["template"]["spec"]["containers"][0]["env"].as_array().cloned().unwrap_or_default();
    let reference = json!({ "secretKeyRef": { "name": "vllm-qwen-hf-token", "key": "token" } });
    assert!(env.contains(&json!({ "name": "HF_TOKEN", "valueFrom": reference })), "{env:?}");
    assert!(!format!("{service:?} {graph:?}").contains("hf_secret"));
    // A new token replaces the pods.
    assert_eq!(manifest["spec"]["template"]["metadata"]["annotations"]["mlplat.io/token-version"], "1");
}

// Report 35.
#[test]
fn a_start_gets_a_budget_by_size_and_the_other_probes_wait_for_its_end() {
    let attempts = |size: u32| {
        let container = container(json!({ "model": { "source": "hf://o/n", "size_gib": size } }));
        assert_eq!(container["livenessProbe"].get("initialDelaySeconds"), None);
        assert_eq!(container["readinessProbe"].get("initialDelaySeconds"), None);
        container["startupProbe"]["failureThreshold"].as_u64().unwrap_or(0)
    };
    assert_eq!((attempts(2), attempts(140)), (60, 336));
    let long = deployment(json!({ "model": { "source": "hf://o/n", "size_gib": 140 } }));
    assert_eq!(long["progressDeadlineSeconds"], 3360 + 1200, "a slow start is no failure of the Deployment");
}

// Report 36.
#[test]
fn a_rollout_frees_a_gpu_first_where_there_may_be_no_other() {
    let strategy = |change: Json| {
        let strategy = deployment(change)["strategy"].clone();
        (strategy["type"].as_str().unwrap_or_default().to_owned(), strategy["rollingUpdate"]["maxSurge"].as_u64())
    };
    let rolling = |surge: u64| ("RollingUpdate".to_owned(), Some(surge));
    let recreate = ("Recreate".to_owned(), None);
    assert_eq!(strategy(json!({ "placement": { "gpu_capacity": 1 } })), recreate);
    assert_eq!(strategy(json!({})), recreate);
    assert_eq!(strategy(json!({ "replicas": 3 })), rolling(0));
    assert_eq!(strategy(json!({ "scaling": { "max": 3, "target": 4 } })), rolling(0));
    assert_eq!(strategy(json!({ "replicas": 3, "placement": { "gpu_capacity": 4 } })), rolling(1));
    assert_eq!(
        strategy(json!({ "replicas": 3, "gpus": { "per_replica": 2 }, "placement": { "gpu_capacity": 7 } })),
        rolling(0)
    );
    assert_eq!(strategy(json!({ "gpus": { "per_replica": 0 } })), rolling(1));
    assert_eq!(strategy(json!({ "rollout": { "strategy": "surge" } })), rolling(1));
}

// Report 37.
#[test]
fn amounts_and_security_context_are_always_there() {
    let container = container(json!({ "model": { "source": "hf://o/n" } }));
    for amount in ["cpu", "memory", "ephemeral-storage", "nvidia.com/gpu"] {
        assert!(container["resources"]["limits"][amount].is_string(), "{amount}");
        assert_eq!(container["resources"]["limits"][amount], container["resources"]["requests"][amount]);
    }
    let pod = deployment(json!({}))["template"]["spec"]["securityContext"].clone();
    assert_eq!((&pod["runAsNonRoot"], &pod["seccompProfile"]["type"]), (&json!(true), &json!("RuntimeDefault")));
    assert_eq!(container["securityContext"]["capabilities"]["drop"], json!(["ALL"]));
    assert_eq!(container["securityContext"]["allowPrivilegeEscalation"], json!(false));
}

// Of the issue: the arithmetic is in the message.
#[test]
fn a_model_that_does_not_fit_is_refused_with_the_arithmetic() {
    let service = |gpus: u32| {
        config(json!({
            "model": { "source": "hf://o/n", "parameters_billion": 70, "dtype": "bfloat16", "max_context": 8192 },
            "gpus": { "per_replica": gpus, "product": "A10G" },
        }))
    };
    let resource: InferenceService = decoded(&service(4));
    let mut told = Diagnostics::new();
    resource.check(&mut told);
    let told = told.iter().next().expect("an error");
    assert_eq!(
        (told.path.to_string().as_str(), told.summary.as_str()),
        ("gpus.per_replica", "The model does not fit on 4 x A10G")
    );
    insta::assert_snapshot!(told.detail);
    assert_eq!(complaints::<InferenceService>(&service(8)), Vec::<String>::new());
}
