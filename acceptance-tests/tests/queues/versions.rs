//! Kueue before and after an upgrade: the same queue in the words of `v1beta1` and of `v1beta2`.

use crate::support::{QUEUE, scene};
use acceptance_tests::Rule;
use anyhow::{Result, ensure};
use serde_json::json;

/// Everything that has another name or another word in the older version.
const ATTRIBUTES: &str = "  cohort = \"versions\"\n  flavor_fungibility = { when_can_borrow = \"TryNextFlavor\", \
                          when_can_preempt = \"MayStopSearch\" }";

#[test]
fn a_queue_moves_from_an_older_version_to_a_newer_one_in_place() -> Result<()> {
    scene("versions", |scene| {
        // To the provider this server has the older version alone; Kueue converts what it writes.
        let old = json!([{"groupVersion": "kueue.x-k8s.io/v1beta1", "version": "v1beta1"}]);
        scene.api.add_rule(Rule::on("discovery.apis").patch_json("versions", old));
        scene.applied(&scene.queue(1, ATTRIBUTES))?;
        scene.settled()?;
        let journal = scene.api.take_journal();
        let targets: Vec<_> = journal.named("get.*").iter().map(|call| call.target.as_str()).collect();
        ensure!(!targets.is_empty() && targets.iter().all(|target| target.contains("/v1beta1/")), "{targets:?}");

        scene.api.clear_rules();
        scene.settled()?;
        let attributes = scene.workspace.attributes(QUEUE)?;
        assert_eq!(attributes["cohort"], "versions");
        // The newer version is written from the next change on, by the same manager, and leaves nothing of the older.
        scene.workspace.configure(&scene.queue(2, ""))?;
        assert_eq!(scene.apply_and_tell_writes()?, ["apply.clusterqueues"]);
        let live = scene.client().get("/apis/kueue.x-k8s.io/v1beta2/clusterqueues/versions")?;
        assert_eq!(live["spec"]["cohortName"], json!(null), "{live:#}");
        scene.destroy()
    })
}

#[test]
fn what_was_written_in_an_older_version_by_hand_is_repaired_in_the_newer() -> Result<()> {
    scene("downgraded", |scene| {
        scene.applied(&scene.queue(1, "  cohort = \"downgraded\""))?;
        let patch = json!({"spec": {"cohort": "somebody", "flavorFungibility": {"whenCanBorrow": "TryNextFlavor"}}});
        let target = "/apis/kueue.x-k8s.io/v1beta1/clusterqueues/downgraded";
        scene.client().patch("somebody", target, &patch)?;
        let plan = scene.plan()?;
        ensure!(plan.contains("cohortName") && plan.contains("whenCanBorrow"), "{plan}");
        assert_eq!(scene.apply_and_tell_writes()?, ["apply.clusterqueues"]);
        scene.destroy()
    })
}
