//! What would be refused of a tenant's access to data, of its secrets and of its members.

use std::collections::{BTreeMap, BTreeSet};

use tf_provider::Diagnostics;
use value::Value;

use super::{
    Tenant, access,
    attributes::{Access, DataAccess, ExternalSecretCopy, Member},
    expand::fill_in_secret_key,
};
use crate::resources::{
    arn,
    kubernetes::{NameRule, name_fault},
};

/// IAM's limit for the inline policies of a role, without white space.
const POLICY_LIMIT: usize = 10_240;

pub(super) fn check(tenant: &Tenant, complaints: &mut Diagnostics) {
    check_method(tenant, complaints);
    check_data(tenant, complaints);
    check_secrets(tenant, complaints);
    check_members(tenant, complaints);
}

fn check_method(tenant: &Tenant, complaints: &mut Diagnostics) {
    let is_irsa = tenant.access_method.get() == Some(&Access::Irsa);
    let has_access = tenant.data_access.get().is_some_and(|all| !all.is_empty());
    let has_provider = is_irsa && !tenant.oidc_provider_arn.is_null();
    if has_access && tenant.cluster.is_null() && !has_provider {
        let needs = if is_irsa { "IAM roles for service accounts need" } else { "EKS Pod Identity needs" };
        complaints.error(
            &tenant.data_access,
            "Access to data needs an EKS cluster",
            format!(
                "{needs} to know the cluster, and `cluster` is left out.\n\nName the EKS cluster in `cluster`, or set \
                 `access_method` to \"irsa\" and give `oidc_provider_arn`."
            ),
        );
    }
    let provider = &tenant.oidc_provider_arn;
    if let Some(text) = provider.get().filter(|text| !arn::is_oidc_provider(text)) {
        complaints.error(
            provider,
            format!("{text:?} is not the ARN of an OIDC provider"),
            "The trust of the roles names it.\n\nGive one such as \
             \"arn:aws:iam::123456789012:oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/0A1B\".",
        );
    } else if !is_irsa && !provider.is_null() && !tenant.access_method.is_pending() {
        complaints.warn(
            provider,
            "The OIDC provider has no effect",
            "EKS Pod Identity does without one.\n\nSet `access_method` to \"irsa\" or leave it out.",
        );
    }
}

fn check_data(tenant: &Tenant, complaints: &mut Diagnostics) {
    let all = tenant.data_access.get().map(Vec::as_slice).unwrap_or_default();
    let mut seen = BTreeSet::new();
    let mut accounts: BTreeMap<&str, Vec<DataAccess>> = BTreeMap::new();
    for access in all {
        check_one(access, complaints);
        let account = access.service_account.get().map_or("default", String::as_str);
        accounts.entry(account).or_default().push(access.clone());
        let Some(bucket) = access.bucket_arn.get() else { continue };
        let is_told = access.prefix.is_pending() || access.service_account.is_pending();
        let prefix = access.prefix.get().map_or("", String::as_str);
        if !is_told && !seen.insert((bucket.as_str(), prefix, account)) {
            complaints.error(
                &access.bucket_arn,
                format!("Access to {prefix:?} of {bucket:?} is given twice"),
                format!(
                    "Service account {account:?} has it already.\n\nLeave one out; `mode = \"write\"` includes reading."
                ),
            );
        }
    }
    for (account, accesses) in accounts {
        let length = access::policy(&accesses).to_string().len();
        if length > POLICY_LIMIT {
            complaints.error(
                &tenant.data_access,
                format!("Service account {account:?} has too many accesses for one policy"),
                format!(
                    "The policy has {length} characters, and IAM takes {POLICY_LIMIT}.\n\nGive shorter lists of \
                     prefixes, or divide them among service accounts."
                ),
            );
        }
    }
}

fn check_one(access: &DataAccess, complaints: &mut Diagnostics) {
    if let Some(text) = access.bucket_arn.get().filter(|text| !arn::is_bucket(text)) {
        complaints.error(
            &access.bucket_arn,
            format!("{text:?} is not the ARN of a bucket"),
            "It stands in the policy as it is.\n\nGive the ARN without keys, such as `mlplat_model_bucket.models.arn`.",
        );
    }
    check_prefix(&access.prefix, complaints);
    if let Some(name) = access.service_account.get()
        && let Some(reason) = name_fault(name, NameRule::Subdomain)
    {
        complaints.error(&access.service_account, format!("{name:?} cannot be the name of a service account"), reason);
    }
    if let Some(text) = access.kms_key_arn.get().filter(|text| !arn::is_kms_key(text) || text.contains(":alias/")) {
        complaints.error(
            &access.kms_key_arn,
            format!("{text:?} is not the ARN of a KMS key"),
            "A policy cannot name a key by an alias.\n\nGive the ARN with `key/` and the key's id.",
        );
    }
}

fn check_prefix(prefix: &Value<String>, complaints: &mut Diagnostics) {
    let Some(text) = prefix.get() else { return };
    let (what, advice) = match () {
        () if text.contains(['*', '?']) => {
            ("has a wildcard", "Give the beginning of the keys; what follows is included.")
        }
        () if text.contains("${") => ("has a policy variable", "Give the beginning of the keys as it is."),
        () if text.starts_with('/') => ("begins with \"/\"", "Leave the slash out; keys do not begin with one."),
        () if text.len() > 1024 => ("is longer than a key can be", "Give at most 1024 bytes."),
        () => return,
    };
    complaints.error(
        prefix,
        format!("The prefix {text:?} {what}"),
        format!("It would allow other keys than it seems to.\n\n{advice}"),
    );
}

fn check_secrets(tenant: &Tenant, complaints: &mut Diagnostics) {
    let mut seen = BTreeSet::new();
    for secret in tenant.external_secrets.get().into_iter().flatten() {
        check_secret(secret, complaints);
        if let Some(name) = secret.name.get().filter(|name| !seen.insert(name.as_str())) {
            complaints.error(
                &secret.name,
                format!("The secret {name:?} is there twice"),
                "Both would write the same Secret.\n\nGive each a name of its own.",
            );
        }
    }
}

fn check_secret(secret: &ExternalSecretCopy, complaints: &mut Diagnostics) {
    if let Some(name) = secret.name.get()
        && let Some(reason) = name_fault(name, NameRule::Subdomain)
    {
        complaints.error(&secret.name, format!("The secret name {name:?} cannot be used"), reason);
    }
    if let Some(kind) =
        secret.store_kind.get().filter(|kind| !["ClusterSecretStore", "SecretStore"].contains(&kind.as_str()))
    {
        complaints.error(
            &secret.store_kind,
            format!("{kind:?} is not a kind of store"),
            "The External Secrets operator has two.\n\nGive \"ClusterSecretStore\" or \"SecretStore\".",
        );
    }
    for (text, name) in [(&secret.store, "store"), (&secret.key, "key"), (&secret.property, "property")] {
        if text.get().is_some_and(|text| text.trim().is_empty()) {
            complaints.error(
                text,
                format!("The `{name}` of a secret is an empty text"),
                "Nothing is found by it.\n\nGive the name that the store knows.",
            );
        }
    }
    check_secret_key(secret, complaints);
    let is_interval = |text: &&String| {
        let number = text.trim_end_matches(|c: char| c.is_ascii_lowercase());
        let is_number = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
        is_number && ["s", "m", "h"].contains(&text.trim_start_matches(|c: char| c.is_ascii_digit()))
    };
    if let Some(text) = secret.refresh_interval.get().filter(|text| !is_interval(text)) {
        complaints.error(
            &secret.refresh_interval,
            format!("{text:?} is not an interval"),
            "The operator does not take it.\n\nGive a number of seconds, minutes or hours, such as \"30m\" or \"1h\".",
        );
    }
}

// Where it is not given, it follows from the others.
fn check_secret_key(secret: &ExternalSecretCopy, complaints: &mut Diagnostics) {
    let is_key = |key: &str| !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    let given = &secret.secret_key;
    if let Some(key) = given.get().filter(|key| !is_key(key)) {
        complaints.error(
            given,
            format!("{key:?} cannot be a key in a Secret"),
            "Kubernetes does not take it.\n\nUse letters, digits, hyphens, underscores and dots.",
        );
    }
    let mut filled = secret.clone();
    fill_in_secret_key(&mut filled);
    let from = if secret.property.is_null() { &secret.key } else { &secret.property };
    let is_told = from.get().is_some_and(|from| !from.trim().is_empty());
    if let Some(key) = filled.secret_key.get().filter(|key| given.is_null() && is_told && !is_key(key)) {
        complaints.error(
            from,
            format!("No key in the Secret follows from {:?}", from.get().map_or("", String::as_str)),
            format!(
                "It would be {key:?}, which Kubernetes does not take.\n\nGive `secret_key`: letters, digits, hyphens, \
                 underscores and dots."
            ),
        );
    }
}

fn check_members(tenant: &Tenant, complaints: &mut Diagnostics) {
    let mut seen = BTreeSet::new();
    for member in tenant.members.get().into_iter().flatten() {
        check_member(member, complaints);
        let who = [&member.group, &member.user].map(Value::get);
        let Some(role) = member.role.get().filter(|_| who.iter().any(Option::is_some)) else { continue };
        if !seen.insert((who, role)) {
            complaints.error(
                &member.role,
                format!("The role {role:?} is given to the same member twice"),
                "Once is enough.\n\nLeave one out.",
            );
        }
    }
}

fn check_member(member: &Member, complaints: &mut Diagnostics) {
    let (group, user) = (&member.group, &member.user);
    if group.is_null() == user.is_null() {
        let place = if group.is_null() { &member.role } else { user };
        complaints.error(
            place,
            "A member is either a group or a user",
            "One role binding is made for each member.\n\nGive exactly one of `group` and `user`.",
        );
    }
    for name in [group, user, &member.role] {
        if name.get().is_some_and(|name| name.trim().is_empty()) {
            complaints.error(
                name,
                "A member has no name",
                "The text is empty.\n\nGive a name or leave the member out.",
            );
        }
    }
    let role = &member.role;
    if let Some(name) = role.get().filter(|name| name.contains(['/', '%'])) {
        complaints.error(
            role,
            format!("{name:?} cannot be the name of a ClusterRole"),
            "It has a character that stands for something else in an address.\n\nGive the name alone.",
        );
    }
    if role.get().is_some_and(|role| role == "cluster-admin") {
        complaints.warn(
            role,
            "This member can lift the tenant's limits",
            "Within the namespace \"cluster-admin\" may change quotas and limits.\n\nGive \"admin\", which may not, \
             unless it is meant so.",
        );
    }
}
