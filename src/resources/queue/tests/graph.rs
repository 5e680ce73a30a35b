//! What objects a configuration gives, and what they are like.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::{config, flavor, whole};
use crate::resources::{
    Queue,
    testing::{blames, expanded, text},
};

fn manifest(config: &Json, key: &str) -> Json {
    expanded::<Queue>(config, BTreeMap::new()).1.nodes()[key].document()["manifest"].clone()
}

#[test]
fn the_least_configuration_gives_a_safe_queue() {
    let (queue, graph) = expanded::<Queue>(&config(json!({})), BTreeMap::new());
    insta::assert_snapshot!(text(&graph));
    let covered = ["cpu", "memory", "nvidia.com/gpu"].map(str::to_owned).to_vec();
    assert_eq!(queue.covered_resources.get(), Some(&covered));
    assert!(queue.pending_workloads.is_pending() && queue.admitted_workloads.is_pending());
}

#[test]
fn every_attribute_reaches_its_object() {
    insta::assert_snapshot!(text(&expanded::<Queue>(&whole(), BTreeMap::new()).1));
}

#[test]
fn a_message_about_a_part_of_an_object_is_shown_at_its_attribute() {
    insta::assert_snapshot!(blames::<Queue>(&whole()));
}

#[test]
fn important_work_comes_first_where_nothing_is_said() {
    let preemption = |change: Json| manifest(&config(change), "cluster_queue")["spec"]["preemption"].clone();
    let default = json!({ "reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority" });
    assert_eq!(preemption(json!({})), default);
    assert_eq!(preemption(json!({ "preemption": {} })), default);
    assert_eq!(preemption(json!({ "preemption": { "within_queue": "Never" } }))["withinClusterQueue"], "Never");
}

#[test]
fn only_namespaces_that_are_named_may_use_the_queue() {
    let selector = |namespaces: Json| {
        manifest(&config(json!({ "namespaces": namespaces })), "cluster_queue")["spec"]["namespaceSelector"].clone()
    };
    let name = "kubernetes.io/metadata.name";
    assert_eq!(
        selector(json!({ "b": "x", "a": "x" })),
        json!({ "matchExpressions": [{ "key": name, "operator": "In", "values": ["a", "b"] }] })
    );
    // Every namespace has the label. No requirement at all would be every namespace.
    let nobody = json!({ "matchExpressions": [{ "key": name, "operator": "DoesNotExist" }] });
    assert_eq!((selector(json!({})), selector(Json::Null)), (nobody.clone(), nobody));
}

#[test]
fn flavors_share_a_topology_and_one_that_is_there_is_not_made() {
    let named = |name: &str, levels: Json| flavor(name, json!({ "topology": { "name": "racks", "levels": levels } }));
    let keys = |flavors: Json| {
        let (_, graph) = expanded::<Queue>(&config(json!({ "flavors": flavors })), BTreeMap::new());
        let line = |(key, node): (&String, &converge::Node)| format!("{key} after {:?}", node.after);
        graph.nodes().iter().map(line).filter(|line| !line.starts_with("local")).collect::<Vec<_>>()
    };
    assert_eq!(
        keys(json!([named("a", json!(["rack"])), named("b", Json::Null)])),
        [
            "cluster_queue after {\"flavor_a\", \"flavor_b\"}",
            "flavor_a after {\"topology_racks\"}",
            "flavor_b after {\"topology_racks\"}",
            "topology_racks after {}",
        ]
    );
    assert_eq!(keys(json!([named("a", Json::Null)])), ["cluster_queue after {\"flavor_a\"}", "flavor_a after {}"]);
}
