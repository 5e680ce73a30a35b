//! The fault sweep through terraform, for a sample: a write of create, update and destroy each goes wrong, between
//! them at every object. The same for every call is done in-process, without terraform.

use crate::support::{Stage, scene};
use acceptance_tests::{Output, Rule};
use anyhow::{Context, Result, ensure};

type Fault = (&'static str, fn(Rule) -> Rule);

const FAULTS: [Fault; 4] = [
    ("500", Rule::internal_error),
    ("drop after", Rule::drop_after),
    ("kill before", Rule::kill_before),
    ("kill after", Rule::kill_after),
];
/// Two values of every object that a change can reach.
const BEFORE: &str = "  scaling = { min = 1, max = 2, target = 4 }\n  labels = { team = \"a\" }\n";
const AFTER: &str = "  scaling = { min = 1, max = 3, target = 5 }\n  labels = { team = \"b\" }\n";

type Deed = fn(&Stage) -> Result<Output>;

#[test]
#[cfg(target_os = "linux")]
fn a_service_survives_every_fault_and_kill() -> Result<()> {
    scene("swept", |stage| {
        for (at, (fault, rule)) in FAULTS.iter().enumerate() {
            let deeds: [(&str, &str, Deed); 3] = [
                ("create", BEFORE, |stage| stage.workspace.apply()),
                ("update", AFTER, |stage| stage.workspace.apply()),
                ("destroy", AFTER, |stage| stage.workspace.destroy()),
            ];
            for (deed, attributes, run) in deeds {
                stage.workspace.configure(&stage.service(attributes))?;
                let rule = rule(Rule::writes().nth(u64::try_from(at)? + 1));
                disturbed(&stage, run, rule).with_context(|| format!("{deed}, write {}, {fault}", at + 1))?;
                if deed == "destroy" { stage.destroy() } else { stage.settled() }
                    .with_context(|| format!("after {deed}, write {}, {fault}", at + 1))?;
            }
        }
        Ok(())
    })
}

/// One deed with one fault in it, and the next that has none, which converges.
fn disturbed(stage: &Stage, run: Deed, fault: Rule) -> Result<()> {
    stage.api.add_rule(fault);
    let first = run(stage)?;
    let hits = stage.api.hits();
    stage.api.clear_rules();
    ensure!(hits == 1, "the fault happened {hits} times");
    if first.status != 0 {
        run(stage)?.ok().context("the next run")?;
    }
    Ok(())
}
