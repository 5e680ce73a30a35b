//! What a change of the configuration does, by the engine's plan.

use std::collections::BTreeMap;

use converge::{Action, Document, Entry, Graph, Ledger, Plan};
use serde_json::{Value as Json, json};
use tf_provider::Diagnostics;

use super::config;
use crate::{
    composite::Composite,
    resources::{
        GpuPool,
        testing::{decoded, settings},
    },
};

fn outputs() -> BTreeMap<String, Document> {
    let all = json!({
        "node_role": { "id": "r", "arn": "arn:aws:iam::123456789012:role/mlplat-ml-prod-gpu" },
        "launch_template": { "id": "lt-1", "version": "1" },
        "node_group": {
            "id": "gpu", "arn": "arn:…", "status": "ACTIVE", "live_size": 6, "autoscaling_group_names": ["eks-1"],
        },
        "autoscaling_tags": {},
    });
    serde_json::from_value(all).expect("a map of objects")
}

fn graph(config: &Json, outputs: BTreeMap<String, Document>) -> Graph {
    let mut graph = Graph::new(outputs);
    decoded::<GpuPool>(config).expand(&settings(), &mut graph);
    graph
}

/// The record after the configuration was applied.
fn applied(config: &Json) -> Ledger {
    let graph = graph(config, outputs());
    let entries = graph.nodes().iter().map(|(key, node)| {
        let entry = Entry {
            kind: node.facts.kind.to_owned(),
            document: node.document(),
            outputs: outputs().remove(key).unwrap_or_default(),
            after: node.after.clone(),
            ..Entry::default()
        };
        (key.clone(), entry)
    });
    Ledger { entries: entries.collect(), ..Ledger::default() }
}

fn planned(before: &Json, after: &Json) -> (Plan, Vec<String>) {
    let ledger = applied(before);
    let plan = converge::plan(&|outputs| graph(after, outputs), &ledger);
    let mut told = Diagnostics::new();
    decoded::<GpuPool>(after).explain(&plan, &ledger, &mut told);
    let told = told.iter().map(|told| format!("{}: {}", told.path, told.summary)).collect();
    (plan, told)
}

fn action(plan: &Plan, key: &str) -> Option<Action> {
    plan.steps.get(key).map(|step| step.action)
}

#[test]
fn a_pool_that_an_autoscaler_moved_plans_nothing() {
    let config = config(json!({ "size": { "min": 3, "max": 6, "initial": 3 } }));
    let (plan, told) = planned(&config, &config);
    assert!(plan.is_empty(), "{:?}", plan.steps);
    assert_eq!(told, Vec::<String>::new());
}

#[test]
fn the_initial_size_is_never_sent_again() {
    let (plan, _) = planned(
        &config(json!({ "size": { "min": 1, "max": 6, "initial": 3 } })),
        &config(json!({ "size": { "min": 2, "max": 6, "initial": 4 } })),
    );
    assert_eq!(action(&plan, "node_group"), Some(Action::Update));
    assert!(!plan.steps["node_group"].fields.contains("initial"));
    assert!(plan.steps["node_group"].fields.contains("min"));
}

#[test]
fn another_instance_type_rolls_the_pool_and_says_how_many_nodes_that_is() {
    let (plan, told) = planned(&config(json!({})), &config(json!({ "instance_types": ["g5.xlarge", "g5.2xlarge"] })));
    assert_eq!(action(&plan, "node_group"), Some(Action::Roll));
    assert!(plan.replacements.is_empty());
    assert_eq!(told, ["instance_types: Rolling replacement of 6 nodes"]);
}

#[test]
fn another_image_family_rolls_the_pool() {
    let (plan, told) = planned(&config(json!({})), &config(json!({ "image": { "family": "bottlerocket" } })));
    assert_eq!(action(&plan, "node_group"), Some(Action::Roll));
    assert_eq!(told, ["image.family: Rolling replacement of 6 nodes"]);
}

#[test]
fn another_disk_replaces_the_nodes_within_the_group() {
    let (plan, told) = planned(&config(json!({})), &config(json!({ "disk": { "size_gib": 300 } })));
    assert_eq!(action(&plan, "launch_template"), Some(Action::Update));
    assert_eq!(action(&plan, "node_group"), Some(Action::Update));
    assert_eq!(told.len(), 1);
    assert!(told[0].ends_with("Replacement of 6 nodes within the group"), "{told:?}");
}

#[test]
fn labels_and_limits_change_in_place_and_quietly() {
    let (plan, told) =
        planned(&config(json!({})), &config(json!({ "labels": { "a": "b" }, "max_hourly_cost_usd": 60 })));
    assert_eq!(action(&plan, "node_group"), Some(Action::Update));
    assert_eq!(action(&plan, "autoscaling_tags"), Some(Action::Update));
    assert_eq!(told, Vec::<String>::new());
}

#[test]
fn an_empty_pool_is_rolled_without_a_warning() {
    let (before, after) = (config(json!({})), config(json!({ "instance_types": ["g6.xlarge"] })));
    let mut ledger = applied(&before);
    if let Some(entry) = ledger.entries.get_mut("node_group") {
        entry.outputs.insert("live_size".to_owned(), json!(0));
    }
    let plan = converge::plan(&|outputs| graph(&after, outputs), &ledger);
    let mut told = Diagnostics::new();
    decoded::<GpuPool>(&after).explain(&plan, &ledger, &mut told);
    assert!(told.is_empty(), "{told:?}");
}
