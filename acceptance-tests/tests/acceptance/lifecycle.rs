//! Terraform's own `lifecycle` settings, and drift that the configuration comes to agree with.

use crate::support::{POOL, Stage, bucket, errors};
use anyhow::Result;

const PLAIN: &str = "  instance_types = [\"g5.xlarge\"]\n  size = { min = 1, max = 4 }";

fn tag(stage: &Stage, value: &str) -> Result<()> {
    let aws = stage.account.aws();
    let tags =
        aws.s3("GET", "/acme-models?tagging", "")?.body.replace("<Value>a</Value>", &format!("<Value>{value}</Value>"));
    aws.s3("PUT", "/acme-models?tagging", &tags).map(drop)
}

#[test]
fn an_attribute_that_is_ignored_may_change_here_and_there() -> Result<()> {
    let ignoring = "  lifecycle {\n    ignore_changes = [tags, noncurrent_expire_after_days]\n  }";
    let stage = Stage::with_bucket(&format!("  tags = {{ stage = \"a\" }}\n{ignoring}"))?;
    let other = format!("  tags = {{ stage = \"b\" }}\n  noncurrent_expire_after_days = 9\n{ignoring}");
    stage.workspace.configure(&bucket(&other))?;
    stage.settled()?;
    tag(&stage, "c")?;
    stage.settled()?;
    // A change of something else leaves both alone.
    stage.workspace.configure(&bucket(&format!("{other}\n  readers = [\"arn:aws:iam::210987654321:role/r\"]")))?;
    assert_eq!(stage.apply_and_tell_writes()?, ["s3.PutBucketPolicy"]);
    assert_eq!(stage.object("s3:bucket/acme-models")?["tags"]["stage"], "c");
    stage.destroy()
}

#[test]
fn drift_that_the_configuration_takes_over_is_no_change() -> Result<()> {
    let stage = Stage::with_bucket("  tags = { stage = \"a\" }")?;
    tag(&stage, "c")?;
    stage.workspace.configure(&bucket("  tags = { stage = \"c\" }"))?;
    stage.settled()?;
    // Back again: that is a change, of which side does not matter.
    stage.workspace.configure(&bucket("  tags = { stage = \"a\" }"))?;
    assert_eq!(stage.apply_and_tell_writes()?, ["s3.PutBucketTagging"]);
    stage.destroy()
}

#[test]
fn what_must_not_be_destroyed_stays() -> Result<()> {
    let kept = "  lifecycle {\n    prevent_destroy = true\n  }";
    let stage = Stage::with_bucket(kept)?;
    stage.workspace.configure(&bucket(kept).replace("acme-models", "acme-others"))?;
    let refused = errors(&stage.workspace.plan()?.failed()?);
    assert!(refused.contains("Instance cannot be destroyed"), "{refused}");
    assert!(stage.writes().is_empty());
    stage.workspace.configure(&bucket(""))?;
    stage.settled()?;
    stage.destroy()
}

#[test]
fn another_pool_is_made_before_the_first_one_goes() -> Result<()> {
    let first = format!("{PLAIN}\n  lifecycle {{\n    create_before_destroy = true\n  }}");
    let stage = Stage::with_pool(&first)?;
    stage.workspace.configure(&stage.pool(&first)?.replace("gpu-inference", "gpu-two"))?;
    stage.workspace.apply()?.ok()?;
    let journal = stage.account.proxy().take_journal();
    let groups = journal.writes().into_iter().filter(|name| name.ends_with("Nodegroup")).collect::<Vec<_>>();
    assert_eq!(groups, ["eks.CreateNodegroup", "eks.DeleteNodegroup"]);
    stage.settled()?;
    assert_eq!(stage.workspace.attributes(POOL)?["id"], "ml-prod/gpu-two");
    stage.destroy()
}

#[test]
fn a_renamed_resource_is_moved_and_not_made_again() -> Result<()> {
    let stage = Stage::with_bucket("")?;
    let moved = "moved {\n  from = mlplat_model_bucket.models\n  to   = mlplat_model_bucket.weights\n}\n";
    stage.workspace.configure(&format!("{}{moved}", bucket("").replace("\"models\"", "\"weights\"")))?;
    let plan = stage.workspace.plan()?.ok()?;
    assert!(plan.says("0 to add, 0 to change, 0 to destroy"), "{}", plan.stdout);
    assert_eq!(stage.apply_and_tell_writes()?, Vec::<String>::new());
    assert_eq!(stage.workspace.attributes("mlplat_model_bucket.weights")?["name"], "acme-models");
    stage.destroy()
}
