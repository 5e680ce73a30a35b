//! What data sources ask of the AWS account that the provider is configured for.

use std::{
    collections::BTreeSet,
    sync::{Arc, PoisonError, RwLock},
};

use converge::{Cx, Fault, FaultClass, read_retried};
use futures::{FutureExt, future::BoxFuture};
use tf_provider::{Diagnostic, RequestCx};
use value::AttributePath;

use crate::{
    bridge::{SharedGround, fault_diagnostic},
    data_sources::{ClusterFacts, DescribeCluster, FindZones, Zones},
    drivers::aws::{self, Aws},
};

/// The account; no calls can be made before the provider is configured.
#[derive(Clone, Default)]
pub(super) struct Account {
    ground: SharedGround,
    aws: Arc<RwLock<Option<Arc<Aws>>>>,
}

// === impl Account ===

impl Account {
    /// The account behind `ground`.
    pub(super) fn of(ground: SharedGround) -> Self {
        Self { ground, aws: Arc::default() }
    }

    /// Replaces the clients. A process that a debugger holds is configured more than once.
    pub(super) fn set(&self, aws: Arc<Aws>) {
        *self.aws.write().unwrap_or_else(PoisonError::into_inner) = Some(aws);
    }

    fn ready(&self, cx: &RequestCx) -> Result<(Arc<Aws>, Cx), Diagnostic> {
        let aws = self.aws.read().unwrap_or_else(PoisonError::into_inner).clone().ok_or_else(unconfigured)?;
        let ground = self.ground.get();
        match &ground.unknown {
            Some(path) => Err(not_yet(path)),
            None => Ok((aws, ground.cx.cancelled_by(cx.cancel.clone()))),
        }
    }
}

impl DescribeCluster for Account {
    fn describe<'a>(
        &'a self,
        cx: &'a RequestCx,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<ClusterFacts>, Diagnostic>> {
        async move {
            let (aws, cx) = self.ready(cx)?;
            match read_retried(&cx, None, || aws::describe_cluster(&aws, name).boxed()).await {
                Ok(facts) => Ok(Some(told(facts))),
                Err(fault) if fault.class == FaultClass::NotFound => Ok(None),
                Err(fault) => Err(failed(format!("Cannot read the EKS cluster {name:?}"), &fault)),
            }
        }
        .boxed()
    }
}

impl FindZones for Account {
    fn find<'a>(&'a self, cx: &'a RequestCx, types: BTreeSet<String>) -> BoxFuture<'a, Result<Zones, Diagnostic>> {
        async move {
            let (aws, cx) = self.ready(cx)?;
            let zones = read_retried(&cx, None, || aws::offerings(&aws, &types).boxed()).await;
            zones.map_err(|fault| failed("Cannot tell in which zones instance types are offered".to_owned(), &fault))
        }
        .boxed()
    }
}

fn failed(summary: String, fault: &Fault) -> Diagnostic {
    fault_diagnostic(&AttributePath::root(), summary, fault)
}

fn unconfigured() -> Diagnostic {
    Diagnostic::error(&AttributePath::root(), "The provider is not configured", "A data source was read first.")
        .advise("Report this; it is always a problem with Terraform or the provider.")
}

// Without the attribute the answer would be that of whatever account and region the environment names.
fn not_yet(path: &AttributePath) -> Diagnostic {
    Diagnostic::error(
        &AttributePath::root(),
        "Cannot ask AWS yet",
        format!("The provider's attribute {path} is not known, so no call can be made."),
    )
    .advise(
        "Apply what the provider block refers to first, with `terraform apply -target=…`, or let the data source \
         depend on it with `depends_on`: then it is read after it.",
    )
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
