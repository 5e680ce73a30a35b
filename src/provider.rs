//! The provider: its block, the clients its resources share, and the lists of what it has.

mod config;

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use converge::{Cx, Drivers, FaultClass};
use futures::{FutureExt, future::BoxFuture};
use tf_provider::{Attributes, Cty, DataSource, Diagnostic, Diagnostics, Function, RequestCx, Resource, Schema};
use value::{AttributePath, Value};

use config::decode;
pub use config::{AssumeRole, Config, Exec, Kubernetes, PreflightMode};

use crate::{
    bridge::{Bridge, Ground, SharedGround, fault_diagnostic},
    composite::Composite,
    data_sources::{Accelerators, Cluster, ClusterFacts, DescribeCluster},
    drivers::{
        aws::{self, Aws},
        kube::{self, Clusters},
    },
    functions,
    resources::{GpuPool, InferenceService, ModelBucket, Queue, SharedFilesystem, Tenant},
    settings::Settings,
};

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
            kube::register(&mut drivers, &Arc::new(Clusters::new(config.kubernetes(), Arc::clone(&aws))));
            // Terraform configures a process once; a second time would find the same clients.
            let _ = self.aws.set(aws);
            self.ground.set(Ground {
                settings,
                drivers,
                cx: Cx::default(),
                preflight: config.mode(),
                unknown,
                unknown_kubernetes: config.unknown_kubernetes(),
            });
            complaints
        }
        .boxed()
    }

    fn resources(&self) -> Vec<Arc<dyn Resource>> {
        let ground = &self.ground;
        vec![
            // One a line: `cargo xtask new resource` adds to them.
            resource::<GpuPool>(ground),
            resource::<InferenceService>(ground),
            resource::<ModelBucket>(ground),
            resource::<Queue>(ground),
            resource::<SharedFilesystem>(ground),
            resource::<Tenant>(ground),
        ]
    }

    fn data_sources(&self) -> Vec<Arc<dyn DataSource>> {
        vec![Arc::new(Accelerators), Arc::new(Cluster::new(Arc::new(KnownClusters(Arc::clone(&self.aws)))))]
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

// === impl KnownClusters ===

// The AWS clients, once the provider is configured.
struct KnownClusters(Arc<OnceLock<Arc<Aws>>>);

impl DescribeCluster for KnownClusters {
    fn describe<'a>(
        &'a self,
        cx: &'a RequestCx,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<ClusterFacts>, Diagnostic>> {
        async move {
            let root = AttributePath::root();
            let Some(aws) = self.0.get() else {
                return Err(Diagnostic::error(
                    &root,
                    "The provider is not configured",
                    "A data source was read first.",
                )
                .advise("Report this; it is always a problem with Terraform or the provider."));
            };
            let cx = Cx::default().cancelled_by(cx.cancel.clone());
            match converge::read_retried(&cx, None, || aws::describe_cluster(aws, name).boxed()).await {
                Ok(facts) => Ok(Some(told(facts))),
                Err(fault) if fault.class == FaultClass::NotFound => Ok(None),
                Err(fault) => Err(fault_diagnostic(&root, format!("Cannot read the EKS cluster {name:?}"), &fault)),
            }
        }
        .boxed()
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
