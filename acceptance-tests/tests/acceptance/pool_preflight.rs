//! What a plan finds out of a pool before anything is made, and how the provider's `preflight` governs it.

use crate::support::{Stage, errors, pool, shown};
use acceptance_tests::proxy::Rule;
use anyhow::{Context, Result};
use std::collections::BTreeMap;

const PLAIN: &str = "  instance_types = [\"g5.xlarge\"]\n  size = { min = 1, max = 4 }";

// A subnet in a zone that has no g5, beside those of the cluster.
fn with_a_poor_zone(stage: &Stage) -> Result<String> {
    let cluster = stage.cluster()?;
    let wanted =
        [("VpcId", cluster.vpc_id.as_str()), ("CidrBlock", "10.42.240.0/20"), ("AvailabilityZone", "us-east-1e")];
    let made = stage.account.aws().query("ec2", "CreateSubnet", &wanted)?;
    let id = made.element("subnetId").context("no subnet")?;
    let mut ids = cluster.subnet_ids.clone();
    ids.push(id.to_owned());
    Ok(pool(&format!("  subnet_ids = {ids:?}\n{PLAIN}")))
}

fn hidden(stage: &mut Stage, text: &str) {
    for (at, id) in text.split('"').filter(|part| part.starts_with("subnet-")).enumerate() {
        stage.workspace.hide(id, &format!("subnet-{at}"));
    }
}

#[test]
fn report_12_a_zone_that_lacks_the_instance_type_fails_the_plan() -> Result<()> {
    let mut stage = Stage::with_cluster()?;
    let configuration = with_a_poor_zone(&stage)?;
    hidden(&mut stage, &configuration);
    stage.workspace.configure(&configuration)?;
    assert_snapshot!("pool_preflight_error", errors(&stage.workspace.plan()?.failed()?));

    stage.workspace.configure(&format!("provider \"mlplat\" {{\n  preflight = \"warn\"\n}}\n{configuration}"))?;
    let warned = stage.workspace.plan()?.ok()?;
    assert!(shown(&warned).contains("Warning: g5.xlarge is not offered in us-east-1e"), "{}", warned.stdout);

    stage.workspace.configure(&format!("provider \"mlplat\" {{\n  preflight = \"off\"\n}}\n{configuration}"))?;
    stage.account.proxy().take_journal();
    let silent = stage.workspace.plan()?.ok()?;
    assert!(!shown(&silent).contains("not offered"), "{}", silent.stdout);
    assert!(stage.account.proxy().journal().is_empty(), "nothing is asked");
    Ok(())
}

#[test]
fn only_a_group_to_be_made_is_asked_about() -> Result<()> {
    let stage = Stage::with_pool(PLAIN)?;
    let offerings = "ec2.DescribeInstanceTypeOfferings";
    stage.settled()?;
    assert_eq!(stage.account.proxy().take_journal().count(offerings), 0);
    stage.workspace.configure(&stage.pool(&format!("{PLAIN}\n  labels = {{ a = \"b\" }}"))?)?;
    stage.workspace.plan()?.ok()?;
    assert_eq!(stage.account.proxy().take_journal().count(offerings), 0);
    stage.workspace.configure(&stage.pool(&PLAIN.replace("g5.xlarge", "g6.xlarge"))?)?;
    stage.workspace.plan()?.ok()?;
    // Terraform plans once with the prior state only; nothing is replaced.
    assert_eq!(stage.account.proxy().take_journal().count(offerings), 1);
    stage.destroy()
}

#[test]
fn a_role_without_policies_is_warned_of() -> Result<()> {
    let stage = Stage::with_cluster()?;
    let trust = r#"{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}"#;
    let wanted = [("RoleName", "bare"), ("AssumeRolePolicyDocument", trust)];
    stage.account.aws().query("iam", "CreateRole", &wanted)?;
    let role = format!("arn:aws:iam::{}:role/bare", stage.account.id());
    stage.workspace.configure(&stage.pool(&format!("{PLAIN}\n  node_role_arn = \"{role}\""))?)?;
    let plan = stage.workspace.plan()?.ok()?;
    assert!(plan.says("may not let nodes join"), "{}", plan.stdout);
    Ok(())
}

#[test]
fn report_18_a_quota_that_holds_no_node_fails_the_plan() -> Result<()> {
    let stage = Stage::with_cluster()?;
    let size = "  instance_types = [\"g6e.12xlarge\"]\n  size = {\n    min = 0\n    max = 4\n  }";
    stage.workspace.configure(&stage.pool(size)?)?;
    stage.account.set_quotas(&BTreeMap::from([("L-DB2E81BA", 0.0)]))?;
    assert_snapshot!("pool_without_quota", errors(&stage.workspace.plan()?.failed()?));
    stage.account.set_quotas(&BTreeMap::from([("L-DB2E81BA", 100.0)]))?;
    assert_snapshot!("pool_of_little_quota", errors(&stage.workspace.plan()?.ok()?));
    stage.account.set_quotas(&BTreeMap::from([("L-DB2E81BA", 192.0)]))?;
    let quiet = stage.workspace.plan()?.ok()?;
    assert!(!shown(&quiet).contains("quota"), "{}", quiet.stdout);
    // Who may not ask is told nothing.
    let denied = Rule::on("service-quotas.GetServiceQuota").access_denied();
    stage.account.proxy().add_rule(denied);
    stage.account.set_quotas(&BTreeMap::from([("L-DB2E81BA", 0.0)]))?;
    stage.workspace.plan()?.ok()?;
    Ok(())
}
