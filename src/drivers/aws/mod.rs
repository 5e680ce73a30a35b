//! Drivers of child objects in an AWS account, one for each component, and the clients they share.
//!
//! Read first: `clients` (how calls are configured), `fault` (how one call is made and what its failure means).

mod autoscaling_tags;
mod clients;
mod cluster;
mod codes;
mod efs;
mod eks_node_group;
mod fault;
mod iam_role;
mod iam_role_policy;
mod launch_template;
mod offerings;
mod pod_identity;
mod quotas;
mod s3;
mod security_group;
mod service_account_role;
mod subnets;
mod tags;

use std::{collections::BTreeMap, sync::Arc};

use converge::Drivers;

pub use clients::{AssumeRole, Aws, AwsConfig};
pub use cluster::{ClusterFacts, DESCRIBE_CLUSTER, describe_cluster};
pub use offerings::{Offerings, offerings};

/// The keys of the provider's `endpoints`.
pub const ENDPOINT_KEYS: [&str; 9] = ["all", "autoscaling", "ec2", "efs", "eks", "iam", "s3", "servicequotas", "sts"];

/// Adds the drivers of all AWS components.
pub fn register(drivers: &mut Drivers, aws: &Arc<Aws>) {
    let aws = || Arc::clone(aws);
    drivers.register(autoscaling_tags::AutoscalingTagsDriver::new(aws()));
    drivers.register(efs::AccessPointDriver::new(aws()));
    drivers.register(efs::BackupDriver(aws()));
    drivers.register(efs::FileSystemDriver(aws()));
    drivers.register(efs::LifecycleDriver(aws()));
    drivers.register(efs::MountTargetsDriver(aws()));
    drivers.register(efs::PolicyDriver(aws()));
    drivers.register(eks_node_group::NodeGroupDriver::new(aws()));
    drivers.register(iam_role::IamRoleDriver(aws()));
    drivers.register(iam_role_policy::IamRolePolicyDriver(aws()));
    drivers.register(launch_template::LaunchTemplateDriver::new(aws()));
    drivers.register(pod_identity::PodIdentityDriver(aws()));
    drivers.register(s3::BucketDriver(aws()));
    drivers.register(s3::EncryptionDriver(aws()));
    drivers.register(s3::LifecycleDriver(aws()));
    drivers.register(s3::OwnershipControlsDriver(aws()));
    drivers.register(s3::PolicyDriver(aws()));
    drivers.register(s3::PublicAccessBlockDriver(aws()));
    drivers.register(s3::VersioningDriver(aws()));
    drivers.register(security_group::SecurityGroupDriver::new(aws()));
    drivers.register(service_account_role::ServiceAccountRoleDriver::new(aws()));
}

/// The IAM actions that each kind of component needs, for documents.
pub fn actions() -> BTreeMap<&'static str, &'static [&'static str]> {
    let mut drivers = Drivers::default();
    register(&mut drivers, &Arc::new(Aws::new(AwsConfig::default())));
    drivers.iter().map(|driver| (driver.facts().kind, driver.actions())).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const SOURCES: [&str; 24] = [
        include_str!("autoscaling_tags.rs"),
        include_str!("efs/access_point.rs"),
        include_str!("efs/file_system.rs"),
        include_str!("efs/mod.rs"),
        include_str!("efs/mount_targets.rs"),
        include_str!("efs/settings.rs"),
        include_str!("eks_node_group/mod.rs"),
        include_str!("eks_node_group/preflight.rs"),
        include_str!("iam_role.rs"),
        include_str!("iam_role_policy.rs"),
        include_str!("launch_template.rs"),
        include_str!("offerings.rs"),
        include_str!("pod_identity.rs"),
        include_str!("cluster.rs"),
        include_str!("security_group.rs"),
        include_str!("subnets.rs"),
        include_str!("s3/bucket.rs"),
        include_str!("s3/contents.rs"),
        include_str!("s3/encryption.rs"),
        include_str!("s3/lifecycle.rs"),
        include_str!("s3/ownership_controls.rs"),
        include_str!("s3/policy.rs"),
        include_str!("s3/public_access_block.rs"),
        include_str!("s3/versioning.rs"),
    ];

    #[test]
    fn every_call_is_among_the_actions_told() {
        let mut told: BTreeSet<_> = actions().into_values().flatten().copied().collect();
        told.insert(DESCRIBE_CLUSTER);
        for source in SOURCES {
            let calls = source.split("call(\"").skip(1).filter_map(|rest| rest.split('"').next());
            for action in calls {
                assert!(told.contains(action), "{action} is called and not told");
            }
        }
    }

    #[test]
    fn actions_are_sorted_and_written_as_iam_has_them() {
        for (kind, actions) in actions() {
            assert!(actions.is_sorted(), "{kind}");
            assert!(actions.iter().all(|action| action.split(':').count() == 2), "{kind}");
        }
    }
}
