//! IAM roles.

use std::{collections::BTreeSet, sync::Arc};

use aws_sdk_iam::{
    Client,
    types::{Role, Tag},
};
use converge::{Changes, Creation, Cx, Driver, Fault, FaultClass, Observed, Readiness};
use futures::TryFutureExt;
use serde_json::Value as Json;

use crate::{
    components::aws::{IamRole, IamRoleOutputs, Tags, policy::as_spelled},
    drivers::aws::{
        Aws,
        fault::{Absence, call, unbuildable},
        tags::{TagChange, marked, parted},
    },
};

pub(super) struct IamRoleDriver(pub(super) Arc<Aws>);

impl Driver<IamRole> for IamRoleDriver {
    const ACTIONS: &'static [&'static str] = &[
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

    async fn observe(&self, _cx: &Cx, spec: &IamRole) -> Result<Option<Observed<IamRole>>, Fault> {
        let client = self.0.iam().await?;
        let sent = client.get_role().role_name(&spec.name).send();
        let role = call("iam:GetRole", words(&spec.name), sent).and_then(|found| async { Ok(found.role) });
        // Both questions at once; a role that is gone answers neither.
        let (role, attached) = tokio::join!(role, attached(client, &spec.name));
        let Some(role) = role.or_absent()?.flatten() else { return Ok(None) };
        let Some(managed_policy_arns) = attached.or_absent()? else { return Ok(None) };
        Ok(Some(observed(spec, role, managed_policy_arns)))
    }

    async fn create(&self, _cx: &Cx, spec: &IamRole, creation: &Creation<'_, IamRole>) -> Result<(), Fault> {
        let client = self.0.iam().await?;
        let request = client
            .create_role()
            .role_name(&spec.name)
            .set_description((!spec.description.is_empty()).then(|| spec.description.clone()))
            .assume_role_policy_document(spec.trust_policy.to_string())
            .set_tags(Some(tag_list(&marked(&spec.tags, creation.owner))?));
        call("iam:CreateRole", words(&spec.name), request.send()).await?;
        for arn in &spec.managed_policy_arns {
            attach(client, &spec.name, arn).await?;
        }
        Ok(())
    }

    async fn update(&self, _cx: &Cx, spec: &IamRole, changes: &Changes<'_, IamRole>) -> Result<(), Fault> {
        let client = self.0.iam().await?;
        let found = &changes.found.spec;
        self.retag(client, spec, changes).await?;
        if changes.fields.contains("description") {
            let sent = client.update_role().role_name(&spec.name).description(&spec.description).send();
            call("iam:UpdateRole", words(&spec.name), sent).await?;
        }
        if changes.fields.contains("trust_policy") {
            let request = client.update_assume_role_policy().role_name(&spec.name);
            let sent = request.policy_document(spec.trust_policy.to_string()).send();
            call("iam:UpdateAssumeRolePolicy", words(&spec.name), sent).await?;
        }
        if changes.fields.contains("managed_policy_arns") {
            // One after the other: IAM refuses changes of one role that overlap. First what is missed, then what is
            // too much, so that a role is never without a policy that both have.
            for arn in spec.managed_policy_arns.difference(&found.managed_policy_arns) {
                attach(client, &spec.name, arn).await?;
            }
            for arn in found.managed_policy_arns.difference(&spec.managed_policy_arns) {
                detach(client, &spec.name, arn).await?;
            }
        }
        Ok(())
    }

    async fn delete(&self, _cx: &Cx, spec: &IamRole, _found: &Observed<IamRole>) -> Result<(), Fault> {
        let client = self.0.iam().await?;
        // Whatever others attached goes too: IAM deletes only bare roles, and this one is ours.
        for arn in attached(client, &spec.name).await.or_absent()?.unwrap_or_default() {
            detach(client, &spec.name, &arn).await?;
        }
        for policy in inline(client, &spec.name).await.or_absent()?.unwrap_or_default() {
            let sent = client.delete_role_policy().role_name(&spec.name).policy_name(policy).send();
            call("iam:DeleteRolePolicy", words(&spec.name), sent).await.or_absent()?;
        }
        let sent = client.delete_role().role_name(&spec.name).send();
        match call("iam:DeleteRole", words(&spec.name), sent).await.or_absent() {
            // EKS takes the role out of its instance profile a moment after the node group is gone.
            Err(fault) if fault.class == FaultClass::Busy => Err(in_profiles(client, &spec.name, fault).await),
            outcome => outcome.map(drop),
        }
    }
}

impl IamRoleDriver {
    async fn retag(&self, client: &Client, spec: &IamRole, changes: &Changes<'_, IamRole>) -> Result<(), Fault> {
        let change = TagChange::of(changes, &spec.tags, &changes.found.spec.tags);
        if !change.put.is_empty() {
            let sent = client.tag_role().role_name(&spec.name).set_tags(Some(tag_list(&change.put)?)).send();
            call("iam:TagRole", words(&spec.name), sent).await?;
        }
        if !change.remove.is_empty() {
            let keys = change.remove.into_iter().collect();
            let sent = client.untag_role().role_name(&spec.name).set_tag_keys(Some(keys)).send();
            call("iam:UntagRole", words(&spec.name), sent).await?;
        }
        Ok(())
    }
}

fn observed(spec: &IamRole, role: Role, managed_policy_arns: BTreeSet<String>) -> Observed<IamRole> {
    let (tags, ownership) = parted(role.tags.unwrap_or_default().into_iter().map(|tag| (tag.key, tag.value)));
    let trust = policy_json(role.assume_role_policy_document.as_deref().unwrap_or_default());
    Observed {
        spec: IamRole {
            name: spec.name.clone(),
            description: role.description.unwrap_or_default(),
            trust_policy: as_spelled(trust, &spec.trust_policy),
            managed_policy_arns,
            tags,
        },
        outputs: IamRoleOutputs { id: role.role_name, arn: role.arn },
        ownership,
        readiness: Readiness::Ready,
    }
}

/// IAM answers with the JSON percent-encoded.
pub(super) fn policy_json(text: &str) -> Json {
    let decoded = percent_decoded(text);
    serde_json::from_str(&decoded).unwrap_or(Json::String(decoded))
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let escaped = match (first, tail) {
            (b'%', [high, low, tail @ ..]) => hex(*high).zip(hex(*low)).map(|(high, low)| (high << 4 | low, tail)),
            _ => None,
        };
        let (byte, tail) = escaped.unwrap_or((first, tail));
        bytes.push(byte);
        rest = tail;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

/// ARNs of the policies attached to a role.
pub(super) async fn attached(client: &Client, role: &str) -> Result<BTreeSet<String>, Fault> {
    let (mut arns, mut marker) = (BTreeSet::new(), None);
    loop {
        let sent = client.list_attached_role_policies().role_name(role).set_marker(marker).send();
        let page = call("iam:ListAttachedRolePolicies", words(role), sent).await?;
        arns.extend(page.attached_policies.unwrap_or_default().into_iter().filter_map(|policy| policy.policy_arn));
        marker = page.marker.filter(|_| page.is_truncated);
        if marker.is_none() {
            return Ok(arns);
        }
    }
}

/// Names of the policies inside a role.
pub(super) async fn inline(client: &Client, role: &str) -> Result<Vec<String>, Fault> {
    let (mut names, mut marker) = (Vec::new(), None);
    loop {
        let sent = client.list_role_policies().role_name(role).set_marker(marker).send();
        let page = call("iam:ListRolePolicies", words(role), sent).await?;
        names.extend(page.policy_names);
        marker = page.marker.filter(|_| page.is_truncated);
        if marker.is_none() {
            return Ok(names);
        }
    }
}

async fn attach(client: &Client, role: &str, arn: &str) -> Result<(), Fault> {
    let sent = client.attach_role_policy().role_name(role).policy_arn(arn).send();
    let object = format!("policy {arn:?} on {}", words(role));
    call("iam:AttachRolePolicy", object, sent).await.map(drop)
}

async fn detach(client: &Client, role: &str, arn: &str) -> Result<(), Fault> {
    let sent = client.detach_role_policy().role_name(role).policy_arn(arn).send();
    let object = format!("policy {arn:?} on {}", words(role));
    call("iam:DetachRolePolicy", object, sent).await.or_absent().map(drop)
}

// Names what keeps the role, where it can be seen.
async fn in_profiles(client: &Client, role: &str, fault: Fault) -> Fault {
    let sent = client.list_instance_profiles_for_role().role_name(role).send();
    let Ok(found) = call("iam:ListInstanceProfilesForRole", words(role), sent).await else { return fault };
    let names: Vec<_> = found.instance_profiles.iter().map(|profile| profile.instance_profile_name.as_str()).collect();
    if names.is_empty() {
        return fault;
    }
    let message = format!("{} (the role is in the instance profiles {})", fault.message, names.join(", "));
    Fault { message, ..fault }.advise("Take the role out of those instance profiles, then run terraform destroy again.")
}

fn tag_list(tags: &Tags) -> Result<Vec<Tag>, Fault> {
    tags.iter().map(|(key, value)| Tag::builder().key(key).value(value).build().map_err(unbuildable)).collect()
}

fn words(role: &str) -> String {
    format!("IAM role {role:?}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_policy_is_decoded() {
        let encoded = "%7B%22Version%22%3A%222012-10-17%22%2C%22Statement%22%3A%5B%5D%7D";
        assert_eq!(policy_json(encoded), json!({"Version": "2012-10-17", "Statement": []}));
        assert_eq!(policy_json("{\"Statement\":[]}"), json!({"Statement": []}));
        assert_eq!(policy_json("100%"), json!("100%"));
    }

    #[test]
    fn text_that_is_not_encoded_stays() {
        assert_eq!(percent_decoded("a%2"), "a%2");
        assert_eq!(percent_decoded("%zz%41"), "%zzA");
        assert_eq!(percent_decoded("%C3%A4"), "ä");
    }
}
