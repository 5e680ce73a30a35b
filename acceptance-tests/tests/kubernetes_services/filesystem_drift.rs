//! What somebody changes of a shared file system with volumes behind terraform's back: shown by name, repaired alone.

use crate::{
    filesystem::{CODE, FILES, WEIGHTS, all_writes, destroyed, efs, text, volume, with_volumes, without_ids},
    support::{LIMIT, Stage, scene},
};
use acceptance_tests::printed::changed_lines;
use anyhow::{Context, Result};
use insta::assert_snapshot;
use serde_json::{Value, json};

/// What somebody does.
type Deed = fn(&Stage, &Ids) -> Result<()>;

/// The ids that differ from run to run.
struct Ids {
    files: String,
    group: String,
    point: String,
    target: String,
}

impl Ids {
    fn of(stage: &Stage) -> Result<Self> {
        let attributes = stage.workspace.attributes(FILES)?;
        let targets = attributes["mount_targets"].as_object().context("no mount targets")?;
        let (_, target) = targets.iter().next().context("no zone")?;
        Ok(Self {
            files: text(&attributes, "/file_system_id")?,
            group: text(&attributes, "/security_group_id")?,
            point: text(&attributes["access_points"], &format!("/{}~1weights", stage.namespace))?,
            target: text(target, "/id")?,
        })
    }
}

const DRIFTS: [(&str, Deed); 14] = [
    ("volume: label", |stage, _| {
        let patch = json!({"metadata": {"labels": {"workload-type": null}}});
        stage.client().patch("somebody", &volume(stage, "weights")?, &patch).map(drop)
    }),
    ("volume: reclaim policy", |stage, _| {
        let patch = json!({"spec": {"persistentVolumeReclaimPolicy": "Delete"}});
        stage.client().patch("somebody", &volume(stage, "weights")?, &patch).map(drop)
    }),
    ("volume: size", |stage, _| {
        let patch = json!({"spec": {"capacity": {"storage": "7Gi"}}});
        stage.client().patch("somebody", &volume(stage, "weights")?, &patch).map(drop)
    }),
    ("claim: label", |stage, _| {
        let patch = json!({"metadata": {"labels": {"app.kubernetes.io/managed-by": "somebody"}}});
        stage.client().patch("somebody", &claim(stage)?, &patch).map(drop)
    }),
    ("claim: deleted", |stage, _| gone(stage, &claim(stage)?)),
    ("volume and claim: deleted", |stage, _| {
        gone(stage, &claim(stage)?)?;
        gone(stage, &volume(stage, "weights")?)
    }),
    ("access point: tags", |stage, ids| {
        let tags = json!({"Tags": [{"Key": "Name", "Value": "other"}]});
        efs(stage, "POST", &format!("/resource-tags/{}", ids.point), &tags).map(drop)
    }),
    ("access point: deleted", |stage, ids| {
        efs(stage, "DELETE", &format!("/access-points/{}", ids.point), &Value::Null).map(drop)
    }),
    ("mount target: security groups", |stage, ids| {
        let groups = json!({"SecurityGroups": [stage.network.security_group_id]});
        efs(stage, "PUT", &format!("/mount-targets/{}/security-groups", ids.target), &groups).map(drop)
    }),
    ("mount target: deleted", |stage, ids| {
        efs(stage, "DELETE", &format!("/mount-targets/{}", ids.target), &Value::Null).map(drop)
    }),
    ("security group: rule revoked", |stage, ids| {
        let rule = [
            ("GroupId", ids.group.as_str()),
            ("IpPermissions.1.IpProtocol", "tcp"),
            ("IpPermissions.1.FromPort", "2049"),
            ("IpPermissions.1.ToPort", "2049"),
            ("IpPermissions.1.Groups.1.GroupId", &stage.network.security_group_id),
        ];
        stage.account.aws().query("ec2", "RevokeSecurityGroupIngress", &rule).map(drop)
    }),
    ("backup: switched on", |stage, ids| {
        let policy = json!({"BackupPolicy": {"Status": "ENABLED"}});
        efs(stage, "PUT", &format!("/file-systems/{}/backup-policy", ids.files), &policy).map(drop)
    }),
    ("policy: everybody may", |stage, ids| {
        let all = json!({"Version": "2012-10-17", "Statement": [
            {"Effect": "Allow", "Principal": "*", "Action": "*", "Resource": "*"},
        ]});
        let policy = json!({"Policy": all.to_string()});
        efs(stage, "PUT", &format!("/file-systems/{}/policy", ids.files), &policy).map(drop)
    }),
    ("lifecycle: rule added", |stage, ids| {
        let rules = json!({"LifecyclePolicies": [{"TransitionToIA": "AFTER_7_DAYS"}]});
        efs(stage, "PUT", &format!("/file-systems/{}/lifecycle-configuration", ids.files), &rules).map(drop)
    }),
];

#[test]
fn drift_of_each_part_of_a_file_system_is_named_and_repaired_alone() -> Result<()> {
    scene("files-drift", |stage| {
        let stage = with_volumes(stage, &[CODE, WEIGHTS])?;
        let mut table = Vec::new();
        for (name, deed) in DRIFTS {
            table.push(drifted(&stage, name, deed).with_context(|| name.to_owned())?);
        }
        assert_snapshot!("filesystem_drift", table.join("\n"));
        destroyed(&stage)
    })
}

/// What the plan says of a drift, and which calls repair it.
fn drifted(stage: &Stage, name: &str, deed: Deed) -> Result<String> {
    deed(stage, &Ids::of(stage)?)?;
    let plan = without_ids(&changed_lines(&stage.plan()?));
    all_writes(stage);
    stage.workspace.apply()?.ok()?;
    let writes = all_writes(stage);
    stage.settled()?;
    Ok(format!("=== {name}: {writes}\n{plan}"))
}

fn claim(stage: &Stage) -> Result<String> {
    stage.target("persistentvolumeclaims/weights")
}

fn gone(stage: &Stage, target: &str) -> Result<()> {
    stage.client().delete(target)?;
    stage.client().wait_gone(target, LIMIT)
}
