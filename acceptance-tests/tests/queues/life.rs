//! The life of a queue: made, left alone, changed attribute by attribute, imported, destroyed.

use crate::support::{QUEUE, Scene, quota, scene, target};
use acceptance_tests::{Terraform, printed::changed_lines};
use anyhow::{Context, Result, ensure};
use insta::assert_snapshot;
use serde_json::json;
use std::collections::BTreeSet;

/// A queue with objects of every kind.
fn everything(scene: &Scene) -> String {
    let name = scene.name;
    let racks = scene.flavor(&format!("{name}-racks"), "1").replace(
        "tolerations",
        &format!(
            "topology = {{ name = \"{name}\", levels = [\"rack\", \"kubernetes.io/hostname\"] }}\n    tolerations"
        ),
    );
    let spot = format!(
        "{{\n    name = \"{name}-spot\"\n    taints = [{{ key = \"spot\", effect = \"NoSchedule\" }}]\n    quota = {{\n      \
         \"nvidia.com/gpu\" = {{ nominal = 4, borrowing_limit = \"2\", lending_limit = 1 }}, cpu = {{ nominal = \
         64 }}, memory = {{ nominal = \"2Ti\" }} }}\n  }}"
    );
    let attributes = format!(
        "  cohort = \"{name}\"\n  namespaces = {{ {name} = \"gpu\", {name}-other = \"batch\" }}\n  priorities = {{ \
         {name}-high = 1000, {name}-low = 100 }}\n  labels = {{ data = \"public\" }}\n  preemption = {{ within_queue = \
         \"LowerOrNewerEqualPriority\", borrow_within_cohort = {{ max_priority_threshold = 100 }} }}"
    );
    scene.queue_of(&format!("{racks}, {spot}"), &attributes)
}

fn with_everything(scene: &Scene) -> Result<()> {
    scene.namespace(&format!("{}-other", scene.name))?;
    scene.applied(&everything(scene))
}

#[test]
fn a_queue_is_made_left_alone_and_destroyed_in_order() -> Result<()> {
    scene("life", |scene| {
        with_everything(scene)?;
        assert_eq!(
            scene.objects_of("life")?.into_iter().collect::<Vec<_>>(),
            [
                "clusterqueues/life",
                "localqueues/batch",
                "localqueues/gpu",
                "resourceflavors/life-racks",
                "resourceflavors/life-spot",
                "topologies/life",
                "workloadpriorityclasses/life-high",
                "workloadpriorityclasses/life-low",
            ]
        );
        scene.settled()?;
        let reads = scene.api.take_journal();
        // Which versions there are, and one look for each kind.
        assert_eq!((reads.len(), reads.writes()), (6, Vec::new()), "{reads}");
        let attributes = scene.workspace.attributes(QUEUE)?;
        assert_eq!(attributes["covered_resources"], json!(["cpu", "memory", "nvidia.com/gpu"]));
        assert_eq!((&attributes["pending_workloads"], &attributes["admitted_workloads"]), (&json!(0), &json!(0)));
        scene.destroy()?;
        let writes = scene.writes();
        let at = |name: &str| {
            writes.iter().position(|write| write == name).with_context(|| format!("no {name}: {writes:?}"))
        };
        let last_local = writes.iter().rposition(|write| write == "delete.localqueues");
        assert!(last_local < Some(at("delete.clusterqueues")?), "{writes:?}");
        assert!(at("delete.clusterqueues")? < at("delete.resourceflavors")?, "{writes:?}");
        assert!(at("delete.resourceflavors")? < at("delete.topologies")?, "{writes:?}");
        Ok(())
    })
}

#[test]
fn an_amount_in_another_spelling_is_no_change() -> Result<()> {
    scene("respelled", |scene| {
        let flavor = |gpus: &str, cpu: &str, memory: &str| {
            let quota = quota(gpus).replace("nominal = 64", &format!("nominal = {cpu}")).replace("1Ti", memory);
            format!("{{ name = \"respelled-gpu\", quota = {quota} }}")
        };
        scene.applied(&scene.queue_of(&flavor("8", "512", "2Ti"), ""))?;
        for (gpus, cpu, memory) in [("8", "\"512000m\"", "2048Gi"), ("8000m", "\"0.512k\"", "2199023255552")] {
            scene.workspace.configure(&scene.queue_of(&flavor(gpus, cpu, memory), ""))?;
            scene.settled()?;
        }
        scene.workspace.configure(&scene.queue_of(&flavor("8", "512", "2047Gi"), ""))?;
        assert_eq!(scene.apply_and_tell_writes()?, ["apply.clusterqueues"]);
        scene.destroy()
    })
}

/// What is changed, and to what; each from the queue without it and back.
const CHANGES: &[(&str, &str)] = &[
    ("cohort", "  cohort = \"changed\""),
    ("preemption", "  preemption = { within_queue = \"Never\", reclaim_within_cohort = \"Never\" }"),
    ("borrowing workloads evict", "  cohort = \"changed\"\n  preemption = { borrow_within_cohort = {} }"),
    ("fungibility", "  flavor_fungibility = { when_can_borrow = \"TryNextFlavor\", when_can_preempt = \"Preempt\" }"),
    ("strategy", "  queueing_strategy = \"StrictFIFO\""),
    ("stop", "  stop_policy = \"Hold\""),
    ("namespaces", "  namespaces = { changed = \"gpu\", changed-other = \"gpu\" }"),
    ("local queue", "  namespaces = { changed = \"other\" }"),
    ("nobody", "  namespaces = {}"),
    ("priorities", "  priorities = { changed-high = 1000 }"),
    ("labels", "  labels = { team = \"search\" }"),
];

#[test]
fn every_attribute_is_changed_in_place_and_given_back() -> Result<()> {
    scene("changed", |scene| {
        scene.namespace("changed-other")?;
        scene.applied(&scene.queue(1, ""))?;
        let mut table = Vec::new();
        for (name, attributes) in CHANGES {
            let mut change = |configuration: &str, what: &str| -> Result<()> {
                scene.workspace.configure(configuration)?;
                let plan = changed_lines(&scene.plan()?);
                let writes = scene.apply_and_tell_writes()?.join(" ");
                ensure!(plan.contains("0 to add, 1 to change, 0 to destroy"), "not in place:\n{plan}");
                table.push(format!("=== {name}, {what}: {writes}\n{plan}"));
                Ok(())
            };
            change(&scene.queue(1, attributes), "set").with_context(|| (*name).to_owned())?;
            change(&scene.queue(1, ""), "taken away").with_context(|| (*name).to_owned())?;
        }
        assert_snapshot!("changes", table.join("\n"));
        scene.destroy()
    })
}

#[test]
fn flavors_come_go_change_and_change_places() -> Result<()> {
    scene("flavored", |scene| {
        let named = |name: &str| scene.flavor(&format!("flavored-{name}"), "2");
        let (first, second) = (named("first"), named("second"));
        let labelled = first.replace("node_labels = {", "node_labels = { zone = \"a\",");
        let tainted =
            first.replace("quota", "taints = [{ key = \"a\", value = \"b\", effect = \"NoExecute\" }]\n    quota");
        let untolerated = first.replace("tolerations", "tolerations = []\n    # ");
        let more = first.replace("nominal = \"2\"", "nominal = \"3\"");
        scene.applied(&scene.queue_of(&first, ""))?;
        let steps = [
            (format!("{first}, {second}"), ["apply.clusterqueues", "apply.resourceflavors"].as_slice()),
            (format!("{second}, {first}"), &["apply.clusterqueues"]),
            (first, &["apply.clusterqueues", "delete.resourceflavors"]),
            (labelled, &["apply.clusterqueues", "apply.resourceflavors"]),
            (tainted, &["apply.clusterqueues", "apply.resourceflavors"]),
            (untolerated, &["apply.clusterqueues", "apply.resourceflavors"]),
            (more, &["apply.clusterqueues", "apply.resourceflavors"]),
            // Another name is another flavor: it is there before the queue has quota of it, the old one goes after.
            (second, &["apply.clusterqueues", "apply.resourceflavors", "delete.resourceflavors"]),
        ];
        for (flavors, writes) in steps {
            scene.workspace.configure(&scene.queue_of(&flavors, ""))?;
            assert_eq!(scene.apply_and_tell_writes()?, writes, "{flavors}");
        }
        scene.destroy()
    })
}

#[test]
fn a_queue_of_another_name_is_another_queue() -> Result<()> {
    scene("renamed", |scene| {
        scene.applied(&scene.queue(1, ""))?;
        let renamed = scene.queue(1, "").replace("name    = \"renamed\"", "name    = \"renamed-again\"");
        scene.workspace.configure(&renamed)?;
        let plan = scene.plan()?;
        ensure!(plan.contains("name") && plan.contains("# forces replacement"), "{plan}");
        scene.apply()?;
        assert_eq!(scene.objects_of("renamed")?, BTreeSet::new());
        scene.client().get(&target("clusterqueues", "renamed-again"))?;
        scene.destroy()?;
        assert_eq!(scene.objects_of("renamed-again")?, BTreeSet::new());
        Ok(())
    })
}

#[test]
fn an_import_by_id_gives_the_attributes_back() -> Result<()> {
    scene("imported", |scene| {
        with_everything(scene)?;
        let before = scene.workspace.attributes(QUEUE)?;
        scene.workspace.run(&["state", "rm", QUEUE])?.ok()?;
        scene.workspace.import(QUEUE, "ml-prod/imported")?.ok()?;
        scene.settled()?;
        assert_eq!(scene.workspace.attributes(QUEUE)?, before);
        scene.workspace.run(&["state", "rm", QUEUE])?.ok()?;
        imported_by_block(scene, "id = \"ml-prod/imported\"")?;
        scene.destroy()
    })
}

#[test]
fn an_import_by_identity_is_as_good_as_one_by_id() -> Result<()> {
    if !Terraform::find()?.imports_by_identity() {
        return Ok(());
    }
    scene("identified", |scene| {
        with_everything(scene)?;
        scene.workspace.run(&["state", "rm", QUEUE])?.ok()?;
        imported_by_block(scene, "identity = { cluster = \"ml-prod\", name = \"identified\" }")?;
        scene.destroy()
    })
}

fn imported_by_block(scene: &Scene, what: &str) -> Result<()> {
    let block = format!("import {{\n  to = {QUEUE}\n  {what}\n}}\n");
    scene.workspace.configure(&format!("{}{block}", everything(scene)))?;
    let plan = scene.plan()?;
    ensure!(plan.contains("Plan: 1 to import, 0 to add, 0 to change, 0 to destroy"), "{plan}");
    scene.apply().map(drop)
}

#[test]
fn a_cluster_outside_eks_has_no_name() -> Result<()> {
    scene("outside", |scene| {
        let path = scene.cluster.kubeconfig_for(scene.api.url())?;
        let block = format!("provider \"mlplat\" {{\n  kubernetes = {{ config_path = {path:?} }}\n}}\n");
        let queue = scene.queue(1, "").replace("  cluster = \"ml-prod\"\n", "");
        scene.applied(&format!("{block}{queue}"))?;
        scene.workspace.run(&["state", "rm", QUEUE])?.ok()?;
        scene.workspace.import(QUEUE, "-/outside")?.ok()?;
        scene.settled()?;
        scene.destroy()?;
        assert_eq!(scene.account.proxy().take_journal().count("eks.*"), 0);
        Ok(())
    })
}
