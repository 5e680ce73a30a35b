//! Import by id and by identity: the plan that follows is empty.

use crate::support::{BUCKET, POOL, Stage, bucket, shown};
use acceptance_tests::Terraform;
use anyhow::Result;

const FULL_BUCKET: &str = "
  retention          = [{ prefix = \"checkpoints/\", expire_after_days = 30 }]
  protected_prefixes = [\"models/\"]
  noncurrent_expire_after_days = 20
  readers            = [\"arn:aws:iam::210987654321:role/reader\"]
  writers            = [\"arn:aws:iam::210987654321:role/writer\"]
  allow_destroy_with_data = true
  tags               = { stage = \"test\" }";
const FULL_POOL: &str = "
  accelerator         = { product = \"A10G\", count = 1 }
  purpose             = \"training\"
  size                = { min = 1, max = 4, initial = 2 }
  labels              = { tier = \"gold\" }
  taints              = [{ key = \"nvidia.com/gpu\", effect = \"NoSchedule\" }]
  disk                = { size_gib = 300, iops = 4000 }
  scaler              = \"none\"
  max_hourly_cost_usd = 10.5
  tags                = { stage = \"test\" }";

#[test]
fn a_bucket_is_imported_by_its_name() -> Result<()> {
    for attributes in ["", FULL_BUCKET] {
        by_command(&Stage::with_bucket(attributes)?, BUCKET, "acme-models")?;
    }
    Ok(())
}

#[test]
fn a_pool_is_imported_by_cluster_and_name() -> Result<()> {
    let plain = "  instance_types = [\"g5.xlarge\"]\n  size = { min = 0, max = 2 }";
    for attributes in [plain, FULL_POOL] {
        by_command(&Stage::with_pool(attributes)?, POOL, "ml-prod/gpu-inference")?;
    }
    Ok(())
}

#[test]
fn an_import_block_plans_an_import_and_nothing_else() -> Result<()> {
    let stage = Stage::with_bucket(FULL_BUCKET)?;
    by_block(&stage, BUCKET, "id = \"acme-models\"")?;
    let stage = Stage::with_pool(FULL_POOL)?;
    let plan = by_block(&stage, POOL, "id = \"ml-prod/gpu-inference\"")?;
    assert_snapshot!("import_pool", plan);
    Ok(())
}

#[test]
fn an_import_by_identity_is_as_good_as_one_by_id() -> Result<()> {
    if !Terraform::find()?.imports_by_identity() {
        return Ok(());
    }
    by_block(&Stage::with_bucket(FULL_BUCKET)?, BUCKET, "identity = { name = \"acme-models\" }")?;
    let identity = "identity = { cluster = \"ml-prod\", name = \"gpu-inference\" }";
    by_block(&Stage::with_pool(FULL_POOL)?, POOL, identity).map(drop)
}

#[test]
fn an_import_that_finds_nothing_or_is_spelled_wrong_says_so() -> Result<()> {
    let stage = Stage::empty()?;
    stage.workspace.configure(&bucket(""))?;
    let absent = stage.workspace.import(BUCKET, "acme-models")?.failed()?;
    let wrong = stage.workspace.import(BUCKET, "ml-prod/acme-models")?.failed()?;
    assert_snapshot!("import_refused", format!("{}\n\n===\n{}", shown(&absent), shown(&wrong)));
    Ok(())
}

fn by_command(stage: &Stage, address: &str, id: &str) -> Result<()> {
    stage.workspace.run(&["state", "rm", address])?.ok()?;
    stage.workspace.import(address, id)?.ok()?;
    assert!(stage.writes().is_empty());
    stage.settled()?;
    stage.destroy()
}

fn by_block(stage: &Stage, address: &str, by: &str) -> Result<String> {
    stage.workspace.run(&["state", "rm", address])?.ok()?;
    stage.workspace.write("import.tf", &format!("import {{\n  to = {address}\n  {by}\n}}\n"))?;
    let plan = stage.workspace.plan()?.ok()?;
    assert!(plan.says("1 to import, 0 to add, 0 to change, 0 to destroy"), "{}", plan.stdout);
    stage.workspace.apply()?.ok()?;
    assert!(stage.writes().is_empty());
    stage.settled()?;
    stage.destroy()?;
    Ok(shown(&plan))
}
