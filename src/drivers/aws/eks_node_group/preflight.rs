//! What is asked at plan time about a node group to be made: whether its subnets are there and in the cluster's
//! network, whether its instance types are offered in their zones, whether a node can use its role, and whether the
//! account's quotas hold its nodes.
//!
//! Asks; what the answers mean is `findings`. A question that cannot be asked, for want of a permission say, gives no
//! finding.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use aws_sdk_iam::Client;
use converge::{Action, Cx, Fault, Finding, Step};
use futures::{FutureExt, future::join_all};

use super::{
    findings::{Answers, Role, judge},
    room,
};
use crate::{
    components::aws::{NodeGroup, OWNER_TAG},
    drivers::aws::{
        Aws, describe_cluster,
        fault::{Absence, call},
        iam_role::{attached, inline, policy_json},
        offerings::offerings,
        quotas::{Quota, Quotas},
        subnets::subnets,
    },
};

/// A plan does not wait for an AWS that does not answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is asked about cannot be changed of a group that is there, but for its size: only one that is made is asked
/// about whole.
pub(super) async fn findings(aws: &Aws, quotas: &Quotas, cx: &Cx, (spec, step): (&NodeGroup, &Step)) -> Vec<Finding> {
    let asked = async {
        match step.action {
            Action::Create | Action::Replace | Action::Roll => {
                let (mut answers, quotas) = tokio::join!(ask(aws, spec), room(quotas, cx, spec).boxed());
                answers.quotas = quotas;
                judge(spec, &answers)
            }
            Action::Update if step.fields.contains("max") || step.fields.contains("min") => {
                let region = aws.region().await.map(str::to_owned).unwrap_or_default();
                let quotas = room(quotas, cx, spec).await;
                judge(spec, &Answers { region, quotas, ..Answers::default() })
            }
            _ => Vec::new(),
        }
    };
    tokio::select! {
        biased;
        findings = asked => findings,
        () = cx.cancel.cancelled() => Vec::new(),
        () = cx.clock.sleep(PATIENCE) => Vec::new(),
    }
}

// All at once.
async fn ask(aws: &Aws, spec: &NodeGroup) -> Answers {
    let types: BTreeSet<String> = spec.instance_types.iter().cloned().collect();
    let region = async { aws.region().await.map(str::to_owned).unwrap_or_default() };
    let cluster = async { describe_cluster(aws, &spec.cluster).await.ok() };
    let subnets = async { subnets(aws.ec2().await.ok()?, &spec.subnet_ids).await.ok() };
    let offered = async { if types.is_empty() { None } else { offerings(aws, &types).await.ok() } };
    let role = async { role(aws, &spec.node_role_arn).await.ok().flatten() };
    // Boxed, for the SDK's futures are large.
    let (region, cluster, subnets, offered, role) =
        tokio::join!(region, cluster.boxed(), subnets.boxed(), offered.boxed(), role.boxed());
    let network = cluster.map(|cluster| cluster.vpc_id).filter(|id| !id.is_empty());
    Answers { region, network, subnets, offered, role, quotas: BTreeMap::new() }
}

// Those of the quotas that could be asked for.
async fn room(quotas: &Quotas, cx: &Cx, spec: &NodeGroup) -> BTreeMap<String, Quota> {
    let asked = room::codes(spec).into_iter().map(async |code| {
        let quota = quotas.get(cx, code).await.ok().flatten()?;
        Some((code.to_owned(), quota))
    });
    join_all(asked).await.into_iter().flatten().collect()
}

// None where the role is not known yet, or is one that we make and mend.
async fn role(aws: &Aws, arn: &str) -> Result<Option<Role>, Fault> {
    let Some(name) = arn.rsplit('/').next().filter(|name| !name.is_empty()) else { return Ok(None) };
    let client = aws.iam().await?;
    let found = call("iam:GetRole", format!("IAM role {name:?}"), client.get_role().role_name(name).send());
    let (found, policies) = tokio::join!(found, policies(client, name));
    let Some(role) = found.or_absent()?.and_then(|answer| answer.role) else { return Ok(Some(Role::Missing)) };
    if role.tags.unwrap_or_default().iter().any(|tag| tag.key == OWNER_TAG) {
        return Ok(None);
    }
    let trust = policy_json(role.assume_role_policy_document.as_deref().unwrap_or_default());
    Ok(policies?.map(|policies| Role::There { trust, policies }))
}

// ARNs of the policies attached and names of those inside.
async fn policies(client: &Client, role: &str) -> Result<Option<BTreeSet<String>>, Fault> {
    let (attached, inline) = tokio::join!(attached(client, role), inline(client, role));
    let (Some(mut policies), Some(inline)) = (attached.or_absent()?, inline.or_absent()?) else { return Ok(None) };
    policies.extend(inline);
    Ok(Some(policies))
}
