//! Faults that users of neighbouring tools reported, each with the smallest input that shows it.

use std::collections::BTreeMap;

use converge::{Ledger, Run, testing::InstantClock};
use serde_json::{Value as Json, json};

use super::{config, flavor, whole};
use crate::resources::{
    Queue,
    testing::{KINDS, cloud, complaints, expanded, owner},
};

fn manifest(change: Json, key: &str) -> Json {
    expanded::<Queue>(&config(change), BTreeMap::new()).1.nodes()[key].document()["manifest"].clone()
}

// Report 38. That a server's old words mean the same is the driver's to know.
#[test]
fn old_words_of_kueue_are_taken_and_the_new_ones_are_written() {
    let written = |borrow: &str, preempt: &str| {
        let fungibility = json!({ "when_can_borrow": borrow, "when_can_preempt": preempt });
        manifest(json!({ "flavor_fungibility": fungibility }), "cluster_queue")["spec"]["flavorFungibility"].clone()
    };
    assert_eq!(
        written("Borrow", "Preempt"),
        json!({ "whenCanBorrow": "MayStopSearch", "whenCanPreempt": "MayStopSearch" })
    );
    assert_eq!(written("Borrow", "TryNextFlavor"), manifest(json!({}), "cluster_queue")["spec"]["flavorFungibility"]);
    assert_eq!(manifest(json!({}), "cluster_queue")["spec"]["stopPolicy"], "None");
    assert_eq!(manifest(json!({ "cohort": "all" }), "cluster_queue")["spec"]["cohortName"], "all");
}

// Report 39.
#[tokio::test]
async fn what_is_in_use_is_deleted_after_its_user() {
    let (cx, cloud, owner) = (InstantClock::cx(), cloud(), owner());
    let drivers = cloud.drivers(KINDS);
    let source = |outputs| expanded::<Queue>(&whole(), outputs).1;
    let run = Run { drivers: &drivers, cx: &cx, owner: &owner, record: &|_| {} };
    let made = converge::converge(&run, &source, Ledger::default()).await;
    let after = |key: &str| made.ledger.entries[key].after.iter().cloned().collect::<Vec<_>>();
    assert_eq!(after("local_queue_team-alpha"), ["cluster_queue"]);
    assert_eq!(after("cluster_queue"), ["flavor_on-demand-gpu", "flavor_spot-gpu"]);
    assert_eq!(after("flavor_on-demand-gpu"), ["topology_racks"]);
    let gone = converge::destroy(&run, made.ledger).await;
    assert!(gone.failures.is_empty() && gone.ledger.entries.is_empty());
}

// Report 40. What LimitRanges add is told in `beside`, and by the cluster.
#[test]
fn resources_that_workloads_ask_for_and_the_queue_does_not_cover_are_told() {
    let gpu_only = flavor("gpu", json!({ "quota": { "nvidia.com/gpu": { "nominal": "8" } } }));
    assert_eq!(
        complaints::<Queue>(&config(json!({ "flavors": [gpu_only] }))),
        ["warning at flavors: No workload that asks for \"cpu\", \"memory\" is ever admitted"]
    );
    assert_eq!(
        manifest(json!({}), "cluster_queue")["spec"]["resourceGroups"][0]["coveredResources"],
        json!(["cpu", "memory", "nvidia.com/gpu"])
    );
}

// Report 41.
#[test]
fn none_and_empty_are_the_same() {
    let bare = flavor("a", json!({ "node_labels": null }));
    let empty = flavor(
        "a",
        json!({
            "node_labels": {}, "taints": [], "tolerations": [], "existing": false,
        }),
    );
    let (bare, empty) = (json!({ "flavors": [bare] }), json!({ "flavors": [empty] }));
    assert_eq!(manifest(bare.clone(), "flavor_a"), json!({ "spec": {} }));
    assert_eq!(manifest(bare, "flavor_a"), manifest(empty, "flavor_a"));
    let taint = |value: Json| {
        let taint = json!({ "key": "spot", "value": value, "effect": "NoSchedule" });
        manifest(json!({ "flavors": [flavor("a", json!({ "taints": [taint] }))] }), "flavor_a")
    };
    assert_eq!(taint(Json::Null), taint(json!("")));
}

// Report 41. The order of flavors is the order of use, so it counts for the queue and for nothing else.
#[test]
fn flavors_are_told_apart_by_name() {
    let graph = |flavors: [Json; 2]| expanded::<Queue>(&config(json!({ "flavors": flavors })), BTreeMap::new()).1;
    let (a, b) = (flavor("a", json!({})), flavor("b", json!({})));
    let (one, other) = (graph([a.clone(), b.clone()]), graph([b, a]));
    for key in ["flavor_a", "flavor_b"] {
        assert_eq!(one.nodes()[key].document(), other.nodes()[key].document());
    }
}

// Reports 33 and 38: amounts are compared by value, and the user's spelling stays in the state.
#[test]
fn a_quota_means_the_same_in_every_spelling() {
    let flavor = flavor(
        "a",
        json!({ "quota": {
        "cpu": { "nominal": "1000m" }, "memory": { "nominal": "2048Gi" }, "nvidia.com/gpu": { "nominal": "8" },
    } }),
    );
    let group = manifest(json!({ "flavors": [flavor] }), "cluster_queue")["spec"]["resourceGroups"][0].clone();
    let nominal: Vec<_> = (0..3).map(|at| group["flavors"][0]["resources"][at]["nominalQuota"].clone()).collect();
    assert_eq!(nominal, [json!("1"), json!("2Ti"), json!("8")]);
}
