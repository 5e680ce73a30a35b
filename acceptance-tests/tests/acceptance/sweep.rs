//! The fault sweep through terraform, for a sample: the first, the middle and the last write of create, update and
//! destroy each goes wrong in every way. The same for every call is done in-process, without terraform.

use crate::support::{Stage, bucket};
use acceptance_tests::{Output, Rule};
use anyhow::{Context, Result, ensure};
use std::fmt::Write;

/// What goes wrong, and whether one run rides over it.
type Fault = (&'static str, fn(Rule) -> Rule);

const FAULTS: [Fault; 7] = [
    ("500", Rule::internal_error),
    ("throttle", Rule::throttle),
    ("denied", Rule::access_denied),
    ("drop before", Rule::drop_before),
    ("drop after", Rule::drop_after),
    ("kill before", Rule::kill_before),
    ("kill after", Rule::kill_after),
];

type Deed = fn(&Stage) -> Result<Output>;

const DEEDS: [(&str, bool, Deed); 3] = [
    ("create", false, |stage| stage.workspace.apply()),
    ("update", true, |stage| stage.workspace.apply()),
    ("destroy", true, |stage| stage.workspace.destroy()),
];

/// A resource with what it takes: a stage, and its configuration before and after a change.
struct Subject {
    name: &'static str,
    stage: fn() -> Result<Stage>,
    configuration: fn(&Stage, bool) -> Result<String>,
}

#[test]
fn a_bucket_survives_every_fault_at_its_first_middle_and_last_write() -> Result<()> {
    const CHANGED: &str = "  versioning = false
  readers = [\"arn:aws:iam::210987654321:role/r\"]
  noncurrent_expire_after_days = 9
  tags = { a = \"b\" }";
    sweep(&Subject {
        name: "bucket",
        stage: Stage::empty,
        configuration: |_, is_changed| Ok(bucket(if is_changed { CHANGED } else { "" })),
    })
}

#[test]
fn a_pool_survives_every_fault_at_its_first_middle_and_last_write() -> Result<()> {
    const PLAIN: &str = "  instance_types = [\"g5.xlarge\"]\n  size = { min = 1, max = 2 }";
    const CHANGED: &str = "  instance_types = [\"g5.xlarge\", \"g5.2xlarge\"]\n  size = { min = 1, max = 3 }
  disk = { size_gib = 300 }\n  labels = { a = \"b\" }\n  tags = { a = \"b\" }";
    sweep(&Subject {
        name: "pool",
        stage: Stage::with_cluster,
        configuration: |stage, is_changed| stage.pool(if is_changed { CHANGED } else { PLAIN }),
    })
}

fn sweep(subject: &Subject) -> Result<()> {
    let counts = undisturbed(subject)?;
    let mut table = format!("{:<8} {:<8} {:>7}  {:<12} outcome\n", "subject", "deed", "write", "fault");
    let mut failures = Vec::new();
    for (fault, rule) in FAULTS {
        for position in 0..3 {
            let stage = (subject.stage)()?;
            for ((deed, is_changed, run), count) in DEEDS.iter().zip(counts) {
                let k = [1, count.div_ceil(2), count][position];
                let outcome = disturbed(subject, &stage, (*is_changed, *run), rule(Rule::writes().nth(k)));
                let told = match &outcome {
                    Ok(told) => (*told).to_owned(),
                    Err(error) => format!("FAILED: {error:#}"),
                };
                let row = format!("{:<8} {deed:<8} {:>7}  {fault:<12} {told}", subject.name, format!("{k}/{count}"));
                eprintln!("{row}");
                let _ = writeln!(table, "{row}");
                if outcome.is_err() {
                    failures.push(row);
                    break;
                }
            }
        }
    }
    eprintln!("{table}");
    ensure!(failures.is_empty(), "{}", failures.join("\n"));
    Ok(())
}

/// How many writes each deed takes when nothing goes wrong.
fn undisturbed(subject: &Subject) -> Result<[u64; 3]> {
    let stage = (subject.stage)()?;
    let mut counts = [0; 3];
    for ((_, is_changed, run), count) in DEEDS.iter().zip(&mut counts) {
        stage.workspace.configure(&(subject.configuration)(&stage, *is_changed)?)?;
        stage.account.proxy().take_journal();
        run(&stage)?.ok()?;
        *count = u64::try_from(stage.writes().len())?;
    }
    stage.nothing_left()?;
    Ok(counts)
}

/// One deed with one fault in it, and the next that has none: it converges and leaves nothing to do.
fn disturbed(subject: &Subject, stage: &Stage, (is_changed, run): (bool, Deed), fault: Rule) -> Result<&'static str> {
    stage.workspace.configure(&(subject.configuration)(stage, is_changed)?)?;
    stage.account.proxy().add_rule(fault);
    let first = run(stage)?;
    ensure!(stage.account.proxy().hits() == 1, "the fault did not happen");
    stage.account.proxy().clear_rules();
    let outcome = if first.status == 0 {
        "converged at once"
    } else {
        run(stage)?.ok().context("the next run")?;
        "converged in the next run"
    };
    if std::ptr::fn_addr_eq(run, DEEDS[2].2) { stage.nothing_left() } else { stage.settled() }?;
    Ok(outcome)
}
