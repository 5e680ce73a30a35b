//! The life of a model bucket: create, change, drift, replacement, destruction.

use crate::support::{BUCKET, Stage, bucket, changed_lines, errors};
use acceptance_tests::aws::Aws;
use anyhow::Result;

const FULL: &str = r#"
  retention          = [{ prefix = "checkpoints/", expire_after_days = 30 }]
  protected_prefixes = ["models/"]
  readers            = ["arn:aws:iam::210987654321:role/reader"]
  tags               = { stage = "test" }
"#;

#[test]
fn a_bucket_is_created_and_then_there_is_nothing_to_do() -> Result<()> {
    let stage = Stage::empty()?;
    stage.workspace.configure(&bucket(FULL))?;
    assert_snapshot!("bucket_create", stage.plan()?);
    stage.workspace.apply()?.ok()?;
    stage.account.proxy().take_journal();
    assert_eq!(stage.workspace.plan()?.no_changes()?.status, 0);
    let journal = stage.account.proxy().take_journal();
    assert!(journal.writes().is_empty(), "{journal}");
    let attributes = stage.workspace.attributes(BUCKET)?;
    assert_eq!(attributes["arn"], "arn:aws:s3:::acme-models");
    assert_eq!(attributes["s3_uri"], "s3://acme-models");
    assert_eq!(attributes["region"], "us-east-1");
    assert_eq!(stage.object("s3:bucket/acme-models")?["tags"]["stage"], "test");
    stage.destroy()
}

#[test]
fn each_attribute_of_a_bucket_can_be_changed_by_the_calls_it_needs() -> Result<()> {
    let stage = Stage::with_bucket("")?;
    let key = "arn:aws:kms:us-east-1:123456789012:key/11111111-2222-3333-4444-555555555555";
    let changes = [
        ("versioning", "versioning = false".to_owned()),
        ("kms_key_arn", format!("kms_key_arn = \"{key}\"")),
        ("retention", "retention = [{ prefix = \"runs/\", expire_after_days = 7 }]".to_owned()),
        ("protected_prefixes", "protected_prefixes = [\"models/\"]".to_owned()),
        ("noncurrent_expire_after_days", "noncurrent_expire_after_days = 10".to_owned()),
        ("abort_incomplete_uploads_after_days", "abort_incomplete_uploads_after_days = 3".to_owned()),
        ("readers", "readers = [\"arn:aws:iam::210987654321:role/reader\"]".to_owned()),
        ("writers", "writers = [\"arn:aws:iam::210987654321:role/writer\"]".to_owned()),
        ("allow_destroy_with_data", "allow_destroy_with_data = true".to_owned()),
        ("tags", "tags = { team = \"search\" }".to_owned()),
    ];
    let mut table = Vec::new();
    for (name, attributes) in changes {
        stage.workspace.configure(&bucket(&format!("  {attributes}")))?;
        let plan = stage.plan()?;
        let forth = stage.apply_and_tell_writes()?;
        // Given back: the attribute is gone from the configuration.
        stage.workspace.configure(&bucket(""))?;
        let back = stage.apply_and_tell_writes()?;
        table.push(format!("=== {name}: {} / back: {}\n{}", forth.join(" "), back.join(" "), changed_lines(&plan)));
    }
    assert_snapshot!("bucket_changes", table.join("\n"));
    stage.destroy()
}

#[test]
fn a_part_that_somebody_changed_is_named_and_repaired_alone() -> Result<()> {
    let stage = Stage::with_bucket(FULL)?;
    let mut table = Vec::new();
    for (part, drift) in drifts() {
        drift(&stage.account.aws())?;
        let plan = stage.plan()?;
        let writes = stage.apply_and_tell_writes()?;
        table.push(format!("=== {part}: {}\n{}", writes.join(" "), changed_lines(&plan)));
    }
    assert_snapshot!("bucket_drift", table.join("\n"));
    stage.destroy()
}

#[test]
fn everything_that_somebody_changed_is_repaired_in_one_apply() -> Result<()> {
    let stage = Stage::with_bucket(FULL)?;
    for (_, drift) in drifts().into_iter().filter(|(part, _)| !part.contains("deleted")) {
        drift(&stage.account.aws())?;
    }
    assert_snapshot!("bucket_drift_all", stage.plan()?);
    stage.apply()?;
    stage.destroy()
}

type Drift = fn(&Aws) -> Result<()>;

fn drifts() -> Vec<(&'static str, Drift)> {
    vec![
        ("versioning", |aws| {
            put(aws, "versioning", "<VersioningConfiguration><Status>Suspended</Status></VersioningConfiguration>")
        }),
        ("encryption", |aws| {
            put(
                aws,
                "encryption",
                "<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>aws:kms\
                 </SSEAlgorithm></ApplyServerSideEncryptionByDefault></Rule></ServerSideEncryptionConfiguration>",
            )
        }),
        ("public access block", |aws| {
            put(
                aws,
                "publicAccessBlock",
                "<PublicAccessBlockConfiguration><BlockPublicAcls>false</BlockPublicAcls><IgnorePublicAcls>true\
                 </IgnorePublicAcls><BlockPublicPolicy>true</BlockPublicPolicy><RestrictPublicBuckets>true\
                 </RestrictPublicBuckets></PublicAccessBlockConfiguration>",
            )
        }),
        ("public access block, deleted", |aws| delete(aws, "publicAccessBlock")),
        ("ownership controls", |aws| {
            put(
                aws,
                "ownershipControls",
                "<OwnershipControls><Rule><ObjectOwnership>ObjectWriter</ObjectOwnership></Rule></OwnershipControls>",
            )
        }),
        ("ownership controls, deleted", |aws| delete(aws, "ownershipControls")),
        ("policy", |aws| {
            put(
                aws,
                "policy",
                r#"{"Version":"2012-10-17","Statement":[{"Sid":"Mine","Effect":"Deny","Principal":"*","Action":"s3:DeleteBucket","Resource":"arn:aws:s3:::acme-models"}]}"#,
            )
        }),
        ("policy, deleted", |aws| delete(aws, "policy")),
        ("lifecycle", |aws| {
            put(
                aws,
                "lifecycle",
                "<LifecycleConfiguration><Rule><ID>mine</ID><Status>Enabled</Status><Filter><Prefix>tmp/</Prefix></Filter>\
                 <Expiration><Days>1</Days></Expiration></Rule></LifecycleConfiguration>",
            )
        }),
        ("lifecycle, deleted", |aws| delete(aws, "lifecycle")),
    ]
}

fn put(aws: &Aws, part: &str, body: &str) -> Result<()> {
    aws.s3("PUT", &format!("/acme-models?{part}"), body).map(drop)
}

fn delete(aws: &Aws, part: &str) -> Result<()> {
    aws.s3("DELETE", &format!("/acme-models?{part}"), "").map(drop)
}

#[test]
fn a_bucket_that_somebody_deleted_is_made_again() -> Result<()> {
    let stage = Stage::with_bucket("")?;
    stage.account.aws().s3("DELETE", "/acme-models", "")?;
    assert_snapshot!("bucket_deleted", stage.plan()?);
    stage.apply()?;
    stage.destroy()
}

#[test]
fn another_name_makes_another_bucket() -> Result<()> {
    let stage = Stage::with_bucket("")?;
    stage.workspace.configure(&bucket("").replace("acme-models", "acme-models-two"))?;
    assert_snapshot!("bucket_replacement", stage.plan()?);
    stage.apply()?;
    assert!(stage.object("s3:bucket/acme-models").is_err());
    stage.object("s3:bucket/acme-models-two")?;
    stage.destroy()
}

#[test]
fn tags_of_others_are_left_alone() -> Result<()> {
    let stage = Stage::with_bucket("tags = { stage = \"test\" }")?;
    let mut tags = stage.object("s3:bucket/acme-models")?["tags"].as_object().cloned().unwrap_or_default();
    tags.insert("theirs".into(), "x".into());
    tags.insert("stage".into(), "moved".into());
    let tags: String = tags
        .iter()
        .map(|(key, value)| format!("<Tag><Key>{key}</Key><Value>{}</Value></Tag>", value.as_str().unwrap_or("")))
        .collect();
    put(&stage.account.aws(), "tagging", &format!("<Tagging><TagSet>{tags}</TagSet></Tagging>"))?;
    assert_snapshot!("bucket_tags_drift", stage.plan()?);
    stage.apply()?;
    let tags = stage.object("s3:bucket/acme-models")?["tags"].clone();
    assert_eq!((&tags["theirs"], &tags["stage"]), (&"x".into(), &"test".into()));
    stage.destroy()
}

#[test]
fn a_bucket_of_somebody_else_is_not_touched() -> Result<()> {
    let stage = Stage::empty()?;
    stage.account.take_bucket_name("acme-models")?;
    stage.workspace.configure(&bucket(""))?;
    let theirs = stage.workspace.apply()?.failed()?;
    assert_snapshot!("bucket_of_another_account", errors(&theirs));
    assert!(stage.writes().iter().all(|write| write == "s3.CreateBucket"));
    Ok(())
}

#[test]
fn a_bucket_of_this_account_without_our_mark_is_not_touched() -> Result<()> {
    let mut stage = Stage::empty()?;
    stage.account.aws().s3("PUT", "/acme-models", "")?;
    stage.account.set_baseline()?;
    stage.workspace.configure(&bucket(""))?;
    let unmarked = stage.workspace.apply()?.failed()?;
    assert_snapshot!("bucket_without_our_mark", errors(&unmarked));
    assert_eq!(stage.writes(), Vec::<String>::new());
    stage.destroy()
}

#[test]
fn a_tainted_bucket_is_replaced_and_an_untainted_one_is_not() -> Result<()> {
    let stage = Stage::with_bucket(FULL)?;
    stage.workspace.taint(BUCKET)?.ok()?;
    assert!(stage.plan()?.contains("is tainted, so "));
    stage.workspace.untaint(BUCKET)?.ok()?;
    stage.settled()?;
    stage.workspace.taint(BUCKET)?.ok()?;
    let writes = stage.apply_and_tell_writes()?;
    assert!(
        writes.contains(&"s3.DeleteBucket".to_owned()) && writes.contains(&"s3.CreateBucket".to_owned()),
        "{writes:?}"
    );
    stage.destroy()
}
