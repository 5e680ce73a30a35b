//! What S3 would refuse, and what would not do what it seems to.

use std::collections::BTreeSet;

use tf_provider::Diagnostics;
use value::Value;

use super::{ModelBucket, Retention};
use crate::resources::{arn, tags};

/// S3 takes a longer one for a rule; a key with it could not be written any more.
const MAX_PREFIX: usize = 1024;

pub(super) fn check(bucket: &ModelBucket, complaints: &mut Diagnostics) {
    check_name(&bucket.name, complaints);
    check_key(&bucket.kms_key_arn, complaints);
    check_prefixes(bucket, complaints);
    check_overlaps(bucket, complaints);
    check_days(bucket, complaints);
    check_principals(&bucket.readers, complaints);
    check_principals(&bucket.writers, complaints);
    check_protection(bucket, complaints);
    tags::check(&bucket.tags, complaints);
}

fn check_name(name: &Value<String>, complaints: &mut Diagnostics) {
    let Some(text) = name.get() else { return };
    if let Some(reason) = name_fault(text) {
        let advice = "Use 3 to 63 lower-case letters, digits and hyphens, with a letter or digit at both ends.";
        complaints.error(name, format!("The bucket name {text:?} cannot be used"), format!("{reason}\n\n{advice}"));
    }
}

fn name_fault(name: &str) -> Option<String> {
    let is_end = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    if !(3..=63).contains(&name.len()) {
        return Some(format!("It has {} characters.", name.len()));
    }
    if name.contains('.') {
        return Some("It has a dot, and S3's TLS certificates do not cover such a name.".to_owned());
    }
    if let Some(letter) = name.chars().find(|c| !is_end(*c) && *c != '-') {
        return Some(format!("It has the character {letter:?}."));
    }
    if !name.starts_with(is_end) || !name.ends_with(is_end) {
        return Some("It has a hyphen at one end.".to_owned());
    }
    let reserved = ["xn--", "sthree-", "amzn-s3-demo-"].iter().find(|prefix| name.starts_with(**prefix));
    let reserved =
        reserved.or_else(|| ["-s3alias", "--ol-s3", "--x-s3", "--table-s3"].iter().find(|s| name.ends_with(**s)));
    reserved.map(|part| format!("S3 keeps names with {part:?} for itself."))
}

fn check_key(key: &Value<String>, complaints: &mut Diagnostics) {
    let Some(text) = key.get().filter(|text| !arn::is_kms_key(text)) else { return };
    complaints.error(
        key,
        "The KMS key is not given by its ARN",
        format!(
            "{text:?} is not the ARN of a KMS key: an id or alias alone is looked up in the account of whoever writes.\n\n\
             Give the ARN, such as \"arn:aws:kms:us-east-1:123456789012:key/…\"."
        ),
    );
}

fn check_prefixes(bucket: &ModelBucket, complaints: &mut Diagnostics) {
    let retained = bucket.retention.get().into_iter().flatten().map(|rule| (&rule.prefix, rule.prefix.get()));
    for (at, prefix) in retained.filter_map(|(at, prefix)| Some((at, prefix?))) {
        check_prefix(at, prefix, complaints);
    }
    for prefix in bucket.protected_prefixes.get().into_iter().flatten() {
        check_prefix(&bucket.protected_prefixes, prefix, complaints);
    }
}

fn check_prefix<T>(at: &Value<T>, prefix: &str, complaints: &mut Diagnostics) {
    if let Some(rest) = prefix.strip_prefix('/') {
        complaints.error(
            at,
            format!("The prefix {prefix:?} begins with \"/\""),
            format!("Keys in S3 do not begin with a slash, so nothing would match it.\n\nWrite {rest:?}."),
        );
    }
    if prefix.contains(['*', '?']) {
        complaints.error(
            at,
            format!("The prefix {prefix:?} has a wildcard"),
            "A prefix is compared letter by letter; in the policy, a wildcard would cover other keys as well.\n\n\
             Give the beginning of the keys without \"*\" and \"?\".",
        );
    }
    if prefix.len() > MAX_PREFIX {
        complaints.error(
            at,
            "A prefix is too long",
            format!("It has {} bytes, and keys in S3 have at most {MAX_PREFIX}.\n\nGive a shorter one.", prefix.len()),
        );
    }
}

fn check_overlaps(bucket: &ModelBucket, complaints: &mut Diagnostics) {
    let rules: Vec<_> = bucket.retention.get().into_iter().flatten().filter_map(known_rule).collect();
    for protected in bucket.protected_prefixes.get().into_iter().flatten() {
        for (rule, prefix, _) in rules.iter().filter(|(_, prefix, _)| overlaps(prefix, protected)) {
            complaints.error(
                &rule.prefix,
                format!("Retention of {prefix:?} would delete what {protected:?} protects"),
                format!(
                    "Keys under one are under the other, in `retention` and in `protected_prefixes`.\n\n\
                     Give a retention prefix outside of {protected:?}, or take the protection away."
                ),
            );
        }
    }
    check_nested(&rules, complaints);
}

fn check_nested(rules: &[(&Retention, &str, u32)], complaints: &mut Diagnostics) {
    for (position, (rule, inner, inner_days)) in rules.iter().enumerate() {
        let twin = rules.iter().take(position).any(|(_, prefix, _)| prefix == inner);
        if twin {
            complaints.error(
                &rule.prefix,
                format!("The prefix {inner:?} has two retention rules"),
                "S3 would follow the one with fewer days.\n\nKeep one of them.",
            );
        }
        let shadow =
            rules.iter().find(|(_, outer, days)| outer != inner && inner.starts_with(outer) && days < inner_days);
        if let Some((_, outer, days)) = shadow {
            complaints.warn(
                &rule.prefix,
                format!("Retention of {inner:?} for {inner_days} days has no effect"),
                format!("Its keys are under {outer:?} too and expire after {days} days with those.\n\nGive {outer:?} at least {inner_days} days, or move one of the two."),
            );
        }
    }
}

fn known_rule(rule: &Retention) -> Option<(&Retention, &str, u32)> {
    Some((rule, rule.prefix.get()?.as_str(), *rule.expire_after_days.get()?))
}

fn overlaps(one: &str, other: &str) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

fn check_days(bucket: &ModelBucket, complaints: &mut Diagnostics) {
    let rules = bucket.retention.get().into_iter().flatten().map(|rule| &rule.expire_after_days);
    let own = [&bucket.noncurrent_expire_after_days, &bucket.abort_incomplete_uploads_after_days];
    for days in rules.chain(own).filter(|days| days.get().is_some_and(|days| !(1..=i32::MAX as u32).contains(days))) {
        complaints.error(
            days,
            "A number of days is out of range",
            "S3 counts whole days, from 1.\n\nGive at least 1; to delete at once, delete the objects.",
        );
    }
}

fn check_principals(principals: &Value<BTreeSet<String>>, complaints: &mut Diagnostics) {
    for principal in principals.get().into_iter().flatten().filter(|principal| !arn::is_principal(principal)) {
        complaints.error(
            principals,
            format!("{principal:?} cannot be granted access"),
            "It is not the ARN of an account, a user, a role or a session. Wildcards would make the bucket public.\n\n\
             Give an ARN such as \"arn:aws:iam::123456789012:role/trainer\"; a whole account is \
             \"arn:aws:iam::123456789012:root\".",
        );
    }
}

fn check_protection(bucket: &ModelBucket, complaints: &mut Diagnostics) {
    let has_protected = bucket.protected_prefixes.get().is_some_and(|prefixes| !prefixes.is_empty());
    if has_protected && bucket.versioning.get() == Some(&false) {
        complaints.warn(
            &bucket.versioning,
            "Without versioning, protected prefixes can still be overwritten",
            "Deleting objects under `protected_prefixes` is denied, but an upload of the same key replaces the data for \
             good.\n\nSet `versioning = true` to keep what was there before.",
        );
    }
}
