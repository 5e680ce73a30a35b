//! What somebody changes of a pool behind terraform's back: shown by name, repaired alone.

use crate::support::{POOL_NAME, Stage, changed_lines};
use acceptance_tests::Account;
use anyhow::{Context, Result};
use serde_json::{Value, json};

const ATTRIBUTES: &str = "  instance_types = [\"g5.xlarge\"]
  size = { min = 1, max = 4 }
  labels = { tier = \"gold\" }
  tags = { stage = \"test\" }";
const ROLE: &str = "mlplat-ml-prod-gpu-inference";

type Drift = fn(&Account) -> Result<()>;

const DRIFTS: &[(&str, Drift)] = &[
    ("node_role: policy detached", |account| {
        let arn = "arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy";
        account.aws().query("iam", "DetachRolePolicy", &[("RoleName", ROLE), ("PolicyArn", arn)]).map(drop)
    }),
    ("node_role: policy attached", |account| {
        let arn = "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy";
        account.aws().query("iam", "AttachRolePolicy", &[("RoleName", ROLE), ("PolicyArn", arn)]).map(drop)
    }),
    ("node_role: trust policy", |account| {
        let document = r#"{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"lambda.amazonaws.com"},"Action":"sts:AssumeRole"}]}"#;
        let parameters = [("RoleName", ROLE), ("PolicyDocument", document)];
        account.aws().query("iam", "UpdateAssumeRolePolicy", &parameters).map(drop)
    }),
    ("node_role: tag removed", |account| {
        account.aws().query("iam", "UntagRole", &[("RoleName", ROLE), ("TagKeys.member.1", "stage")]).map(drop)
    }),
    ("launch_template: tag removed", |account| {
        let id = template_id(account)?;
        let parameters = [("ResourceId.1", id.as_str()), ("Tag.1.Key", "stage")];
        account.aws().query("ec2", "DeleteTags", &parameters).map(drop)
    }),
    ("node_group: sizes", |account| {
        configure(account, &json!({"scalingConfig": {"minSize": 0, "maxSize": 9, "desiredSize": 1}}))
    }),
    ("node_group: label removed", |account| configure(account, &json!({"labels": {"removeLabels": ["tier"]}}))),
    ("node_group: label changed", |account| {
        configure(account, &json!({"labels": {"addOrUpdateLabels": {"tier": "lead"}}}))
    }),
    ("node_group: taint removed", |account| {
        let taint = json!({"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"});
        configure(account, &json!({"taints": {"removeTaints": [taint]}}))
    }),
    ("node_group: taint added", |account| {
        let taint = json!({"key": "theirs", "value": "x", "effect": "NO_EXECUTE"});
        configure(account, &json!({"taints": {"addOrUpdateTaints": [taint]}}))
    }),
    ("node_group: node repair", |account| configure(account, &json!({"nodeRepairConfig": {"enabled": false}}))),
    ("autoscaling_tags: tag removed", |account| {
        let (group, _) = scaling_group(account)?;
        let key = "k8s.io/cluster-autoscaler/node-template/resources/nvidia.com/gpu";
        let parameters = [
            ("Tags.member.1.Key", key),
            ("Tags.member.1.ResourceId", group.as_str()),
            ("Tags.member.1.ResourceType", "auto-scaling-group"),
        ];
        account.aws().query("autoscaling", "DeleteTags", &parameters).map(drop)
    }),
    ("node_group: deleted", |account| {
        let target = format!("/clusters/ml-prod/node-groups/{POOL_NAME}");
        account.aws().rest("eks", "DELETE", &target, &Value::Null)?;
        // It takes two looks to go.
        for _ in 0..2 {
            let _ = account.aws().rest("eks", "GET", &target, &Value::Null);
        }
        Ok(())
    }),
];

#[test]
fn a_part_of_a_pool_that_somebody_changed_is_named_and_repaired_alone() -> Result<()> {
    let stage = Stage::with_pool(ATTRIBUTES)?;
    let mut table = Vec::new();
    for (part, drift) in DRIFTS {
        drift(&stage.account).with_context(|| format!("making the drift {part}"))?;
        let plan = stage.plan().with_context(|| format!("after {part}"))?;
        let writes = stage.apply_and_tell_writes().with_context(|| format!("after {part}"))?;
        table.push(format!("=== {part}: {}\n{}", writes.join(" "), changed_lines(&plan)));
    }
    assert_snapshot!("pool_drift", table.join("\n"));
    stage.destroy()
}

#[test]
fn a_launch_template_that_somebody_gave_a_new_default_or_deleted_is_found_out() -> Result<()> {
    let stage = Stage::with_pool(ATTRIBUTES)?;
    let id = template_id(&stage.account)?;
    let parameters = [
        ("LaunchTemplateId", id.as_str()),
        ("SourceVersion", "1"),
        ("LaunchTemplateData.MetadataOptions.HttpTokens", "optional"),
    ];
    stage.account.aws().query("ec2", "CreateLaunchTemplateVersion", &parameters)?;
    // A version that nobody uses harms nobody.
    let plan = stage.workspace.plan()?.ok()?;
    assert_snapshot!("pool_template_new_version", crate::support::shown(&plan));
    stage.account.aws().query("ec2", "DeleteLaunchTemplate", &[("LaunchTemplateId", &id)])?;
    assert_snapshot!("pool_template_deleted", stage.plan()?);
    stage.apply()?;
    stage.destroy()
}

#[test]
fn a_pool_without_its_role_is_told_of() -> Result<()> {
    let stage = Stage::with_pool(ATTRIBUTES)?;
    let aws = stage.account.aws();
    for policy in [
        "AmazonEC2ContainerRegistryPullOnly",
        "AmazonEKSWorkerNodePolicy",
        "AmazonEKS_CNI_Policy",
        "AmazonSSMManagedInstanceCore",
    ] {
        let arn = format!("arn:aws:iam::aws:policy/{policy}");
        aws.query("iam", "DetachRolePolicy", &[("RoleName", ROLE), ("PolicyArn", &arn)])?;
    }
    aws.query("iam", "DeleteRole", &[("RoleName", ROLE)])?;
    assert_snapshot!("pool_role_deleted", stage.plan()?);
    let writes = stage.apply_and_tell_writes()?;
    assert!(writes.iter().all(|write| write.starts_with("iam.")), "{writes:?}");
    stage.destroy()
}

#[test]
fn a_degraded_pool_is_told_of_with_its_health_issues() -> Result<()> {
    let stage = Stage::with_pool(ATTRIBUTES)?;
    let issue = json!({"code": "NodeTerminationFailure", "message": "a node does not end", "resourceIds": ["i-0123456789abcdef0"]});
    stage.account.degrade_nodegroup("ml-prod", POOL_NAME, &[issue])?;
    let plan = stage.workspace.plan()?.ok()?;
    assert_snapshot!("pool_degraded", crate::support::shown(&plan));
    let degraded = stage.workspace.apply()?;
    assert_snapshot!("pool_degraded_apply", crate::support::errors(&degraded));
    stage.destroy()
}

fn template_id(account: &Account) -> Result<String> {
    let found = account.aws().query("ec2", "DescribeLaunchTemplates", &[("LaunchTemplateName.1", ROLE)])?;
    Ok(found.element("launchTemplateId").context("no launch template")?.to_owned())
}

fn scaling_group(account: &Account) -> Result<(String, Value)> {
    let found = account.inventory()?;
    let group =
        found.iter().find_map(|(key, value)| Some((key.strip_prefix("autoscaling:group/")?.to_owned(), value.clone())));
    group.context("no scaling group")
}

fn configure(account: &Account, change: &Value) -> Result<()> {
    let target = format!("/clusters/ml-prod/node-groups/{POOL_NAME}/update-config");
    account.aws().rest("eks", "POST", &target, change)?;
    // Settled before terraform looks.
    for _ in 0..2 {
        account.aws().rest("eks", "GET", &format!("/clusters/ml-prod/node-groups/{POOL_NAME}"), &Value::Null)?;
    }
    Ok(())
}
