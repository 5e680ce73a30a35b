//! Imports, unknown values, and what is told of a plan.

use std::collections::BTreeMap;

use converge::{Action, Ledger, Run, testing::InstantClock};
use serde_json::{Value as Json, json};
use tf_provider::Diagnostics;

use super::{config, flavor, whole};
use crate::{
    composite::Composite,
    resources::{
        Queue,
        testing::{KINDS, cloud, decoded, expanded, imported, owner, text},
    },
};

fn identity() -> Json {
    json!({ "cluster": "ml-prod", "name": "gpu-cluster-queue" })
}

// Elements of a set have an order of their own, words and amounts one spelling, and an empty map may be the default.
async fn comes_back(config: Json) {
    let said = imported::<Queue>(&config, &identity()).await;
    let mut read = identity();
    read.as_object_mut().expect("an object").extend(said);
    // The memory of the spelling has the empty maps, which an import here gives back as left out.
    let is_meant = |line: &&str| !line.contains("mlplat.io/attributes");
    let meant = |config: &Json| {
        let graph = text(&expanded::<Queue>(config, BTreeMap::new()).1);
        graph.lines().filter(is_meant).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(meant(&read), meant(&config));
}

#[tokio::test]
async fn an_import_of_what_was_created_says_what_was_configured_and_nothing_else() {
    comes_back(config(json!({}))).await;
    comes_back(whole()).await;
    comes_back(config(json!({ "namespaces": {}, "cohort": "all", "preemption": {} }))).await;
}

#[test]
fn an_unknown_value_makes_only_what_it_is_part_of_wait() {
    let waiting = |change: Json| {
        let (_, graph) = expanded::<Queue>(&config(change), BTreeMap::new());
        let waiting: Vec<String> =
            graph.nodes().iter().filter(|(_, node)| !node.is_known()).map(|(key, _)| key.clone()).collect();
        (waiting.join(" "), graph.unshaped().map(ToString::to_string).unwrap_or_default())
    };
    assert_eq!(waiting(json!({ "cohort": "(unknown)" })), ("cluster_queue".into(), String::new()));
    assert_eq!(waiting(json!({ "preemption": "(unknown)" })), ("cluster_queue".into(), String::new()));
    assert_eq!(
        waiting(json!({ "cluster": "(unknown)" })),
        ("cluster_queue flavor_on-demand-gpu local_queue_team-alpha".into(), String::new())
    );
    assert_eq!(waiting(json!({ "flavors": "(unknown)" })), ("cluster_queue".into(), "flavors".into()));
    assert_eq!(waiting(json!({ "namespaces": "(unknown)" })), ("cluster_queue".into(), "namespaces".into()));
    assert_eq!(waiting(json!({ "priorities": "(unknown)" })), ("cluster_queue".into(), "priorities".into()));
}

async fn ledger(config: &Json) -> Ledger {
    let (cx, cloud, owner) = (InstantClock::cx(), cloud(), owner());
    let drivers = cloud.drivers(KINDS);
    let source = |outputs| expanded::<Queue>(config, outputs).1;
    let run = Run { drivers: &drivers, cx: &cx, owner: &owner, record: &|_| {} };
    converge::converge(&run, &source, Ledger::default()).await.ledger
}

async fn told(before: Json, after: Json) -> Vec<String> {
    let (before, after) = (config(json!({ "flavors": before })), config(json!({ "flavors": after })));
    let ledger = ledger(&before).await;
    let plan = converge::plan(&|outputs| expanded::<Queue>(&after, outputs).1, &ledger);
    let mut complaints = Diagnostics::new();
    decoded::<Queue>(&after).explain(&plan, &ledger, &mut complaints);
    assert!(complaints.iter().all(|told| told.detail.contains("\n\n")));
    complaints.iter().map(|told| format!("{}: {}", told.path, told.summary)).collect()
}

#[tokio::test]
async fn what_kueue_cannot_change_is_told_before_it_refuses() {
    let gpu = |change: Json| json!([flavor("gpu", change)]);
    let racks = |levels: Json| json!({ "topology": { "name": "racks", "levels": levels } });
    let one = gpu(racks(json!(["rack"])));
    assert_eq!(
        told(one.clone(), gpu(racks(json!(["block", "rack"])))).await,
        ["flavors[0].topology.levels: The levels of the topology \"racks\" cannot be changed"]
    );
    let mut moved = racks(json!(["rack"]));
    moved["node_labels"] = json!({ "a": "b" });
    let fixed = ["flavors[0].name: The nodes of the flavor \"gpu\" cannot be changed"];
    assert_eq!(told(one.clone(), gpu(moved)).await, fixed);
    assert_eq!(told(one.clone(), gpu(json!({}))).await, fixed);
    assert_eq!(
        told(one.clone(), gpu(racks(Json::Null))).await,
        ["flavors[0].topology.name: The topology \"racks\" is this queue's own"]
    );
    // Without a topology Kueue changes a flavor, and gives it one.
    assert_eq!(told(gpu(json!({})), gpu(json!({ "node_labels": { "a": "b" } }))).await, Vec::<String>::new());
    assert_eq!(told(gpu(json!({})), one).await, Vec::<String>::new());
    assert_eq!(
        told(gpu(json!({})), gpu(json!({ "existing": true, "node_labels": null }))).await,
        ["flavors[0].existing: The flavor \"gpu\" is this queue's own"]
    );
}

#[tokio::test]
async fn another_local_queue_of_a_namespace_takes_the_place_of_the_first() {
    let ledger = ledger(&config(json!({}))).await;
    let renamed = config(json!({ "namespaces": { "team-alpha": "other" } }));
    let plan = converge::plan(&|outputs| expanded::<Queue>(&renamed, outputs).1, &ledger);
    let action = |key: &str| plan.steps.get(key).map(|step| step.action);
    assert_eq!(action("local_queue_team-alpha"), Some(Action::Replace));
    assert_eq!(plan.replacements, []);
}
