//! Objects that another provider made come over by a `moved` block, with all that is in them.

use crate::support::{BUCKET, Stage, errors, shown};
use acceptance_tests::Terraform;
use anyhow::{Context, Result};
use serde_json::json;
use std::{fs, os::unix::fs::symlink};

/// A configuration that renames a resource of another provider into one of ours.
const MOVED: &str = r#"
resource "mlplat_model_bucket" "models" {
  name       = "acme-models"
  versioning = false
}

moved {
  from = FROM
  to   = mlplat_model_bucket.models
}
"#;

#[test]
fn a_bucket_of_the_aws_provider_is_taken_over_and_stays() -> Result<()> {
    let mut stage = Stage::empty()?;
    stage.account.aws().s3("PUT", "/acme-models", "")?;
    beside_another_provider(&mut stage)?;
    stage.workspace.write("terraform.tfstate", &state("aws_s3_bucket")?)?;
    stage.workspace.configure(&MOVED.replace("FROM", "aws_s3_bucket.old"))?;
    let plan = stage.workspace.plan()?.ok()?;
    let told = shown(&plan);
    assert!(told.contains("(moved from aws_s3_bucket.old)"), "{told}");
    assert!(told.contains("0 to add, 1 to change, 0 to destroy"), "{told}");
    stage.account.proxy().take_journal();
    stage.workspace.apply()?.ok()?;
    let journal = stage.account.proxy().take_journal();
    assert_eq!(journal.count("s3.CreateBucket") + journal.count("s3.DeleteBucket"), 0, "{journal}");
    stage.workspace.plan()?.no_changes()?;
    assert_eq!(stage.workspace.attributes(BUCKET)?["arn"], "arn:aws:s3:::acme-models");
    stage.destroy()
}

#[test]
fn what_stands_for_something_else_is_not_taken_over() -> Result<()> {
    let mut stage = Stage::empty()?;
    beside_another_provider(&mut stage)?;
    stage.workspace.write("terraform.tfstate", &state("aws_lambda_function")?)?;
    stage.workspace.configure(&MOVED.replace("FROM", "aws_lambda_function.old"))?;
    let refused = stage.workspace.plan()?.failed()?;
    assert_snapshot!("moved_from_something_else", errors(&refused));
    Ok(())
}

// Terraform starts the provider of every resource in a state, and asks it for nothing of what is moved away.
fn beside_another_provider(stage: &mut Stage) -> Result<()> {
    let dir = stage.workspace.path().join("aws");
    let binary = acceptance_tests::provider::binary()?;
    fs::create_dir(&dir)?;
    symlink(&binary, dir.join("terraform-provider-aws"))?;
    let ours = binary.parent().context("the provider has no directory")?;
    stage.workspace.write(
        "terraformrc",
        &format!(
            "provider_installation {{\n  dev_overrides {{\n    \"mlplat/mlplat\" = \"{}\"\n    \"hashicorp/aws\" = \
             \"{}\"\n  }}\n  direct {{}}\n}}\n",
            ours.display(),
            dir.display()
        ),
    )
}

fn state(type_name: &str) -> Result<String> {
    let registry = if Terraform::find()?.is_tofu() { "registry.opentofu.org" } else { "registry.terraform.io" };
    let state = json!({
        "version": 4, "terraform_version": "1.11.0", "serial": 1, "lineage": "11111111-2222-3333-4444-555555555555",
        "outputs": {},
        "resources": [{
            "mode": "managed", "type": type_name, "name": "old",
            "provider": format!("provider[\"{registry}/hashicorp/aws\"]"),
            "instances": [{ "schema_version": 0, "attributes": { "id": "acme-models", "bucket": "acme-models" } }],
        }],
    });
    Ok(state.to_string())
}
