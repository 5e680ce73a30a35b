//! An EC2 launch template: how the instances of a node group start.

use serde::{Deserialize, Serialize};
use tf_provider_derive::{Component, Outputs};

use super::Tags;

/// A launch template. A change makes a new version and that version the default; old versions stay, since a node
/// group may still run them.
#[derive(Component, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[component(kind = "aws_launch_template", noun = "launch template", outputs = LaunchTemplateOutputs)]
pub struct LaunchTemplate {
    /// Name, unique in the region, at most 128 characters.
    #[component(identity)]
    pub name: String,
    /// Device that the volume is attached as: the root device, or the data device of Bottlerocket.
    pub device_name: String,
    /// Size of the volume in GiB.
    pub volume_size_gib: u32,
    /// Type of the volume, such as `gp3`.
    pub volume_type: String,
    /// I/O operations a second.
    pub volume_iops: Option<u32>,
    /// Throughput in MiB a second.
    pub volume_throughput_mibps: Option<u32>,
    /// `required`: IMDSv2 only.
    pub metadata_http_tokens: String,
    /// How many hops an IMDS answer may travel: 2 lets pods on the pod network ask.
    pub metadata_hop_limit: u32,
    /// Tags put on instances, volumes and network interfaces when they start.
    pub instance_tags: Tags,
    /// Tags of the template itself; those of others are left alone.
    #[component(merged)]
    pub tags: Tags,
}

/// What EC2 tells of a launch template.
#[derive(Outputs, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LaunchTemplateOutputs {
    /// Id.
    pub id: String,
    /// Number of the default version. Tags of the template are in none.
    #[output(moved_by = "device_name, instance_tags, metadata_hop_limit, metadata_http_tokens, volume_iops, \
                    volume_size_gib, volume_throughput_mibps, volume_type")]
    pub version: String,
}
