//! The fault sweep through terraform, for a sample: a write of create, update and destroy each goes wrong, between
//! them at every object. The same for every call is done in-process, without terraform.

use crate::support::{Stage, scene, tenancy};
use acceptance_tests::{Output, Proxy, Rule};
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
                disturbed(&stage, &stage.api, run, rule)
                    .with_context(|| format!("{deed}, write {}, {fault}", at + 1))?;
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
        // The first, the last and two between in Kubernetes, each with another fault; the second of three in AWS.
        let mut table = String::new();
        let in_aws = FAULTS.iter().filter(|(fault, _)| fault.ends_with("after")).map(|fault| (None, fault));
        for (at, (fault, rule)) in (0..).map(Some).zip(&FAULTS).chain(in_aws) {
            for ((deed, attributes, run), count) in deeds.into_iter().zip(&counts) {
                let (proxy, k, whose) = match at {
                    Some(at) => (&stage.api, 1 + at * (count - 1) / 3, format!("of {count}")),
                    None => (stage.account.proxy(), 2, "in AWS".to_owned()),
                };
                stage.workspace.configure(&stage.tenant(attributes))?;
                let told = format!("{deed:<8} write {k:>2} {whose}  {fault}");
                let fault = rule(Rule::writes().nth(k));
                let outcome = disturbed(&stage, proxy, run, fault).with_context(|| told.clone())?;
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
fn disturbed(stage: &Stage, proxy: &Proxy, run: Deed, fault: Rule) -> Result<&'static str> {
    proxy.add_rule(fault);
    let first = run(stage)?;
    let hits = proxy.hits();
    proxy.clear_rules();
    ensure!(hits == 1, "the fault happened {hits} times");
    if first.status == 0 {
        return Ok("converged at once");
    }
    run(stage)?.ok().context("the next run")?;
    Ok("converged in the next run")
}
