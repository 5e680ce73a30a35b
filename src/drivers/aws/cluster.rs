//! What EKS tells of a cluster that somebody else owns, for data sources and preflight.

use aws_sdk_eks::types::Cluster;
use converge::Fault;

use super::{Aws, fault::call};

/// The IAM action that [`describe_cluster`] uses.
pub const DESCRIBE_CLUSTER: &str = "eks:DescribeCluster";

/// An EKS cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterFacts {
    /// Name.
    pub name: String,
    /// ARN.
    pub arn: String,
    /// Status, such as `ACTIVE`.
    pub status: String,
    /// Kubernetes version, such as `1.34`.
    pub version: String,
    /// URL of the API server; empty while the cluster is being made, as is what follows.
    pub endpoint: String,
    /// The API server's certificate authority, base64 of PEM.
    pub certificate_authority: String,
    /// URL of the OpenID Connect issuer.
    pub oidc_issuer: String,
    /// Subnets of the control plane, sorted.
    pub subnet_ids: Vec<String>,
    /// The security group that EKS made for the cluster.
    pub security_group_id: String,
    /// The VPC.
    pub vpc_id: String,
    /// Whether EKS Auto Mode runs the nodes.
    pub auto_mode: bool,
}

/// Asks EKS for a cluster. Absent: a fault of class `NotFound`.
pub async fn describe_cluster(aws: &Aws, name: &str) -> Result<ClusterFacts, Fault> {
    let sent = aws.eks().await?.describe_cluster().name(name).send();
    let found = call(DESCRIBE_CLUSTER, format!("EKS cluster {name:?}"), sent).await?;
    Ok(facts(name, found.cluster.unwrap_or_else(|| Cluster::builder().build())))
}

fn facts(name: &str, cluster: Cluster) -> ClusterFacts {
    let vpc = cluster.resources_vpc_config;
    let mut subnet_ids = vpc.as_ref().and_then(|vpc| vpc.subnet_ids.clone()).unwrap_or_default();
    subnet_ids.sort();
    ClusterFacts {
        name: name.to_owned(),
        arn: cluster.arn.unwrap_or_default(),
        status: cluster.status.map(|status| status.as_str().to_owned()).unwrap_or_default(),
        version: cluster.version.unwrap_or_default(),
        endpoint: cluster.endpoint.unwrap_or_default(),
        certificate_authority: cluster.certificate_authority.and_then(|ca| ca.data).unwrap_or_default(),
        oidc_issuer: cluster.identity.and_then(|identity| identity.oidc?.issuer).unwrap_or_default(),
        subnet_ids,
        vpc_id: vpc.as_ref().and_then(|vpc| vpc.vpc_id.clone()).unwrap_or_default(),
        security_group_id: vpc.and_then(|vpc| vpc.cluster_security_group_id).unwrap_or_default(),
        auto_mode: cluster.compute_config.and_then(|compute| compute.enabled).unwrap_or_default(),
    }
}
