//! A shared file system with volumes, of whose calls some go wrong, in the account and in the cluster: the next run
//! converges, and nothing is left. The same for every call is done in-process, without terraform.

use crate::{
    filesystem::{CODE, WEIGHTS, configuration, destroyed},
    support::{Stage, scene},
};
use acceptance_tests::{Output, Proxy, Rule};
use anyhow::{Context, Result, ensure};

type Deed = (&'static str, &'static [&'static str], fn(&Stage) -> Result<Output>);

const CREATE: Deed = ("create", &[CODE], |stage| stage.workspace.apply());
const CHANGE: Deed = ("change", &[CODE, WEIGHTS], |stage| stage.workspace.apply());
const DESTROY: Deed = ("destroy", &[CODE, WEIGHTS], |stage| stage.workspace.destroy());

/// A deed, which of its writes goes wrong and how, in the account or else in the cluster.
type Disturbance = (Deed, bool, u64, &'static str, fn(Rule) -> Rule);

const SWEEP: [Disturbance; 7] = [
    (CREATE, true, 4, "kill after", Rule::kill_after),
    (CHANGE, true, 1, "500", Rule::internal_error),
    (DESTROY, true, 2, "kill after", Rule::kill_after),
    (CREATE, false, 2, "drop after", Rule::drop_after),
    (CHANGE, false, 1, "kill before", Rule::kill_before),
    (CHANGE, true, 1, "denied", Rule::access_denied),
    (DESTROY, false, 1, "drop before", Rule::drop_before),
];

#[test]
#[cfg(target_os = "linux")]
fn a_file_system_survives_faults_and_kills_in_the_account_and_the_cluster() -> Result<()> {
    scene("files-sweep", |stage| {
        for (run, (deed, in_account, nth, fault, rule)) in SWEEP.into_iter().enumerate() {
            // Always something to change in the account, too.
            let tags = format!("  tags = {{ run = \"{run}\" }}");
            stage.workspace.configure(&configuration(&stage, deed.1, &tags))?;
            let (name, place) = (deed.0, if in_account { "account" } else { "cluster" });
            let what = format!("{name:<8} {place} write {nth} {fault:<12}");
            let told = disturbed(&stage, deed, in_account, rule(Rule::writes().nth(nth)));
            let outcome = told.as_ref().map_or_else(|error| format!("FAILED: {error:#}"), |told| (*told).to_owned());
            eprintln!("{what} {outcome}");
            told.with_context(|| what)?;
        }
        Ok(())
    })
}

/// One deed with one fault in it, and the next that has none, which converges.
fn disturbed(stage: &Stage, (name, _, run): Deed, in_account: bool, fault: Rule) -> Result<&'static str> {
    let proxy: &Proxy = if in_account { stage.account.proxy() } else { &stage.api };
    proxy.add_rule(fault);
    let first = run(stage)?;
    let hits = proxy.hits();
    proxy.clear_rules();
    ensure!(hits == 1, "the fault happened {hits} times");
    let is_through = first.status == 0;
    if !is_through {
        run(stage)?.ok().context("the next run")?;
    }
    if name == "destroy" { destroyed(stage) } else { stage.settled() }?;
    Ok(if is_through { "converged at once" } else { "converged in the next run" })
}
