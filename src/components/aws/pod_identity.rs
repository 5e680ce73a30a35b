//! An EKS Pod Identity association: which role the pods of a service account have.

use serde::{Deserialize, Serialize};
use tf_provider_derive::{Component, Outputs};

use super::Tags;

/// A Pod Identity association. Credentials are injected when a pod is admitted, so it has to exist before the pods.
#[derive(Component, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[component(
    kind = "aws_eks_pod_identity_association",
    noun = "Pod Identity association",
    outputs = PodIdentityAssociationOutputs
)]
pub struct PodIdentityAssociation {
    /// Name of the EKS cluster.
    #[component(identity)]
    pub cluster: String,
    /// Namespace of the service account. One association is allowed for a service account.
    #[component(identity)]
    pub namespace: String,
    /// Name of the service account.
    #[component(identity)]
    pub service_account: String,
    /// ARN of the role.
    pub role_arn: String,
    /// Tags; those of others are left alone.
    #[component(merged)]
    pub tags: Tags,
}

/// What EKS tells of an association.
#[derive(Outputs, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PodIdentityAssociationOutputs {
    /// Id, such as `a-0123456789abcdef0`.
    pub id: String,
    /// ARN.
    pub arn: String,
}
