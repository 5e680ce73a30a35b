//! Tokens for EKS clusters, signed by us: a presigned `GetCallerIdentity` whose signature covers the cluster's name.
//! EKS shows it to STS, which says whose it is. Nothing is sent to AWS to make one.

use std::{
    fmt,
    time::{Duration, SystemTime},
};

use aws_credential_types::Credentials;
use aws_sigv4::{
    http_request::{SignableBody, SignableRequest, SignatureLocation, SigningSettings, sign as sign_request},
    sign::v4,
};
use aws_smithy_runtime_api::client::identity::Identity;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use converge::{Fault, FaultClass};

/// What EKS takes a token by.
const PREFIX: &str = "k8s-aws-v1.";
const CLUSTER_HEADER: &str = "x-k8s-aws-id";
/// What the signature says of itself. EKS accepts a token for a quarter of an hour, whatever is here.
const EXPIRES: Duration = Duration::from_mins(1);

/// What a token is signed with and for.
pub(crate) struct Signing<'a> {
    /// The cluster's name.
    pub(crate) cluster: &'a str,
    /// The cluster's region.
    pub(crate) region: &'a str,
    /// Whose token it is.
    pub(crate) credentials: Credentials,
    /// Now.
    pub(crate) time: SystemTime,
}

/// A bearer token; prints as "(sensitive)".
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Token(String);

// === impl Signing ===

impl Signing<'_> {
    /// A token for the cluster.
    pub(crate) fn token(self) -> Result<Token, Fault> {
        let object = format!("token for EKS cluster {:?}", self.cluster);
        let url = self.presigned().map_err(|error| Fault {
            source: Some(error),
            ..Fault::new(FaultClass::Bug, object, "the token could not be signed")
        })?;
        Ok(Token(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(url))))
    }

    fn presigned(self) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
        let host = format!("sts.{}.{}", self.region, domain(self.region));
        let url = format!("https://{host}/?Action=GetCallerIdentity&Version=2011-06-15");
        let identity = Identity::from(self.credentials);
        let mut settings = SigningSettings::default();
        settings.signature_location = SignatureLocation::QueryParams;
        settings.expires_in = Some(EXPIRES);
        let params = v4::SigningParams::builder()
            .identity(&identity)
            .region(self.region)
            .name("sts")
            .time(self.time)
            .settings(settings)
            .build()?
            .into();
        let headers = [(CLUSTER_HEADER, self.cluster)];
        let request = SignableRequest::new("GET", &url, headers.into_iter(), SignableBody::Bytes(b""))?;
        let (instructions, _) = sign_request(request, &params)?.into_parts();
        let mut signed = http::Request::builder().uri(&url).body(())?;
        instructions.apply_to_request_http1x(&mut signed);
        Ok(signed.uri().to_string())
    }
}

// === impl Token ===

impl Token {
    /// A token from elsewhere.
    pub(crate) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The secret.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(sensitive)")
    }
}

// The domain of the region's partition.
fn domain(region: &str) -> &'static str {
    const PARTITIONS: [(&str, &str); 5] = [
        ("cn-", "amazonaws.com.cn"),
        ("us-iso-", "c2s.ic.gov"),
        ("us-isob-", "sc2s.sgov.gov"),
        ("us-isof-", "csp.hci.ic.gov"),
        ("eusc-", "amazonaws.eu"),
    ];
    PARTITIONS.iter().find(|(prefix, _)| region.starts_with(prefix)).map_or("amazonaws.com", |(_, domain)| domain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(region: &str, session: Option<&str>) -> String {
        let credentials = Credentials::new("AKIDEXAMPLE", "secret", session.map(str::to_owned), None, "test");
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let token = Signing { cluster: "ml-prod", region, credentials, time }.token().unwrap();
        let encoded = token.reveal().strip_prefix(PREFIX).unwrap().to_owned();
        assert_eq!(format!("{token:?}"), "(sensitive)");
        String::from_utf8(URL_SAFE_NO_PAD.decode(encoded).unwrap()).unwrap()
    }

    #[test]
    fn a_token_is_a_presigned_question_to_the_regions_sts() {
        let url = url("eu-west-1", None);
        assert!(url.starts_with("https://sts.eu-west-1.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15&"));
        for part in [
            "X-Amz-Algorithm=AWS4-HMAC-SHA256",
            "X-Amz-Credential=AKIDEXAMPLE%2F20231114%2Feu-west-1%2Fsts%2Faws4_request",
            "X-Amz-Date=20231114T221320Z",
            "X-Amz-Expires=60",
            "X-Amz-SignedHeaders=host%3Bx-k8s-aws-id",
            "X-Amz-Signature=",
        ] {
            assert!(url.contains(part), "{part} in {url}");
        }
        assert!(!url.contains("Security-Token"));
    }

    #[test]
    fn a_session_token_is_part_of_the_token() {
        assert!(url("eu-west-1", Some("session")).contains("X-Amz-Security-Token=session"));
    }

    #[test]
    fn the_partition_is_the_regions() {
        for (region, host) in [
            ("cn-north-1", "sts.cn-north-1.amazonaws.com.cn/"),
            ("us-gov-west-1", "sts.us-gov-west-1.amazonaws.com/"),
            ("us-isob-east-1", "sts.us-isob-east-1.sc2s.sgov.gov/"),
        ] {
            assert!(url(region, None).starts_with(&format!("https://{host}")), "{region}");
        }
    }
}
