//! The fault sweep through terraform, for a sample: a write of create, update and destroy each goes wrong, between
//! them at every object. The same for every call is done in-process, without terraform.

use crate::support::{Stage, scene, tenancy};
use acceptance_tests::{Output, Rule};
use anyhow::{Context, Result, ensure};
use std::fmt::Write;

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

/// A tenant with every kind of object that needs nothing installed, and each of them changed.
const TENANT_BEFORE: &str = "  quota = { gpus = 2 }
  container = { default = { cpu = \"1\" } }
  network = { ingress_from_namespaces = [\"ingress-nginx\"] }
  trusted_registries = [\"ghcr.io/acme/\"]
  data_access = [{ bucket_arn = \"arn:aws:s3:::acme-models\", prefix = \"models/\" }]
  members = [{ group = \"researchers\", role = \"edit\" }]";
const TENANT_AFTER: &str = "  team = \"alpha\"
  quota = { gpus = 4 }
  container = { default = { cpu = \"2\" } }
  network = { ingress_from_namespaces = [\"monitoring\"], egress_cidrs = [\"10.0.0.0/8\"] }
  trusted_registries = [\"quay.io/acme/\"]
  data_access = [{ bucket_arn = \"arn:aws:s3:::acme-models\", prefix = \"runs/\" }]
  members = [{ group = \"researchers\", role = \"view\" }]";

#[test]
#[cfg(target_os = "linux")]
fn a_tenant_survives_every_fault_and_kill() -> Result<()> {
    let deeds: [(&str, &str, Deed); 3] = [
        ("create", TENANT_BEFORE, |stage| stage.workspace.apply()),
        ("update", TENANT_AFTER, |stage| stage.workspace.apply()),
        ("destroy", TENANT_AFTER, |stage| stage.workspace.destroy()),
    ];
    tenancy("tenant-swept", |stage| {
        let mut counts = Vec::new();
        for (_, attributes, run) in deeds {
            stage.workspace.configure(&stage.tenant(attributes))?;
            run(&stage)?.ok()?;
            counts.push(u64::try_from(stage.writes().len())?);
        }
        let mut table = String::new();
        for (at, (fault, rule)) in FAULTS.iter().enumerate() {
            for ((deed, attributes, run), count) in deeds.into_iter().zip(&counts) {
                // The first, the last and two between, each with another fault.
                let k = 1 + u64::try_from(at)? * (count - 1) / 3;
                stage.workspace.configure(&stage.tenant(attributes))?;
                let told = format!("{deed:<8} write {k:>2} of {count:>2}  {fault}");
                let outcome = disturbed(&stage, run, rule(Rule::writes().nth(k))).with_context(|| told.clone())?;
                if deed == "destroy" { stage.destroy_with_namespace() } else { stage.settled() }
                    .with_context(|| format!("after {told}"))?;
                writeln!(table, "tenant   {told:<40}  {outcome}")?;
            }
        }
        eprintln!("{table}");
        Ok(())
    })
}

/// One deed with one fault in it, and the next that has none, which converges.
fn disturbed(stage: &Stage, run: Deed, fault: Rule) -> Result<&'static str> {
    stage.api.add_rule(fault);
    let first = run(stage)?;
    let hits = stage.api.hits();
    stage.api.clear_rules();
    ensure!(hits == 1, "the fault happened {hits} times");
    if first.status == 0 {
        return Ok("converged at once");
    }
    run(stage)?.ok().context("the next run")?;
    Ok("converged in the next run")
}
