//! What objects a configuration gives, and what they are like.

use std::collections::BTreeMap;

use converge::Graph;
use serde_json::{Value as Json, json};

use super::{config, whole};
use crate::{
    composite::Composite,
    resources::{
        InferenceService,
        testing::{blames, expanded, settings, stub, text},
    },
};

fn graph(config: &Json) -> Graph {
    expanded::<InferenceService>(config, BTreeMap::new()).1
}

fn manifest(config: &Json, key: &str) -> Json {
    graph(config).nodes()[key].document()["manifest"].clone()
}

fn container(config: &Json) -> Json {
    manifest(config, "deployment")["spec"]["template"]["spec"]["containers"][0].clone()
}

fn words(list: &Json) -> String {
    list.as_array().into_iter().flatten().filter_map(Json::as_str).collect::<Vec<_>>().join(" ")
}

fn keys(config: &Json) -> Vec<String> {
    graph(config).nodes().keys().cloned().collect()
}

#[test]
fn the_least_configuration_gives_a_safe_service() {
    let (service, graph) = expanded::<InferenceService>(&config(json!({})), BTreeMap::new());
    insta::assert_snapshot!(text(&graph));
    assert_eq!(service.service_url.get().map(String::as_str), Some("http://vllm-qwen.ml.svc"));
    assert!(
        service.ready_replicas.is_pending() && service.live_replicas.is_pending() && service.pod_reasons.is_pending()
    );
}

#[test]
fn every_attribute_reaches_its_object() {
    let (service, graph) = expanded::<InferenceService>(&whole(), BTreeMap::new());
    insta::assert_snapshot!(text(&graph));
    assert_eq!(service.service_url.get().map(String::as_str), Some("http://qwen.example.com"));
}

#[test]
fn a_message_about_a_part_of_an_object_is_shown_at_its_attribute() {
    let mut config = whole();
    config["engine"]["env"] = json!({ "A": "1", "Z": "2" });
    config["engine"]["image_pull_secrets"] = json!(["registry"]);
    config["expose"]["tls_secret"] = json!("qwen-tls");
    config["model"]["cache_storage_class"] = json!("gp3");
    insta::assert_snapshot!(blames::<InferenceService>(&config));
    let fixed =
        json!({ "replicas": 2, "scaling": null, "engine": { "kind": "custom", "image": "a/b", "command": ["c"] } });
    assert!(blames::<InferenceService>(&super::config(fixed)).contains("deployment /spec/replicas: replicas"));
    config["scaling"]["via"] = json!("keda");
    assert!(blames::<InferenceService>(&config).contains("autoscaler /spec/minReplicaCount: scaling.min"));
}

#[test]
fn the_address_is_encrypted_where_a_certificate_is_read() {
    let url = |expose: Json| {
        let (service, _) = expanded::<InferenceService>(&config(json!({ "expose": expose })), BTreeMap::new());
        service.service_url.get().cloned().unwrap_or_default()
    };
    assert_eq!(url(json!({ "host": "a.test", "tls_secret": "tls" })), "https://a.test");
    assert_eq!(url(json!({ "host": "a.test", "class": "nginx", "tls_secret": "tls" })), "https://a.test");
    assert_eq!(url(json!({ "host": "a.test", "class": "alb", "tls_secret": "tls" })), "http://a.test");
    let ports = json!({ "alb.ingress.kubernetes.io/listen-ports": "[{\"HTTPS\": 8443}]" });
    let alb = json!({ "host": "a.test", "path": "/v1", "class": "alb", "annotations": ports });
    assert_eq!(url(alb), "https://a.test:8443/v1");
}

#[test]
fn sglang_is_started_in_its_own_words() {
    let container = container(&config(json!({
        "engine": { "kind": "sglang", "image": "lmsysorg/sglang:v0.5.4", "args": ["--mem-fraction-static", "0.85"] },
        "model": { "source": "hf://Qwen/Qwen2.5-7B-Instruct@v1", "max_context": 4096, "dtype": "fp8" },
        "gpus": { "per_replica": 2 },
    })));
    assert_eq!(words(&container["command"]), "python3 -m sglang.launch_server");
    insta::assert_snapshot!(words(&container["args"]), @"--model-path Qwen/Qwen2.5-7B-Instruct --served-model-name Qwen/Qwen2.5-7B-Instruct --revision v1 --context-length 4096 --tp 2 --port 30000 --host 0.0.0.0 --enable-metrics --mem-fraction-static 0.85");
}

#[test]
fn a_model_in_s3_is_streamed_with_a_buffer_that_fits_into_the_pods_memory() {
    let config = config(json!({ "model": { "source": "s3://acme-models/qwen/7b", "size_gib": 15 } }));
    let container = container(&config);
    insta::assert_snapshot!(words(&container["args"]), @"s3://acme-models/qwen/7b --served-model-name 7b --tensor-parallel-size 1 --port 8000 --load-format runai_streamer");
    let env = container["env"].as_array().cloned().unwrap_or_default();
    assert!(env.contains(&json!({ "name": "RUNAI_STREAMER_MEMORY_LIMIT", "value": "5368709120" })), "{env:?}");
    assert_eq!(container["resources"]["limits"]["memory"], "13Gi");
}

#[test]
fn a_model_on_a_claim_is_mounted_read_only() {
    let config = config(json!({ "model": { "source": "pvc://weights/qwen/7b" } }));
    assert!(words(&container(&config)["args"]).starts_with("/models/qwen/7b --served-model-name 7b"));
    let volumes = &manifest(&config, "deployment")["spec"]["template"]["spec"]["volumes"];
    assert_eq!(
        volumes[2],
        json!({ "name": "models", "persistentVolumeClaim": { "claimName": "weights", "readOnly": true } })
    );
}

#[test]
fn a_storage_class_gives_each_pod_a_volume_of_its_own_to_download_to() {
    let config = config(json!({
        "model": { "source": "hf://o/n", "size_gib": 100, "cache_storage_class": "gp3" },
    }));
    let volumes = &manifest(&config, "deployment")["spec"]["template"]["spec"]["volumes"];
    assert_eq!(volumes[1]["ephemeral"]["volumeClaimTemplate"]["spec"]["resources"]["requests"]["storage"], "130Gi");
    assert_eq!(container(&config)["resources"]["requests"]["ephemeral-storage"], "10Gi");
}

#[test]
fn a_custom_engine_is_started_as_its_image_says() {
    let container = container(&config(json!({
        "engine": { "kind": "custom", "image": "acme/server:1", "port": 8080, "health_path": "/healthz" },
        "model": { "source": "s3://acme-models/x" },
        "gpus": { "per_replica": 0 },
    })));
    assert_eq!((container.get("command"), &container["args"]), (None, &json!([])));
    assert_eq!(container["readinessProbe"]["httpGet"], json!({ "path": "/healthz", "port": "http" }));
    let env = container["env"].as_array().cloned().unwrap_or_default();
    assert!(env.contains(&json!({ "name": "MODEL_SOURCE", "value": "s3://acme-models/x" })), "{env:?}");
    assert!(!container["resources"].to_string().contains("gpu"));
}

#[test]
fn the_resource_is_named_by_the_products_maker() {
    let limits = |gpus: Json| container(&config(json!({ "gpus": gpus })))["resources"]["limits"].clone();
    assert_eq!(limits(json!({ "per_replica": 2, "product": "Trainium2" }))["aws.amazon.com/neuron"], "2");
    assert_eq!(limits(json!({ "product": "MI300X", "resource_name": "amd.com/gpu" }))["amd.com/gpu"], "1");
    assert_eq!(limits(json!({}))["nvidia.com/gpu"], "1");
}

#[test]
fn the_gpus_taint_is_always_tolerated_and_only_once() {
    let tolerations = |placement: Json| {
        manifest(&config(json!({ "placement": placement })), "deployment")["spec"]["template"]["spec"]["tolerations"]
            .clone()
    };
    let gpu = json!({ "key": "nvidia.com/gpu", "operator": "Exists" });
    assert_eq!(tolerations(json!({})), json!([gpu]));
    assert_eq!(
        tolerations(json!({ "tolerations": [{ "key": "team", "value": "a" }] })),
        json!([{ "key": "team", "operator": "Equal", "value": "a" }, gpu])
    );
    let pools = json!({ "key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule" });
    assert_eq!(tolerations(json!({ "tolerations": [pools] })), json!([pools]));
    assert_eq!(tolerations(json!({ "tolerations": [{ "operator": "Exists" }] })), json!([{ "operator": "Exists" }]));
}

#[test]
fn keda_asks_prometheus_for_the_pods_of_this_service_alone() {
    let scaled = |signal: Json| {
        let scaling = json!({ "max": 4, "signal": signal, "target": 0.8, "via": "keda" });
        manifest(&config(json!({ "scaling": scaling })), "autoscaler")["spec"]["triggers"][0]["metadata"].clone()
    };
    insta::assert_snapshot!(scaled(json!("kv_cache")), @r#"{"query":"sum(vllm:kv_cache_usage_perc{namespace=\"ml\",pod=~\"vllm-qwen-[a-z0-9]+-[a-z0-9]+\"})","serverAddress":"http://prometheus-operated.monitoring.svc:9090","threshold":"0.8"}"#);
    insta::assert_snapshot!(scaled(json!("gpu_utilization"))["query"], @r#""sum(avg by (pod) (DCGM_FI_DEV_GPU_UTIL{namespace=\"ml\",pod=~\"vllm-qwen-[a-z0-9]+-[a-z0-9]+\"}))""#);
    assert_eq!(scaled(json!({ "metric": "sqs_depth", "scope": "external" }))["query"], "sum(sqs_depth)");
}

#[test]
fn the_autoscaler_of_kubernetes_gets_names_that_its_api_can_carry() {
    let metric = |signal: Json| {
        let scaling = json!({ "max": 4, "signal": signal, "target": 1.5 });
        manifest(&config(json!({ "scaling": scaling })), "autoscaler")["spec"]["metrics"].clone()
    };
    let target = json!({ "type": "AverageValue", "averageValue": "1500m" });
    assert_eq!(
        metric(json!("queue_depth")),
        json!([{ "type": "Pods", "pods": { "metric": { "name": "vllm_num_requests_waiting" }, "target": target } }])
    );
    assert_eq!(
        metric(json!({ "metric": "sqs_depth", "scope": "external" })),
        json!([{ "type": "External", "external": { "metric": { "name": "sqs_depth" }, "target": target } }])
    );
}

#[test]
fn aws_access_is_there_before_any_pod() {
    let graph = graph(&whole());
    for earlier in ["service_account", "pod_identity", "token"] {
        assert!(graph.nodes()["deployment"].after.contains(earlier), "{earlier}");
    }
    let irsa = config(json!({ "access": { "role_arn": "arn:aws:iam::123456789012:role/m", "method": "irsa" } }));
    let account = self::graph(&irsa).nodes()["service_account"].document();
    assert_eq!(account["annotations"]["eks.amazonaws.com/role-arn"], "arn:aws:iam::123456789012:role/m");
    assert!(!keys(&irsa).contains(&"pod_identity".to_owned()));
    // Pods that were there before are replaced.
    let annotations = &manifest(&irsa, "deployment")["spec"]["template"]["metadata"]["annotations"];
    assert_eq!(annotations["mlplat.io/role"], "irsa arn:aws:iam::123456789012:role/m");
}

#[test]
fn only_what_is_asked_for_is_made() {
    assert_eq!(keys(&config(json!({}))), ["deployment", "pdb", "service", "service_account"]);
    assert_eq!(
        keys(&whole()),
        [
            "autoscaler",
            "deployment",
            "ingress",
            "pdb",
            "pod_identity",
            "pod_monitor",
            "service",
            "service_account",
            "token",
        ]
    );
}

#[test]
fn with_a_certificate_the_address_is_one_of_tls() {
    let url = |expose: Json| {
        let (service, _) = expanded::<InferenceService>(&config(json!({ "expose": expose })), BTreeMap::new());
        service.service_url.get().cloned().unwrap_or_default()
    };
    assert_eq!(
        url(json!({ "host": "a.example.com", "tls_secret": "tls", "path": "/qwen/" })),
        "https://a.example.com/qwen"
    );
    let arn = json!({ "alb.ingress.kubernetes.io/certificate-arn": "arn:aws:acm:…" });
    assert_eq!(url(json!({ "host": "a.example.com", "annotations": arn })), "https://a.example.com");
}

#[test]
fn a_service_that_exists_tells_of_its_pods() {
    let outputs = json!({
        "id": "ml/vllm-qwen",
        "uid": "u",
        "status": { "readyReplicas": 2, "podReasons": ["pod x: ImagePullBackOff"] },
        "replicas": 3,
    });
    let outputs = BTreeMap::from([("deployment".to_owned(), outputs.as_object().cloned().unwrap_or_default())]);
    let (service, _) = expanded::<InferenceService>(&config(json!({})), outputs);
    assert_eq!((service.ready_replicas.get(), service.live_replicas.get()), (Some(&2), Some(&3)));
    assert_eq!(service.pod_reasons.get(), Some(&vec!["pod x: ImagePullBackOff".to_owned()]));
}

#[test]
fn an_import_takes_no_autoscaler_for_one_that_is_there() {
    let mut service: InferenceService = stub(&config(json!({})));
    let mut graph = Graph::new(BTreeMap::new());
    service.expand(&settings(), &mut graph);
    assert_eq!(graph.nodes()["deployment"].document()["manifest"]["spec"]["replicas"], 1);
    assert!(!graph.nodes().contains_key("autoscaler"));
}
