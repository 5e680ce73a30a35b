//! A bucket that holds data: refused, with counts, until the configuration allows it.

use crate::support::{Stage, bucket, errors};
use acceptance_tests::{aws::Aws, http::Reply};
use anyhow::Result;

#[test]
fn a_bucket_with_data_is_destroyed_only_where_that_is_allowed() -> Result<()> {
    let stage = Stage::with_bucket("")?;
    fill(&stage.account.aws(), |aws| {
        for key in ["a", "b", "b"] {
            aws.s3("PUT", &format!("/acme-models/{key}"), "weights")?;
        }
        aws.s3("DELETE", "/acme-models/a", "")?;
        aws.s3("POST", "/acme-models/big?uploads", "")
    })?;
    let refused = stage.workspace.destroy()?.failed()?;
    assert_snapshot!("bucket_with_data_destroy_refused", errors(&refused));
    // The data is there, and so is what protects it.
    let found = stage.object("s3:bucket/acme-models")?;
    assert_eq!((&found["versions"], &found["uploads"]), (&4.into(), &1.into()));
    assert_snapshot!(
        "bucket_after_refused_destroy",
        stage.workspace.plan()?.ok().map(|plan| crate::support::shown(&plan))?
    );

    stage.workspace.configure(&bucket("  allow_destroy_with_data = true"))?;
    stage.apply()?;
    stage.destroy()
}

#[test]
fn a_bucket_of_delete_markers_only_is_emptied() -> Result<()> {
    let stage = Stage::with_bucket("  allow_destroy_with_data = true\n  protected_prefixes = [\"models/\"]")?;
    fill(&stage.account.aws(), |aws| aws.s3("DELETE", "/acme-models/models/never-there", ""))?;
    stage.destroy()
}

// The policy demands TLS, which the emulator does not speak: it is away while objects are written.
fn fill(aws: &Aws, write: impl FnOnce(&Aws) -> Result<Reply>) -> Result<()> {
    let policy = aws.s3("GET", "/acme-models?policy", "")?.body;
    aws.s3("DELETE", "/acme-models?policy", "")?;
    write(aws)?;
    aws.s3("PUT", "/acme-models?policy", &policy).map(drop)
}
