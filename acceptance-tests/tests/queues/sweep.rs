//! The fault sweep through terraform, for a sample: a write of create, update and destroy each goes wrong, between
//! them at every kind of object. The same for every call is done in-process, without terraform.

use crate::support::{Scene, scene};
use acceptance_tests::{Output, Rule};
use anyhow::{Context, Result, ensure};
use std::fmt::Write;

type Fault = (&'static str, fn(Rule) -> Rule);
type Deed = fn(&Scene) -> Result<Output>;

const FAULTS: [Fault; 5] = [
    ("500", Rule::internal_error),
    ("drop before", Rule::drop_before),
    ("drop after", Rule::drop_after),
    ("kill before", Rule::kill_before),
    ("kill after", Rule::kill_after),
];
/// Two values of every object that a change can reach.
const BEFORE: &str =
    "  labels = { team = \"a\" }\n  priorities = { swept-high = 1 }\n  queueing_strategy = \"StrictFIFO\"";
const AFTER: &str = "  labels = { team = \"b\" }\n  priorities = { swept-high = 2 }";
const DEEDS: [(&str, &str, Deed); 3] = [
    ("create", BEFORE, |scene| scene.workspace.apply()),
    ("update", AFTER, |scene| scene.workspace.apply()),
    ("destroy", AFTER, |scene| scene.workspace.destroy()),
];

#[test]
#[cfg(target_os = "linux")]
fn a_queue_survives_every_fault_and_kill() -> Result<()> {
    scene("swept", |scene| {
        let mut table = String::from("deed     write  fault        first run   next run\n");
        for (at, (fault, rule)) in FAULTS.iter().enumerate() {
            for (deed, attributes, run) in DEEDS {
                // There are four objects, so every one has its turn.
                let write = u64::try_from(at % 4)? + 1;
                scene.workspace.configure(&scene.queue(1, attributes))?;
                let what = || format!("{deed}, write {write}, {fault}");
                let survived = disturbed(scene, run, rule(Rule::writes().nth(write))).with_context(what)?;
                if deed == "destroy" { scene.destroy() } else { scene.settled() }.with_context(what)?;
                let (first, next) = if survived { ("done", "-") } else { ("failed", "done") };
                writeln!(table, "{deed:<8} {write:>5}  {fault:<12} {first:<11} {next}")?;
            }
        }
        println!("{table}");
        Ok(())
    })
}

/// One deed with one fault in it, and the next that has none, which converges. Whether the first did.
fn disturbed(scene: &Scene, run: Deed, fault: Rule) -> Result<bool> {
    scene.api.add_rule(fault);
    let first = run(scene)?;
    let hits = scene.api.hits();
    scene.api.clear_rules();
    ensure!(hits == 1, "the fault happened {hits} times");
    if first.status != 0 {
        run(scene)?.ok().context("the next run")?;
    }
    Ok(first.status == 0)
}
