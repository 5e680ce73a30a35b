//! An EFS file system and what belongs to it, each an object of its own: so each is read in parallel with the others,
//! named in the plan when it drifts, and repaired alone.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use tf_provider_derive::{Component, Outputs};

use super::Tags;

/// A file system.
#[derive(Component, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[component(kind = "aws_efs_file_system", noun = "file system", outputs = FileSystemOutputs, holds_data)]
pub struct FileSystem {
    /// The token it was made with, unique in the account and region, at most 64 characters: EFS lets no two file
    /// systems have the same one, and finds a file system by it.
    #[component(identity)]
    pub creation_token: String,
    /// Whether files are encrypted at rest.
    #[component(fixed)]
    pub encrypted: bool,
    /// ARN of the KMS key; absent: EFS's own key of the account.
    #[component(fixed)]
    pub kms_key_arn: Option<String>,
    /// `elastic`, `bursting` or `provisioned`.
    pub throughput_mode: String,
    /// Throughput in MiB a second where it is provisioned.
    pub provisioned_mibps: Option<u32>,
    /// Whether deleting it may delete the files in it.
    #[component(local)]
    pub delete_with_data: bool,
    /// Tags; those of others are left alone.
    #[component(merged)]
    pub tags: Tags,
}

/// What EFS tells of a file system.
#[derive(Outputs, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileSystemOutputs {
    /// Id, `fs-…`.
    pub id: String,
    /// ARN.
    pub arn: String,
    /// Host name that clients mount.
    pub dns_name: String,
    /// Size in bytes, as EFS measured it last.
    #[output(volatile)]
    pub size_bytes: i64,
}

/// When the files of a file system move between storage classes.
#[derive(Component, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[component(kind = "aws_efs_lifecycle", noun = "lifecycle configuration", part)]
pub struct FileSystemLifecycle {
    /// Id of the file system.
    #[component(identity)]
    pub file_system_id: String,
    /// The rules, all of them, in EFS's words: [`TO_IA`], [`TO_ARCHIVE`] and [`TO_PRIMARY`] to what makes files move.
    pub transitions: BTreeMap<String, String>,
}

/// Key of [`FileSystemLifecycle::transitions`]: to Infrequent Access, such as `AFTER_30_DAYS`.
pub const TO_IA: &str = "to_ia";
/// Key of [`FileSystemLifecycle::transitions`]: to Archive.
pub const TO_ARCHIVE: &str = "to_archive";
/// Key of [`FileSystemLifecycle::transitions`]: back to the primary class, `AFTER_1_ACCESS`.
pub const TO_PRIMARY: &str = "to_primary";

/// Whether AWS Backup backs a file system up every day.
#[derive(Component, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[component(kind = "aws_efs_backup_policy", noun = "backup policy", part)]
pub struct BackupPolicy {
    /// Id of the file system.
    #[component(identity)]
    pub file_system_id: String,
    /// Whether it does.
    pub enabled: bool,
}

/// Who may do what with a file system over NFS.
#[derive(Component, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[component(kind = "aws_efs_file_system_policy", noun = "file system policy", part)]
pub struct FileSystemPolicy {
    /// Id of the file system.
    #[component(identity)]
    pub file_system_id: String,
    /// The policy. One that means the same is found in these words.
    pub document: Json,
}

/// The addresses of a file system in a network: one mount target in each zone that a subnet is in.
///
/// One object for all of them, because which zone a subnet is in only EC2 can tell: the number of mount targets is not
/// known to a plan. Of the subnets of one zone the driver keeps the one that has a mount target, and else takes the
/// first.
#[derive(Component, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[component(kind = "aws_efs_mount_targets", noun = "set of mount targets", outputs = MountTargetsOutputs)]
pub struct MountTargets {
    /// Id of the file system.
    #[component(identity)]
    pub file_system_id: String,
    /// Subnets whose zones are served. Found are those of a zone that has a mount target in one of those wanted, and
    /// the subnets of mount targets that none is wanted in.
    pub subnet_ids: BTreeSet<String>,
    /// Security groups of each mount target. Found are those of the first one that differs.
    pub security_group_ids: BTreeSet<String>,
}

/// What EFS tells of the mount targets.
#[derive(Outputs, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MountTargetsOutputs {
    /// Ids, sorted, with commas between them.
    #[output(volatile)]
    pub id: String,
    /// Zone to mount target.
    #[output(volatile)]
    pub zones: BTreeMap<String, MountTarget>,
}

/// A mount target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MountTarget {
    /// Id, `fsmt-…`.
    pub id: String,
    /// Its IP address.
    pub ip: String,
    /// The subnet it is in.
    pub subnet_id: String,
}

/// A way into a file system: a directory that looks like the root, and a user that everybody is.
#[derive(Component, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[component(kind = "aws_efs_access_point", noun = "access point", outputs = AccessPointOutputs)]
pub struct AccessPoint {
    /// Id of the file system.
    #[component(identity)]
    pub file_system_id: String,
    /// Name, unique in the file system. The access point is found by the token that is made from it.
    #[component(identity)]
    pub name: String,
    /// The directory, made when it is not there.
    #[component(fixed)]
    pub path: String,
    /// The user whom all that is done through it is done as, and who owns the directory if it is made.
    #[component(fixed)]
    pub uid: u32,
    /// The user's group.
    #[component(fixed)]
    pub gid: u32,
    /// Permissions of the directory if it is made, in octal, such as `0755`.
    #[component(fixed)]
    pub permissions: String,
    /// Tags; those of others are left alone.
    #[component(merged)]
    pub tags: Tags,
}

/// What EFS tells of an access point.
#[derive(Outputs, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AccessPointOutputs {
    /// Id, `fsap-…`.
    pub id: String,
    /// ARN.
    pub arn: String,
}
