//! The model bucket on a second emulator, whose S3 is stricter: it checks names and policies and has today's defaults.
//!
//! Only where it is asked for (`cargo xtask acceptance --localstack`): it takes half a gigabyte to install.

use crate::support::{BUCKET, bucket};
use acceptance_tests::{Terraform, Workspace, localstack::LocalStack, provider};
use anyhow::Result;

const FULL: &str = r#"
  retention          = [{ prefix = "checkpoints/", expire_after_days = 30 }]
  protected_prefixes = ["models/"]
  tags               = { stage = "test" }
"#;

#[test]
fn a_bucket_lives_its_life_on_localstack_too() -> Result<()> {
    if std::env::var_os("MLPLAT_LOCALSTACK").is_none() {
        eprintln!("skipped: LocalStack is only started with MLPLAT_LOCALSTACK set");
        return Ok(());
    }
    let localstack = match LocalStack::start() {
        Ok(started) => started,
        Err(reason) => {
            eprintln!("skipped: {reason}");
            return Ok(());
        }
    };
    let mut workspace = Workspace::with(Terraform::find()?.clone(), localstack.url())?;
    workspace.use_provider(&provider::binary()?)?;
    workspace.configure(&bucket(FULL))?;
    workspace.apply()?.ok()?;
    workspace.plan()?.no_changes()?;
    workspace.configure(&bucket("  versioning = false\n  noncurrent_expire_after_days = 9"))?;
    workspace.apply()?.ok()?;
    workspace.plan()?.no_changes()?;
    workspace.run(&["state", "rm", BUCKET])?.ok()?;
    workspace.import(BUCKET, "acme-models")?.ok()?;
    workspace.plan()?.no_changes()?;
    workspace.destroy()?.ok()?;
    Ok(())
}
