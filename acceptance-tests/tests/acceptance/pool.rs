//! The life of a GPU pool: create, change, taint, rolling replacement, destruction.

use crate::support::{POOL, POOL_NAME, Stage, changed_lines, errors};
use anyhow::Result;

const PLAIN: &str = "  instance_types = [\"g5.xlarge\"]\n  size = { min = 1, max = 4 }";

#[test]
fn a_pool_is_created_and_then_there_is_nothing_to_do() -> Result<()> {
    let stage = Stage::with_cluster()?;
    let attributes = "
  accelerator         = { product = \"A10G\", count = 1 }
  size                = { min = 1, max = 4, initial = 2 }
  labels              = { tier = \"gold\" }
  max_hourly_cost_usd = 10
  tags                = { stage = \"test\" }";
    stage.workspace.configure(&stage.pool(attributes)?)?;
    assert_snapshot!("pool_create", stage.plan()?);
    stage.workspace.apply()?.ok()?;
    stage.account.proxy().take_journal();
    assert_eq!(stage.workspace.plan()?.no_changes()?.status, 0);
    assert!(stage.writes().is_empty());

    let attributes = stage.workspace.attributes(POOL)?;
    assert_eq!((&attributes["status"], &attributes["live_size"]), (&"ACTIVE".into(), &2.into()));
    assert_eq!(attributes["cost"]["hourly_min_usd"], 1.006);
    assert_eq!(attributes["cost"]["hourly_max_usd"], 4.024);
    assert_eq!(attributes["gpu"]["total_max"], 4);
    assert_eq!(attributes["node_selector"]["mlplat.io/pool"], POOL_NAME);
    let group = stage.node_group()?;
    assert_eq!(group["ami_type"], "AL2023_x86_64_NVIDIA");
    assert_eq!(group["labels"]["tier"], "gold");
    stage.destroy()
}

#[test]
fn each_attribute_of_a_pool_can_be_changed_by_the_calls_it_needs() -> Result<()> {
    let stage = Stage::with_pool(PLAIN)?;
    let role = stage.cluster()?.node_role_arn.clone();
    let first = format!("subnet_ids = [{:?}]", stage.cluster()?.subnet_ids[0]);
    let types = "instance_types = [\"g5.xlarge\"]";
    let size = "size = { min = 1, max = 4 }";
    let changes = [
        ("size.max", format!("{types}\nsize = {{ min = 1, max = 6 }}")),
        ("size.min", format!("{types}\nsize = {{ min = 2, max = 4 }}")),
        ("size.initial", format!("{types}\nsize = {{ min = 1, max = 4, initial = 3 }}")),
        ("purpose", format!("{types}\n{size}\npurpose = \"training\"")),
        ("labels", format!("{types}\n{size}\nlabels = {{ tier = \"gold\" }}")),
        ("taints", format!("{types}\n{size}\ntaints = []")),
        ("tags", format!("{types}\n{size}\ntags = {{ team = \"search\" }}")),
        ("disk", format!("{types}\n{size}\ndisk = {{ size_gib = 300 }}")),
        ("image.release", format!("{types}\n{size}\nimage = {{ release = \"1.36.0-20260901\" }}")),
        ("node_repair", format!("{types}\n{size}\nnode_repair = false")),
        ("scaler", format!("{types}\n{size}\nscaler = \"none\"")),
        ("max_hourly_cost_usd", format!("{types}\n{size}\nmax_hourly_cost_usd = 50")),
        ("capacity.type", format!("{types}\n{size}\ncapacity = {{ type = \"spot\" }}")),
        ("instance_types", format!("instance_types = [\"g5.xlarge\", \"g5.2xlarge\"]\n{size}")),
        ("image.family", format!("{types}\n{size}\nimage = {{ family = \"bottlerocket\" }}")),
        ("node_role_arn", format!("{types}\n{size}\nnode_role_arn = \"{role}\"")),
        ("subnet_ids", format!("{types}\n{size}\n{first}")),
    ];
    let mut table = Vec::new();
    for (name, attributes) in changes {
        let configuration =
            if name == "subnet_ids" { crate::support::pool(&attributes) } else { stage.pool(&attributes)? };
        stage.workspace.configure(&configuration)?;
        let plan = stage.plan()?;
        let forth = stage.apply_and_tell_writes()?;
        stage.workspace.configure(&stage.pool(PLAIN)?)?;
        let back = stage.apply_and_tell_writes()?;
        table.push(format!("=== {name}: {} / back: {}\n{}", forth.join(" "), back.join(" "), changed_lines(&plan)));
    }
    assert_snapshot!("pool_changes", table.join("\n"));
    stage.destroy()
}

#[test]
fn a_tainted_pool_is_replaced_and_an_untainted_one_is_not() -> Result<()> {
    let stage = Stage::with_pool(PLAIN)?;
    stage.workspace.taint(POOL)?.ok()?;
    assert_snapshot!("pool_tainted", stage.plan()?);
    stage.workspace.untaint(POOL)?.ok()?;
    stage.settled()?;
    stage.workspace.taint(POOL)?.ok()?;
    let writes = stage.apply_and_tell_writes()?;
    for deed in ["eks.DeleteNodegroup", "iam.DeleteRole", "ec2.DeleteLaunchTemplate", "eks.CreateNodegroup"] {
        assert!(writes.iter().any(|write| write == deed), "{deed} is not among {writes:?}");
    }
    stage.workspace.taint(POOL)?.ok()?;
    stage.destroy()
}

/// Reports 5 and 6: no second group of the first one's name, the plan tells of the nodes.
#[test]
fn another_instance_type_or_image_rolls_the_pool_without_a_clash_of_names() -> Result<()> {
    let stage = Stage::with_pool(PLAIN)?;
    let rolls = [
        ("types", PLAIN.replace("[\"g5.xlarge\"]", "[\"g5.xlarge\", \"g5.2xlarge\"]")),
        ("image", format!("{PLAIN}\n  image = {{ family = \"bottlerocket\" }}")),
        ("back", PLAIN.to_owned()),
    ];
    for (what, attributes) in rolls {
        stage.workspace.configure(&stage.pool(&attributes)?)?;
        assert_snapshot!(format!("pool_roll_{what}"), stage.plan()?);
        stage.account.proxy().take_journal();
        stage.workspace.apply()?.ok()?;
        let journal = stage.account.proxy().take_journal();
        let calls = journal.named("eks.*");
        assert!(calls.iter().all(|call| call.status != Some(409)), "{journal}");
        let order = calls.iter().filter(|call| call.write).map(|call| call.name.as_str()).collect::<Vec<_>>();
        assert_eq!(order, ["eks.CreateNodegroup", "eks.DeleteNodegroup"], "{journal}");
        let groups = stage.account.inventory()?.keys().filter(|key| key.starts_with("eks:nodegroup/")).count();
        assert_eq!(groups, 1);
        stage.settled()?;
    }
    stage.destroy()
}

#[test]
fn another_name_makes_another_pool() -> Result<()> {
    let stage = Stage::with_pool(PLAIN)?;
    stage.workspace.configure(&stage.pool(PLAIN)?.replace(POOL_NAME, "gpu-two"))?;
    assert_snapshot!("pool_replacement", stage.plan()?);
    stage.apply()?;
    stage.object("eks:nodegroup/ml-prod/gpu-two")?;
    assert!(stage.node_group().is_err());
    stage.destroy()
}

#[test]
fn what_a_stranger_has_under_the_pools_names_is_not_touched() -> Result<()> {
    let mut stage = Stage::with_cluster()?;
    let (name, aws) = ("mlplat-ml-prod-gpu-inference", stage.account.aws());
    aws.query("iam", "CreateRole", &[("RoleName", name), ("AssumeRolePolicyDocument", "{}")])?;
    let group = serde_json::json!({
        "nodegroupName": POOL_NAME, "subnets": stage.cluster()?.subnet_ids, "nodeRole": stage.cluster()?.node_role_arn,
    });
    aws.rest("eks", "POST", "/clusters/ml-prod/node-groups", &group)?;
    for _ in 0..2 {
        aws.rest("eks", "GET", &format!("/clusters/ml-prod/node-groups/{POOL_NAME}"), &serde_json::Value::Null)?;
    }
    stage.account.set_baseline()?;
    stage.workspace.configure(&stage.pool(PLAIN)?)?;
    let refused = stage.workspace.apply()?.failed()?;
    assert_snapshot!("pool_of_a_stranger", errors(&refused));
    let writes = stage.writes();
    assert!(writes.iter().all(|write| write == "ec2.CreateLaunchTemplate"), "{writes:?}");
    stage.destroy()
}
