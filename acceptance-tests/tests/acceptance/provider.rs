//! The provider block: aliases, values that are not known yet, and an AWS that refuses or does not answer.

use crate::support::{Stage, bucket, errors, pool, shown};
use acceptance_tests::{Emulator, Rule};
use anyhow::{Context, Result};

#[test]
fn two_regions_by_an_alias() -> Result<()> {
    let configuration = r#"
provider "mlplat" {}

provider "mlplat" {
  alias  = "eu"
  region = "eu-west-1"
}

resource "mlplat_model_bucket" "here" {
  name = "acme-here"
}

resource "mlplat_model_bucket" "there" {
  provider = mlplat.eu
  name     = "acme-there"
}
"#;
    let stage = Stage::empty()?.applied(configuration)?;
    let there = stage.workspace.attributes("mlplat_model_bucket.there")?;
    assert_eq!(
        (&there["region"], &there["domain_name"]),
        (&"eu-west-1".into(), &"acme-there.s3.eu-west-1.amazonaws.com".into())
    );
    assert_eq!(stage.workspace.attributes("mlplat_model_bucket.here")?["region"], "us-east-1");
    let location = stage.account.aws().s3("GET", "/acme-there?location", "")?.body;
    assert!(location.contains("eu-west-1"), "{location}");
    stage.destroy()
}

#[test]
fn two_endpoints_by_an_alias() -> Result<()> {
    let (stage, other) = (Stage::empty()?, Emulator::shared()?.account()?);
    let configuration = format!(
        r#"
provider "mlplat" {{}}

provider "mlplat" {{
  alias     = "other"
  endpoints = {{ all = "{}" }}
}}

resource "mlplat_model_bucket" "here" {{
  name = "acme-models"
}}

resource "mlplat_model_bucket" "there" {{
  provider = mlplat.other
  name     = "acme-models"
}}
"#,
        other.proxy().url()
    );
    let stage = stage.applied(&configuration)?;
    for account in [&stage.account, &other] {
        assert_eq!(account.leftovers()?.keys().collect::<Vec<_>>(), ["s3:bucket/acme-models"]);
    }
    stage.destroy()?;
    assert!(other.leftovers()?.is_empty());
    Ok(())
}

#[test]
fn a_region_that_is_not_known_yet_is_no_obstacle_to_a_plan() -> Result<()> {
    let configuration = format!(
        "resource \"terraform_data\" \"region\" {{\n  input = \"us-east-1\"\n}}\nprovider \"mlplat\" {{\n  region = \
         terraform_data.region.output\n}}\n{}",
        bucket("")
    );
    let stage = Stage::empty()?;
    stage.workspace.configure(&configuration)?;
    assert_snapshot!("provider_unknown_region", stage.plan()?);
    assert!(stage.account.proxy().journal().is_empty());
    stage.apply()?;
    // The region becomes unknown again: the bucket that is there is planned from its state, without a call.
    stage.workspace.configure(
        &configuration.replace("input = \"us-east-1\"", "triggers_replace = [1]\n  input = \"us-east-1\""),
    )?;
    stage.account.proxy().take_journal();
    let plan = stage.workspace.plan()?.ok()?;
    assert!(stage.account.proxy().take_journal().is_empty());
    assert_snapshot!("provider_unknown_region_again", shown(&plan));
    stage.apply()?;
    stage.destroy()
}

#[test]
fn values_that_are_not_known_yet_are_planned_and_then_applied() -> Result<()> {
    let stage = Stage::with_cluster()?;
    let ids = stage.cluster()?.subnet_ids.clone();
    let unknowns = [
        ("all subnets", "terraform_data.x.output".to_owned(), format!("{ids:?}"), ""),
        ("one subnet", format!("[terraform_data.x.output, {:?}]", ids[1]), format!("{:?}", ids[0]), ""),
        ("a label", format!("{ids:?}"), "\"gold\"".to_owned(), "labels = { tier = terraform_data.x.output }"),
        (
            "a taint",
            format!("{ids:?}"),
            "\"gold\"".to_owned(),
            "taints = [{ key = terraform_data.x.output, effect = \"NoSchedule\" }]",
        ),
        (
            "the maximum",
            format!("{ids:?}"),
            "3".to_owned(),
            "size = { min = 1, max = tonumber(terraform_data.x.output) }",
        ),
        ("the scaler", format!("{ids:?}"), "\"none\"".to_owned(), "scaler = terraform_data.x.output"),
    ];
    for (what, subnets, input, more) in unknowns {
        let size = if more.contains("size") { "" } else { "size = { min = 1, max = 2 }" };
        let attributes = format!("  subnet_ids = {subnets}\n  instance_types = [\"g5.xlarge\"]\n  {size}\n  {more}");
        let configuration =
            format!("resource \"terraform_data\" \"x\" {{\n  input = {input}\n}}\n{}", pool(&attributes));
        stage.workspace.configure(&configuration)?;
        stage.workspace.plan()?.ok().with_context(|| what.to_owned())?;
        stage.apply().with_context(|| what.to_owned())?;
        stage.destroy().with_context(|| what.to_owned())?;
    }
    Ok(())
}

#[test]
fn a_bucket_whose_name_is_not_known_yet_is_planned_and_then_applied() -> Result<()> {
    let configuration = format!(
        "resource \"terraform_data\" \"name\" {{\n  input = \"acme-models\"\n}}\n{}",
        bucket("").replace("\"acme-models\"", "terraform_data.name.output")
    );
    let stage = Stage::empty()?;
    stage.workspace.configure(&configuration)?;
    assert_snapshot!("bucket_unknown_name", stage.plan()?);
    stage.apply()?;
    stage.destroy()
}

#[test]
fn a_refusal_names_the_permission_and_nothing_is_lost() -> Result<()> {
    let stage = Stage::empty()?;
    stage.workspace.configure(&bucket(""))?;
    stage.account.proxy().add_rule(Rule::on("s3.PutBucketPolicy").access_denied());
    let denied = stage.workspace.apply()?.failed()?;
    assert_snapshot!("denied_policy", errors(&denied));
    stage.account.proxy().clear_rules();
    stage.workspace.untaint(crate::support::BUCKET)?.ok()?;
    assert_eq!(stage.apply_and_tell_writes()?, ["s3.PutBucketPolicy"]);

    stage.account.proxy().add_rule(Rule::on("s3.GetBucketTagging").access_denied());
    let denied = stage.workspace.plan()?.failed()?;
    assert_snapshot!("denied_read", errors(&denied));
    stage.account.proxy().clear_rules();
    stage.destroy()
}

#[test]
fn wrong_credentials_are_told_from_missing_permissions() -> Result<()> {
    let mut stage = Stage::with_cluster()?;
    let attributes = "  instance_types = [\"g5.xlarge\"]\n  size = { min = 1, max = 2 }";
    stage.workspace.configure(&stage.pool(attributes)?)?;
    let proxy = stage.account.proxy();
    let wrong = "The security token included in the request is invalid.";
    proxy.add_rule(Rule::on("ec2.*").error(
        401,
        "AuthFailure",
        "AWS was not able to validate the provided access credentials",
    ));
    proxy.add_rule(Rule::on("eks.*").error(403, "UnrecognizedClientException", wrong));
    proxy.add_rule(Rule::any().error(403, "InvalidClientTokenId", wrong));
    assert_snapshot!("credentials_wrong", errors(&stage.workspace.apply()?.failed()?));
    proxy.clear_rules();
    assert!(proxy.take_journal().writes().iter().all(|name| *name == "iam.CreateRole" || name.starts_with("ec2.")));
    stage.workspace.unset_env("AWS_ACCESS_KEY_ID");
    stage.workspace.unset_env("AWS_SECRET_ACCESS_KEY");
    assert_snapshot!("credentials_missing", errors(&stage.workspace.apply()?.failed()?));
    assert!(stage.account.proxy().journal().is_empty());
    stage.nothing_left()
}

#[test]
fn an_endpoint_that_does_not_answer_is_named() -> Result<()> {
    let mut stage = Stage::with_bucket("")?;
    let url = stage.account.proxy().url().to_owned();
    stage.workspace.set_env("AWS_ENDPOINT_URL", "http://127.0.0.1:1");
    // One message for the whole bucket, and it names the address.
    assert_snapshot!("unreachable_plan", errors(&stage.workspace.plan()?.failed()?));
    let second = bucket("").replace("\"models\"", "\"other\"").replace("acme-models", "acme-other");
    stage.workspace.configure(&format!("{}{second}", bucket("")))?;
    let apply = ["apply", "-auto-approve", "-no-color", "-input=false", "-refresh=false"];
    assert_snapshot!("unreachable_apply", errors(&stage.workspace.run(&apply)?.failed()?));
    stage.workspace.set_env("AWS_ENDPOINT_URL", &url);
    stage.apply()?;
    stage.destroy()
}

#[test]
fn throttling_is_ridden_over() -> Result<()> {
    let stage = Stage::with_cluster()?;
    let pool = stage.pool("  instance_types = [\"g5.xlarge\"]\n  size = { min = 1, max = 2 }")?;
    let proxy = stage.account.proxy();
    for service in ["s3.*", "eks.*", "iam.*", "ec2.*", "autoscaling.*"] {
        proxy.add_rule(Rule::on(service).between(2..=5).throttle());
    }
    let stage = stage.applied(&format!("{}{pool}", bucket("")))?;
    assert!(stage.account.proxy().hits() >= 12);
    stage.destroy()
}

#[test]
fn a_call_that_keeps_failing_is_made_again_as_often_as_the_provider_block_says() -> Result<()> {
    let stage = Stage::empty()?;
    for (retries, fault) in [(0, Rule::throttle as fn(Rule) -> Rule), (2, Rule::throttle), (3, Rule::internal_error)] {
        let provider = format!("provider \"mlplat\" {{\n  max_retries = {retries}\n}}\n");
        stage.workspace.configure(&format!("{provider}{}", bucket("")))?;
        let proxy = stage.account.proxy();
        proxy.add_rule(fault(Rule::on("s3.PutBucketPolicy")));
        proxy.take_journal();
        stage.workspace.apply()?.failed()?;
        assert_eq!(proxy.take_journal().count("s3.PutBucketPolicy"), retries + 1);
        proxy.clear_rules();
        // Once made, the bucket is changed and no longer created.
        if retries == 0 {
            stage.workspace.untaint(crate::support::BUCKET)?.ok()?;
        }
    }
    stage.apply()?;
    stage.destroy()
}

#[test]
fn a_role_is_assumed_although_sts_is_throttled_at_first() -> Result<()> {
    let stage = Stage::empty()?;
    let role = format!("arn:aws:iam::{}:role/deploy", stage.account.id());
    let provider = format!("provider \"mlplat\" {{\n  assume_role = {{ role_arn = \"{role}\" }}\n}}\n");
    stage.workspace.configure(&format!("{provider}{}", bucket("")))?;
    stage.account.proxy().add_rule(Rule::on("sts.AssumeRole").first(2).throttle());
    stage.workspace.apply()?.ok()?;
    assert_eq!(stage.account.proxy().hits(), 2);
    stage.workspace.destroy()?.ok()?;
    stage.nothing_left()
}

#[test]
fn tags_of_the_provider_block_are_stamped_and_a_change_of_them_shows_in_the_plan() -> Result<()> {
    let block = |team: &str| {
        format!(
            "provider \"mlplat\" {{\n  default_tags = {{ env = \"prod\" }}\n  cost_allocation = {{ cost_center = \"ml\", team = \"{team}\" }}\n}}\n"
        )
    };
    let stage = Stage::with_cluster()?;
    let rest =
        format!("{}{}", bucket(""), stage.pool("  instance_types = [\"g5.xlarge\"]\n  size = { min = 1, max = 2 }")?);
    let stage = stage.applied(&format!("{}{rest}", block("search")))?;
    let tags = stage.object("s3:bucket/acme-models")?["tags"].clone();
    assert_eq!((&tags["env"], &tags["team"], &tags["cost-center"]), (&"prod".into(), &"search".into(), &"ml".into()));
    assert_eq!(stage.node_group()?["labels"]["team"], "search");
    stage.workspace.configure(&format!("{}{rest}", block("vision")))?;
    let plan = stage.plan()?;
    assert!(plan.contains("0 to add, 2 to change, 0 to destroy"), "{plan}");
    assert_snapshot!("provider_other_team", crate::support::changed_lines(&plan));
    stage.apply()?;
    assert_eq!(stage.object("s3:bucket/acme-models")?["tags"]["team"], "vision");
    assert_eq!(stage.node_group()?["labels"]["team"], "vision");
    stage.destroy()
}

#[test]
fn another_timeout_changes_nothing_in_the_account() -> Result<()> {
    let stage = Stage::with_bucket("")?;
    stage.workspace.configure(&bucket("  timeouts {\n    delete = \"2h\"\n  }"))?;
    assert_eq!(stage.apply_and_tell_writes()?, Vec::<String>::new());
    stage.destroy()
}
