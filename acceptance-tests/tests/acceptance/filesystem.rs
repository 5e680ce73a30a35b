//! The life of a shared file system without volumes in Kubernetes: create, change, drift, import, destruction.

use acceptance_tests::{Account, Rule};
use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::support::{Stage, changed_lines, errors};

const FILES: &str = "mlplat_shared_filesystem.shared";
const FULL: &str = "
  throughput                  = { mode = \"provisioned\", mibps = 128 }
  transition_to_ia_after_days = 30
  backup                      = true
  allow_destroy_with_data     = true
  tags                        = { stage = \"test\" }";

fn configuration(stage: &Stage, subnets: &[String], attributes: &str) -> Result<String> {
    let clients = &stage.cluster()?.security_group_id;
    Ok(format!(
        "resource \"mlplat_shared_filesystem\" \"shared\" {{\n  name = \"ml-shared\"\n  subnet_ids = {subnets:?}\n  \
         client_security_group_ids = [\"{clients}\"]\n{attributes}\n}}\n"
    ))
}

fn applied(attributes: &str) -> Result<Stage> {
    let stage = Stage::with_cluster()?;
    let configuration = configuration(&stage, &stage.cluster()?.subnet_ids, attributes)?;
    stage.applied(&configuration)
}

// One call of EFS's own, past the proxy.
fn efs(account: &Account, method: &str, target: &str, body: &Value) -> Result<Value> {
    account.aws().rest("elasticfilesystem", method, &format!("/2015-02-01{target}"), body)
}

fn id(stage: &Stage) -> Result<String> {
    text(&stage.workspace.attributes(FILES)?, "file_system_id")
}

fn text(value: &Value, field: &str) -> Result<String> {
    Ok(value[field].as_str().with_context(|| format!("no {field} in {value}"))?.to_owned())
}

#[test]
fn a_file_system_is_created_and_then_there_is_nothing_to_do() -> Result<()> {
    let stage = applied(FULL)?;
    stage.settled()?;
    let journal = stage.account.proxy().take_journal();
    assert!(journal.writes().is_empty(), "{journal}");
    let attributes = stage.workspace.attributes(FILES)?;
    let zones = attributes["mount_targets"].as_object().map(|zones| zones.keys().cloned().collect::<Vec<_>>());
    assert_eq!(zones.as_ref(), Some(&stage.cluster()?.zones));
    assert!(text(&attributes, "dns_name")?.starts_with(&id(&stage)?));
    assert_eq!(stage.object("efs:file-system/ml-shared")?["tags"]["Name"], "ml-shared");
    stage.destroy()
}

#[test]
fn zones_come_and_go_with_their_subnets() -> Result<()> {
    let stage = applied("")?;
    let all = stage.cluster()?.subnet_ids.clone();
    stage.workspace.configure(&configuration(&stage, &all[..1], "")?)?;
    assert_eq!(stage.apply_and_tell_writes()?, vec!["efs.DeleteMountTarget"; all.len() - 1]);
    stage.workspace.configure(&configuration(&stage, &all, "")?)?;
    assert_eq!(stage.apply_and_tell_writes()?, vec!["efs.CreateMountTarget"; all.len() - 1]);
    stage.destroy()
}

// hashicorp/terraform-provider-aws#2525: a second mount target in a zone is an error.
#[test]
fn subnets_of_one_zone_share_a_mount_target_and_it_moves_only_when_its_subnet_is_taken_away() -> Result<()> {
    let mut stage = Stage::with_cluster()?;
    let cluster = stage.cluster()?;
    let (first, zone) = (cluster.subnet_ids[0].clone(), cluster.zones[0].clone());
    let subnet = [("VpcId", cluster.vpc_id.as_str()), ("CidrBlock", "10.42.200.0/24"), ("AvailabilityZone", &zone)];
    let made = stage.account.aws().query("ec2", "CreateSubnet", &subnet)?.ok()?.body;
    let second = made.split("<subnetId>").nth(1).and_then(|rest| rest.split('<').next()).context("no subnet")?;
    let (second, both) = (second.to_owned(), [first.clone(), second.to_owned()]);
    stage.account.set_baseline()?;
    let alone = configuration(&stage, &[first], "")?;
    let stage = stage.applied(&alone)?;
    stage.workspace.configure(&configuration(&stage, &both, "")?)?;
    assert_eq!(stage.apply_and_tell_writes()?, Vec::<String>::new());
    // The old one has to be gone before another can be in its zone.
    stage.workspace.configure(&configuration(&stage, std::slice::from_ref(&second), "")?)?;
    assert_eq!(stage.apply_and_tell_writes()?, ["efs.CreateMountTarget", "efs.DeleteMountTarget"]);
    let targets = &stage.workspace.attributes(FILES)?["mount_targets"];
    assert_eq!(targets[&zone]["subnet_id"], second);
    stage.destroy()
}

#[test]
fn each_attribute_of_a_file_system_can_be_changed_by_the_calls_it_needs() -> Result<()> {
    let stage = applied("")?;
    let subnets = stage.cluster()?.subnet_ids.clone();
    let mut table = Vec::new();
    for attributes in FULL.trim().lines() {
        stage.workspace.configure(&configuration(&stage, &subnets, attributes)?)?;
        let plan = stage.plan()?;
        let forth = stage.apply_and_tell_writes()?;
        stage.workspace.configure(&configuration(&stage, &subnets, "")?)?;
        let back = stage.apply_and_tell_writes()?;
        let name = attributes.split_whitespace().next().unwrap_or_default();
        table.push(format!("=== {name}: {} / back: {}\n{}", forth.join(" "), back.join(" "), changed_lines(&plan)));
    }
    assert_snapshot!("filesystem_changes", table.join("\n"));
    stage.destroy()
}

#[test]
fn a_part_of_a_file_system_that_somebody_changed_is_named_and_repaired_alone() -> Result<()> {
    let stage = applied(FULL)?;
    let (files, account) = (id(&stage)?, &stage.account);
    let attributes = stage.workspace.attributes(FILES)?;
    let group = text(&attributes, "security_group_id")?;
    let mut table = Vec::new();
    let mut repair = |part: &str| -> Result<()> {
        let plan = stage.plan()?.replace(&files, "fs-1").replace(&group, "sg-1");
        let writes = stage.apply_and_tell_writes()?;
        table.push(format!("=== {part}: {}\n{}", writes.join(" "), changed_lines(&plan)));
        Ok(())
    };
    let target = format!("/file-systems/{files}");
    efs(account, "PUT", &target, &json!({ "ThroughputMode": "bursting" }))?;
    repair("throughput")?;
    efs(account, "PUT", &format!("{target}/lifecycle-configuration"), &json!({ "LifecyclePolicies": [] }))?;
    repair("lifecycle")?;
    efs(account, "PUT", &format!("{target}/backup-policy"), &json!({ "BackupPolicy": { "Status": "DISABLED" } }))?;
    repair("backup")?;
    efs(account, "DELETE", &format!("{target}/policy"), &Value::Null)?;
    repair("policy, deleted")?;
    let open = [("GroupId", group.as_str()), ("IpProtocol", "-1"), ("CidrIp", "0.0.0.0/0")];
    account.aws().query("ec2", "AuthorizeSecurityGroupIngress", &open)?;
    repair("security group, open to everybody")?;
    let (_, first) = attributes["mount_targets"].as_object().and_then(|zones| zones.iter().next()).context("a zone")?;
    efs(account, "DELETE", &format!("/mount-targets/{}", text(first, "id")?), &Value::Null)?;
    repair("a mount target, deleted")?;
    assert_snapshot!(
        "filesystem_drift",
        table.join("\n").replace(&stage.cluster()?.subnet_ids.join("\",\""), "subnets")
    );
    stage.destroy()
}

#[test]
fn a_file_system_that_holds_data_is_not_destroyed_and_nothing_of_it_is_touched() -> Result<()> {
    let stage = applied("")?;
    let full = Rule::on("efs.DescribeFileSystems").patch_json("FileSystems.0.SizeInBytes.Value", 894_u64 << 30);
    stage.account.proxy().add_rule(full);
    let refused = stage.workspace.destroy()?.failed()?;
    assert_snapshot!("filesystem_with_data", errors(&refused).replace(&id(&stage)?, "fs-1"));
    assert_eq!(stage.writes(), Vec::<String>::new());
    let subnets = stage.cluster()?.subnet_ids.clone();
    stage.workspace.configure(&configuration(&stage, &subnets, "  allow_destroy_with_data = true")?)?;
    stage.apply()?;
    stage.destroy()
}

#[test]
fn a_file_system_is_imported_by_its_name_or_id() -> Result<()> {
    for attributes in ["", FULL] {
        let stage = applied(attributes)?;
        for id in ["ml-shared".to_owned(), id(&stage)?] {
            stage.workspace.run(&["state", "rm", FILES])?.ok()?;
            stage.workspace.import(FILES, &id)?.ok()?;
            assert_eq!(stage.writes(), Vec::<String>::new());
            stage.settled()?;
        }
        stage.destroy()?;
    }
    Ok(())
}
