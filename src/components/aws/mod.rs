//! Child objects in an AWS account.

mod autoscaling_tags;
mod efs;
mod eks_node_group;
mod iam_role;
mod iam_role_policy;
mod launch_template;
mod pod_identity;
pub mod policy;
mod s3;
mod security_group;
mod service_account_role;

pub use autoscaling_tags::{AutoscalingTags, AutoscalingTagsDraft};
pub use efs::{
    AccessPoint, AccessPointDraft, AccessPointOutputs, BackupPolicy, BackupPolicyDraft, FileSystem, FileSystemDraft,
    FileSystemLifecycle, FileSystemLifecycleDraft, FileSystemOutputs, FileSystemPolicy, FileSystemPolicyDraft,
    MountTarget, MountTargets, MountTargetsDraft, MountTargetsOutputs, TO_ARCHIVE, TO_IA, TO_PRIMARY,
};
pub use eks_node_group::{NodeGroup, NodeGroupDraft, NodeGroupOutputs, Taint};
pub use iam_role::{IamRole, IamRoleDraft, IamRoleOutputs};
pub use iam_role_policy::{IamRolePolicy, IamRolePolicyDraft};
pub use launch_template::{LaunchTemplate, LaunchTemplateDraft, LaunchTemplateOutputs};
pub use pod_identity::{PodIdentityAssociation, PodIdentityAssociationDraft, PodIdentityAssociationOutputs};
pub use s3::{
    Bucket, BucketDraft, BucketEncryption, BucketEncryptionDraft, BucketLifecycle, BucketLifecycleDraft, BucketOutputs,
    BucketOwnershipControls, BucketOwnershipControlsDraft, BucketPolicy, BucketPolicyDraft, BucketPublicAccessBlock,
    BucketPublicAccessBlockDraft, BucketVersioning, BucketVersioningDraft, LifecycleRule,
};
pub use security_group::{IngressRule, SecurityGroup, SecurityGroupDraft, SecurityGroupOutputs};
pub use service_account_role::{
    IRSA, POD_IDENTITY, ServiceAccountRole, ServiceAccountRoleDraft, ServiceAccountRoleOutputs, Trust,
};

/// Tags by key.
pub type Tags = std::collections::BTreeMap<String, String>;

/// The tag that carries the ownership mark.
pub const OWNER_TAG: &str = "mlplat:owner";
