//! Imports, unknown values, and what is told of a plan.

use std::collections::BTreeMap;

use converge::{Ledger, Run, testing::InstantClock};
use serde_json::{Value as Json, json};
use tf_provider::Diagnostics;

use super::{config, whole};
use crate::{
    composite::Composite,
    resources::{
        InferenceService,
        testing::{KINDS, cloud, decoded, expanded, imported, owner},
    },
};

fn identity() -> Json {
    json!({ "cluster": "ml-prod", "namespace": "ml", "name": "vllm-qwen" })
}

async fn comes_back(config: Json) {
    let said = imported::<InferenceService>(&config, &identity()).await;
    for (name, value) in config.as_object().expect("an object") {
        let mut value = value.clone();
        if name == "model" {
            value.as_object_mut().expect("an object").remove("token_wo");
        }
        if identity().get(name).is_none() && value != json!({}) {
            assert_eq!(said.get(name), Some(&value), "{name}");
        }
    }
    // Parts of attributes are told by their own objects as well, and say the same.
    for (path, value) in &said {
        let pointer = format!("/{}", path.replace('.', "/"));
        assert_eq!(
            config.pointer(&pointer).filter(|_| path != "model"),
            Some(value).filter(|_| path != "model"),
            "{path}"
        );
    }
}

#[tokio::test]
async fn an_import_of_what_was_created_says_what_was_configured_and_nothing_else() {
    comes_back(config(json!({}))).await;
    comes_back(whole()).await;
    comes_back(config(json!({
        "scaling": { "max": 4, "target": 0.5, "signal": { "metric": "x", "scope": "external" }, "via": "keda" },
        "adopt": "if_unmanaged",
        "resources": { "cpu": "1000m" },
        "placement": {},
    })))
    .await;
}

#[test]
fn the_token_is_in_no_document() {
    let (_, graph) = expanded::<InferenceService>(&whole(), BTreeMap::new());
    for (key, node) in graph.nodes() {
        let document = Json::Object(node.document()).to_string();
        assert!(!document.contains("hf_secret"), "{key}");
    }
    assert!(!format!("{graph:?}").contains("hf_secret"));
}

#[test]
fn an_unknown_value_makes_only_what_it_is_part_of_wait() {
    let waiting = |change: Json| {
        let (_, graph) = expanded::<InferenceService>(&config(change), BTreeMap::new());
        let waiting: Vec<String> =
            graph.nodes().iter().filter(|(_, node)| !node.is_known()).map(|(key, _)| key.clone()).collect();
        (waiting.join(" "), graph.unshaped().map(ToString::to_string).unwrap_or_default())
    };
    assert_eq!(waiting(json!({ "queue": "(unknown)" })), ("deployment".into(), String::new()));
    assert_eq!(waiting(json!({ "engine": "(unknown)" })), ("deployment".into(), String::new()));
    assert_eq!(waiting(json!({ "cluster": "(unknown)" })).1, "");
    assert_eq!(waiting(json!({ "labels": "(unknown)" })).0, "deployment pdb service service_account");
    assert_eq!(waiting(json!({ "scaling": "(unknown)" })), ("deployment".into(), "scaling".into()));
    assert_eq!(waiting(json!({ "model": "(unknown)" })), ("deployment".into(), "model".into()));
}

async fn told(before: &Json, after: &Json) -> Vec<String> {
    let (cx, cloud, owner) = (InstantClock::cx(), cloud(), owner());
    let drivers = cloud.drivers(KINDS);
    let source = |outputs| expanded::<InferenceService>(before, outputs).1;
    let run = Run { drivers: &drivers, cx: &cx, owner: &owner, record: &|_| {} };
    let ledger = converge::converge(&run, &source, Ledger::default()).await.ledger;
    explained(after, &ledger)
}

fn explained(config: &Json, ledger: &Ledger) -> Vec<String> {
    let plan = converge::plan(&|outputs| expanded::<InferenceService>(config, outputs).1, ledger);
    let mut complaints = Diagnostics::new();
    decoded::<InferenceService>(config).explain(&plan, ledger, &mut complaints);
    complaints.iter().map(|told| format!("{}: {}", told.path, told.summary)).collect()
}

fn image(mut config: Json) -> Json {
    config["engine"]["image"] = json!("vllm/vllm-openai:v0.33.0");
    config
}

#[tokio::test]
async fn what_auto_chose_is_told_where_pods_are_replaced() {
    let one = config(json!({}));
    assert_eq!(told(&one, &image(one.clone())).await, ["rollout: The service is down while its pod is replaced"]);
    let two = config(json!({ "replicas": 2 }));
    assert_eq!(
        told(&two, &image(two.clone())).await,
        ["rollout: The service has one replica less while its pods are replaced"]
    );
    assert_eq!(told(&two, &config(json!({ "replicas": 3 }))).await, Vec::<String>::new());
    let named = config(json!({ "rollout": { "strategy": "recreate" } }));
    assert_eq!(told(&named, &image(named.clone())).await, Vec::<String>::new());
    let roomy = config(json!({ "placement": { "gpu_capacity": 2 } }));
    assert_eq!(told(&roomy, &image(roomy.clone())).await, Vec::<String>::new());
    assert_eq!(told(&one, &one).await, Vec::<String>::new());
}

#[test]
fn a_new_service_of_one_replica_is_told_what_changes_will_do() {
    assert_eq!(explained(&config(json!({})), &Ledger::default()), ["rollout: Changes will interrupt the service"]);
    assert_eq!(explained(&config(json!({ "replicas": 2 })), &Ledger::default()), Vec::<String>::new());
}
