//! What is complained of.

use serde_json::{Value as Json, json};

use super::{config, whole};
use crate::resources::{InferenceService, testing::complaints};

fn check(change: Json, expected: &[&str]) {
    assert_eq!(complaints::<InferenceService>(&config(change)), expected);
}

#[test]
fn a_sound_service_is_not_complained_about() {
    check(json!({}), &[]);
    assert_eq!(complaints::<InferenceService>(&whole()), Vec::<String>::new());
}

#[test]
fn values_not_known_yet_are_not_complained_about() {
    for name in
        ["cluster", "namespace", "name", "engine", "model", "gpus", "placement", "replicas", "scaling", "access"]
    {
        check(json!({ (name): "(unknown)" }), &[]);
    }
}

#[test]
fn names_that_kubernetes_refuses_are_refused() {
    check(
        json!({ "namespace": "ML", "name": "7b", "queue": "a/b", "cluster": "" }),
        &[
            "error at namespace: The namespace \"ML\" cannot be used",
            "error at name: The service name \"7b\" cannot be used",
            "error at queue: The queue name \"a/b\" cannot be used",
            "error at cluster: The cluster's name is empty",
        ],
    );
    let long = "a".repeat(60);
    check(json!({ "name": &long }), &[]);
    check(
        json!({ "name": &long, "scaling": { "max": 2, "target": 1, "via": "keda" } }),
        &[&format!("error at name: The service name {long:?} cannot be used")],
    );
}

#[test]
fn an_image_is_named_with_its_version() {
    let image = |image: &str| json!({ "engine": { "kind": "vllm", "image": image } });
    check(image("localhost:5000/vllm@sha256:0a"), &[]);
    for loose in ["vllm/vllm-openai", "vllm/vllm-openai:latest", "localhost:5000/vllm"] {
        check(image(loose), &[&format!("warning at engine.image: The image {loose:?} may be another one tomorrow")]);
    }
    for wrong in ["a b", "acme/Server:1", "registry.test/acme/Server:1", "Server:1", "acme/:1"] {
        check(image(wrong), &[&format!("error at engine.image: {wrong:?} is not an image")]);
    }
    check(image("ACME.test/server:V1"), &[]);
}

#[test]
fn a_custom_engine_says_where_it_listens_and_how_it_is() {
    check(
        json!({ "engine": { "kind": "custom", "image": "acme/server:1" }, "model": null }),
        &[
            "error at engine.kind: A custom engine needs `port`",
            "error at engine.kind: A custom engine needs `health_path`",
        ],
    );
    check(
        json!({ "engine": { "kind": "vllm", "image": "a:1", "health_path": "health", "run_as_user": 0, "port": 0 } }),
        &[
            "error at engine.health_path: The health path \"health\" is not a path",
            "error at engine.run_as_user: The server cannot run as root",
            "error at engine.port: The port is 0",
        ],
    );
    check(json!({ "model": null }), &["error at model: There is no model to serve"]);
}

#[test]
fn a_model_is_addressed_and_measured_in_one_way() {
    let model = |model: Json| json!({ "model": model });
    check(model(json!({ "source": "gpt2" })), &["error at model.source: The model's address cannot be read"]);
    check(
        model(json!({ "source": "hf://o/n@v1", "revision": "v2", "dtype": "q4" })),
        &["error at model.revision: Two revisions are given", "error at model.dtype: The data type is not known"],
    );
    check(
        model(json!({ "source": "s3://acme/x", "revision": "v2", "size_gib": 1, "parameters_billion": 1 })),
        &[
            "error at model.revision: Only a model of the Hugging Face Hub has revisions",
            "warning at model.parameters_billion: The size of the model is given twice",
        ],
    );
    check(
        model(
            json!({ "source": "hf://o/n", "parameters_billion": 7_600_000_000_u64, "max_context": 0, "cache_gib": 0 }),
        ),
        &[
            "error at model.parameters_billion: `model.parameters_billion` is out of range",
            "error at model.max_context: No request would fit",
            "error at model.cache_gib: There is no place to download to",
        ],
    );
}

#[test]
fn a_token_is_given_once_and_with_its_version() {
    let model = |change: Json| {
        let mut model = json!({ "source": "hf://o/n" });
        if let (Some(model), Json::Object(change)) = (model.as_object_mut(), change) {
            model.extend(change);
        }
        json!({ "model": model })
    };
    check(model(json!({ "token_wo": "x" })), &["error at model.token_wo: The token has no version"]);
    check(model(json!({ "token_wo_version": 1 })), &["error at model.token_wo_version: The version is of no token"]);
    check(
        model(json!({ "token_wo": "x", "token_wo_version": 1, "token_secret": { "name": "A", "key": "token" } })),
        &[
            "error at model.token_secret: Two tokens are given",
            "error at model.token_secret.name: The name of a Secret \"A\" cannot be used",
        ],
    );
    check(model(json!({ "token_secret": { "name": "hf", "key": "token" } })), &[]);
}

#[test]
fn an_empty_text_is_not_taken_for_one_left_out() {
    check(
        json!({
            "model": {
                "source": "hf://o/n", "revision": "", "served_name": "", "cache_storage_class": "",
                "token_wo": " ", "token_wo_version": 1,
            },
            "gpus": { "product": "", "resource_name": "" },
            "scaling": { "max": 2, "target": 1, "via": "keda", "prometheus_address": "" },
            "expose": { "host": "a.b", "class": "", "tls_secret": "" },
            "engine": { "kind": "vllm", "image": "a:1", "image_pull_secrets": ["pull", ""] },
        }),
        &[
            "error at model.revision: `model.revision` is an empty text",
            "error at model.served_name: `model.served_name` is an empty text",
            "error at model.token_wo: `model.token_wo` is an empty text",
            "error at gpus.product: `gpus.product` is an empty text",
            "error at gpus.resource_name: `gpus.resource_name` is an empty text",
            "error at scaling.prometheus_address: `scaling.prometheus_address` is an empty text",
            "error at model.cache_storage_class: The name of a storage class \"\" cannot be used",
            "error at expose.class: The name of an Ingress class \"\" cannot be used",
            "error at expose.tls_secret: The name of a Secret \"\" cannot be used",
            "error at engine.image_pull_secrets: The name of a Secret \"\" cannot be used",
        ],
    );
}

#[test]
fn more_replicas_than_there_can_be_gpus_for_are_told_of() {
    let place = |change: Json| {
        let mut all = json!({ "gpus": { "per_replica": 2 }, "placement": { "gpu_capacity": 4 } });
        if let (Some(all), Json::Object(change)) = (all.as_object_mut(), change) {
            all.extend(change);
        }
        all
    };
    let told = |at: &str| format!("warning at {at}: There cannot be GPUs for all replicas");
    check(place(json!({ "replicas": 2 })), &[]);
    check(place(json!({ "replicas": 3 })), &[&told("replicas")]);
    check(place(json!({ "scaling": { "max": 3, "target": 1 } })), &[&told("scaling.max")]);
    check(place(json!({ "replicas": "(unknown)" })), &[]);
    check(place(json!({ "gpus": { "per_replica": 0 }, "replicas": 9 })), &[]);
    let surge = |replicas: u32| place(json!({ "replicas": replicas, "rollout": { "strategy": "surge" } }));
    check(surge(1), &[]);
    check(surge(2), &["warning at rollout.strategy: A new pod may wait for GPUs that the old ones hold"]);
}

#[test]
fn a_start_has_some_time_and_a_download_its_place() {
    let start = |seconds: u32| json!({ "engine": { "kind": "vllm", "image": "a:1", "startup_seconds": seconds } });
    for wrong in [0, u32::MAX] {
        let told = complaints::<InferenceService>(&config(start(wrong)));
        assert!(told.contains(&"error at engine.startup_seconds: The time for a start is out of range".to_owned()));
    }
    let model = |gib: u32| json!({ "model": { "source": "hf://o/n", "size_gib": 14, "cache_gib": gib } });
    check(model(14), &[]);
    let told = "error at model.cache_gib: The model does not fit on the volume that it is downloaded to";
    check(model(13), &[told]);
}

#[test]
fn an_unknown_accelerator_is_told_only_where_it_looks_wrong() {
    check(json!({ "gpus": { "product": "NVIDIA-B900" } }), &[]);
    check(
        json!({ "gpus": { "product": "g5.xlarge" } }),
        &["warning at gpus.product: \"g5.xlarge\" does not look like an accelerator"],
    );
}

#[test]
fn replicas_and_scaling_exclude_each_other() {
    check(
        json!({ "replicas": 2, "scaling": { "max": 4, "target": 4 } }),
        &["error at replicas: The number of replicas is given twice"],
    );
    check(json!({ "replicas": 0 }), &[]);
}

#[test]
fn scaling_that_cannot_work_is_refused() {
    let scaling = |scaling: Json| json!({ "scaling": scaling });
    check(
        scaling(json!({ "min": 3, "max": 2, "target": 0 })),
        &[
            "error at scaling.min: The fewest replicas are more than the most",
            "error at scaling.target: The target of the scaling is out of range",
        ],
    );
    check(scaling(json!({ "max": 0, "target": 1 })), &["error at scaling.max: There can never be a replica"]);
    check(
        scaling(json!({ "min": 0, "max": 2, "target": 1 })),
        &["error at scaling.min: Without a replica nothing asks for the first one"],
    );
    let external = json!({ "metric": "sqs_depth", "scope": "external" });
    check(scaling(json!({ "min": 0, "max": 2, "target": 1, "signal": &external, "via": "keda" })), &[]);
    check(
        scaling(json!({ "min": 0, "max": 2, "target": 1, "signal": &external })),
        &["warning at scaling.min: Most clusters refuse a HorizontalPodAutoscaler without replicas"],
    );
    check(
        scaling(json!({ "max": 2, "target": 1, "via": "keda", "prometheus_address": "prometheus:9090" })),
        &["error at scaling.prometheus_address: \"prometheus:9090\" is not the address of Prometheus"],
    );
    check(
        scaling(json!({ "max": 2, "target": 80, "signal": "kv_cache", "prometheus_address": "http://p:9090" })),
        &[
            "error at scaling.target: The target of the scaling is out of range",
            "warning at scaling.prometheus_address: Nobody asks this Prometheus",
        ],
    );
    check(
        scaling(json!({ "max": 2, "target": 80, "signal": "gpu_utilization" })),
        &["warning at scaling.signal: GPU utilisation says little of load"],
    );
}

#[test]
fn a_custom_engine_is_scaled_by_a_metric_that_is_named() {
    let engine = json!({ "kind": "custom", "image": "acme/server:1", "port": 80, "health_path": "/" });
    check(
        json!({ "engine": engine, "scaling": { "max": 2, "target": 1 } }),
        &["error at scaling.signal: The metric of a custom engine is not known"],
    );
    check(json!({ "engine": engine, "scaling": { "max": 2, "target": 1, "signal": { "metric": "waiting" } } }), &[]);
}

#[test]
fn tolerations_are_in_kubernetes_words() {
    check(
        json!({ "placement": { "tolerations": [
            { "key": "a", "operator": "Exists", "value": "x", "effect": "NO_SCHEDULE" }, { "operator": "In" }, {},
        ] } }),
        &[
            "error at placement.tolerations[0].effect: \"NO_SCHEDULE\" is not an effect of taints",
            "error at placement.tolerations[0].value: A toleration with `Exists` has a value",
            "error at placement.tolerations[1].operator: \"In\" is not an operator of tolerations",
            "error at placement.tolerations[2].key: A toleration has no key",
        ],
    );
}

#[test]
fn amounts_are_quantities_and_leave_room_beside_the_shared_memory() {
    check(
        json!({ "resources": { "cpu": "four", "memory": "24GB" } }),
        &[
            "error at resources.cpu: `resources.cpu` is not an amount",
            "error at resources.memory: `resources.memory` is not an amount",
        ],
    );
    check(json!({ "resources": { "cpu": "3500m", "memory": "1e10", "shm_gib": 8 } }), &[]);
    check(json!({ "resources": { "cpu": "0" } }), &["error at resources.cpu: `resources.cpu` is not an amount"]);
    check(
        json!({ "resources": { "memory": "8192Mi", "shm_gib": 8 } }),
        &["error at resources.shm_gib: The shared memory is all the memory there is"],
    );
}

#[test]
fn what_is_exposed_has_a_host_a_path_and_the_right_certificate() {
    check(
        json!({ "expose": { "host": "https://qwen", "path": "v1" } }),
        &[
            "error at expose.host: \"https://qwen\" is not a host name",
            "error at expose.path: The path \"v1\" does not begin with a slash",
        ],
    );
    check(
        json!({ "expose": { "host": "*.example.com", "class": "alb", "tls_secret": "tls" } }),
        &["warning at expose.tls_secret: The load balancer does not read this Secret"],
    );
    let annotations = json!({ "alb.ingress.kubernetes.io/scheme": "internal" });
    check(
        json!({ "expose": { "host": "a.test", "class": "internal", "tls_secret": "tls", "annotations": annotations } }),
        &["warning at expose.tls_secret: The load balancer does not read this Secret"],
    );
    check(json!({ "expose": { "host": "a.test", "class": "nginx", "tls_secret": "tls" } }), &[]);
}

#[test]
fn access_is_by_a_role_and_pod_identity_needs_an_eks_cluster() {
    check(
        json!({ "access": { "role_arn": "models" }, "cluster": null }),
        &[
            "error at access.role_arn: The role is not given by its ARN",
            "error at access.method: Pod Identity needs the name of the EKS cluster",
        ],
    );
}

#[test]
fn pods_are_not_killed_at_once_and_labels_are_the_users_own() {
    check(
        json!({ "rollout": { "termination_grace_seconds": 0 }, "labels": { "mlplat.io/x": "y" } }),
        &[
            "error at rollout.termination_grace_seconds: Pods would be killed at once",
            "error at labels: A label cannot be used",
        ],
    );
}
