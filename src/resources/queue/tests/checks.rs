//! What is complained of.

use serde_json::{Value as Json, json};

use super::{config, flavor, whole};
use crate::resources::{Queue, testing::complaints};

fn check(change: Json, expected: &[&str]) {
    assert_eq!(complaints::<Queue>(&config(change)), expected);
}

fn check_flavor(change: Json, expected: &[&str]) {
    check(json!({ "flavors": [flavor("gpu", change)] }), expected);
}

// The quota of GPUs, beside sound ones of CPU and memory.
#[expect(clippy::needless_pass_by_value, reason = "reads better with literals")]
fn check_quota(quota: Json, cohort: Json, expected: &[&str]) {
    let quota = json!({ "nvidia.com/gpu": quota, "cpu": { "nominal": "1" }, "memory": { "nominal": "1Gi" } });
    check(json!({ "cohort": cohort, "flavors": [flavor("gpu", json!({ "quota": quota }))] }), expected);
}

#[test]
fn a_sound_queue_is_not_complained_about() {
    check(json!({}), &[]);
    assert_eq!(complaints::<Queue>(&whole()), Vec::<String>::new());
}

#[test]
fn values_not_known_yet_are_not_complained_about() {
    for name in ["cluster", "name", "cohort", "flavors", "preemption", "namespaces", "priorities"] {
        check(json!({ (name): "(unknown)" }), &[]);
    }
}

#[test]
fn names_that_kubernetes_refuses_are_refused() {
    let long = "q".repeat(64);
    check(
        json!({
            "cluster": "", "name": "GPU", "cohort": "all/x",
            "namespaces": { "Team": "gpu", "team": long },
            "priorities": { "High Priority": 1 },
            "labels": { "mlplat.io/x": "y" },
            "flavors": [flavor("on_demand", json!({ "topology": { "name": "A" } }))],
        }),
        &[
            "error at cluster: The cluster's name is empty",
            "error at name: The queue name \"GPU\" cannot be used",
            "error at cohort: The cohort name \"all/x\" cannot be used",
            "error at flavors[0].name: The flavor name \"on_demand\" cannot be used",
            "error at flavors[0].topology.name: The topology name \"A\" cannot be used",
            "error at namespaces: The namespace \"Team\" cannot be used",
            &format!("error at namespaces: The name of a LocalQueue {long:?} cannot be used"),
            "error at priorities: The priority's name \"High Priority\" cannot be used",
            "error at labels: A label cannot be used",
        ],
    );
    check(json!({ "name": long }), &[&format!("error at name: The queue name {long:?} cannot be used")]);
}

#[test]
fn a_queue_has_flavors_each_once() {
    check(json!({ "flavors": [] }), &["error at flavors: The queue has 0 flavors"]);
    let many: Vec<_> = (0..65).map(|number| flavor(&format!("f{number}"), json!({}))).collect();
    check(json!({ "flavors": many }), &["error at flavors: The queue has 65 flavors"]);
    check(
        json!({ "flavors": [flavor("gpu", json!({})), flavor("gpu", json!({}))] }),
        &["error at flavors[1].name: The flavor \"gpu\" is there twice"],
    );
}

#[test]
fn a_flavor_has_at_most_eight_of_each() {
    let labels: serde_json::Map<_, _> = (0..9).map(|number| (format!("l{number}"), json!("x"))).collect();
    let taints: Vec<_> = (0..9).map(|number| json!({ "key": format!("t{number}"), "effect": "NoSchedule" })).collect();
    let tolerations: Vec<_> = (0..9).map(|number| json!({ "key": format!("t{number}") })).collect();
    check_flavor(
        json!({ "node_labels": labels, "taints": taints, "tolerations": tolerations }),
        &[
            "error at flavors[0].node_labels: The flavor has too many labels: 9",
            "error at flavors[0].taints: The flavor has too many taints: 9",
            "error at flavors[0].tolerations: The flavor has too many tolerations: 9",
        ],
    );
}

#[test]
fn what_nodes_are_like_is_in_kubernetes_words() {
    check_flavor(json!({ "node_labels": { "mlplat.io/pool": "gpu" } }), &[]);
    check_flavor(
        json!({
            "node_labels": { "a b": "c" },
            "taints": [{ "key": "a", "value": "1", "effect": "NoSchedule" }, { "key": "a", "effect": "NoSchedule" },
                       { "key": "/", "effect": "NoExecute" }],
            "tolerations": [{ "key": "a", "operator": "Exists", "value": "x", "effect": "NO_SCHEDULE" },
                            { "key": "a", "operator": "In" }, {}],
        }),
        &[
            "error at flavors[0].node_labels: The label \"a b\" cannot be used",
            "error at flavors[0].taints: The taint \"/\" cannot be used",
            "error at flavors[0].taints: The taint \"a\" is there twice with the effect NoSchedule",
            "error at flavors[0].tolerations[0].effect: \"NO_SCHEDULE\" is not an effect of taints",
            "error at flavors[0].tolerations[0].value: A toleration with `Exists` has a value",
            "error at flavors[0].tolerations[1].operator: \"In\" is not an operator of tolerations",
            "error at flavors[0].tolerations[2].key: A toleration has no key",
        ],
    );
}

#[test]
fn a_flavor_of_somebody_else_is_not_described() {
    check_flavor(json!({ "existing": true, "node_labels": {} }), &[]);
    check_flavor(
        json!({ "existing": true }),
        &["error at flavors[0].existing: A flavor that is there already is described once more"],
    );
}

#[test]
fn a_topology_is_of_labelled_nodes_and_from_wide_to_narrow() {
    let topology = |levels: Json| json!({ "topology": { "name": "racks", "levels": levels } });
    let wrong = ["error at flavors[0].topology.levels: The levels of a topology cannot be used"];
    check_flavor(topology(json!(["rack", "kubernetes.io/hostname"])), &[]);
    check_flavor(topology(Json::Null), &[]);
    check_flavor(topology(json!([])), &wrong);
    check_flavor(topology(json!(["kubernetes.io/hostname", "rack"])), &wrong);
    check_flavor(topology(json!(["rack", "rack"])), &wrong);
    check_flavor(topology(json!(["a b"])), &wrong);
    let bare = json!({ "node_labels": {}, "topology": { "name": "racks" } });
    check_flavor(bare, &["error at flavors[0].topology: A flavor with a topology has no node labels"]);
    check(
        json!({ "flavors": [flavor("a", topology(json!(["rack"]))), flavor("b", topology(json!(["block"])))] }),
        &["error at flavors[1].topology.levels: The topology \"racks\" has two sets of levels"],
    );
}

#[test]
fn every_flavor_covers_every_resource() {
    let only = |name: &str| json!({ "quota": { (name): { "nominal": "1" } } });
    check(
        json!({ "flavors": [
            flavor("a", json!({})), flavor("b", only("nvidia.com/gpu")), flavor("c", json!({ "quota": {} })),
        ] }),
        &[
            "error at flavors[1].quota: The flavor \"b\" has no quota of \"cpu\", \"memory\"",
            "error at flavors[2].quota: The flavor \"c\" has no quota",
        ],
    );
}

#[test]
fn a_resource_is_named_as_pods_ask_for_it() {
    let quota = json!({
        "requests.nvidia.com/gpu": { "nominal": "8" }, "my gpu": { "nominal": "8" },
        "cpu": { "nominal": "1" }, "memory": { "nominal": "1" },
    });
    check_flavor(
        json!({ "quota": quota }),
        &[
            "error at flavors[0].quota: \"my gpu\" is not the name of a resource",
            "error at flavors[0].quota: No pod asks for \"requests.nvidia.com/gpu\"",
        ],
    );
}

#[test]
fn quotas_are_amounts_and_borrowing_needs_a_cohort() {
    let path = |name: &str| format!("error at flavors[0].quota[\"nvidia.com/gpu\"].{name}");
    check_quota(
        json!({ "nominal": "-1", "borrowing_limit": "2TB", "lending_limit": "1e3" }),
        json!("all"),
        &[
            &format!("{}: \"-1\" is not an amount", path("nominal")),
            &format!("{}: \"2TB\" is not an amount", path("borrowing_limit")),
        ],
    );
    check_quota(
        json!({ "nominal": "8", "borrowing_limit": "0", "lending_limit": "9" }),
        Json::Null,
        &[
            &format!("{}: `borrowing_limit` is given to a queue without a cohort", path("borrowing_limit")),
            &format!("{}: `lending_limit` is given to a queue without a cohort", path("lending_limit")),
            &format!("{}: More is lent than there is", path("lending_limit")),
        ],
    );
    check_quota(json!({ "nominal": "1", "lending_limit": "1000m" }), json!("all"), &[]);
    check_quota(json!({ "nominal": "1", "borrowing_limit": "9" }), json!("(unknown)"), &[]);
}

#[test]
fn more_quotas_than_kueue_takes_are_refused() {
    let resources = |number: usize| -> Json {
        let quota = (0..number).map(|at| (format!("example.com/r{at}"), json!({ "nominal": "1" })));
        let always = ["cpu", "memory"].map(|name| (name.to_owned(), json!({ "nominal": "1" })));
        json!({ "quota": Json::Object(quota.chain(always).collect()) })
    };
    check_flavor(resources(63), &["error at flavors: The queue has too many quotas: 1 flavors of 65 resources"]);
    let flavors: Vec<_> = (0..20).map(|at| flavor(&format!("f{at}"), resources(28))).collect();
    check(
        json!({ "flavors": flavors }),
        &["error at flavors: The queue has too many quotas: 20 flavors of 30 resources"],
    );
}

#[test]
fn preemption_that_kueue_refuses_or_that_never_happens_is_told() {
    let borrow = json!({ "reclaim_within_cohort": "Never", "borrow_within_cohort": { "max_priority_threshold": 3_000_000_000_u64 } });
    check(
        json!({ "preemption": borrow }),
        &[
            "error at preemption.borrow_within_cohort: Workloads that borrow may evict others, and those within their quota may not",
            "warning at preemption.borrow_within_cohort: Nobody lends to this queue",
            "error at preemption.borrow_within_cohort.max_priority_threshold: The priority 3000000000 is out of range",
        ],
    );
    check(json!({ "cohort": "all", "preemption": { "borrow_within_cohort": {} } }), &[]);
}

#[test]
fn somebody_may_use_the_queue() {
    let nobody = ["warning at namespaces: Nobody may use the queue"];
    check(json!({ "namespaces": {} }), &nobody);
    check(json!({ "namespaces": null }), &["warning at namespaces: Nobody may use the queue"]);
    check(json!({ "namespaces": {}, "cohort": "all" }), &[]);
    check(
        json!({ "namespaces": { "kube-system": "gpu" } }),
        &["warning at namespaces: Nothing in \"kube-system\" is ever queued"],
    );
}

#[test]
fn priorities_have_32_bits() {
    check(
        json!({ "priorities": { "high": 2_147_483_648_i64, "low": -2_147_483_648_i64 } }),
        &["error at priorities: The priority 2147483648 is out of range"],
    );
}
