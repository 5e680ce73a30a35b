//! Tags on the scaling group behind a node group, which tell Cluster Autoscaler what a node would be like.

use serde::{Deserialize, Serialize};
use tf_provider_derive::Component;

use super::Tags;

/// Our tags on a scaling group that EKS made. EKS does not copy a node group's tags there by itself, and without
/// the template tags a group of no nodes never grows.
#[derive(Component, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[component(kind = "aws_autoscaling_tags", noun = "set of scaling-group tags", part)]
pub struct AutoscalingTags {
    /// Name of the scaling group.
    #[component(identity)]
    pub autoscaling_group: String,
    /// The tags, not propagated to instances; those of others are left alone.
    #[component(merged)]
    pub tags: Tags,
}
