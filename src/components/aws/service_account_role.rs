//! An IAM role for the pods of one Kubernetes service account, and of nobody else.
//!
//! Not an [`IamRole`](super::IamRole): who may assume it is told in Kubernetes' words, because for IAM roles for
//! service accounts the trust policy names the cluster's OIDC provider, which only the cluster can tell. The driver
//! writes the policy; what somebody makes of it is told in the same words.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use tf_provider_derive::{Component, Outputs};

use super::{Tags, policy};

/// [`ServiceAccountRole::method`]: EKS Pod Identity.
pub const POD_IDENTITY: &str = "pod_identity";
/// [`ServiceAccountRole::method`]: IAM roles for service accounts.
pub const IRSA: &str = "irsa";

/// An IAM role for the pods of one service account.
#[derive(Component, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[component(kind = "aws_service_account_role", noun = "IAM role", outputs = ServiceAccountRoleOutputs)]
pub struct ServiceAccountRole {
    /// Name, unique in the account, at most 64 characters.
    #[component(identity)]
    pub name: String,
    /// What it is for.
    pub description: String,
    /// How pods come to it: [`POD_IDENTITY`] or [`IRSA`].
    pub method: String,
    /// Name of the EKS cluster. Needed but where `oidc_provider_arn` is given.
    pub cluster: Option<String>,
    /// Namespace of the service account.
    pub namespace: String,
    /// Name of the service account.
    pub service_account: String,
    /// ARN of the OIDC provider for [`IRSA`]; absent: the cluster's.
    pub oidc_provider_arn: Option<String>,
    /// ARNs of the managed policies attached, all of them.
    pub managed_policy_arns: BTreeSet<String>,
    /// Tags; those of others are left alone.
    #[component(merged)]
    pub tags: Tags,
}

/// What IAM tells of the role.
#[derive(Outputs, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServiceAccountRoleOutputs {
    /// Name.
    pub id: String,
    /// ARN.
    pub arn: String,
}

/// Who may assume the role, as its trust policy says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Pods of a service account in a cluster, by EKS Pod Identity.
    PodIdentity {
        /// Name of the cluster.
        cluster: String,
        /// Namespace.
        namespace: String,
        /// Service account.
        service_account: String,
    },
    /// Whoever shows a token of the OIDC provider for the service account.
    Irsa {
        /// ARN of the provider.
        provider_arn: String,
        /// Namespace.
        namespace: String,
        /// Service account.
        service_account: String,
    },
}

// === impl Trust ===

impl Trust {
    /// The trust policy, in normal form.
    pub fn document(&self) -> Json {
        policy::normalize(json!({ "Version": "2012-10-17", "Statement": [self.statement()] }))
    }

    fn statement(&self) -> Json {
        match self {
            // The session tags are set by EKS and not by the pod, so they tell which pod it is.
            Self::PodIdentity { cluster, namespace, service_account } => json!({
                "Sid": "PodIdentity", "Effect": "Allow",
                "Principal": { "Service": "pods.eks.amazonaws.com" },
                "Action": ["sts:AssumeRole", "sts:TagSession"],
                "Condition": { "StringEquals": {
                    "aws:RequestTag/eks-cluster-name": cluster,
                    "aws:RequestTag/kubernetes-namespace": namespace,
                    "aws:RequestTag/kubernetes-service-account": service_account,
                } },
            }),
            Self::Irsa { provider_arn, namespace, service_account } => {
                let issuer = issuer(provider_arn);
                let subject = format!("system:serviceaccount:{namespace}:{service_account}");
                json!({
                    "Sid": "ServiceAccount", "Effect": "Allow",
                    "Principal": { "Federated": provider_arn },
                    "Action": "sts:AssumeRoleWithWebIdentity",
                    "Condition": { "StringEquals": {
                        format!("{issuer}:aud"): "sts.amazonaws.com",
                        format!("{issuer}:sub"): subject,
                    } },
                })
            }
        }
    }

    /// Who a trust policy trusts, if it is one that `document` wrote.
    pub fn read(found: &Json) -> Option<Self> {
        let found = policy::normalize(found.clone());
        let statement = found.get("Statement")?.get(0)?;
        let equals = statement.pointer("/Condition/StringEquals")?;
        let text = |key: &str| equals.get(key)?.as_str().map(str::to_owned);
        let trust = match statement.pointer("/Principal/Federated").and_then(Json::as_str) {
            Some(provider_arn) => {
                let subject = text(&format!("{}:sub", issuer(provider_arn)))?;
                let (namespace, service_account) = subject.strip_prefix("system:serviceaccount:")?.split_once(':')?;
                Self::Irsa {
                    provider_arn: provider_arn.to_owned(),
                    namespace: namespace.to_owned(),
                    service_account: service_account.to_owned(),
                }
            }
            None => Self::PodIdentity {
                cluster: text("aws:RequestTag/eks-cluster-name")?,
                namespace: text("aws:RequestTag/kubernetes-namespace")?,
                service_account: text("aws:RequestTag/kubernetes-service-account")?,
            },
        };
        (trust.document() == found).then_some(trust)
    }
}

// The issuer without its scheme, as condition keys have it.
fn issuer(provider_arn: &str) -> &str {
    provider_arn.split_once(":oidc-provider/").map_or(provider_arn, |(_, issuer)| issuer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both() -> [Trust; 2] {
        let (namespace, service_account) = ("team-alpha".to_owned(), "trainer".to_owned());
        [
            Trust::PodIdentity {
                cluster: "ml-prod".to_owned(),
                namespace: namespace.clone(),
                service_account: service_account.clone(),
            },
            Trust::Irsa {
                provider_arn: "arn:aws:iam::123456789012:oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/AB"
                    .to_owned(),
                namespace,
                service_account,
            },
        ]
    }

    #[test]
    fn what_was_written_is_read_back() {
        for trust in both() {
            assert_eq!(Trust::read(&trust.document()), Some(trust));
        }
    }

    #[test]
    fn a_policy_that_trusts_more_is_not_ours() {
        for trust in both() {
            let mut wider = trust.document();
            wider["Statement"][0]["Condition"] = json!({});
            assert_eq!(Trust::read(&wider), None);
            let mut more = trust.document();
            let root = json!({ "Effect": "Allow", "Principal": { "AWS": "*" }, "Action": "sts:AssumeRole" });
            more["Statement"].as_array_mut().expect("a list").push(root);
            assert_eq!(Trust::read(&more), None);
        }
        assert_eq!(Trust::read(&Json::Null), None);
    }

    #[test]
    fn a_token_is_trusted_for_one_subject_and_one_audience() {
        let [_, irsa] = both();
        let equals = irsa.document()["Statement"][0]["Condition"]["StringEquals"].clone();
        let issuer = "oidc.eks.us-east-1.amazonaws.com/id/AB";
        assert_eq!(equals[format!("{issuer}:sub")], "system:serviceaccount:team-alpha:trainer");
        assert_eq!(equals[format!("{issuer}:aud")], "sts.amazonaws.com");
    }
}
