//! The child objects that give pods access to data: a role with its policy for each service account, and the
//! association or the annotation by which pods come to it.

use std::collections::{BTreeMap, BTreeSet};

use converge::{Graph, Handle};
use serde_json::json;
use value::Value;

use super::{
    access,
    attributes::{Access, DataAccess, Tenant},
    expand::{Parts, WORKLOAD},
};
use crate::{
    components::{
        aws::{
            IRSA, IamRolePolicy, IamRolePolicyDraft, POD_IDENTITY, PodIdentityAssociation, PodIdentityAssociationDraft,
            ServiceAccountRole, ServiceAccountRoleDraft, ServiceAccountRoleOutputs, Tags,
        },
        kube::{Labels, ServiceAccount},
    },
    resources::{
        kubernetes::{self, Adopt},
        tags,
    },
    settings::Settings,
};

pub(super) fn add(tenant: &mut Tenant, parts: &Parts<'_>, graph: &mut Graph) {
    let mut accounts: BTreeMap<String, Vec<DataAccess>> = BTreeMap::new();
    for access in graph.shape(&tenant.data_access).into_iter().flatten() {
        if let Some(account) = graph.shape(&access.service_account) {
            accounts.entry(account.clone()).or_default().push(access.clone());
        }
    }
    let method = graph.shape(&tenant.access_method).copied();
    let tags = all_tags(tenant, parts.settings);
    let mut arns = Value::known(BTreeMap::new());
    for (account, accesses) in &accounts {
        let role = add_role(tenant, account, &tags, graph);
        let policy = add_policy(tenant, account, accesses, graph);
        graph.after(&policy, &role);
        graph.after(&parts.namespace, &policy);
        let arn = role.output(ServiceAccountRoleOutputs::ARN);
        if method == Some(Access::Irsa) {
            add_annotated(tenant, account, &arn, parts, graph);
        } else {
            let association = add_association(tenant, account, &arn, &tags, graph);
            graph.after(&association, &policy);
            graph.after(&parts.namespace, &association);
        }
        arns = arns.with(&arn, |arns: Option<&BTreeMap<String, String>>, arn| {
            let mut arns = arns.cloned().unwrap_or_default();
            arns.extend(arn.map(|arn| (account.clone(), arn.clone())));
            arns
        });
    }
    tenant.role_arns = arns;
}

// The team that costs are told of is the tenant's in AWS too.
fn all_tags(tenant: &Tenant, settings: &Settings) -> Value<Tags> {
    let user = tenant.tags.with(&tenant.team, |tags, team| {
        let mut all: Tags = team.map(|team| ("team".to_owned(), team.clone())).into_iter().collect();
        all.extend(tags.cloned().unwrap_or_default());
        all
    });
    tags::merged(&user, &tags::stamps(settings, &Value::from(WORKLOAD)))
}

fn role_name(tenant: &Tenant, account: &str) -> Value<String> {
    let cluster = tenant.cluster.with(&Value::<()>::null(), |cluster, _| cluster.cloned());
    tenant.name.with(&cluster, |namespace, cluster| {
        let cluster = cluster.and_then(Option::as_deref);
        access::role_name(cluster, namespace.map_or("", String::as_str), account)
    })
}

fn add_role(tenant: &Tenant, account: &str, tags: &Value<Tags>, graph: &mut Graph) -> Handle<ServiceAccountRole> {
    let is_irsa = tenant.access_method.get() == Some(&Access::Irsa);
    let word = |method: &Access| if *method == Access::Irsa { IRSA } else { POD_IDENTITY }.to_owned();
    let draft = ServiceAccountRoleDraft {
        name: role_name(tenant, account),
        description: tenant.name.map(|namespace| format!("Data access of service account {namespace}/{account}")),
        method: tenant.access_method.map(word),
        cluster: tenant.cluster.map(Clone::clone),
        namespace: tenant.name.map(Clone::clone),
        service_account: Value::from(account),
        oidc_provider_arn: if is_irsa { tenant.oidc_provider_arn.map(Clone::clone) } else { Value::null() },
        managed_policy_arns: Value::known(BTreeSet::new()),
        tags: tags.clone(),
    };
    graph.add(format!("role_{account}"), draft)
}

fn add_policy(tenant: &Tenant, account: &str, accesses: &[DataAccess], graph: &mut Graph) -> Handle<IamRolePolicy> {
    let is_pending = |access: &DataAccess| {
        let texts = [&access.bucket_arn, &access.prefix, &access.kms_key_arn];
        access.mode.is_pending() || texts.iter().any(|text| text.is_pending())
    };
    let document = kubernetes::manifest(!accesses.iter().any(is_pending), || access::policy(accesses));
    let draft = IamRolePolicyDraft {
        role: role_name(tenant, account),
        name: Value::from(access::POLICY),
        document: document.blamed_on(&tenant.data_access),
    };
    graph.add(format!("role_policy_{account}"), draft)
}

fn add_association(
    tenant: &Tenant,
    account: &str,
    role_arn: &Value<String>,
    tags: &Value<Tags>,
    graph: &mut Graph,
) -> Handle<PodIdentityAssociation> {
    let draft = PodIdentityAssociationDraft {
        cluster: tenant.cluster.map(Clone::clone),
        namespace: tenant.name.map(Clone::clone),
        service_account: Value::from(account),
        role_arn: role_arn.clone(),
        tags: tags.clone(),
    };
    graph.add(format!("pod_identity_{account}"), draft)
}

fn add_annotated(tenant: &Tenant, account: &str, arn: &Value<String>, parts: &Parts<'_>, graph: &mut Graph) {
    if graph.shape(&tenant.annotate_service_accounts) != Some(&true) {
        return;
    }
    let mut draft = parts.common.object::<ServiceAccount>(&Value::from(account), Value::known(json!({})));
    draft.annotations =
        arn.and_then(|arn| Value::known(Labels::from([(access::ROLE_ANNOTATION.to_owned(), arn.clone())])));
    // The cluster itself makes `default` with the namespace, which is ours.
    draft.adopt = tenant
        .adopt
        .map(|adopt| if *adopt == Adopt::Always { Adopt::Always } else { Adopt::IfUnmanaged }.as_str().to_owned());
    parts.put(graph, format!("service_account_{account}"), draft);
}
