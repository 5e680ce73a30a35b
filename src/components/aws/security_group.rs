//! A security group: which traffic reaches the network interfaces it is put on.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tf_provider_derive::{Component, Outputs};

use super::Tags;

/// A security group and its rules for traffic that comes in, which are part of it: one more or one fewer is drift.
/// Traffic that goes out is left as EC2 has it for a new group: all of it is allowed.
#[derive(Component, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[component(kind = "aws_security_group", noun = "security group", outputs = SecurityGroupOutputs)]
pub struct SecurityGroup {
    /// Name, unique in its network. It has to be unique in the region too, for the group is found by it wherever it is.
    #[component(identity)]
    pub name: String,
    /// What it is for. EC2 cannot change it.
    #[component(initial)]
    pub description: String,
    /// Subnets of the network that it is made in.
    #[component(local)]
    pub subnet_ids: BTreeSet<String>,
    /// What may come in, all of it.
    pub ingress: BTreeSet<IngressRule>,
    /// Tags; those of others are left alone.
    #[component(merged)]
    pub tags: Tags,
}

/// Traffic that may come in.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct IngressRule {
    /// Where it comes from: a security group (`sg-…`), a prefix list (`pl-…`) or a range of addresses.
    pub source: String,
    /// `tcp`, `udp`, `icmp`, a number, or `-1` for all.
    pub protocol: String,
    /// First port; absent: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_port: Option<i32>,
    /// Last port; absent: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_port: Option<i32>,
}

/// What EC2 tells of a security group.
#[derive(Outputs, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SecurityGroupOutputs {
    /// Id, `sg-…`.
    pub id: String,
    /// Id of the network it is in.
    pub vpc_id: String,
}
