//! IAM roles for the pods of one service account: the driver of roles, and who may assume them told in Kubernetes'
//! words.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use converge::{Changes, Creation, Cx, Driver, Fault, FaultClass, Observed};
use serde_json::Value as Json;

use super::{Aws, ClusterFacts, describe_cluster, iam_role::IamRoleDriver};
use crate::{
    components::aws::{
        IRSA, IamRole, IamRoleOutputs, POD_IDENTITY, ServiceAccountRole, ServiceAccountRoleOutputs, Trust,
    },
    drivers::gather::Gather,
};

pub(super) struct ServiceAccountRoleDriver {
    aws: Arc<Aws>,
    roles: IamRoleDriver,
    providers: Gather<String>,
}

/// Fields of which the trust policy is made.
const OF_TRUST: [&str; 5] = ["cluster", "method", "namespace", "oidc_provider_arn", "service_account"];

// === impl ServiceAccountRoleDriver ===

impl ServiceAccountRoleDriver {
    pub(super) fn new(aws: Arc<Aws>) -> Self {
        Self { roles: IamRoleDriver(Arc::clone(&aws)), aws, providers: Gather::new(1) }
    }

    /// Whom the role is to trust; none where the cluster that could tell is not there.
    async fn trust(&self, cx: &Cx, spec: &ServiceAccountRole) -> Result<Option<Trust>, Fault> {
        let (namespace, service_account) = (spec.namespace.clone(), spec.service_account.clone());
        if spec.method != IRSA {
            let cluster = spec.cluster.clone().unwrap_or_default();
            return Ok(Some(Trust::PodIdentity { cluster, namespace, service_account }));
        }
        let provider = match (&spec.oidc_provider_arn, &spec.cluster) {
            (Some(arn), _) => Some(arn.clone()),
            (None, Some(cluster)) => self.provider(cx, cluster).await?,
            (None, None) => None,
        };
        Ok(provider.map(|provider_arn| Trust::Irsa { provider_arn, namespace, service_account }))
    }

    // Many roles of one cluster ask for its provider at once.
    async fn provider(&self, cx: &Cx, cluster: &str) -> Result<Option<String>, Fault> {
        let aws = Arc::clone(&self.aws);
        let answer = move |names: BTreeSet<String>| {
            let aws = Arc::clone(&aws);
            async move { providers(&aws, names).await }
        };
        self.providers.ask(cx, cluster, answer).await
    }

    async fn wanted(&self, cx: &Cx, spec: &ServiceAccountRole) -> Result<IamRole, Fault> {
        let trust = self.trust(cx, spec).await?.ok_or_else(|| no_provider(spec))?;
        Ok(role(spec, trust.document()))
    }
}

impl Driver<ServiceAccountRole> for ServiceAccountRoleDriver {
    const ACTIONS: &'static [&'static str] = &[
        "eks:DescribeCluster",
        "iam:AttachRolePolicy",
        "iam:CreateRole",
        "iam:DeleteRole",
        "iam:DeleteRolePolicy",
        "iam:DetachRolePolicy",
        "iam:GetRole",
        "iam:ListAttachedRolePolicies",
        "iam:ListInstanceProfilesForRole",
        "iam:ListRolePolicies",
        "iam:TagRole",
        "iam:UntagRole",
        "iam:UpdateAssumeRolePolicy",
        "iam:UpdateRole",
    ];

    async fn observe(&self, cx: &Cx, spec: &ServiceAccountRole) -> Result<Option<Observed<ServiceAccountRole>>, Fault> {
        let plain = role(spec, Json::Null);
        let (trust, found) = tokio::join!(self.trust(cx, spec), self.roles.observe(cx, &plain));
        let Some(found) = found? else { return Ok(None) };
        Ok(Some(observed(spec, trust?.as_ref(), found)))
    }

    async fn create(
        &self,
        cx: &Cx,
        spec: &ServiceAccountRole,
        creation: &Creation<'_, ServiceAccountRole>,
    ) -> Result<(), Fault> {
        let wanted = self.wanted(cx, spec).await?;
        let creation = Creation { owner: creation.owner, token: creation.token.clone(), previous: None };
        self.roles.create(cx, &wanted, &creation).await
    }

    async fn update(
        &self,
        cx: &Cx,
        spec: &ServiceAccountRole,
        changes: &Changes<'_, ServiceAccountRole>,
    ) -> Result<(), Fault> {
        let wanted = self.wanted(cx, spec).await?;
        let mut fields = changes.fields.clone();
        if OF_TRUST.iter().any(|field| fields.contains(*field)) {
            fields.insert("trust_policy".to_owned());
        }
        let changes = Changes {
            owner: changes.owner,
            fields,
            removed_keys: changes.removed_keys.clone(),
            owner_missing: changes.owner_missing,
            applied: None,
            found: &as_role(changes.found),
        };
        self.roles.update(cx, &wanted, &changes).await
    }

    async fn delete(
        &self,
        cx: &Cx,
        spec: &ServiceAccountRole,
        found: &Observed<ServiceAccountRole>,
    ) -> Result<(), Fault> {
        self.roles.delete(cx, &role(spec, Json::Null), &as_role(found)).await
    }
}

/// The OIDC provider of each cluster that is there.
async fn providers(aws: &Aws, clusters: BTreeSet<String>) -> Result<BTreeMap<String, String>, Fault> {
    let mut found = BTreeMap::new();
    for cluster in clusters {
        match describe_cluster(aws, &cluster).await {
            Ok(facts) => found.extend(provider_arn(&facts).map(|arn| (cluster, arn))),
            Err(fault) if fault.class == FaultClass::NotFound => {}
            Err(fault) => return Err(fault),
        }
    }
    Ok(found)
}

// `arn:aws:eks:region:account:cluster/name` and the issuer's URL give the provider's ARN.
fn provider_arn(cluster: &ClusterFacts) -> Option<String> {
    let mut parts = cluster.arn.split(':');
    let (partition, account) = (parts.nth(1)?, parts.nth(2)?);
    let issuer = cluster.oidc_issuer.strip_prefix("https://").filter(|issuer| !issuer.is_empty())?;
    Some(format!("arn:{partition}:iam::{account}:oidc-provider/{issuer}"))
}

fn role(spec: &ServiceAccountRole, trust_policy: Json) -> IamRole {
    IamRole {
        name: spec.name.clone(),
        description: spec.description.clone(),
        trust_policy,
        managed_policy_arns: spec.managed_policy_arns.clone(),
        tags: spec.tags.clone(),
    }
}

fn as_role(found: &Observed<ServiceAccountRole>) -> Observed<IamRole> {
    Observed {
        spec: role(&found.spec, Json::Null),
        outputs: IamRoleOutputs { id: found.outputs.id.clone(), arn: found.outputs.arn.clone() },
        ownership: found.ownership.clone(),
        readiness: found.readiness.clone(),
    }
}

fn observed(
    spec: &ServiceAccountRole,
    wanted: Option<&Trust>,
    found: Observed<IamRole>,
) -> Observed<ServiceAccountRole> {
    let Observed { spec: role, outputs, ownership, readiness } = found;
    let trust = Trust::read(&role.trust_policy);
    let told = ServiceAccountRole {
        name: spec.name.clone(),
        description: role.description,
        managed_policy_arns: role.managed_policy_arns,
        tags: role.tags,
        ..told(spec, trust.as_ref(), wanted)
    };
    let outputs = ServiceAccountRoleOutputs { id: outputs.id, arn: outputs.arn };
    Observed { spec: told, outputs, ownership, readiness }
}

// What a trust policy says in the words of the spec. One that is not of our making trusts nobody we know.
fn told(spec: &ServiceAccountRole, found: Option<&Trust>, wanted: Option<&Trust>) -> ServiceAccountRole {
    let base = ServiceAccountRole::default();
    match found.cloned() {
        found if found.is_some() && found.as_ref() == wanted => spec.clone(),
        Some(Trust::PodIdentity { cluster, namespace, service_account }) => ServiceAccountRole {
            method: POD_IDENTITY.to_owned(),
            cluster: Some(cluster),
            namespace,
            service_account,
            ..base
        },
        Some(Trust::Irsa { provider_arn, namespace, service_account }) => ServiceAccountRole {
            method: IRSA.to_owned(),
            // Which cluster a provider is of cannot be told from its ARN; that it is another one can.
            cluster: None,
            oidc_provider_arn: Some(provider_arn),
            namespace,
            service_account,
            ..base
        },
        None => base,
    }
}

fn no_provider(spec: &ServiceAccountRole) -> Fault {
    let cluster = spec.cluster.as_deref().unwrap_or_default();
    let message = format!("EKS cluster {cluster:?} is not there or has no OIDC issuer, which the role's trust needs");
    Fault::new(FaultClass::Invalid, format!("IAM role {:?}", spec.name), message).advise(
        "Check `cluster` and the provider's region, give the ARN in `oidc_provider_arn`, or use EKS Pod Identity.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> ServiceAccountRole {
        ServiceAccountRole {
            name: "r".to_owned(),
            method: IRSA.to_owned(),
            cluster: Some("ml".to_owned()),
            namespace: "a".to_owned(),
            service_account: "s".to_owned(),
            ..ServiceAccountRole::default()
        }
    }

    fn irsa(issuer: &str, account: &str) -> Trust {
        Trust::Irsa {
            provider_arn: format!("arn:aws:iam::1:oidc-provider/{issuer}"),
            namespace: "a".to_owned(),
            service_account: account.to_owned(),
        }
    }

    #[test]
    fn a_provider_is_named_by_the_clusters_issuer() {
        let mut cluster = ClusterFacts {
            arn: "arn:aws-cn:eks:cn-north-1:123456789012:cluster/ml".to_owned(),
            oidc_issuer: "https://oidc.eks.cn-north-1.amazonaws.com.cn/id/AB".to_owned(),
            ..ClusterFacts::default()
        };
        let arn = "arn:aws-cn:iam::123456789012:oidc-provider/oidc.eks.cn-north-1.amazonaws.com.cn/id/AB";
        assert_eq!(provider_arn(&cluster).as_deref(), Some(arn));
        cluster.oidc_issuer = String::new();
        assert_eq!(provider_arn(&cluster), None, "a cluster that is being made");
    }

    #[test]
    fn what_is_trusted_as_wanted_is_told_as_wanted() {
        assert_eq!(told(&spec(), Some(&irsa("i", "s")), Some(&irsa("i", "s"))), spec());
    }

    #[test]
    fn what_somebody_made_of_the_trust_is_told_in_the_specs_words() {
        let found = told(&spec(), Some(&irsa("i", "other")), Some(&irsa("i", "s")));
        assert_eq!(found.service_account, "other");
        let found = told(&spec(), Some(&irsa("other", "s")), Some(&irsa("i", "s")));
        assert_eq!(found.cluster, None, "another issuer is another cluster");
        assert_eq!(told(&spec(), None, Some(&irsa("i", "s"))).method, "");
        // The cluster is gone: nothing of the role can be as wanted, and it can still be deleted.
        assert_eq!(told(&spec(), Some(&irsa("i", "s")), None).cluster, None);
    }
}
