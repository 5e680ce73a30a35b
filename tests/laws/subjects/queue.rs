//! `mlplat_queue`.

use serde_json::{Value as Json, json};

use super::{Change, Effect, Subject, change, timeouts};

pub(crate) const SUBJECT: Subject = Subject {
    resource: "mlplat_queue",
    changes,
    unsupported: &[],
    mirrors: &[],
    twin: || {
        let flavor = json!({ "name": "another", "quota": { "cpu": { "nominal": "1" } } });
        vec![("flavors", json!([flavor])), ("namespaces", json!({ "team-gamma": "gpu" })), ("priorities", json!({}))]
    },
};

fn changes() -> Vec<Change> {
    use Effect::{InPlace, Replaces};
    let full = |effect, attribute, to| change("full", effect, attribute, to);
    let mut changes = vec![
        full(Replaces, "cluster", json!("ml-dev")),
        full(Replaces, "name", json!("other-queue")),
        Change {
            along: vec![
                ("flavors", json!([{ "name": "spot", "quota": { "cpu": { "nominal": "1" }, "memory": { "nominal": "1Ti" } } }])),
                ("preemption.borrow_within_cohort", Json::Null),
            ],
            ..full(InPlace, "cohort", Json::Null)
        },
        full(InPlace, "flavors", json!([{ "name": "spot", "quota": { "memory": { "nominal": "1Ti" } } }])),
        full(InPlace, "preemption.within_queue", json!("Never")),
        full(InPlace, "preemption.reclaim_within_cohort", json!("Any")),
        full(InPlace, "preemption.borrow_within_cohort.max_priority_threshold", json!(50)),
        full(InPlace, "flavor_fungibility.when_can_borrow", json!("MayStopSearch")),
        full(InPlace, "flavor_fungibility.when_can_preempt", json!("TryNextFlavor")),
        full(InPlace, "queueing_strategy", json!("BestEffortFIFO")),
        full(InPlace, "stop_policy", json!("None")),
        full(InPlace, "namespaces", json!({ "team-alpha": "gpu", "team-beta": "gpu" })),
        full(InPlace, "priorities", json!({ "interactive": 1000, "training": 100 })),
        full(InPlace, "labels", json!({ "data-class": "secret" })),
        full(InPlace, "adopt", json!("always")),
    ];
    changes.extend(timeouts("full"));
    changes
}
