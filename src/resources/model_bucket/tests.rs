//! Tests of `mlplat_model_bucket`.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::ModelBucket;
use crate::{
    composite::Composite,
    resources::testing::{complaints, decoded, drifted, expanded, imported, settings, text},
    settings::Settings,
};

fn whole() -> Json {
    json!({
        "name": "acme-ml-models-prod",
        "retention": [{ "prefix": "checkpoints/", "expire_after_days": 30 }],
        "protected_prefixes": ["models/"],
        "readers": ["arn:aws:iam::123456789012:role/server"],
        "writers": ["arn:aws:iam::123456789012:role/trainer"],
        "tags": { "data": "public" },
    })
}

fn check(change: Json, expected: &[&str]) {
    let mut config = json!({ "name": "acme-ml-models" });
    let (Some(config_map), Json::Object(change)) = (config.as_object_mut(), change) else { return };
    config_map.extend(change);
    assert_eq!(complaints::<ModelBucket>(&config), expected);
}

#[test]
fn the_name_alone_gives_a_safe_bucket() {
    let (bucket, graph) = expanded::<ModelBucket>(&json!({ "name": "acme-ml-models" }), BTreeMap::new());
    insta::assert_snapshot!(text(&graph), @r#"
    bucket: aws_s3_bucket
      empty_before_delete = false
      name = "acme-ml-models"
      tags[env] = "prod"
      tags[managed-by] = "mlplat"
      tags[team] = "search"
      tags[workload-type] = "model-storage"
    encryption: aws_s3_bucket_encryption after bucket
      algorithm = "AES256"
      bucket = "acme-ml-models"
      bucket_key = false
    lifecycle: aws_s3_bucket_lifecycle after bucket
      bucket = "acme-ml-models"
      rules:
        {"abort_incomplete_uploads_after_days":7,"enabled":true,"expire_delete_markers":true,"id":"mlplat-cleanup","noncurrent_expire_after_days":90,"prefix":""}
    ownership_controls: aws_s3_bucket_ownership_controls after bucket
      bucket = "acme-ml-models"
      object_ownership = "BucketOwnerEnforced"
    policy: aws_s3_bucket_policy after bucket
      bucket = "acme-ml-models"
      document[Statement]:
        {"Action":"s3:*","Condition":{"Bool":{"aws:SecureTransport":"false"}},"Effect":"Deny","Principal":"*","Resource":["arn:aws:s3:::acme-ml-models","arn:aws:s3:::acme-ml-models/*"],"Sid":"DenyInsecureTransport"}
      document[Version] = "2012-10-17"
    public_access_block: aws_s3_bucket_public_access_block after bucket
      block_public_acls = true
      block_public_policy = true
      bucket = "acme-ml-models"
      ignore_public_acls = true
      restrict_public_buckets = true
    versioning: aws_s3_bucket_versioning after bucket
      bucket = "acme-ml-models"
      enabled = true
    "#);
    assert_eq!(bucket.arn.get().map(String::as_str), Some("arn:aws:s3:::acme-ml-models"));
    assert_eq!(bucket.s3_uri.get().map(String::as_str), Some("s3://acme-ml-models"));
    assert!(bucket.region.is_pending() && bucket.domain_name.is_pending());
}

#[test]
fn every_attribute_reaches_its_object() {
    let mut config = whole();
    config["kms_key_arn"] = json!("arn:aws:kms:us-east-1:123456789012:key/0a1b");
    config["allow_destroy_with_data"] = json!(true);
    let (_, graph) = expanded::<ModelBucket>(&config, BTreeMap::new());
    insta::assert_snapshot!(text(&graph), @r#"
    bucket: aws_s3_bucket
      empty_before_delete = true
      name = "acme-ml-models-prod"
      tags[data] = "public"
      tags[env] = "prod"
      tags[managed-by] = "mlplat"
      tags[mlplat:allow-destroy-with-data] = "true"
      tags[mlplat:noncurrent-expire-after-days] = "90"
      tags[team] = "search"
      tags[workload-type] = "model-storage"
    encryption: aws_s3_bucket_encryption after bucket
      algorithm = "aws:kms"
      bucket = "acme-ml-models-prod"
      bucket_key = true
      kms_key_arn = "arn:aws:kms:us-east-1:123456789012:key/0a1b"
    lifecycle: aws_s3_bucket_lifecycle after bucket
      bucket = "acme-ml-models-prod"
      rules:
        {"abort_incomplete_uploads_after_days":7,"enabled":true,"expire_delete_markers":true,"id":"mlplat-cleanup","prefix":""}
        {"enabled":true,"expire_after_days":30,"expire_delete_markers":false,"id":"mlplat-retention-checkpoints/","noncurrent_expire_after_days":30,"prefix":"checkpoints/"}
    ownership_controls: aws_s3_bucket_ownership_controls after bucket
      bucket = "acme-ml-models-prod"
      object_ownership = "BucketOwnerEnforced"
    policy: aws_s3_bucket_policy after bucket
      bucket = "acme-ml-models-prod"
      document[Statement]:
        {"Action":["s3:GetBucketLocation","s3:ListBucket"],"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::123456789012:role/server"},"Resource":"arn:aws:s3:::acme-ml-models-prod","Sid":"AllowReadBucket"}
        {"Action":["s3:GetObject","s3:GetObjectVersion"],"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::123456789012:role/server"},"Resource":"arn:aws:s3:::acme-ml-models-prod/*","Sid":"AllowReadObjects"}
        {"Action":["s3:GetBucketLocation","s3:ListBucket","s3:ListBucketMultipartUploads"],"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::123456789012:role/trainer"},"Resource":"arn:aws:s3:::acme-ml-models-prod","Sid":"AllowWriteBucket"}
        {"Action":["s3:AbortMultipartUpload","s3:DeleteObject","s3:GetObject","s3:GetObjectVersion","s3:ListMultipartUploadParts","s3:PutObject"],"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::123456789012:role/trainer"},"Resource":"arn:aws:s3:::acme-ml-models-prod/*","Sid":"AllowWriteObjects"}
        {"Action":"s3:DeleteObjectVersion","Effect":"Deny","Principal":"*","Resource":"arn:aws:s3:::acme-ml-models-prod/models/*","Sid":"DenyDeleteProtected"}
        {"Action":"s3:*","Condition":{"Bool":{"aws:SecureTransport":"false"}},"Effect":"Deny","Principal":"*","Resource":["arn:aws:s3:::acme-ml-models-prod","arn:aws:s3:::acme-ml-models-prod/*"],"Sid":"DenyInsecureTransport"}
      document[Version] = "2012-10-17"
    public_access_block: aws_s3_bucket_public_access_block after bucket
      block_public_acls = true
      block_public_policy = true
      bucket = "acme-ml-models-prod"
      ignore_public_acls = true
      restrict_public_buckets = true
    versioning: aws_s3_bucket_versioning after bucket
      bucket = "acme-ml-models-prod"
      enabled = true
    "#);
}

#[test]
fn without_a_region_the_policy_waits_for_the_buckets_arn() {
    let mut bucket: ModelBucket = decoded(&whole());
    let mut graph = converge::Graph::default();
    bucket.expand(&Settings { region: value::Value::null(), ..settings() }, &mut graph);
    assert!(!graph.nodes()["policy"].is_known());
    assert!(graph.nodes()["policy"].after.contains("bucket"));
}

#[test]
fn the_policy_is_written_for_the_regions_partition() {
    let mut bucket: ModelBucket = decoded(&whole());
    bucket
        .expand(&Settings { region: value::Value::from("cn-north-1"), ..settings() }, &mut converge::Graph::default());
    assert_eq!(bucket.arn.get().map(String::as_str), Some("arn:aws-cn:s3:::acme-ml-models-prod"));
}

#[test]
fn an_unknown_value_makes_only_its_object_wait() {
    let mut config = whole();
    config["readers"] = json!("(unknown)");
    let (_, graph) = expanded::<ModelBucket>(&config, BTreeMap::new());
    let waiting: Vec<_> = graph.nodes().iter().filter(|(_, node)| !node.is_known()).map(|(key, _)| key).collect();
    assert_eq!(waiting, ["policy"]);
    assert!(graph.unshaped().is_none());
}

#[tokio::test]
async fn an_import_of_what_was_created_says_what_was_configured() {
    let mut config = whole();
    config["versioning"] = json!(false);
    config["kms_key_arn"] = json!("arn:aws:kms:us-east-1:123456789012:key/0a1b");
    config["noncurrent_expire_after_days"] = json!(60);
    config["abort_incomplete_uploads_after_days"] = json!(3);
    config["allow_destroy_with_data"] = json!(true);
    let said = imported::<ModelBucket>(&config, &json!({ "name": "acme-ml-models-prod" })).await;
    for (name, value) in config.as_object().expect("an object") {
        assert_eq!(said.get(name), Some(value), "{name}");
    }
}

#[tokio::test]
async fn without_protection_the_days_of_old_versions_come_back_from_the_rules() {
    let config = json!({ "name": "acme", "noncurrent_expire_after_days": 14 });
    let said = imported::<ModelBucket>(&config, &json!({ "name": "acme" })).await;
    assert_eq!(said.get("noncurrent_expire_after_days"), Some(&json!(14)));
    assert_eq!(said.get("retention"), Some(&json!([])));
    assert_eq!(said.get("tags"), Some(&json!({})));
}

#[test]
fn a_full_configuration_is_not_complained_about() {
    assert_eq!(complaints::<ModelBucket>(&whole()), Vec::<String>::new());
    assert_eq!(
        complaints::<ModelBucket>(&json!({ "name": "(unknown)", "retention": "(unknown)" })),
        Vec::<String>::new()
    );
}

#[test]
fn names_that_s3_refuses_are_refused() {
    for (name, fault) in [
        ("ab", "too short"),
        ("Models", "upper case"),
        ("acme_models", "underscore"),
        ("acme.models", "dot"),
        ("-acme", "hyphen"),
        ("xn--acme", "reserved"),
        ("acme--x-s3", "reserved"),
    ] {
        let expected = format!("error at name: The bucket name {name:?} cannot be used");
        assert_eq!(complaints::<ModelBucket>(&json!({ "name": name })), [expected], "{fault}");
    }
}

#[test]
fn prefixes_are_beginnings_of_keys() {
    check(
        json!({ "retention": [{ "prefix": "/checkpoints", "expire_after_days": 1 }] }),
        &["error at retention: The prefix \"/checkpoints\" begins with \"/\""],
    );
    check(
        json!({ "protected_prefixes": ["models/*"] }),
        &["error at protected_prefixes: The prefix \"models/*\" has a wildcard"],
    );
    check(json!({ "retention": [{ "prefix": "", "expire_after_days": 1 }] }), &[]);
}

#[test]
fn retention_and_protection_must_not_overlap_either_way_round() {
    check(
        json!({ "retention": [{ "prefix": "models/old/", "expire_after_days": 1 }], "protected_prefixes": ["models/"] }),
        &["error at retention: Retention of \"models/old/\" would delete what \"models/\" protects"],
    );
    check(
        json!({ "retention": [{ "prefix": "", "expire_after_days": 1 }], "protected_prefixes": ["models/"] }),
        &["error at retention: Retention of \"\" would delete what \"models/\" protects"],
    );
}

#[test]
fn a_rule_that_another_one_defeats_is_told() {
    check(
        json!({ "retention": [
            { "prefix": "a/", "expire_after_days": 1 }, { "prefix": "a/b/", "expire_after_days": 2 },
        ] }),
        &["warning at retention: Retention of \"a/b/\" for 2 days has no effect"],
    );
    check(
        json!({ "retention": [
            { "prefix": "a/", "expire_after_days": 1 }, { "prefix": "a/", "expire_after_days": 2 },
        ] }),
        &["error at retention: The prefix \"a/\" has two retention rules"],
    );
}

#[test]
fn days_are_counted_from_one() {
    check(
        json!({ "retention": [{ "prefix": "a/", "expire_after_days": 0 }], "noncurrent_expire_after_days": 0 }),
        &[
            "error at retention: A number of days is out of range",
            "error at noncurrent_expire_after_days: A number of days is out of range",
        ],
    );
}

#[test]
fn keys_and_principals_are_given_by_their_arns() {
    check(
        json!({ "kms_key_arn": "alias/models", "readers": ["*"], "writers": ["123456789012"] }),
        &[
            "error at kms_key_arn: The KMS key is not given by its ARN",
            "error at readers: \"*\" cannot be granted access",
            "error at writers: \"123456789012\" cannot be granted access",
        ],
    );
}

#[test]
fn protection_without_versioning_is_warned_about() {
    check(
        json!({ "versioning": false, "protected_prefixes": ["models/"] }),
        &["warning at versioning: Without versioning, protected prefixes can still be overwritten"],
    );
}

#[tokio::test]
async fn what_somebody_changed_is_told_of_the_attribute_where_it_can_be_read() {
    let config = json!({ "name": "acme" });
    let told = |kind: &'static str, field: &'static str, found| {
        let config = config.clone();
        async move { drifted::<ModelBucket>(&config, (kind, "acme"), field, found).await }
    };
    assert_eq!(told("aws_s3_bucket_versioning", "enabled", json!(false)).await, "versioning = false");
    let theirs = json!([{ "id": "theirs", "enabled": true, "prefix": "", "expire_after_days": 1 }]);
    assert_eq!(told("aws_s3_bucket_lifecycle", "rules", theirs).await, "");
    let (_, graph) = expanded::<ModelBucket>(&config, BTreeMap::new());
    let mut rules = graph.nodes()["lifecycle"].document()["rules"].clone();
    rules[0]["noncurrent_expire_after_days"] = json!(3);
    let told = told("aws_s3_bucket_lifecycle", "rules", rules).await;
    assert!(told.contains("noncurrent_expire_after_days = 3"), "{told}");
}
