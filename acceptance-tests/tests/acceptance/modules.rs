//! Several resources together: `for_each`, a module, dependencies, and how many calls a plan of them takes.

use crate::support::Stage;
use anyhow::Result;
use std::time::Duration;

const MODULE: &str = r#"
terraform {
  required_providers {
    mlplat = { source = "mlplat/mlplat" }
  }
}

variable "subnet_ids" { type = list(string) }

resource "mlplat_model_bucket" "this" {
  for_each = toset(["acme-models", "acme-data"])
  name     = each.key
}

resource "mlplat_gpu_pool" "this" {
  for_each       = { small = "g5.xlarge", large = "g5.12xlarge" }
  cluster        = "ml-prod"
  name           = each.key
  instance_types = [each.value]
  subnet_ids     = var.subnet_ids
  size           = { min = 1, max = 2 }
  tags           = { models = mlplat_model_bucket.this["acme-models"].arn }
}

output "selectors" {
  value = { for name, pool in mlplat_gpu_pool.this : name => pool.node_selector }
}
"#;

#[test]
fn two_buckets_and_two_pools_of_one_module_live_and_die_together() -> Result<()> {
    let stage = Stage::with_cluster()?;
    let subnets = stage.subnets()?;
    stage.workspace.write("platform/main.tf", MODULE)?;
    let root = format!(
        "module \"platform\" {{\n  source = \"./platform\"\n  subnet_ids = {subnets}\n}}\noutput \"s\" {{\n  value = module.platform.selectors\n}}\n"
    );
    let stage = stage.applied(&root)?;
    let outputs = stage.workspace.run(&["output", "-json", "s"])?.ok()?;
    assert!(outputs.stdout.contains("\"mlplat.io/pool\":\"large\""), "{}", outputs.stdout);
    // Only the pool that changes is written to.
    stage.workspace.write("platform/main.tf", &MODULE.replace("g5.12xlarge", "g5.24xlarge"))?;
    let journal = {
        stage.account.proxy().take_journal();
        stage.workspace.apply()?.ok()?;
        stage.account.proxy().take_journal()
    };
    let small = journal.entries().iter().filter(|call| call.write && call.target.contains("/small")).count();
    assert_eq!(small, 0, "{journal}");
    stage.settled()?;
    stage.destroy()
}

/// What a plan that finds nothing to do may cost.
const MOST_CALLS: usize = 20;

#[test]
fn a_plan_without_changes_takes_few_calls_and_writes_nothing() -> Result<()> {
    let stage = Stage::with_cluster()?;
    let pool = stage.pool("  instance_types = [\"g5.xlarge\"]\n  size = { min = 1, max = 4 }")?;
    let stage = stage.applied(&format!("{}{pool}", crate::support::bucket("")))?;
    stage.settled()?;
    let journal = stage.account.proxy().take_journal();
    eprintln!("calls of a plan without changes: {:#?}", journal.counts());
    assert!(journal.writes().is_empty(), "{journal}");
    assert!(journal.len() <= MOST_CALLS, "{} calls: {journal}", journal.len());
    let plain = stage.workspace.plan()?.no_changes()?.elapsed;
    let latency = Duration::from_millis(50);
    stage.account.proxy().set_latency(latency);
    stage.account.proxy().take_journal();
    let slow = stage.workspace.plan()?.no_changes()?.elapsed;
    let journal = stage.account.proxy().take_journal();
    let trips = slow.saturating_sub(plain).as_secs_f64() / latency.as_secs_f64();
    eprintln!(
        "with {latency:?} on every call: {slow:?} instead of {plain:?}, as if of {trips:.1} round trips; \
         at most {} calls at once",
        journal.most_at_once()
    );
    stage.account.proxy().set_latency(Duration::ZERO);
    stage.destroy()
}

#[test]
fn a_pool_takes_its_subnets_from_the_cluster_and_functions_compute_the_rest() -> Result<()> {
    let configuration = r#"
data "mlplat_cluster" "main" {
  name = "ml-prod"
}

data "mlplat_accelerators" "l4" {
  product = "L4"
}

resource "mlplat_gpu_pool" "gpu" {
  cluster        = data.mlplat_cluster.main.name
  name           = "gpu-inference"
  instance_types = ["g6.xlarge"]
  subnet_ids     = data.mlplat_cluster.main.subnet_ids
  size           = { min = 0, max = 1 }
}

output "version" {
  value = data.mlplat_cluster.main.version
}

output "uri" {
  value = provider::mlplat::parse_model_uri("hf://Qwen/Qwen2.5-7B-Instruct")
}

output "tolerations" {
  value = provider::mlplat::tolerations([for taint in mlplat_gpu_pool.gpu.taints : taint])
}
"#;
    let stage = Stage::with_cluster()?.applied(configuration)?;
    let outputs = stage.workspace.run(&["output", "-json"])?.ok()?.stdout;
    assert!(outputs.contains("\"1.36\"") && outputs.contains("Qwen2.5-7B-Instruct"), "{outputs}");
    stage.destroy()
}
