//! What a queue is for: jobs wait, run, make place for each other, borrow, and are kept out, by Kueue's own decision.

use crate::support::{KUEUE, LIMIT, QUEUE, quota, scene};
use anyhow::{Result, ensure};
use serde_json::json;

#[test]
fn a_job_beyond_the_quota_waits_until_there_is_more() -> Result<()> {
    scene("waiting", |scene| {
        scene.add_nodes(2)?;
        scene.applied(&scene.queue(1, ""))?;
        scene.submit("waiting", "first", 1, None)?;
        scene.runs("waiting", "first")?;
        scene.submit("waiting", "second", 1, None)?;
        let reason = scene.waits("waiting", "second")?;
        ensure!(reason.contains("insufficient unused quota for nvidia.com/gpu in flavor waiting-gpu"), "{reason}");
        scene.counts(1, 1)?;
        // What Kueue counts is no drift, and is shown.
        scene.settled()?;
        scene.workspace.run(&["apply", "-refresh-only", "-auto-approve", "-no-color"])?.ok()?;
        let attributes = scene.workspace.attributes(QUEUE)?;
        assert_eq!((&attributes["pending_workloads"], &attributes["admitted_workloads"]), (&json!(1), &json!(1)));

        scene.workspace.configure(&scene.queue(2, ""))?;
        assert_eq!(scene.apply_and_tell_writes()?, ["apply.clusterqueues"]);
        scene.runs("waiting", "second")?;
        scene.counts(0, 2)?;
        for job in ["first", "second"] {
            scene.cancel("waiting", job)?;
        }
        scene.destroy()
    })
}

#[test]
fn a_job_of_higher_priority_takes_the_place_of_another() -> Result<()> {
    scene("urgent", |scene| {
        scene.add_nodes(1)?;
        scene.applied(&scene.queue(1, "  priorities = { urgent-interactive = 1000, urgent-training = 100 }"))?;
        scene.submit("urgent", "train", 1, Some("urgent-training"))?;
        scene.runs("urgent", "train")?;
        scene.submit("urgent", "notebook", 1, Some("urgent-interactive"))?;
        scene.runs("urgent", "notebook")?;
        scene.waits("urgent", "train")?;
        scene.counts(1, 1)?;
        scene.settled()?;
        // Of the same priority nobody is evicted.
        scene.submit("urgent", "another", 1, Some("urgent-interactive"))?;
        scene.waits("urgent", "another")?;
        scene.runs("urgent", "notebook")?;
        for job in ["notebook", "another", "train"] {
            scene.cancel("urgent", job)?;
        }
        scene.destroy()
    })
}

#[test]
fn a_namespace_that_is_not_named_is_not_admitted() -> Result<()> {
    scene("named", |scene| {
        scene.add_nodes(1)?;
        scene.namespace("unnamed")?;
        scene.applied(&scene.queue(1, ""))?;
        // Somebody lets themselves in.
        let local = json!({
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "LocalQueue",
            "metadata": {"name": "own", "namespace": "unnamed"},
            "spec": {"clusterQueue": "named"},
        });
        scene.client().apply("somebody", &local)?;
        scene.submit_to("own", ("unnamed", "intruder"), 1, None)?;
        let reason = scene.waits("unnamed", "intruder")?;
        ensure!(reason.contains("namespace doesn't match ClusterQueue selector"), "{reason}");
        scene.settled()?;
        let named = "  namespaces = { named = \"gpu\", unnamed = \"gpu\" }";
        scene.workspace.configure(&scene.queue(1, named))?;
        assert_eq!(scene.apply_and_tell_writes()?, ["apply.clusterqueues", "apply.localqueues"]);
        scene.runs("unnamed", "intruder")?;
        scene.cancel("unnamed", "intruder")?;
        scene.destroy()?;
        scene.client().delete(&format!("{KUEUE}/namespaces/unnamed/localqueues/own"))
    })
}

#[test]
fn queues_of_a_cohort_lend_and_take_back() -> Result<()> {
    scene("lending", |scene| {
        scene.add_nodes(2)?;
        scene.namespace("lending-other")?;
        let lender = scene.queue(1, "  cohort = \"lending\"");
        let borrower = |limit: &str| {
            let own = quota("1").replace("nominal = \"1\"", &format!("nominal = 1{limit}"));
            format!(
                "resource \"mlplat_queue\" \"other\" {{\n  cluster = \"ml-prod\"\n  name    = \"lending-other\"\n  cohort \
                 = \"lending\"\n  flavors = [{{ name = \"lending-gpu\", existing = true, quota = {own} }}]\n  namespaces = \
                 {{ lending-other = \"gpu\" }}\n  depends_on = [mlplat_queue.gpu]\n}}\n"
            )
        };
        scene.applied(&format!("{lender}{}", borrower(", borrowing_limit = 0")))?;
        scene.submit("lending-other", "large", 2, None)?;
        scene.waits("lending-other", "large")?;
        scene.workspace.configure(&format!("{lender}{}", borrower("")))?;
        assert_eq!(scene.apply_and_tell_writes()?, ["apply.clusterqueues"]);
        scene.runs("lending-other", "large")?;
        // What was lent is taken back by whoever it belongs to.
        scene.submit("lending", "owner", 1, None)?;
        scene.runs("lending", "owner")?;
        scene.waits("lending-other", "large")?;
        scene.settled()?;
        scene.cancel("lending", "owner")?;
        scene.cancel("lending-other", "large")?;
        // The queue that uses the flavor of another goes first.
        scene.destroy()
    })
}

#[test]
fn a_queue_is_held_and_drained() -> Result<()> {
    scene("held", |scene| {
        scene.add_nodes(1)?;
        scene.applied(&scene.queue(1, ""))?;
        scene.submit("held", "runner", 1, None)?;
        scene.runs("held", "runner")?;
        scene.workspace.configure(&scene.queue(1, "  stop_policy = \"Hold\""))?;
        scene.apply()?;
        scene.runs("held", "runner")?;
        scene.workspace.configure(&scene.queue(1, "  stop_policy = \"HoldAndDrain\""))?;
        scene.apply()?;
        scene.waits("held", "runner")?;
        // Nothing runs, so nothing has to be waited for; what waits is nobody's any more.
        scene.destroy()?;
        scene.client().wait_gone(&format!("{KUEUE}/namespaces/held/localqueues/gpu"), LIMIT)?;
        scene.cancel("held", "runner")
    })
}
