//! What an AWS error code means: one table for all services, one for each service, one for single actions.
//!
//! By code and action only, never by text. A code that no table knows is a refused value.

use converge::FaultClass::{
    self, AlreadyExists, Busy, Capacity, Denied, Foreign, HoldsData, Invalid, NotFound, NotYetConsistent, Quota,
    Throttled, Unauthenticated,
};

/// What a code means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// A class whatever the action.
    Class(FaultClass),
    /// The service failed: a read may be made again, a write may have taken effect.
    ServiceFailed,
}

/// The meaning of `code` as the answer to `action` (such as `eks:CreateNodegroup`); none for codes not known here.
pub(crate) fn meaning(action: &str, code: &str) -> Option<Meaning> {
    let by_action = BY_ACTION.iter().find(|(prefix, known, _)| action.starts_with(prefix) && *known == code);
    if let Some((.., class)) = by_action {
        return Some(Meaning::Class(*class));
    }
    if SERVICE_FAILED.contains(&code) {
        return Some(Meaning::ServiceFailed);
    }
    let service = action.split_once(':').map_or("", |(service, _)| service);
    let of_service = BY_SERVICE.iter().filter(|(name, _)| *name == service).flat_map(|(_, table)| *table);
    let class = of_service.chain(COMMON).find(|(_, codes)| codes.contains(&code)).map(|(class, _)| *class);
    class.or_else(|| by_pattern(service, code)).map(Meaning::Class)
}

/// What to do about `code`, where the advice for its class is not enough.
pub(crate) fn advice(action: &str, code: &str) -> Option<&'static str> {
    ADVICE.iter().find(|(prefix, codes, _)| action.starts_with(prefix) && codes.contains(&code)).map(|(.., text)| *text)
}

type Table = &'static [(FaultClass, &'static [&'static str])];

/// The first part of an action, a code, and its class for such actions.
const BY_ACTION: &[(&str, &str, FaultClass)] = &[
    ("eks:CreateNodegroup", "ResourceInUseException", AlreadyExists),
    // EKS has this one code for every refused value, a role that it cannot see yet among them. The engine believes
    // "not yet" only shortly after the role or the launch template was written.
    ("eks:CreateNodegroup", "InvalidParameterException", NotYetConsistent),
    ("eks:UpdateNodegroupVersion", "InvalidParameterException", NotYetConsistent),
    ("eks:CreatePodIdentityAssociation", "ResourceInUseException", AlreadyExists),
    ("eks:CreatePodIdentityAssociation", "InvalidParameterException", NotYetConsistent),
    ("eks:UpdatePodIdentityAssociation", "InvalidParameterException", NotYetConsistent),
    // A scaling group that EKS has just made.
    ("autoscaling:CreateOrUpdateTags", "ValidationError", NotYetConsistent),
    // A new bucket is not known everywhere at once.
    ("s3:Put", "NoSuchBucket", NotYetConsistent),
    // A new file system or security group is not known everywhere at once.
    ("elasticfilesystem:CreateMountTarget", "FileSystemNotFound", NotYetConsistent),
    ("elasticfilesystem:CreateMountTarget", "SecurityGroupNotFound", NotYetConsistent),
    ("elasticfilesystem:ModifyMountTarget", "SecurityGroupNotFound", NotYetConsistent),
    ("elasticfilesystem:CreateAccessPoint", "FileSystemNotFound", NotYetConsistent),
    ("elasticfilesystem:Put", "FileSystemNotFound", NotYetConsistent),
    // The new group, or a client's that is not there.
    ("ec2:AuthorizeSecurityGroupIngress", "InvalidGroup.NotFound", NotYetConsistent),
    ("iam:AttachRolePolicy", "NoSuchEntity", NotYetConsistent),
    ("iam:PutRolePolicy", "NoSuchEntity", NotYetConsistent),
    ("ec2:CreateLaunchTemplateVersion", "InvalidLaunchTemplateId.NotFound", NotYetConsistent),
    ("ec2:ModifyLaunchTemplate", "InvalidLaunchTemplateId.VersionNotFound", NotYetConsistent),
];

const SERVICE_FAILED: &[&str] = &[
    "InternalError",
    "InternalFailure",
    "InternalServerError",
    "InternalServerErrorException",
    "InternalServiceError",
    "InternalServiceException",
    "RequestTimeout",
    "RequestTimeoutException",
    "ServerException",
    "ServiceFailure",
    "ServiceUnavailable",
    "ServiceUnavailableException",
    "Unavailable",
];

const COMMON: Table = &[
    (
        Throttled,
        &[
            "BandwidthLimitExceeded",
            "EC2ThrottledException",
            "PriorRequestNotComplete",
            "RequestLimitExceeded",
            "RequestThrottled",
            "RequestThrottledException",
            "SlowDown",
            "ThrottledException",
            "Throttling",
            "ThrottlingException",
            "TooManyRequestsException",
            "TransactionInProgressException",
        ],
    ),
    (
        Denied,
        &[
            "AccessDenied",
            "AccessDeniedException",
            "AllAccessDisabled",
            "NotAuthorized",
            "OptInRequired",
            "UnauthorizedAccess",
            "UnauthorizedOperation",
        ],
    ),
    (
        Unauthenticated,
        &[
            "AuthFailure",
            "ExpiredToken",
            "ExpiredTokenException",
            "IncompleteSignature",
            "InvalidAccessKeyId",
            "InvalidClientTokenId",
            "InvalidSecurity",
            "InvalidSignatureException",
            "InvalidToken",
            "MissingAuthenticationToken",
            "MissingAuthenticationTokenException",
            "MissingSecurityHeader",
            "NotSignedUp",
            "RequestExpired",
            "RequestTimeTooSkewed",
            "SignatureDoesNotMatch",
            "TokenRefreshRequired",
            "UnrecognizedClientException",
        ],
    ),
];

const BY_SERVICE: &[(&str, Table)] = &[
    ("servicequotas", &[(NotFound, &["NoSuchResourceException"])]),
    (
        "autoscaling",
        &[
            (Busy, &["ResourceContention", "ResourceInUse", "ScalingActivityInProgress"]),
            (AlreadyExists, &["AlreadyExists"]),
        ],
    ),
    (
        "ec2",
        &[
            (
                NotFound,
                &[
                    "InvalidLaunchTemplateId.NotFound",
                    "InvalidLaunchTemplateId.NotFoundException",
                    "InvalidLaunchTemplateName.NotFoundException",
                ],
            ),
            (AlreadyExists, &["InvalidLaunchTemplateName.AlreadyExistsException"]),
            (Busy, &["DependencyViolation", "IncorrectInstanceState", "IncorrectState", "ResourceCountExceeded"]),
            (
                Capacity,
                &[
                    "InsufficientCapacity",
                    "InsufficientHostCapacity",
                    "InsufficientInstanceCapacity",
                    "InsufficientReservedInstanceCapacity",
                    "InsufficientVolumeCapacity",
                ],
            ),
            (Quota, &["InsufficientFreeAddressesInSubnet", "MaxSpotInstanceCountExceeded"]),
        ],
    ),
    (
        "eks",
        &[
            (NotFound, &["NotFoundException", "ResourceNotFoundException"]),
            (NotYetConsistent, &["ResourcePropagationDelayException"]),
            (Busy, &["InvalidStateException", "ResourceInUseException"]),
            (Quota, &["ResourceLimitExceededException"]),
        ],
    ),
    (
        "elasticfilesystem",
        &[
            (NotFound, &["AccessPointNotFound", "FileSystemNotFound", "MountTargetNotFound", "PolicyNotFound"]),
            (AlreadyExists, &["AccessPointAlreadyExists", "FileSystemAlreadyExists"]),
            // A conflict is somebody's mount target of the same moment: the next look finds it.
            (
                Busy,
                &[
                    "DependencyTimeout",
                    "FileSystemInUse",
                    "IncorrectFileSystemLifeCycleState",
                    "IncorrectMountTargetState",
                    "MountTargetConflict",
                ],
            ),
            (Capacity, &["InsufficientThroughputCapacity"]),
            // Not a rate of calls: a day has to pass.
            (Quota, &["NoFreeAddressesInSubnet", "TooManyRequests"]),
        ],
    ),
    (
        "iam",
        &[
            (NotFound, &["NoSuchEntity"]),
            (AlreadyExists, &["EntityAlreadyExists"]),
            (Busy, &["ConcurrentModification", "DeleteConflict", "EntityTemporarilyUnmodifiable"]),
            (Quota, &["LimitExceeded"]),
            (Denied, &["UnmodifiableEntity"]),
        ],
    ),
    (
        "s3",
        &[
            (
                NotFound,
                &[
                    "NoSuchBucket",
                    "NoSuchBucketPolicy",
                    "NoSuchLifecycleConfiguration",
                    "NoSuchPublicAccessBlockConfiguration",
                    "NoSuchTagSet",
                    "NoSuchUpload",
                    "NotFound",
                    "OwnershipControlsNotFoundError",
                    "ServerSideEncryptionConfigurationNotFoundError",
                ],
            ),
            (AlreadyExists, &["BucketAlreadyOwnedByYou"]),
            (Foreign, &["BucketAlreadyExists"]),
            (Busy, &["ConditionalRequestConflict", "OperationAborted"]),
            (HoldsData, &["BucketNotEmpty"]),
            (Quota, &["TooManyBuckets"]),
            (Denied, &["MethodNotAllowed"]),
            (Invalid, &["AuthorizationHeaderMalformed", "IllegalLocationConstraintException", "PermanentRedirect"]),
        ],
    ),
    ("sts", &[(Denied, &["RegionDisabledException"])]),
];

const ADVICE: &[(&str, &[&str], &str)] = &[
    (
        "s3:",
        &["AuthorizationHeaderMalformed", "IllegalLocationConstraintException", "PermanentRedirect"],
        "A bucket of that name is in another region: set `region` of the provider to it, or choose another name.",
    ),
    (
        "s3:CreateBucket",
        &["BucketAlreadyExists"],
        "Choose another name: bucket names are shared by all of AWS, and this one is taken.",
    ),
    (
        "s3:GetBucketTagging",
        &["AccessDenied"],
        "Choose another name if the bucket belongs to another account; otherwise allow s3:GetBucketTagging.",
    ),
    (
        "elasticfilesystem:UpdateFileSystem",
        &["TooManyRequests"],
        "Wait until 24 hours have passed since the last change of the throughput's mode or its last decrease, then run \
         terraform apply again.",
    ),
    (
        "elasticfilesystem:CreateMountTarget",
        &["NoFreeAddressesInSubnet"],
        "Give a subnet of the same zone that has a free address.",
    ),
    (
        "ec2:AuthorizeSecurityGroupIngress",
        &["InvalidGroup.NotFound"],
        "Give security groups that are there, in the network of the subnets or one peered with it.",
    ),
    (
        "eks:CreateNodegroup",
        &["InvalidParameterException"],
        "Correct the value that EKS names. If it is a role or a launch template made moments ago, run terraform apply again.",
    ),
    ("", &["OptInRequired"], "Sign the account up for the service, or enable the region, in the AWS console."),
    (
        "",
        &["RequestExpired", "RequestTimeTooSkewed"],
        "Set this machine's clock: AWS refuses requests that are minutes off.",
    ),
];

fn by_pattern(service: &str, code: &str) -> Option<FaultClass> {
    let ends = |suffixes: &[&str]| suffixes.iter().any(|suffix| code.ends_with(suffix));
    match service {
        "ec2" if ends(&[".NotFound", ".NotFoundException"]) => Some(NotFound),
        "ec2" if ends(&[".Duplicate", ".AlreadyExistsException"]) => Some(AlreadyExists),
        _ if ends(&["LimitExceeded", "LimitExceededException", "QuotaExceeded", "QuotaExceededException"]) => {
            Some(Quota)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(action: &str, code: &str, class: FaultClass) {
        assert_eq!(meaning(action, code), Some(Meaning::Class(class)), "{code} of {action}");
    }

    #[test]
    fn codes_mean_what_their_service_means_by_them() {
        check("eks:DescribeNodegroup", "ResourceNotFoundException", NotFound);
        check("eks:CreateNodegroup", "ResourceInUseException", AlreadyExists);
        check("eks:UpdateNodegroupConfig", "ResourceInUseException", Busy);
        check("eks:CreateNodegroup", "InvalidParameterException", NotYetConsistent);
        check("iam:GetRole", "NoSuchEntity", NotFound);
        check("iam:DeleteRole", "DeleteConflict", Busy);
        check("iam:CreateRole", "LimitExceeded", Quota);
        check("ec2:RunInstances", "InsufficientInstanceCapacity", Capacity);
        check("ec2:RunInstances", "VcpuLimitExceeded", Quota);
        check("ec2:DescribeSubnets", "InvalidSubnetID.NotFound", NotFound);
        check("s3:GetBucketTagging", "NoSuchBucket", NotFound);
        check("s3:PutBucketTagging", "NoSuchBucket", NotYetConsistent);
        check("s3:CreateBucket", "OperationAborted", Busy);
        check("s3:CreateBucket", "BucketAlreadyExists", Foreign);
        check("s3:DeleteBucket", "BucketNotEmpty", HoldsData);
        check("elasticfilesystem:DescribeMountTargets", "FileSystemNotFound", NotFound);
        check("elasticfilesystem:CreateMountTarget", "FileSystemNotFound", NotYetConsistent);
        check("elasticfilesystem:CreateMountTarget", "MountTargetConflict", Busy);
        check("elasticfilesystem:UpdateFileSystem", "TooManyRequests", Quota);
    }

    #[test]
    fn throttling_and_credentials_are_the_same_everywhere() {
        for action in ["s3:GetBucketTagging", "iam:GetRole", "ec2:DescribeLaunchTemplates", "eks:CreateNodegroup"] {
            check(action, "ThrottlingException", Throttled);
            check(action, "RequestLimitExceeded", Throttled);
            check(action, "AccessDenied", Denied);
            check(action, "ExpiredToken", Unauthenticated);
            assert_eq!(meaning(action, "InternalError"), Some(Meaning::ServiceFailed));
        }
    }

    #[test]
    fn a_code_nobody_knows_has_no_meaning() {
        assert_eq!(meaning("s3:CreateBucket", "MalformedXML"), None);
        assert_eq!(meaning("eks:CreateNodegroup", ""), None);
    }

    #[test]
    fn no_code_stands_in_two_classes_of_one_table() {
        for table in BY_SERVICE.iter().map(|(_, table)| *table).chain([COMMON]) {
            let mut codes: Vec<_> = table.iter().flat_map(|(_, codes)| *codes).collect();
            let count = codes.len();
            codes.sort();
            codes.dedup();
            assert_eq!(codes.len(), count);
        }
    }
}
