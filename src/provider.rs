//! The provider: its block, the clients its resources share, and the lists of what it has.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use converge::{Cx, Drivers, FaultClass};
use futures::{FutureExt, future::BoxFuture};
use tf_provider::{
    Attributes, Choice, Cty, DataSource, Decoder, Diagnostic, Diagnostics, Function, RequestCx, Resource, Schema,
};
use value::{AttributePath, Value};

use crate::{
    bridge::{Bridge, Ground, Preflight, SharedGround, fault_diagnostic},
    composite::Composite,
    data_sources::{Accelerators, Cluster, ClusterFacts, DescribeCluster},
    drivers::aws::{self, Aws, AwsConfig},
    functions,
    resources::{GpuPool, ModelBucket},
    settings::Settings,
};

/// Declares machine-learning platforms on AWS and Kubernetes in a few high-level resources: GPU pools, model storage
/// and what runs on them. Each has safe defaults and expands into the objects behind it, which the plan shows.
#[derive(Attributes, Clone, Debug, Default)]
pub struct Config {
    /// AWS region. Left out: `AWS_REGION`, `AWS_DEFAULT_REGION`, or the profile's.
    pub region: Value<String>,
    /// Profile of the shared AWS configuration. Without it the SDK's default chain finds credentials: environment,
    /// web identity (such as HCP Terraform's dynamic credentials), single sign-on, instance metadata.
    pub profile: Value<String>,
    /// Role to assume with the credentials found.
    pub assume_role: Value<AssumeRole>,
    /// URLs of endpoints to use instead of AWS's own, for LocalStack or moto: one key a service (`s3`, `ec2`, `eks`,
    /// `iam`, `sts`, `autoscaling`), `all` for the rest. Also read from `AWS_ENDPOINT_URL` and
    /// `AWS_ENDPOINT_URL_<SERVICE>`.
    pub endpoints: Value<BTreeMap<String, String>>,
    /// Whether S3 is asked with the bucket in the path instead of in the host name. Default: where the endpoint is
    /// an address.
    pub s3_use_path_style: Value<bool>,
    /// How often the AWS SDK tries a call again by itself, before the engine looks at what is there and tries again.
    /// Default: never, since the engine does.
    pub max_retries: Value<u32>,
    /// Cost allocation keys and values, such as `cost_center = "ml-platform"`. Stamped on every object as tags and
    /// labels, with `-` in the place of `_`. Tag keys must be activated in AWS billing before they show in bills.
    pub cost_allocation: Value<BTreeMap<String, String>>,
    /// Tags put on every object in AWS. A resource's own tags win over them.
    pub default_tags: Value<BTreeMap<String, String>>,
    /// Kubernetes cluster that is not named by a resource's `cluster`. Read by resources with Kubernetes objects.
    pub kubernetes: Value<Kubernetes>,
    /// What a certain failure found at plan time does. Default: `error`.
    pub preflight: Value<PreflightMode>,
}

/// Role to assume.
#[derive(Attributes, Clone, Debug, Default)]
pub struct AssumeRole {
    /// ARN of the role.
    #[attribute(required)]
    pub role_arn: Value<String>,
    /// Name of the role session, as it shows in CloudTrail. Default: `terraform-provider-mlplat`.
    pub session_name: Value<String>,
    /// External id that the role's trust policy asks for.
    pub external_id: Value<String>,
    /// How long the credentials last, in seconds. Default: 3600.
    pub duration_seconds: Value<u32>,
}

/// Kubernetes cluster outside EKS.
#[derive(Attributes, Clone, Debug, Default)]
pub struct Kubernetes {
    /// Path of a kubeconfig file. Also read from `KUBECONFIG` and `KUBE_CONFIG_PATH`.
    pub config_path: Value<String>,
    /// Context of the kubeconfig file. Default: its current context.
    pub context: Value<String>,
    /// Name of an EKS cluster to use where a resource names none.
    pub eks_cluster: Value<String>,
    /// URL of the API server.
    pub host: Value<String>,
    /// Certificate authority of the API server, in PEM.
    pub cluster_ca_certificate: Value<String>,
    /// Bearer token.
    #[attribute(optional, sensitive)]
    pub token: Value<String>,
    /// Client certificate, in PEM.
    pub client_certificate: Value<String>,
    /// Key of the client certificate, in PEM.
    #[attribute(optional, sensitive)]
    pub client_key: Value<String>,
    /// Program that prints credentials.
    pub exec: Value<Exec>,
}

/// Program that prints credentials for a Kubernetes cluster.
#[derive(Attributes, Clone, Debug, Default)]
pub struct Exec {
    /// Program.
    #[attribute(required)]
    pub command: Value<String>,
    /// Arguments.
    pub args: Value<Vec<String>>,
    /// Environment variables added.
    pub env: Value<BTreeMap<String, String>>,
}

/// What a certain failure found at plan time does.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PreflightMode {
    /// It fails the plan.
    Error,
    /// It is a warning.
    Warn,
    /// The questions are not asked.
    Off,
}

/// The provider. Unconfigured until Terraform says so; functions and validation work without.
#[derive(Clone, Default)]
pub struct Provider {
    ground: SharedGround,
    aws: Arc<OnceLock<Arc<Aws>>>,
}

// === impl Provider ===

impl Provider {
    /// A provider that is not configured yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A provider whose resources stand on `ground`, whatever the provider block says. For tests on a fake cloud.
    pub fn on(ground: Ground) -> OnGround {
        let shared = SharedGround::default();
        shared.set(ground);
        OnGround(Self { ground: shared, aws: Arc::default() })
    }
}

impl tf_provider::Provider for Provider {
    fn schema(&self) -> Schema {
        let block = tf_provider::Block {
            description: Config::description().to_owned(),
            attributes: Config::attributes(),
            ..tf_provider::Block::default()
        };
        Schema { version: 0, block }
    }

    fn validate(&self, config: &Cty) -> Diagnostics {
        let (config, mut complaints) = decode(config);
        config.check(&mut complaints);
        complaints
    }

    fn configure<'a>(&'a self, _cx: &'a RequestCx, config: Cty) -> BoxFuture<'a, Diagnostics> {
        async move {
            let (config, mut complaints) = decode(&config);
            config.check(&mut complaints);
            if complaints.has_errors() {
                return complaints;
            }
            let unknown = config.unknown();
            let aws = Arc::new(Aws::new(config.aws()));
            let mut region = config.region.clone();
            // The environment's or the profile's. Without any, the first call tells the user so.
            if let (true, None, Ok(found)) = (region.is_null(), &unknown, aws.region().await) {
                region = Value::from(found);
            }
            let settings = Settings {
                region,
                default_tags: config.default_tags.clone(),
                cost_allocation: config.cost_allocation.map(dashed),
            };
            let mut drivers = Drivers::default();
            aws::register(&mut drivers, &aws);
            // Terraform configures a process once; a second time would find the same clients.
            let _ = self.aws.set(aws);
            self.ground.set(Ground { settings, drivers, cx: Cx::default(), preflight: config.mode(), unknown });
            complaints
        }
        .boxed()
    }

    fn resources(&self) -> Vec<Arc<dyn Resource>> {
        let ground = &self.ground;
        vec![
            // One a line: `cargo xtask new resource` adds to them.
            resource::<GpuPool>(ground),
            resource::<ModelBucket>(ground),
        ]
    }

    fn data_sources(&self) -> Vec<Arc<dyn DataSource>> {
        vec![Arc::new(Accelerators), Arc::new(Cluster::new(Arc::new(Clusters(Arc::clone(&self.aws)))))]
    }

    fn functions(&self) -> Vec<Arc<dyn Function>> {
        functions::all()
    }
}

fn resource<C: Composite>(ground: &SharedGround) -> Arc<dyn Resource> {
    Arc::new(Bridge::<C>::new(ground.clone()))
}

// `cost_center` in HCL is `cost-center` on objects.
fn dashed(costs: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    costs.iter().map(|(key, value)| (key.replace('_', "-"), value.clone())).collect()
}

/// See [`Provider::on`].
#[derive(Clone)]
pub struct OnGround(Provider);

// === impl OnGround ===

impl tf_provider::Provider for OnGround {
    fn schema(&self) -> Schema {
        self.0.schema()
    }

    fn validate(&self, config: &Cty) -> Diagnostics {
        self.0.validate(config)
    }

    fn configure<'a>(&'a self, _cx: &'a RequestCx, _config: Cty) -> BoxFuture<'a, Diagnostics> {
        async { Diagnostics::new() }.boxed()
    }

    fn resources(&self) -> Vec<Arc<dyn Resource>> {
        self.0.resources()
    }

    fn data_sources(&self) -> Vec<Arc<dyn DataSource>> {
        self.0.data_sources()
    }

    fn functions(&self) -> Vec<Arc<dyn Function>> {
        self.0.functions()
    }
}

// === impl Clusters ===

// The AWS clients, once the provider is configured.
struct Clusters(Arc<OnceLock<Arc<Aws>>>);

impl DescribeCluster for Clusters {
    fn describe<'a>(
        &'a self,
        cx: &'a RequestCx,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<ClusterFacts>, Diagnostic>> {
        async move {
            let root = AttributePath::root();
            let Some(aws) = self.0.get() else {
                return Err(Diagnostic::error(&root, "The provider is not configured", "A data source was read first.")
                    .advise("Report this; it is always a problem with Terraform or the provider."));
            };
            let cx = Cx::default().cancelled_by(cx.cancel.clone());
            match converge::read_retried(&cx, None, || aws::describe_cluster(aws, name)).await {
                Ok(facts) => Ok(Some(told(facts))),
                Err(fault) if fault.class == FaultClass::NotFound => Ok(None),
                Err(fault) => Err(fault_diagnostic(&root, format!("Cannot read the EKS cluster {name:?}"), &fault)),
            }
        }
        .boxed()
    }
}

// === impl Config ===

impl Config {
    fn check(&self, complaints: &mut Diagnostics) {
        for (service, url) in self.endpoints.get().into_iter().flatten() {
            let path = self.endpoints.path().key(service.clone());
            if !aws::ENDPOINT_KEYS.contains(&service.as_str()) {
                complaints.push(
                    Diagnostic::error(
                        &path,
                        format!("{service:?} is no service with an endpoint"),
                        format!("The keys of `endpoints` are {}.", aws::ENDPOINT_KEYS.join(", ")),
                    )
                    .advise("Use one of them; `all` stands for every service without a key of its own."),
                );
            }
            if !(url.starts_with("http://") || url.starts_with("https://")) {
                complaints.push(
                    Diagnostic::error(&path, format!("{url:?} is not the URL of an endpoint"), "It has no scheme.")
                        .advise("Write it with a scheme, such as \"http://127.0.0.1:5000\"."),
                );
            }
        }
        self.check_assume_role(complaints);
    }

    fn check_assume_role(&self, complaints: &mut Diagnostics) {
        let Some(role) = self.assume_role.get() else { return };
        if let Some(seconds) = role.duration_seconds.get()
            && !(900..=43_200).contains(seconds)
        {
            complaints.error(
                &role.duration_seconds,
                format!("A role session cannot last {seconds} seconds"),
                "AWS allows 900 (15 minutes) to 43200 (12 hours), and no more than the role's own limit.",
            );
        }
    }

    // The first attribute that calls depend on and that is not known yet.
    fn unknown(&self) -> Option<AttributePath> {
        let role = self.assume_role.get();
        let pending = [
            self.region.is_pending().then(|| self.region.path()),
            self.profile.is_pending().then(|| self.profile.path()),
            self.endpoints.is_pending().then(|| self.endpoints.path()),
            self.assume_role.is_pending().then(|| self.assume_role.path()),
            role.filter(|role| role.role_arn.is_pending()).map(|role| role.role_arn.path()),
            role.filter(|role| role.external_id.is_pending()).map(|role| role.external_id.path()),
        ];
        pending.into_iter().flatten().next()
    }

    fn aws(&self) -> AwsConfig {
        let assume_role = self.assume_role.get().and_then(|role| {
            Some(aws::AssumeRole {
                role_arn: role.role_arn.get()?.clone(),
                session_name: role.session_name.get().cloned(),
                external_id: role.external_id.get().cloned(),
                duration_seconds: role.duration_seconds.get().copied(),
            })
        });
        AwsConfig {
            region: self.region.get().cloned(),
            profile: self.profile.get().cloned(),
            assume_role,
            endpoints: self.endpoints.get().cloned().unwrap_or_default(),
            s3_use_path_style: self.s3_use_path_style.get().copied().unwrap_or_default(),
            max_retries: self.max_retries.get().copied(),
        }
    }

    fn mode(&self) -> Preflight {
        match self.preflight.get() {
            None | Some(PreflightMode::Error) => Preflight::Error,
            Some(PreflightMode::Warn) => Preflight::Warn,
            Some(PreflightMode::Off) => Preflight::Off,
        }
    }
}

// EKS leaves out what a cluster that is being made does not have yet.
fn told(facts: aws::ClusterFacts) -> ClusterFacts {
    let some = |text: String| (!text.is_empty()).then_some(text);
    ClusterFacts {
        arn: facts.arn,
        status: facts.status,
        endpoint: some(facts.endpoint),
        certificate_authority: some(facts.certificate_authority),
        oidc_issuer: some(facts.oidc_issuer),
        version: facts.version,
        subnet_ids: facts.subnet_ids.into_iter().collect(),
        security_group_id: some(facts.security_group_id),
        vpc_id: some(facts.vpc_id),
        auto_mode: facts.auto_mode,
    }
}

fn decode(config: &Cty) -> (Config, Diagnostics) {
    let mut decoder = Decoder::default();
    let config = Config::decode_object(config, &AttributePath::root(), &mut decoder);
    (config, decoder.diagnostics)
}
