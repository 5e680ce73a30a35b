//! The AWS clients of one provider configuration: made when first needed, over one HTTP client and one set of
//! credentials.
//!
//! **Invariant:** nothing is read or dialled before the first call; a configuration with unknown values never gets
//! that far.

pub(super) mod address;

use std::{collections::BTreeMap, sync::OnceLock, time::Duration};

use aws_config::{
    AppName, BehaviorVersion, ConfigLoader, Region, SdkConfig, retry::RetryConfig, sts::AssumeRoleProvider,
    timeout::TimeoutConfig,
};
use aws_credential_types::{
    Credentials,
    provider::{ProvideCredentials as _, SharedCredentialsProvider},
};
use aws_smithy_http_client::{
    Builder, ConnectorBuilder,
    proxy::ProxyConfig,
    tls::{Provider, rustls_provider::CryptoMode},
};
use aws_smithy_runtime_api::client::http::SharedHttpClient;
use converge::{DEFAULT_RETRIES, Fault, FaultClass};
use tokio::sync::OnceCell;

use self::address::telling_addresses;

/// What the provider block says about AWS. Left out: the SDK's own sources, which are the environment, the profile
/// and the machine's role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AwsConfig {
    /// Region.
    pub region: Option<String>,
    /// Profile of the shared configuration files.
    pub profile: Option<String>,
    /// A role to assume with the credentials found.
    pub assume_role: Option<AssumeRole>,
    /// Endpoint by service (see [`super::ENDPOINT_KEYS`]); `all` for those not named.
    pub endpoints: BTreeMap<String, String>,
    /// Whether bucket names stand in the path of a URL instead of the host name. An endpoint that is an IP address
    /// has it so anyway.
    pub s3_use_path_style: bool,
    /// How often a failed call for credentials is made again; none: [`DEFAULT_RETRIES`]. All other calls are made
    /// again by the engine, by fault class and after a look at what a write did, and never by the SDK as well: ten
    /// tries are not a hundred.
    pub max_retries: Option<u32>,
}

/// A role to assume.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssumeRole {
    /// ARN.
    pub role_arn: String,
    /// Name of the session, shown in CloudTrail.
    pub session_name: Option<String>,
    /// What the role's owner asks for in its trust policy.
    pub external_id: Option<String>,
    /// How long a set of credentials lasts; they are renewed by themselves.
    pub duration_seconds: Option<u32>,
}

/// The clients. Share it in an `Arc`: drivers and data sources use the same connections.
#[derive(Debug)]
pub struct Aws {
    config: AwsConfig,
    credentials: Option<SharedCredentialsProvider>,
    loaded: OnceCell<Loaded>,
}

#[derive(Debug)]
struct Loaded {
    sdk: SdkConfig,
    region: String,
    autoscaling: OnceLock<aws_sdk_autoscaling::Client>,
    ec2: OnceLock<aws_sdk_ec2::Client>,
    efs: OnceLock<aws_sdk_efs::Client>,
    eks: OnceLock<aws_sdk_eks::Client>,
    iam: OnceLock<aws_sdk_iam::Client>,
    s3: OnceLock<aws_sdk_s3::Client>,
    servicequotas: OnceLock<aws_sdk_servicequotas::Client>,
    sts: OnceLock<aws_sdk_sts::Client>,
}

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
// Until the first byte of the answer; the slowest of our calls answer in a few seconds.
const READ_TIMEOUT: Duration = Duration::from_mins(1);
const APP_NAME: &str = "terraform-provider-mlplat";

// === impl Aws ===

macro_rules! client {
    ($service:ident, $sdk:ident, $words:literal) => {
        #[doc = concat!("The client of ", $words, ".")]
        pub async fn $service(&self) -> Result<&$sdk::Client, Fault> {
            let loaded = self.loaded().await?;
            Ok(loaded.$service.get_or_init(|| {
                let mut config = $sdk::config::Builder::from(&loaded.sdk);
                if let Some(url) = self.config.endpoints.get(stringify!($service)) {
                    config.set_endpoint_url(Some(url.clone()));
                }
                $sdk::Client::from_conf(config.build())
            }))
        }
    };
}

impl Aws {
    /// Clients for `config`. Does nothing yet.
    pub fn new(config: AwsConfig) -> Self {
        Self { config, credentials: None, loaded: OnceCell::new() }
    }

    /// Clients for `config` that sign with `credentials`, for tests and whoever has some already; nothing of the
    /// machine is asked then.
    pub fn with_credentials(config: AwsConfig, credentials: SharedCredentialsProvider) -> Self {
        Self { credentials: Some(credentials), ..Self::new(config) }
    }

    client!(autoscaling, aws_sdk_autoscaling, "Amazon EC2 Auto Scaling");
    client!(ec2, aws_sdk_ec2, "Amazon EC2");
    client!(efs, aws_sdk_efs, "Amazon EFS");
    client!(eks, aws_sdk_eks, "Amazon EKS");
    client!(iam, aws_sdk_iam, "IAM");
    client!(servicequotas, aws_sdk_servicequotas, "Service Quotas");
    client!(sts, aws_sdk_sts, "STS");

    /// The client of Amazon S3.
    pub async fn s3(&self) -> Result<&aws_sdk_s3::Client, Fault> {
        let loaded = self.loaded().await?;
        Ok(loaded.s3.get_or_init(|| {
            let mut config = aws_sdk_s3::config::Builder::from(&loaded.sdk);
            if let Some(url) = self.config.endpoints.get("s3") {
                config.set_endpoint_url(Some(url.clone()));
            }
            if self.config.s3_use_path_style {
                config.set_force_path_style(Some(true));
            }
            aws_sdk_s3::Client::from_conf(config.build())
        }))
    }

    /// The region, wherever it was found.
    pub async fn region(&self) -> Result<&str, Fault> {
        Ok(&self.loaded().await?.region)
    }

    /// The credentials that calls are signed with, for what is signed apart from a call.
    pub async fn credentials(&self) -> Result<Credentials, Fault> {
        let none = || Fault::new(FaultClass::Unauthenticated, "AWS credentials", "none were found");
        let provider = self.loaded().await?.sdk.credentials_provider().ok_or_else(none)?;
        provider.provide_credentials().await.map_err(|error| Fault { source: Some(Box::new(error)), ..none() })
    }

    async fn loaded(&self) -> Result<&Loaded, Fault> {
        self.loaded.get_or_try_init(|| load(&self.config, self.credentials.clone())).await
    }
}

async fn load(config: &AwsConfig, credentials: Option<SharedCredentialsProvider>) -> Result<Loaded, Fault> {
    let mut loader = loader(config);
    if let Some(credentials) = credentials {
        loader = loader.credentials_provider(credentials);
    }
    let mut sdk = loader.load().await;
    let Some(region) = sdk.region().map(ToString::to_string) else { return Err(no_region()) };
    if let Some(role) = &config.assume_role {
        let provider = assume(role, &sdk, config).await;
        sdk = sdk.into_builder().credentials_provider(provider).build();
    }
    Ok(Loaded {
        sdk,
        region,
        autoscaling: OnceLock::new(),
        ec2: OnceLock::new(),
        efs: OnceLock::new(),
        eks: OnceLock::new(),
        iam: OnceLock::new(),
        s3: OnceLock::new(),
        servicequotas: OnceLock::new(),
        sts: OnceLock::new(),
    })
}

fn loader(config: &AwsConfig) -> ConfigLoader {
    let mut loader = aws_config::defaults(BehaviorVersion::v2026_01_12())
        .http_client(telling_addresses(http_client()))
        .retry_config(RetryConfig::disabled())
        .timeout_config(TimeoutConfig::builder().connect_timeout(CONNECT_TIMEOUT).read_timeout(READ_TIMEOUT).build());
    if let Ok(name) = AppName::new(APP_NAME) {
        loader = loader.app_name(name);
    }
    if let Some(region) = &config.region {
        loader = loader.region(Region::new(region.clone()));
    }
    if let Some(profile) = &config.profile {
        loader = loader.profile_name(profile);
    }
    if let Some(url) = config.endpoints.get("all") {
        loader = loader.endpoint_url(url);
    }
    loader
}

// A failed signature says nothing of why there are no credentials, so this call the SDK makes again itself.
async fn assume(role: &AssumeRole, sdk: &SdkConfig, config: &AwsConfig) -> SharedCredentialsProvider {
    let attempts = config.max_retries.unwrap_or(DEFAULT_RETRIES).saturating_add(1);
    let mut caller = sdk.to_builder();
    caller.set_retry_config(Some(RetryConfig::standard().with_max_attempts(attempts)));
    if let Some(url) = config.endpoints.get("sts") {
        caller.set_endpoint_url(Some(url.clone()));
    }
    let mut provider = AssumeRoleProvider::builder(&role.role_arn)
        .configure(&caller.build())
        .session_name(role.session_name.as_deref().unwrap_or(APP_NAME));
    if let Some(id) = &role.external_id {
        provider = provider.external_id(id);
    }
    if let Some(seconds) = role.duration_seconds {
        provider = provider.session_length(Duration::from_secs(seconds.into()));
    }
    SharedCredentialsProvider::new(provider.build().await)
}

// As the SDK's default, which every client would otherwise make for itself: root certificates read once, and one
// pool of connections.
fn http_client() -> SharedHttpClient {
    Builder::new().build_with_connector_fn(|settings, components| {
        let mut connector = ConnectorBuilder::default().tls_provider(Provider::Rustls(CryptoMode::AwsLc));
        connector.set_connector_settings(settings.cloned());
        connector.set_proxy_config(Some(ProxyConfig::from_env()));
        if let Some(components) = components {
            connector.set_sleep_impl(components.sleep_impl());
        }
        connector.build()
    })
}

fn no_region() -> Fault {
    Fault::new(FaultClass::Invalid, "AWS configuration", "no AWS region is set")
        .advise("Set `region` in the provider block, the variable AWS_REGION, or the region of the profile.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local() -> AwsConfig {
        AwsConfig {
            region: Some("eu-west-1".to_owned()),
            endpoints: BTreeMap::from([
                ("all".to_owned(), "http://127.0.0.1:9".to_owned()),
                ("s3".to_owned(), "http://127.0.0.1:10".to_owned()),
            ]),
            max_retries: Some(8),
            ..AwsConfig::default()
        }
    }

    #[tokio::test]
    async fn every_service_shares_one_configuration() {
        let aws = Aws::new(local());
        assert_eq!(aws.region().await.expect("a region is given"), "eu-west-1");
        let s3 = aws.s3().await.expect("loads").config().clone();
        assert_eq!(s3.region().map(ToString::to_string).as_deref(), Some("eu-west-1"));
        assert_eq!(s3.retry_config().map(RetryConfig::max_attempts), Some(1), "the engine repeats calls, not the SDK");
        assert!(std::ptr::eq(aws.s3().await.expect("loads"), aws.s3().await.expect("loads")));
    }
}
