//! The provider: its block, the clients its resources share, and the lists of what it has.

mod account;
mod config;
mod kubernetes;

use std::{collections::BTreeMap, sync::Arc};

use converge::{Cx, Drivers};
use futures::{FutureExt, future::BoxFuture};
use tf_provider::{Attributes, Cty, DataSource, Diagnostics, Function, RequestCx, Resource, Schema};
use value::Value;

use account::Account;
use config::decode;
pub use config::{AssumeRole, Config, Exec, Kubernetes, PreflightMode};

use crate::{
    bridge::{Bridge, Existing, Ground, SharedGround},
    composite::Composite,
    data_sources::{Accelerators, Cluster},
    drivers::{
        aws::{self, Aws},
        kube::{self, Clusters},
    },
    functions,
    neighbours::Neighbours,
    resources::{GpuPool, InferenceService, ModelBucket, Queue, SharedFilesystem, Tenant},
    settings::Settings,
};

/// The provider. Unconfigured until Terraform says so; functions and validation work without.
#[derive(Clone)]
pub struct Provider {
    ground: SharedGround,
    account: Account,
}

// === impl Provider ===

impl Provider {
    /// A provider that is not configured yet.
    pub fn new() -> Self {
        let ground = SharedGround::default();
        Self { account: Account::of(ground.clone()), ground }
    }

    /// A provider whose resources stand on `ground`, whatever the provider block says. For tests on a fake cloud.
    pub fn on(ground: Ground) -> OnGround {
        let provider = Self::new();
        provider.ground.set(ground);
        OnGround { provider, only: None }
    }
}

impl Default for Provider {
    fn default() -> Self {
        Self::new()
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
            self.account.set(aws);
            self.ground.set(Ground {
                settings,
                drivers,
                cx: Cx::default().with_retries(config.retries()),
                neighbours: Neighbours::default(),
                existing: Existing::default(),
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
        vec![
            Arc::new(Accelerators::new(Arc::new(self.account.clone()))),
            Arc::new(Cluster::new(Arc::new(self.account.clone()))),
        ]
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
pub struct OnGround {
    provider: Provider,
    only: Option<&'static str>,
}

// === impl OnGround ===

impl OnGround {
    /// The same with one of its resources alone: a test that starts many does not wait for all the schemas each time.
    #[must_use]
    pub fn only(self, type_name: &'static str) -> Self {
        Self { only: Some(type_name), ..self }
    }
}

impl tf_provider::Provider for OnGround {
    fn schema(&self) -> Schema {
        self.provider.schema()
    }

    fn validate(&self, config: &Cty) -> Diagnostics {
        self.provider.validate(config)
    }

    fn configure<'a>(&'a self, _cx: &'a RequestCx, _config: Cty) -> BoxFuture<'a, Diagnostics> {
        async { Diagnostics::new() }.boxed()
    }

    fn resources(&self) -> Vec<Arc<dyn Resource>> {
        let is_asked_for = |one: &Arc<dyn Resource>| self.only.is_none_or(|only| one.type_name() == only);
        self.provider.resources().into_iter().filter(is_asked_for).collect()
    }

    fn data_sources(&self) -> Vec<Arc<dyn DataSource>> {
        if self.only.is_some() { Vec::new() } else { self.provider.data_sources() }
    }

    fn functions(&self) -> Vec<Arc<dyn Function>> {
        if self.only.is_some() { Vec::new() } else { self.provider.functions() }
    }
}
