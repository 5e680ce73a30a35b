//! An EKS managed node group.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use tf_provider_derive::{Component, Outputs};

use super::Tags;

/// A managed node group. The API cannot change most of it, so another one is made beside it (under the second of
/// two names) and takes its place; EKS drains the nodes of the old one when it is deleted.
#[derive(Component, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[component(kind = "aws_eks_node_group", noun = "node group", outputs = NodeGroupOutputs, slots)]
pub struct NodeGroup {
    /// Name of the cluster.
    #[component(identity)]
    pub cluster: String,
    /// Name without the slot's suffix, at most 61 characters. The second slot appends `-b`.
    #[component(identity)]
    pub name: String,
    /// The slot: absent for the first, `b` for the second.
    pub slot: Option<String>,
    /// ARN of the role of the nodes.
    #[component(fixed)]
    pub node_role_arn: String,
    /// Subnets the nodes start in.
    #[component(fixed)]
    pub subnet_ids: BTreeSet<String>,
    /// Instance types in order of preference.
    #[component(fixed)]
    pub instance_types: Vec<String>,
    /// EKS's image type, such as `AL2023_x86_64_NVIDIA`.
    #[component(fixed)]
    pub ami_type: String,
    /// `ON_DEMAND` or `SPOT`.
    #[component(fixed)]
    pub capacity_type: String,
    /// Version of the image; absent: the newest when the group was made or last updated, whichever EKS chose.
    pub release_version: Option<String>,
    /// Fewest nodes.
    pub min: u32,
    /// Most nodes.
    pub max: u32,
    /// Nodes at creation. An autoscaler moves the number afterwards. A second slot starts with as many nodes as the
    /// first has.
    #[component(initial)]
    pub initial: u32,
    /// Labels of the nodes in Kubernetes.
    pub labels: BTreeMap<String, String>,
    /// Taints of the nodes in Kubernetes.
    pub taints: BTreeSet<Taint>,
    /// Whether EKS replaces nodes that it finds unhealthy.
    pub node_repair: bool,
    /// Id of the launch template.
    #[component(fixed)]
    pub launch_template_id: String,
    /// Version of the launch template. A change rolls the nodes within the group.
    pub launch_template_version: String,
    /// Tags of the group; those of others are left alone. They do not reach instances.
    #[component(merged)]
    pub tags: Tags,
}

/// A taint in Kubernetes' words.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Taint {
    /// Key.
    pub key: String,
    /// Value; an empty one and none are the same.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// `NoSchedule`, `NoExecute` or `PreferNoSchedule`. The EKS API writes `NO_SCHEDULE`; the driver translates.
    pub effect: String,
}

/// What EKS tells of a node group.
#[derive(Outputs, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeGroupOutputs {
    /// Name, with the slot's suffix.
    pub id: String,
    /// ARN.
    pub arn: String,
    /// Status, such as `ACTIVE`. Tags are put on without an update of the group.
    #[output(moved_by = "labels, launch_template_version, max, min, node_repair, release_version, taints")]
    pub status: String,
    /// Nodes wanted now, as the autoscaler has it.
    #[output(moved_by = "max, min")]
    pub live_size: u32,
    /// Version of the image that EKS chose.
    #[output(moved_by = "launch_template_version, release_version")]
    pub release_version: Option<String>,
    /// Names of the scaling groups behind it.
    pub autoscaling_group_names: Vec<String>,
}
