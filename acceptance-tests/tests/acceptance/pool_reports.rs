//! Reports of users of neighbouring tools, by their number in the project's list: each must not happen here.

use crate::support::{POOL, POOL_NAME, Stage, errors, shown};
use acceptance_tests::Failure;
use anyhow::{Context, Result};
use serde_json::{Value, json};

const PLAIN: &str = "  instance_types = [\"g5.xlarge\"]\n  size = { min = 1, max = 4 }";

#[test]
fn report_1_the_size_that_the_autoscaler_chose_is_no_difference() -> Result<()> {
    let stage = Stage::with_pool("  instance_types = [\"g5.xlarge\"]\n  size = { min = 3, max = 6, initial = 3 }")?;
    stage.account.resize_nodegroup("ml-prod", POOL_NAME, 6)?;
    stage.settled()?;
    stage.workspace.run(&["apply", "-refresh-only", "-auto-approve", "-no-color"])?.ok()?;
    assert_eq!(stage.workspace.attributes(POOL)?["live_size"], 6);
    // A change of something else leaves the nodes alone.
    let size = "  instance_types = [\"g5.xlarge\"]\n  size = { min = 3, max = 6, initial = 3 }\n";
    stage.workspace.configure(&stage.pool(&format!("{size}  labels = {{ a = \"b\" }}"))?)?;
    stage.apply()?;
    assert_eq!(stage.node_group()?["scaling_config"]["desiredSize"], 6);
    stage.destroy()
}

#[test]
fn report_2_a_minimum_above_the_live_size_carries_the_size_along() -> Result<()> {
    let stage = Stage::with_pool("  instance_types = [\"g5.xlarge\"]\n  size = { min = 1, max = 1 }")?;
    stage.workspace.configure(&stage.pool("  instance_types = [\"g5.xlarge\"]\n  size = { min = 2, max = 2 }")?)?;
    stage.account.proxy().take_journal();
    stage.workspace.apply()?.ok()?;
    let journal = stage.account.proxy().take_journal();
    let calls = journal.named("eks.UpdateNodegroupConfig");
    let body: Value = serde_json::from_str(&calls.first().context("no update")?.body)?;
    assert_eq!(body["scalingConfig"], json!({"minSize": 2, "maxSize": 2, "desiredSize": 2}));
    // A maximum below the live size brings it down, in the same call.
    stage.account.resize_nodegroup("ml-prod", POOL_NAME, 2)?;
    stage.workspace.configure(&stage.pool("  instance_types = [\"g5.xlarge\"]\n  size = { min = 0, max = 1 }")?)?;
    stage.apply()?;
    assert_eq!(stage.node_group()?["scaling_config"], json!({"minSize": 0, "maxSize": 1, "desiredSize": 1}));
    stage.destroy()
}

#[test]
fn report_4_a_node_group_that_failed_is_in_the_state_and_is_made_anew() -> Result<()> {
    let stage = Stage::with_cluster()?;
    let mut failure = Failure::creation("NodeCreationFailure", "Unhealthy nodes in the kubernetes cluster");
    failure.issues[0]["resourceIds"] = json!(["i-0123456789abcdef0"]);
    stage.account.fail_next_nodegroup(&failure)?;
    stage.workspace.configure(&stage.pool(PLAIN)?)?;
    let failed = stage.workspace.apply()?.failed()?;
    assert_snapshot!("pool_create_failed", errors(&failed));
    let attributes = stage.workspace.attributes(POOL)?;
    assert_eq!(attributes["id"], "ml-prod/gpu-inference");
    let state = attributes["components"]["node_group"]["state"].as_str().unwrap_or_default().to_owned();
    assert!(state.contains("NodeCreationFailure"), "{attributes:#}");
    // Terraform taints what failed to be created; untainted, the rest stays and only the group is made anew.
    stage.workspace.untaint(POOL)?.ok()?;
    assert_snapshot!("pool_after_create_failed", stage.plan()?);
    let writes = stage.apply_and_tell_writes()?;
    assert!(writes.iter().all(|write| write.starts_with("eks.") || write.starts_with("autoscaling.")), "{writes:?}");
    stage.destroy()
}

#[test]
fn report_4_a_failed_node_group_left_tainted_is_replaced() -> Result<()> {
    let stage = Stage::with_cluster()?;
    stage.account.fail_next_nodegroup(&Failure::creation("Ec2LaunchTemplateInvalidConfiguration", "bad template"))?;
    stage.workspace.configure(&stage.pool(PLAIN)?)?;
    stage.workspace.apply()?.failed()?;
    let writes = stage.apply_and_tell_writes()?;
    assert!(writes.contains(&"iam.DeleteRole".to_owned()), "{writes:?}");
    stage.destroy()
}

#[test]
fn report_7_8_and_9_disk_and_instance_types_are_said_in_one_place() -> Result<()> {
    let stage = Stage::with_cluster()?;
    stage.workspace.configure(&stage.pool(&format!("{PLAIN}\n  disk = {{ size_gib = 250 }}"))?)?;
    stage.workspace.apply()?.ok()?;
    let journal = stage.account.proxy().take_journal();
    let group = &journal.named("eks.CreateNodegroup").first().context("no creation")?.body.clone();
    let group: Value = serde_json::from_str(group)?;
    assert_eq!(group["diskSize"], Value::Null);
    assert_eq!(group["instanceTypes"], json!(["g5.xlarge"]));
    let template = &journal.named("ec2.CreateLaunchTemplate").first().context("no template")?.body.clone();
    assert!(template.contains("VolumeSize=250") && !template.contains("InstanceType="), "{template}");
    stage.destroy()
}

#[test]
fn reports_10_and_11_what_cannot_be_made_yet_is_refused_at_plan() -> Result<()> {
    let stage = Stage::with_cluster()?;
    let wrong = [
        ("block", "capacity = { type = \"capacity_block\", reservation_id = \"cr-0abc\" }"),
        ("reserved", "capacity = { type = \"reserved\" }"),
        ("placement", "placement = { strategy = \"cluster\" }"),
        ("efa", "efa = true"),
        ("karpenter", "scaler = \"karpenter\""),
        ("sizes", "size = { min = 5, max = 4 }"),
        ("cost", "max_hourly_cost_usd = 1"),
        (
            "taint twice",
            "taints = [{ key = \"a\", effect = \"NoSchedule\" }, { key = \"a\", value = \"b\", effect = \"NO_SCHEDULE\" }]",
        ),
    ];
    let mut table = Vec::new();
    for (name, line) in wrong {
        let plain = if name == "sizes" { "  instance_types = [\"g5.xlarge\"]" } else { PLAIN };
        stage.workspace.configure(&stage.pool(&format!("{plain}\n  {line}"))?)?;
        let refused = stage.workspace.plan()?.failed().with_context(|| name.to_owned())?;
        table.push(format!("=== {name}\n{}", errors(&refused)));
    }
    assert_snapshot!("pool_refused", table.join("\n\n"));
    assert!(stage.account.proxy().journal().writes().is_empty());
    Ok(())
}

#[test]
fn report_16_the_autoscaler_is_told_of_nodes_that_do_not_exist() -> Result<()> {
    let stage = Stage::with_pool(
        "  instance_types = [\"g5.xlarge\"]\n  size = { min = 0, max = 4 }\n  labels = { a = \"b\" }",
    )?;
    let inventory = stage.account.inventory()?;
    let group = inventory.iter().find(|(key, _)| key.starts_with("autoscaling:group/")).context("no scaling group")?.1;
    let tags = group["tags"].as_object().context("no tags")?;
    let template = "k8s.io/cluster-autoscaler/node-template";
    assert_eq!(tags[&format!("{template}/label/a")], "b");
    assert_eq!(tags[&format!("{template}/taint/nvidia.com/gpu")], "present:NoSchedule");
    assert_eq!(tags[&format!("{template}/resources/nvidia.com/gpu")], "1");
    stage.destroy()
}

#[test]
fn report_17_spot_with_one_type_is_warned_of() -> Result<()> {
    let stage = Stage::with_cluster()?;
    stage.workspace.configure(&stage.pool(&format!("{PLAIN}\n  capacity = {{ type = \"spot\" }}"))?)?;
    let plan = stage.workspace.plan()?.ok()?;
    let text = shown(&plan);
    assert_snapshot!("pool_spot_warning", text.split_once("Plan: ").map_or(text.clone(), |(_, rest)| rest.to_owned()));
    let mut failure = Failure::creation("InsufficientFreeAddresses", "no");
    failure.issues[0]["code"] = json!("AsgInstanceLaunchFailures");
    failure.issues[0]["message"] =
        json!("We currently do not have sufficient g5.xlarge capacity. InsufficientInstanceCapacity");
    stage.account.fail_next_nodegroup(&failure)?;
    let failed = stage.workspace.apply()?.failed()?;
    assert_snapshot!("pool_without_capacity", errors(&failed));
    stage.destroy()
}

#[test]
fn report_19_long_names_stay_within_the_limits() -> Result<()> {
    let mut stage = Stage::with_cluster()?;
    let cluster = "c".repeat(40);
    stage.cluster = Some(stage.account.seed_cluster_with(&json!({"name": cluster}))?);
    let pool = stage.pool(PLAIN)?.replace("ml-prod", &cluster).replace(POOL_NAME, &"p".repeat(40));
    let stage = stage.applied(&pool)?;
    let role = stage.account.leftovers()?.keys().find_map(|key| key.strip_prefix("iam:role/").map(str::to_owned));
    assert!(role.as_ref().is_some_and(|name| name.len() <= 64), "{role:?}");
    stage.destroy()
}

#[test]
fn reports_20_and_41_the_order_of_taints_and_empty_values_are_no_difference() -> Result<()> {
    let taints =
        "taints = [{ key = \"b\", effect = \"NoSchedule\" }, { key = \"a\", value = \"x\", effect = \"NO_EXECUTE\" }]";
    let stage = Stage::with_pool(&format!("{PLAIN}\n  {taints}"))?;
    let other = "taints = [{ key = \"a\", value = \"x\", effect = \"NoExecute\" }, { key = \"b\", value = \"\", effect = \"NO_SCHEDULE\" }]";
    stage.workspace.configure(&stage.pool(&format!("{PLAIN}\n  {other}\n  labels = {{}}\n  tags = {{}}"))?)?;
    stage.settled()?;
    stage.destroy()
}
