//! EKS Pod Identity associations. EKS names them by an id of its own, and has one at most for a service account: they
//! are found by that.

use std::sync::Arc;

use aws_sdk_eks::{Client, types::PodIdentityAssociation as Association};
use converge::{Changes, Creation, Cx, Driver, Fault, FaultClass, Observed, Readiness};

use super::{
    Aws,
    fault::{Absence, call},
    tags::{TagChange, marked, parted},
};
use crate::components::aws::{PodIdentityAssociation, PodIdentityAssociationOutputs};

pub(super) struct PodIdentityDriver(pub(super) Arc<Aws>);

impl Driver<PodIdentityAssociation> for PodIdentityDriver {
    const ACTIONS: &'static [&'static str] = &[
        "eks:CreatePodIdentityAssociation",
        "eks:DeletePodIdentityAssociation",
        "eks:DescribePodIdentityAssociation",
        "eks:ListPodIdentityAssociations",
        "eks:TagResource",
        "eks:UntagResource",
        "eks:UpdatePodIdentityAssociation",
        "iam:GetRole",
        "iam:PassRole",
    ];

    async fn observe(
        &self,
        _cx: &Cx,
        spec: &PodIdentityAssociation,
    ) -> Result<Option<Observed<PodIdentityAssociation>>, Fault> {
        let client = self.0.eks().await?;
        let Some(id) = find(client, spec).await? else { return Ok(None) };
        let sent = client.describe_pod_identity_association().cluster_name(&spec.cluster).association_id(id).send();
        let answer = call("eks:DescribePodIdentityAssociation", words(spec), sent).await.or_absent()?;
        Ok(answer.and_then(|answer| answer.association).map(|association| observed(spec, association)))
    }

    async fn create(
        &self,
        _cx: &Cx,
        spec: &PodIdentityAssociation,
        creation: &Creation<'_, PodIdentityAssociation>,
    ) -> Result<(), Fault> {
        let request = self
            .0
            .eks()
            .await?
            .create_pod_identity_association()
            .client_request_token(&creation.token)
            .cluster_name(&spec.cluster)
            .namespace(&spec.namespace)
            .service_account(&spec.service_account)
            .role_arn(&spec.role_arn)
            .set_tags(Some(marked(&spec.tags, creation.owner).into_iter().collect()));
        call("eks:CreatePodIdentityAssociation", words(spec), request.send()).await.map(drop)
    }

    async fn update(
        &self,
        _cx: &Cx,
        spec: &PodIdentityAssociation,
        changes: &Changes<'_, PodIdentityAssociation>,
    ) -> Result<(), Fault> {
        let client = self.0.eks().await?;
        retag(client, spec, changes).await?;
        if !changes.fields.contains("role_arn") {
            return Ok(());
        }
        let request = client
            .update_pod_identity_association()
            .cluster_name(&spec.cluster)
            .association_id(&changes.found.outputs.id)
            .role_arn(&spec.role_arn);
        call("eks:UpdatePodIdentityAssociation", words(spec), request.send()).await.map(drop)
    }

    async fn delete(
        &self,
        _cx: &Cx,
        spec: &PodIdentityAssociation,
        found: &Observed<PodIdentityAssociation>,
    ) -> Result<(), Fault> {
        let request = self
            .0
            .eks()
            .await?
            .delete_pod_identity_association()
            .cluster_name(&spec.cluster)
            .association_id(&found.outputs.id);
        call("eks:DeletePodIdentityAssociation", words(spec), request.send()).await.or_absent().map(drop)
    }
}

async fn find(client: &Client, spec: &PodIdentityAssociation) -> Result<Option<String>, Fault> {
    let mut token = None;
    loop {
        let request = client
            .list_pod_identity_associations()
            .cluster_name(&spec.cluster)
            .namespace(&spec.namespace)
            .service_account(&spec.service_account)
            .set_next_token(token);
        // Where the cluster is gone, its associations are.
        let answer = call("eks:ListPodIdentityAssociations", words(spec), request.send()).await.or_absent()?;
        let Some(page) = answer else { return Ok(None) };
        let is_this = |namespace: Option<&str>, account: Option<&str>| {
            namespace == Some(spec.namespace.as_str()) && account == Some(spec.service_account.as_str())
        };
        let mut listed = page.associations.unwrap_or_default().into_iter();
        let found = listed.find(|one| is_this(one.namespace.as_deref(), one.service_account.as_deref()));
        token = page.next_token.filter(|token| !token.is_empty());
        match found {
            Some(found) => return found.association_id.map(Some).ok_or_else(|| without_id(spec)),
            None if token.is_none() => return Ok(None),
            None => {}
        }
    }
}

fn observed(spec: &PodIdentityAssociation, found: Association) -> Observed<PodIdentityAssociation> {
    let (tags, ownership) = parted(found.tags.unwrap_or_default());
    Observed {
        spec: PodIdentityAssociation { role_arn: found.role_arn.unwrap_or_default(), tags, ..spec.clone() },
        outputs: PodIdentityAssociationOutputs {
            id: found.association_id.unwrap_or_default(),
            arn: found.association_arn.unwrap_or_default(),
        },
        ownership,
        readiness: Readiness::Ready,
    }
}

async fn retag(
    client: &Client,
    spec: &PodIdentityAssociation,
    changes: &Changes<'_, PodIdentityAssociation>,
) -> Result<(), Fault> {
    let change = TagChange::of(changes, &spec.tags, &changes.found.spec.tags);
    let arn = &changes.found.outputs.arn;
    if !change.put.is_empty() {
        let sent = client.tag_resource().resource_arn(arn).set_tags(Some(change.put.into_iter().collect())).send();
        call("eks:TagResource", words(spec), sent).await?;
    }
    if !change.remove.is_empty() {
        let keys = change.remove.into_iter().collect();
        let sent = client.untag_resource().resource_arn(arn).set_tag_keys(Some(keys)).send();
        call("eks:UntagResource", words(spec), sent).await?;
    }
    Ok(())
}

fn without_id(spec: &PodIdentityAssociation) -> Fault {
    Fault::new(FaultClass::Unavailable, words(spec), "EKS lists the association without its id")
}

fn words(spec: &PodIdentityAssociation) -> String {
    format!(
        "Pod Identity association of service account \"{}/{}\" in cluster {:?}",
        spec.namespace, spec.service_account, spec.cluster
    )
}
