//! What somebody changes of a queue behind terraform's back: shown by name, repaired alone.

use crate::support::{KUEUE, LIMIT, QUEUE, Scene, scene, target};
use acceptance_tests::printed::changed_lines;
use anyhow::{Context, Result};
use insta::assert_snapshot;
use serde_json::{Value, json};

/// What is done to which object.
enum Drift {
    Patched(&'static str, fn() -> Value),
    Deleted(&'static str),
}

use Drift::{Deleted, Patched};

const CLUSTER_QUEUE: &str = "clusterqueues/drift";
const FLAVOR: &str = "resourceflavors/drift-gpu";
const LOCAL_QUEUE: &str = "namespaces/drift/localqueues/gpu";
const PRIORITY: &str = "workloadpriorityclasses/drift-high";
const TOPOLOGY: &str = "topologies/drift";

const DRIFTS: &[(&str, Drift)] = &[
    ("cluster queue: quota", Patched(CLUSTER_QUEUE, || json!({"spec": {"resourceGroups": [groups("7")]}}))),
    ("cluster queue: cohort", Patched(CLUSTER_QUEUE, || json!({"spec": {"cohortName": "somebody"}}))),
    (
        "cluster queue: everybody",
        Patched(CLUSTER_QUEUE, || json!({"spec": {"namespaceSelector": {"matchExpressions": null}}})),
    ),
    (
        "cluster queue: preemption",
        Patched(CLUSTER_QUEUE, || json!({"spec": {"preemption": {"withinClusterQueue": "Never"}}})),
    ),
    ("cluster queue: stopped", Patched(CLUSTER_QUEUE, || json!({"spec": {"stopPolicy": "Hold"}}))),
    ("cluster queue: label", Patched(CLUSTER_QUEUE, || json!({"metadata": {"labels": {"workload-type": "x"}}}))),
    ("flavor: nodes", Patched(FLAVOR, || json!({"spec": {"nodeLabels": {"pool": "other"}}}))),
    ("flavor: one more label", Patched(FLAVOR, || json!({"spec": {"nodeLabels": {"zone": "a"}}}))),
    (
        "flavor: taints",
        Patched(FLAVOR, || json!({"spec": {"nodeTaints": [{"key": "a", "value": "b", "effect": "NoSchedule"}]}})),
    ),
    ("flavor: tolerations", Patched(FLAVOR, || json!({"spec": {"tolerations": null}}))),
    ("local queue: stopped", Patched(LOCAL_QUEUE, || json!({"spec": {"stopPolicy": "Hold"}}))),
    ("local queue: label", Patched(LOCAL_QUEUE, || json!({"metadata": {"labels": {"managed-by": null}}}))),
    ("priority: value", Patched(PRIORITY, || json!({"value": 7}))),
    ("topology: label", Patched(TOPOLOGY, || json!({"metadata": {"labels": {"workload-type": "x"}}}))),
    ("local queue: deleted", Deleted(LOCAL_QUEUE)),
    ("priority: deleted", Deleted(PRIORITY)),
];

fn groups(gpus: &str) -> Value {
    let amounts = [("cpu", "64"), ("memory", "1Ti"), ("nvidia.com/gpu", gpus)];
    let resources = amounts.map(|(name, amount)| json!({"name": name, "nominalQuota": amount}));
    let flavors = ["drift-gpu", "drift-racks"].map(|name| json!({"name": name, "resources": resources}));
    json!({"coveredResources": amounts.map(|(name, _)| name), "flavors": flavors})
}

fn queue(scene: &Scene) -> String {
    let racks = scene
        .flavor("drift-racks", "1")
        .replace("tolerations", "topology = { name = \"drift\", levels = [\"rack\"] }\n    tolerations");
    scene.queue_of(&format!("{}, {racks}", scene.flavor("drift-gpu", "1")), "  priorities = { drift-high = 1000 }")
}

#[test]
fn drift_of_each_object_is_named_and_repaired_alone() -> Result<()> {
    scene("drift", |scene| {
        scene.applied(&queue(scene))?;
        let mut table = Vec::new();
        for (name, drift) in DRIFTS {
            table.push(drifted(scene, name, drift).with_context(|| (*name).to_owned())?);
        }
        assert_snapshot!("drift", table.join("\n"));
        scene.destroy()
    })
}

/// What the plan says of a drift, and which calls repair it.
fn drifted(scene: &Scene, name: &str, drift: &Drift) -> Result<String> {
    match drift {
        Patched(object, patch) => {
            scene.client().patch("somebody", &format!("{KUEUE}/{object}"), &patch())?;
        }
        Deleted(object) => {
            scene.client().delete(&format!("{KUEUE}/{object}"))?;
            scene.client().wait_gone(&format!("{KUEUE}/{object}"), LIMIT)?;
        }
    }
    let plan = changed_lines(&scene.plan()?);
    let writes = scene.apply_and_tell_writes()?.join(" ");
    Ok(format!("=== {name}: {writes}\n{plan}"))
}

#[test]
fn a_queue_that_was_deleted_whole_is_made_again() -> Result<()> {
    scene("deleted", |scene| {
        scene.applied(&scene.queue(1, "  priorities = { deleted-high = 1000 }"))?;
        for object in ["namespaces/deleted/localqueues/gpu", "clusterqueues/deleted", "resourceflavors/deleted-gpu"] {
            scene.client().delete(&format!("{KUEUE}/{object}"))?;
            scene.client().wait_gone(&format!("{KUEUE}/{object}"), LIMIT)?;
        }
        // The priority is there still, so the queue is.
        let plan = scene.plan()?;
        assert!(plan.contains("Plan: 0 to add, 1 to change, 0 to destroy"), "{plan}");
        assert_eq!(
            scene.apply_and_tell_writes()?,
            ["apply.clusterqueues", "apply.localqueues", "apply.resourceflavors"]
        );
        scene.destroy()
    })
}

#[test]
fn a_flavor_that_somebody_deletes_stays_until_the_queue_is_gone_and_comes_back() -> Result<()> {
    scene("doomed", |scene| {
        scene.applied(&scene.queue(1, ""))?;
        scene.client().delete(&target("resourceflavors", "doomed-gpu"))?;
        let plan = scene.plan()?;
        assert!(plan.contains("being deleted"), "{plan}");
        scene.destroy()?;
        assert_eq!(scene.workspace.attributes(QUEUE)?, Value::Null);
        Ok(())
    })
}
