//! The attributes of a shared file system. Their comments are the reference that users read.

use std::collections::{BTreeMap, BTreeSet};

use tf_provider::{Attributes, Choice};
use value::Value;

use crate::{components::aws::Tags, resources::Adopt};

/// An EFS file system that pods share, with its way into the network and its volumes in Kubernetes.
///
/// It is encrypted at rest, and its policy refuses clients that do not encrypt in transit. Each zone that a subnet is
/// in gets one mount target. Each volume is an access point, a persistent volume and a claim, which the EFS CSI driver
/// mounts; the driver has to run in the cluster.
///
/// Good for code, data sets and models that load in a minute or two. Large weights load from EFS as slowly as its
/// throughput has it, at every start of a pod: the plan warns with an estimate.
#[derive(Attributes, Clone, Debug, Default)]
pub struct SharedFilesystem {
    /// Name, at most 40 lower-case letters, digits and hyphens, unique in the account and region. Changing it makes
    /// another file system.
    #[attribute(required, replaces)]
    pub name: Value<String>,
    /// Ids of the subnets that clients are in, all of one network. Each zone among them gets one mount target: where
    /// several subnets are in a zone, the one that has it already, else the first by id. Adding a subnet in a new zone
    /// adds one; removing the last subnet of a zone deletes its mount target, and clients in it lose the file system.
    #[attribute(required)]
    pub subnet_ids: Value<BTreeSet<String>>,
    /// Ids of the security groups whose members may mount, over TCP port 2049: that of the nodes, say.
    #[attribute(required)]
    pub client_security_group_ids: Value<BTreeSet<String>>,
    /// How much can be read and written a second. EFS takes a change of the mode, or less provisioned throughput, once
    /// in 24 hours.
    #[attribute(default = "{ mode = \"elastic\" }")]
    pub throughput: Value<Throughput>,
    /// Days after which a file that nobody reads moves to the Infrequent Access class, which is cheaper to keep and
    /// slower and dearer to read: 1, 7, 14, 30, 60, 90, 180, 270 or 365. It moves back at the first access, so weights
    /// that are read again are slow once. Left out: files stay where they are.
    pub transition_to_ia_after_days: Value<u32>,
    /// ARN of the KMS key that files are encrypted with. Left out: EFS's own key of the account. Files are encrypted
    /// either way. Changing it makes another file system.
    #[attribute(replaces)]
    pub kms_key_arn: Value<String>,
    /// Whether AWS Backup backs the file system up every day and keeps it for 35 days.
    #[attribute(default = "false")]
    pub backup: Value<bool>,
    /// Name of the EKS cluster that the volumes are in. Left out: the cluster of the provider's `kubernetes` block.
    pub cluster: Value<String>,
    /// Volumes for pods, each a directory of the file system that looks like the root.
    #[attribute(default = "[]")]
    pub volumes: Value<BTreeSet<Volume>>,
    /// What to do with a persistent volume or claim that is there and is not ours.
    #[attribute(default = "\"never\"")]
    pub adopt: Value<Adopt>,
    /// Whether destroying the file system may delete the files in it. Otherwise a file system that holds data is not
    /// destroyed, and nothing of it is touched. EFS measures the size about once an hour.
    #[attribute(default = "false")]
    pub allow_destroy_with_data: Value<bool>,
    /// Tags of the file system, its security group and its access points, beside those of the provider's
    /// `default_tags` and `cost_allocation`, over which they win. With the volumes there may be 40.
    #[attribute(default = "{}")]
    pub tags: Value<Tags>,
    /// Id of the file system.
    #[attribute(computed)]
    pub file_system_id: Value<String>,
    /// ARN of the file system.
    #[attribute(computed)]
    pub arn: Value<String>,
    /// Host name that clients mount.
    #[attribute(computed)]
    pub dns_name: Value<String>,
    /// Id of the security group of the mount targets.
    #[attribute(computed)]
    pub security_group_id: Value<String>,
    /// The mount targets by zone.
    #[attribute(computed)]
    pub mount_targets: Value<BTreeMap<String, MountTarget>>,
    /// Ids of the access points by `namespace/name` of the volume.
    #[attribute(computed)]
    pub access_points: Value<BTreeMap<String, String>>,
}

/// How much can be read and written a second.
#[derive(Attributes, Clone, Debug, Default)]
pub struct Throughput {
    /// How throughput is given and paid for.
    #[attribute(default = "\"elastic\"")]
    pub mode: Value<ThroughputMode>,
    /// MiB a second, with `provisioned` only: 1 to 3414. Reads count a third.
    pub mibps: Value<u32>,
}

/// How throughput is given and paid for.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ThroughputMode {
    /// As much as is used, paid for by what is read and written.
    Elastic,
    /// Grows with the amount of data, with credits for bursts.
    Bursting,
    /// A fixed amount, paid for whether it is used or not.
    Provisioned,
}

/// A volume for pods.
#[derive(Attributes, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Volume {
    /// Namespace of the claim. It has to be there.
    #[attribute(required)]
    pub namespace: Value<String>,
    /// Name of the claim that pods mount.
    #[attribute(required)]
    pub name: Value<String>,
    /// Directory of the file system, such as `/models`, at most four deep. It is made when the volume is mounted first.
    /// Two volumes may have the same one.
    #[attribute(required)]
    pub path: Value<String>,
    /// Size in GiB that the volume shows. EFS grows with what is written and does not hold anybody to it; the estimate
    /// of loading time goes by it.
    #[attribute(required)]
    pub size_gib: Value<u32>,
    /// Whether many nodes may read it and none may write.
    #[attribute(default = "false")]
    pub read_only: Value<bool>,
    /// Number of the user whom all files are read and written as, whatever the pods run as.
    #[attribute(default = "1000")]
    pub uid: Value<u32>,
    /// Number of that user's group.
    #[attribute(default = "1000")]
    pub gid: Value<u32>,
}

/// The address of the file system in a zone.
#[derive(Attributes, Clone, Debug, Default)]
#[attributes(computed)]
pub struct MountTarget {
    /// Id.
    pub id: Value<String>,
    /// IP address.
    pub ip: Value<String>,
    /// Id of the subnet it is in.
    pub subnet_id: Value<String>,
}
