//! EKS managed node groups.
//!
//! The number of nodes is an autoscaler's. It is written at creation, and where a changed range leaves it outside.

mod findings;
mod found;
mod preflight;
mod room;
mod wanted;

use std::sync::Arc;

use aws_sdk_eks::Client;
use converge::{Changes, Creation, Cx, Driver, Fault, Finding, Observed, Step};

use crate::{
    components::aws::NodeGroup,
    drivers::aws::{
        Aws,
        fault::{Absence, call},
        quotas::Quotas,
        tags::{TagChange, marked},
    },
};

pub(super) struct NodeGroupDriver {
    aws: Arc<Aws>,
    quotas: Quotas,
}

/// Fields that UpdateNodegroupVersion changes.
const OF_VERSION: [&str; 2] = ["launch_template_version", "release_version"];
/// Fields that UpdateNodegroupConfig changes.
const OF_CONFIG: [&str; 5] = ["labels", "max", "min", "node_repair", "taints"];

// === impl NodeGroupDriver ===

impl NodeGroupDriver {
    pub(super) fn new(aws: Arc<Aws>) -> Self {
        Self { quotas: Quotas::new(Arc::clone(&aws)), aws }
    }
}

impl Driver<NodeGroup> for NodeGroupDriver {
    // Those of EC2 and IAM are what EKS does in the caller's name.
    const ACTIONS: &'static [&'static str] = &[
        "ec2:CreateTags",
        "ec2:DescribeInstanceTypeOfferings",
        "ec2:DescribeSubnets",
        "ec2:RunInstances",
        "eks:CreateNodegroup",
        "eks:DeleteNodegroup",
        "eks:DescribeCluster",
        "eks:DescribeNodegroup",
        "eks:TagResource",
        "eks:UntagResource",
        "eks:UpdateNodegroupConfig",
        "eks:UpdateNodegroupVersion",
        "iam:CreateServiceLinkedRole",
        "iam:GetRole",
        "iam:ListAttachedRolePolicies",
        "iam:ListRolePolicies",
        "iam:PassRole",
        "servicequotas:GetServiceQuota",
    ];

    async fn observe(&self, _cx: &Cx, spec: &NodeGroup) -> Result<Option<Observed<NodeGroup>>, Fault> {
        let request = self.aws.eks().await?.describe_nodegroup().cluster_name(&spec.cluster);
        let sent = request.nodegroup_name(full_name(spec)).send();
        let answer = call("eks:DescribeNodegroup", words(spec), sent).await.or_absent()?;
        Ok(answer.and_then(|answer| answer.nodegroup).map(|group| found::observed(spec, group)))
    }

    // Without the creation's token: the name is unique already, and EKS remembers the token of a group deleted since.
    async fn create(&self, cx: &Cx, spec: &NodeGroup, creation: &Creation<'_, NodeGroup>) -> Result<(), Fault> {
        let live = creation.previous.map(|previous| previous.outputs.live_size);
        let client = self.aws.eks().await?;
        let _lock = cx.lock(&lock(spec)).await?;
        let request = client
            .create_nodegroup()
            .cluster_name(&spec.cluster)
            .nodegroup_name(full_name(spec))
            .node_role(&spec.node_role_arn)
            .set_subnets(Some(spec.subnet_ids.iter().cloned().collect()))
            .set_instance_types(Some(spec.instance_types.clone()))
            .ami_type(spec.ami_type.as_str().into())
            .capacity_type(spec.capacity_type.as_str().into())
            .set_release_version(spec.release_version.clone())
            .scaling_config(wanted::first_scaling(spec, live))
            .set_labels(Some(spec.labels.clone().into_iter().collect()))
            .set_taints(Some(spec.taints.iter().map(wanted::taint).collect()))
            .node_repair_config(wanted::node_repair(spec))
            // The volume is the template's: EKS refuses a disk size beside one.
            .launch_template(wanted::launch_template(spec))
            .set_tags(Some(marked(&spec.tags, creation.owner).into_iter().collect()));
        call("eks:CreateNodegroup", words(spec), request.send()).await.map(drop)
    }

    // One change of a group runs at a time. What this one leaves, the engine finds when it has run, and asks for.
    async fn update(&self, cx: &Cx, spec: &NodeGroup, changes: &Changes<'_, NodeGroup>) -> Result<(), Fault> {
        let client = self.aws.eks().await?;
        retag(client, spec, changes).await?;
        let _lock = cx.lock(&lock(spec)).await?;
        if changed(changes, &OF_CONFIG) {
            configure(client, spec, changes.found).await
        } else if changed(changes, &OF_VERSION) {
            roll(client, spec, changes).await
        } else {
            Ok(())
        }
    }

    async fn delete(&self, cx: &Cx, spec: &NodeGroup, found: &Observed<NodeGroup>) -> Result<(), Fault> {
        if found.outputs.status == "DELETING" {
            return Ok(());
        }
        let client = self.aws.eks().await?;
        let _lock = cx.lock(&lock(spec)).await?;
        let sent = client.delete_nodegroup().cluster_name(&spec.cluster).nodegroup_name(full_name(spec)).send();
        call("eks:DeleteNodegroup", words(spec), sent).await.or_absent().map(drop)
    }

    async fn preflight(&self, cx: &Cx, spec: &NodeGroup, step: &Step) -> Vec<Finding> {
        preflight::findings(&self.aws, &self.quotas, cx, (spec, step)).await
    }
}

async fn configure(client: &Client, spec: &NodeGroup, found: &Observed<NodeGroup>) -> Result<(), Fault> {
    let request = client
        .update_nodegroup_config()
        .cluster_name(&spec.cluster)
        .nodegroup_name(full_name(spec))
        .set_scaling_config(wanted::scaling(spec, found))
        .set_labels(wanted::label_change(spec, &found.spec))
        .set_taints(wanted::taint_change(spec, &found.spec))
        .set_node_repair_config((spec.node_repair != found.spec.node_repair).then(|| wanted::node_repair(spec)));
    call("eks:UpdateNodegroupConfig", words(spec), request.send()).await.map(drop)
}

async fn roll(client: &Client, spec: &NodeGroup, changes: &Changes<'_, NodeGroup>) -> Result<(), Fault> {
    let template = changes.fields.contains("launch_template_version").then(|| wanted::launch_template(spec));
    let request = client
        .update_nodegroup_version()
        .cluster_name(&spec.cluster)
        .nodegroup_name(full_name(spec))
        .set_launch_template(template)
        .set_release_version(spec.release_version.clone());
    call("eks:UpdateNodegroupVersion", words(spec), request.send()).await.map(drop)
}

async fn retag(client: &Client, spec: &NodeGroup, changes: &Changes<'_, NodeGroup>) -> Result<(), Fault> {
    let change = TagChange::of(changes, &spec.tags, &changes.found.spec.tags);
    let arn = &changes.found.outputs.arn;
    if !change.put.is_empty() {
        let sent = client.tag_resource().resource_arn(arn).set_tags(Some(change.put.into_iter().collect())).send();
        call("eks:TagResource", words(spec), sent).await?;
    }
    if !change.remove.is_empty() {
        let keys = change.remove.into_iter().collect();
        let sent = client.untag_resource().resource_arn(arn).set_tag_keys(Some(keys)).send();
        call("eks:UntagResource", words(spec), sent).await?;
    }
    Ok(())
}

fn changed(changes: &Changes<'_, NodeGroup>, fields: &[&str]) -> bool {
    fields.iter().any(|field| changes.fields.contains(*field))
}

/// The name in EKS: the second slot's has a suffix.
fn full_name(spec: &NodeGroup) -> String {
    match &spec.slot {
        Some(slot) => format!("{}-{slot}", spec.name),
        None => spec.name.clone(),
    }
}

/// A cluster refuses a change while another one of it starts.
fn lock(spec: &NodeGroup) -> String {
    format!("eks/{}", spec.cluster)
}

fn words(spec: &NodeGroup) -> String {
    format!("node group {:?} of cluster {:?}", full_name(spec), spec.cluster)
}
