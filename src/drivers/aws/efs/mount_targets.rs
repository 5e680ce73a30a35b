//! The mount targets of a file system, one in each zone.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use aws_sdk_efs::{
    Client,
    types::{LifeCycleState, MountTargetDescription},
};
use converge::{
    Changes, Creation, Cx, Driver, Fault, FaultClass, Finding, Observed, Ownership, Readiness, Severity, Step,
};
use futures::future::try_join_all;

use super::{
    words,
    zones::{Target, moves, served},
};
use crate::{
    components::aws::{MountTarget, MountTargets, MountTargetsOutputs},
    drivers::aws::{
        Aws,
        fault::{Absence, call},
        subnets::{SubnetFacts, all_subnets, networks, subnets},
    },
};

pub(in crate::drivers::aws) struct MountTargetsDriver(pub(in crate::drivers::aws) Arc<Aws>);

impl Driver<MountTargets> for MountTargetsDriver {
    // Those on network interfaces are EFS's own, in the name of whoever asks it for a mount target.
    const ACTIONS: &'static [&'static str] = &[
        "ec2:CreateNetworkInterface",
        "ec2:DeleteNetworkInterface",
        "ec2:DescribeNetworkInterfaces",
        "ec2:DescribeSubnets",
        "ec2:ModifyNetworkInterfaceAttribute",
        "elasticfilesystem:CreateMountTarget",
        "elasticfilesystem:DeleteMountTarget",
        "elasticfilesystem:DescribeMountTargetSecurityGroups",
        "elasticfilesystem:DescribeMountTargets",
        "elasticfilesystem:ModifyMountTargetSecurityGroups",
    ];

    async fn observe(&self, _cx: &Cx, spec: &MountTargets) -> Result<Option<Observed<MountTargets>>, Fault> {
        let client = self.0.efs().await?;
        let found = list(client, &spec.file_system_id).await.or_absent()?.unwrap_or_default();
        if found.is_empty() {
            return Ok(None);
        }
        let there: BTreeSet<&String> = found.iter().map(|target| &target.subnet_id).collect();
        let others = spec.subnet_ids.iter().filter(|id| !there.contains(id)).cloned().collect();
        let (zone_of, groups) = tokio::join!(self.subnets(&others), all_groups(client, &found));
        let targets: Vec<_> = found.iter().map(target).collect();
        let found_spec = MountTargets {
            file_system_id: spec.file_system_id.clone(),
            subnet_ids: served(&spec.subnet_ids, &zone_of?, &targets),
            security_group_ids: differing(&spec.security_group_ids, groups?),
        };
        let readiness = readiness(&found);
        Ok(Some(Observed { spec: found_spec, outputs: outputs(found), ownership: Ownership::Inherited, readiness }))
    }

    async fn create(&self, _cx: &Cx, spec: &MountTargets, _creation: &Creation<'_, MountTargets>) -> Result<(), Fault> {
        self.arrange(spec).await
    }

    async fn update(&self, _cx: &Cx, spec: &MountTargets, changes: &Changes<'_, MountTargets>) -> Result<(), Fault> {
        if changes.fields.contains("security_group_ids") {
            self.regroup(spec).await?;
        }
        if changes.fields.contains("subnet_ids") {
            self.arrange(spec).await?;
        }
        Ok(())
    }

    async fn delete(&self, _cx: &Cx, spec: &MountTargets, _found: &Observed<MountTargets>) -> Result<(), Fault> {
        let client = self.0.efs().await?;
        let found = list(client, &spec.file_system_id).await.or_absent()?.unwrap_or_default();
        for target in found.iter().map(target).filter(|target| !target.is_leaving) {
            remove(client, &target.id).await?;
        }
        Ok(())
    }

    async fn preflight(&self, _cx: &Cx, spec: &MountTargets, _step: &Step) -> Vec<Finding> {
        let Ok(found) = self.subnets(&spec.subnet_ids).await else { return Vec::new() };
        let mut findings: Vec<_> = spec.subnet_ids.iter().filter(|id| !found.contains_key(*id)).map(missing).collect();
        let mut networks: BTreeSet<String> = networks(&found).into_iter().map(str::to_owned).collect();
        networks.extend(self.network_in_use(spec).await);
        if networks.len() > 1 {
            findings.push(several(&networks));
        }
        findings
    }
}

impl MountTargetsDriver {
    async fn subnets(&self, ids: &BTreeSet<String>) -> Result<BTreeMap<String, SubnetFacts>, Fault> {
        if ids.is_empty() {
            return Ok(BTreeMap::new());
        }
        subnets(self.0.ec2().await?, ids).await
    }

    // What is there is read again: it may have changed since it was observed, and no zone may get a second one.
    async fn arrange(&self, spec: &MountTargets) -> Result<(), Fault> {
        let client = self.0.efs().await?;
        let wanted = all_subnets(self.0.ec2().await?, &spec.subnet_ids).await?;
        let targets: Vec<_> = list(client, &spec.file_system_id).await?.iter().map(target).collect();
        let moves = moves(&wanted, &targets);
        for subnet in &moves.create {
            create(client, spec, subnet).await?;
        }
        for id in &moves.delete {
            remove(client, id).await?;
        }
        if moves.blocked.is_empty() {
            return Ok(());
        }
        let message = format!("the mount target that was in {} is not gone yet", moves.blocked.join(", "));
        Err(Fault::new(FaultClass::Busy, words(&spec.file_system_id), message))
    }

    async fn regroup(&self, spec: &MountTargets) -> Result<(), Fault> {
        let client = self.0.efs().await?;
        let found = list(client, &spec.file_system_id).await?;
        for target in found.iter().map(target).filter(|target| !target.is_leaving) {
            if groups(client, &target.id).await?.as_ref() == Some(&spec.security_group_ids) {
                continue;
            }
            let request = client.modify_mount_target_security_groups().mount_target_id(&target.id);
            let wanted = spec.security_group_ids.iter().cloned().collect();
            let sent = request.set_security_groups(Some(wanted)).send();
            call("elasticfilesystem:ModifyMountTargetSecurityGroups", target_words(&target.id), sent).await?;
        }
        Ok(())
    }

    // EFS has mount targets of a file system in one network at a time.
    async fn network_in_use(&self, spec: &MountTargets) -> Option<String> {
        if spec.file_system_id.is_empty() {
            return None;
        }
        let found = list(self.0.efs().await.ok()?, &spec.file_system_id).await.ok()?;
        found.into_iter().find_map(|target| target.vpc_id)
    }
}

async fn list(client: &Client, id: &str) -> Result<Vec<MountTargetDescription>, Fault> {
    let (mut found, mut marker) = (Vec::new(), None);
    loop {
        let sent = client.describe_mount_targets().file_system_id(id).set_marker(marker).send();
        let page = call("elasticfilesystem:DescribeMountTargets", words(id), sent).await?;
        found.extend(page.mount_targets.unwrap_or_default());
        marker = page.next_marker.filter(|marker| !marker.is_empty());
        if marker.is_none() {
            found.retain(|target| target.life_cycle_state != LifeCycleState::Deleted);
            return Ok(found);
        }
    }
}

async fn create(client: &Client, spec: &MountTargets, subnet: &str) -> Result<(), Fault> {
    let request = client.create_mount_target().file_system_id(&spec.file_system_id).subnet_id(subnet);
    let sent = request.set_security_groups(Some(spec.security_group_ids.iter().cloned().collect())).send();
    let object = format!("mount target in subnet {subnet:?}");
    call("elasticfilesystem:CreateMountTarget", object, sent).await.map(drop)
}

async fn remove(client: &Client, id: &str) -> Result<(), Fault> {
    let sent = client.delete_mount_target().mount_target_id(id).send();
    call("elasticfilesystem:DeleteMountTarget", target_words(id), sent).await.or_absent().map(drop)
}

async fn all_groups(client: &Client, found: &[MountTargetDescription]) -> Result<Vec<BTreeSet<String>>, Fault> {
    let staying = found.iter().filter(|found| !target(found).is_leaving);
    let groups = try_join_all(staying.map(|target| groups(client, &target.mount_target_id))).await?;
    Ok(groups.into_iter().flatten().collect())
}

async fn groups(client: &Client, id: &str) -> Result<Option<BTreeSet<String>>, Fault> {
    let sent = client.describe_mount_target_security_groups().mount_target_id(id).send();
    let answer = call("elasticfilesystem:DescribeMountTargetSecurityGroups", target_words(id), sent).await;
    match answer.or_absent() {
        // One that is being made tells of none yet.
        Err(fault) if fault.class == FaultClass::Busy => Ok(None),
        answer => Ok(answer?.map(|answer| answer.security_groups.into_iter().collect())),
    }
}

fn differing(wanted: &BTreeSet<String>, found: Vec<BTreeSet<String>>) -> BTreeSet<String> {
    found.into_iter().find(|groups| groups != wanted).unwrap_or_else(|| wanted.clone())
}

fn target(found: &MountTargetDescription) -> Target {
    Target {
        id: found.mount_target_id.clone(),
        zone: found.availability_zone_name.clone().unwrap_or_default(),
        subnet_id: found.subnet_id.clone(),
        is_leaving: found.life_cycle_state == LifeCycleState::Deleting,
    }
}

fn readiness(found: &[MountTargetDescription]) -> Readiness {
    let all = |states: &[LifeCycleState]| -> Vec<String> {
        let here = found.iter().filter(|target| states.contains(&target.life_cycle_state));
        here.map(|found| format!("{} ({}) {}", found.mount_target_id, target(found).zone, found.life_cycle_state))
            .collect()
    };
    let broken = all(&[LifeCycleState::Error]);
    if !broken.is_empty() {
        return Readiness::broken(broken.join(", "));
    }
    let waiting = all(&[LifeCycleState::Creating, LifeCycleState::Updating, LifeCycleState::Deleting]);
    if waiting.is_empty() { Readiness::Ready } else { Readiness::Waiting(waiting.join(", ")) }
}

fn outputs(found: Vec<MountTargetDescription>) -> MountTargetsOutputs {
    let staying = found.into_iter().filter(|found| !target(found).is_leaving);
    let zones: BTreeMap<String, MountTarget> = staying
        .map(|found| {
            let ip = found.ip_address.unwrap_or_default();
            let target = MountTarget { id: found.mount_target_id, ip, subnet_id: found.subnet_id };
            (found.availability_zone_name.unwrap_or_default(), target)
        })
        .collect();
    let ids: BTreeSet<&str> = zones.values().map(|target| target.id.as_str()).collect();
    MountTargetsOutputs { id: ids.into_iter().collect::<Vec<_>>().join(","), zones }
}

fn missing(id: &String) -> Finding {
    Finding {
        severity: Severity::Error,
        at: "subnet_ids".into(),
        summary: format!("The subnet {id:?} is not there"),
        detail: "A mount target could not be made in it.\n\nGive a subnet of this account in the provider's region."
            .to_owned(),
    }
}

fn several(networks: &BTreeSet<String>) -> Finding {
    let names = networks.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    Finding {
        severity: Severity::Error,
        at: "subnet_ids".into(),
        summary: "The subnets are not in one network".to_owned(),
        detail: format!(
            "They, and the mount targets that are there, are in {names}. EFS has the mount targets of a file system in \
             one VPC.\n\nGive subnets of one VPC. To move to another, make a second file system and copy the files."
        ),
    }
}

fn target_words(id: &str) -> String {
    format!("mount target {id:?}")
}
