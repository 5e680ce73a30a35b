//! ARNs: which partition a region is in, and what an ARN that a user gives is of.

/// The partition of a region.
pub(super) fn partition(region: &str) -> &'static str {
    const BY_PREFIX: [(&str, &str); 7] = [
        ("cn-", "aws-cn"),
        ("us-gov-", "aws-us-gov"),
        ("us-isob-", "aws-iso-b"),
        ("us-isof-", "aws-iso-f"),
        ("eu-isoe-", "aws-iso-e"),
        ("us-iso-", "aws-iso"),
        ("eusc-", "aws-eusc"),
    ];
    BY_PREFIX.iter().find(|(prefix, _)| region.starts_with(prefix)).map_or("aws", |(_, partition)| partition)
}

/// The name of the role, if the text is the ARN of one: what stands after the last slash.
pub(super) fn role_name(arn: &str) -> Option<&str> {
    let resource = resource(arn, "iam")?.strip_prefix("role/")?;
    resource.rsplit('/').next().filter(|name| !name.is_empty())
}

/// Whether the text is the ARN of something that a bucket policy can name: an account, a user, a role or a session.
pub(super) fn is_principal(arn: &str) -> bool {
    let iam = resource(arn, "iam").is_some_and(|resource| {
        resource == "root"
            || ["role/", "user/"].iter().any(|kind| resource.len() > kind.len() && resource.starts_with(kind))
    });
    iam || resource(arn, "sts").is_some_and(|resource| resource.starts_with("assumed-role/"))
}

/// Whether the text is the ARN of a KMS key or of an alias of one.
pub(super) fn is_kms_key(arn: &str) -> bool {
    resource(arn, "kms").is_some_and(|resource| {
        ["key/", "alias/"].iter().any(|kind| resource.len() > kind.len() && resource.starts_with(kind))
    })
}

/// Whether the text is the ARN of an OIDC provider.
pub(super) fn is_oidc_provider(arn: &str) -> bool {
    resource(arn, "iam").and_then(|resource| resource.strip_prefix("oidc-provider/")).is_some_and(|url| !url.is_empty())
}

/// Whether the text is the ARN of a bucket, without keys.
pub(super) fn is_bucket(arn: &str) -> bool {
    let name = arn.strip_prefix("arn:aws").and_then(|rest| rest.split_once(":s3:::")).map(|(_, name)| name);
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-._".contains(c);
    name.is_some_and(|name| !name.is_empty() && name.chars().all(is_allowed))
}

// The resource part of an ARN of an account's object of that service.
fn resource<'a>(arn: &'a str, service: &str) -> Option<&'a str> {
    let mut parts = arn.splitn(6, ':');
    let (scheme, partition, of) = (parts.next()?, parts.next()?, parts.next()?);
    let (_region, account, resource) = (parts.next()?, parts.next()?, parts.next()?);
    let is_account = account.len() == 12 && account.bytes().all(|digit| digit.is_ascii_digit());
    let is_plain = !arn.contains(['*', '?']) && !arn.contains(char::is_whitespace);
    (scheme == "arn" && partition.starts_with("aws") && of == service && is_account && is_plain).then_some(resource)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_in_one_partition() {
        for (region, expected) in [
            ("us-east-1", "aws"),
            ("eu-central-1", "aws"),
            ("cn-north-1", "aws-cn"),
            ("us-gov-west-1", "aws-us-gov"),
            ("us-iso-east-1", "aws-iso"),
            ("us-isob-east-1", "aws-iso-b"),
            ("eusc-de-east-1", "aws-eusc"),
        ] {
            assert_eq!(partition(region), expected, "{region}");
        }
    }

    #[test]
    fn a_role_is_named_by_the_end_of_its_arn() {
        assert_eq!(role_name("arn:aws:iam::123456789012:role/nodes"), Some("nodes"));
        assert_eq!(role_name("arn:aws-cn:iam::123456789012:role/team/nodes"), Some("nodes"));
        for other in [
            "nodes",
            "arn:aws:iam::123456789012:user/nodes",
            "arn:aws:iam::1:role/nodes",
            "arn:aws:iam::123456789012:role/",
        ] {
            assert_eq!(role_name(other), None, "{other}");
        }
    }

    #[test]
    fn a_principal_is_an_account_user_role_or_session() {
        for arn in [
            "arn:aws:iam::123456789012:root",
            "arn:aws:iam::123456789012:role/a/b",
            "arn:aws:iam::123456789012:user/u",
            "arn:aws-us-gov:sts::123456789012:assumed-role/r/s",
        ] {
            assert!(is_principal(arn), "{arn}");
        }
        for other in ["*", "123456789012", "arn:aws:iam::123456789012:role/*", "arn:aws:iam::123456789012:group/g", ""]
        {
            assert!(!is_principal(other), "{other}");
        }
    }

    #[test]
    fn a_key_is_named_by_id_or_alias() {
        assert!(is_kms_key("arn:aws:kms:us-east-1:123456789012:key/0a1b"));
        assert!(is_kms_key("arn:aws:kms:us-east-1:123456789012:alias/models"));
        assert!(!is_kms_key("0a1b"));
        assert!(!is_kms_key("arn:aws:kms:us-east-1:123456789012:key/"));
    }
    #[test]
    fn a_bucket_is_named_without_keys_and_a_provider_with_its_issuer() {
        assert!(is_bucket("arn:aws:s3:::acme-models") && is_bucket("arn:aws-us-gov:s3:::acme.models"));
        for other in
            ["acme", "arn:aws:s3:::", "arn:aws:s3:::acme/*", "arn:aws:s3:us-east-1:1:accesspoint/a", "arn:aws:s3:::*"]
        {
            assert!(!is_bucket(other), "{other}");
        }
        assert!(is_oidc_provider("arn:aws:iam::123456789012:oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/0A"));
        assert!(!is_oidc_provider("arn:aws:iam::123456789012:role/oidc"));
    }
}
