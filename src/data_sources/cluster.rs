//! `mlplat_cluster`: an EKS cluster that exists.
//!
//! Asks through [`DescribeCluster`]; who implements it knows AWS.

use std::{collections::BTreeSet, sync::Arc};

use futures::{FutureExt, future::BoxFuture};
use tf_provider::{Attributes, Cty, DataSource, Diagnostic, Diagnostics, RequestCx, Schema};
use value::Value;

use super::{decoded, schema};

/// What is told of an EKS cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterFacts {
    /// ARN.
    pub arn: String,
    /// Status, such as `ACTIVE`.
    pub status: String,
    /// Address of the Kubernetes API; absent while the cluster is being made.
    pub endpoint: Option<String>,
    /// Certificate of its authority, as PEM in base64.
    pub certificate_authority: Option<String>,
    /// Issuer of its service accounts' tokens.
    pub oidc_issuer: Option<String>,
    /// Kubernetes' minor version, such as `1.36`.
    pub version: String,
    /// Ids of its subnets.
    pub subnet_ids: BTreeSet<String>,
    /// Id of the security group that EKS made for it.
    pub security_group_id: Option<String>,
    /// Id of its VPC.
    pub vpc_id: Option<String>,
    /// Whether EKS Auto Mode is on.
    pub auto_mode: bool,
}

/// Asks EKS about a cluster.
pub trait DescribeCluster: Send + Sync + 'static {
    /// What is told of the cluster of that name; `None` where there is none.
    ///
    /// # Errors
    /// Why it could not be asked, for the user.
    fn describe<'a>(
        &'a self,
        cx: &'a RequestCx,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<ClusterFacts>, Diagnostic>>;
}

/// The data source.
pub struct Cluster(Arc<dyn DescribeCluster>);

/// An EKS cluster that exists.
#[derive(Attributes, Clone, Debug, Default)]
struct ClusterAttributes {
    /// Name of the cluster.
    #[attribute(required)]
    name: Value<String>,
    /// ARN of the cluster.
    #[attribute(computed)]
    arn: Value<String>,
    /// Status of the cluster, such as `ACTIVE`.
    #[attribute(computed)]
    status: Value<String>,
    /// Address of the Kubernetes API.
    #[attribute(computed)]
    endpoint: Value<String>,
    /// Certificate of the cluster's authority, as PEM in base64.
    #[attribute(computed)]
    certificate_authority: Value<String>,
    /// Issuer of the tokens of service accounts, for roles that trust them.
    #[attribute(computed)]
    oidc_issuer: Value<String>,
    /// Kubernetes' minor version, such as `1.36`.
    #[attribute(computed)]
    version: Value<String>,
    /// Ids of the cluster's subnets.
    #[attribute(computed)]
    subnet_ids: Value<BTreeSet<String>>,
    /// Id of the security group that EKS made for the cluster and its nodes.
    #[attribute(computed)]
    security_group_id: Value<String>,
    /// Id of the cluster's VPC.
    #[attribute(computed)]
    vpc_id: Value<String>,
    /// Whether EKS Auto Mode is on.
    #[attribute(computed)]
    auto_mode: Value<bool>,
}

// === impl Cluster ===

impl Cluster {
    /// The data source, asking through `describe`.
    pub fn new(describe: Arc<dyn DescribeCluster>) -> Self {
        Self(describe)
    }
}

impl DataSource for Cluster {
    fn type_name(&self) -> &'static str {
        "mlplat_cluster"
    }

    fn schema(&self) -> Schema {
        schema::<ClusterAttributes>()
    }

    fn validate(&self, config: &Cty) -> Diagnostics {
        let (attributes, mut complaints) = decoded::<ClusterAttributes>(config);
        if attributes.name.get().is_some_and(String::is_empty) {
            complaints.error(
                &attributes.name,
                "The cluster has no name",
                "The name is an empty text.\n\nGive the name of the EKS cluster.",
            );
        }
        complaints
    }

    fn read<'a>(&'a self, cx: &'a RequestCx, config: Cty) -> BoxFuture<'a, (Cty, Diagnostics)> {
        async move {
            let (mut attributes, mut complaints) = decoded::<ClusterAttributes>(&config);
            let name = attributes.name.get().cloned().unwrap_or_default();
            match self.0.describe(cx, &name).await {
                Ok(Some(facts)) => attributes.answer(facts),
                Ok(None) => complaints.error(
                    &attributes.name,
                    format!("There is no EKS cluster {name:?}"),
                    "EKS knows none of this name in the provider's account and region.\n\nCheck the name, `region` and \
                     the credentials; `aws eks list-clusters` lists those there are.",
                ),
                Err(complaint) => complaints.push(complaint),
            }
            (attributes.encode_object(), complaints)
        }
        .boxed()
    }
}

// === impl ClusterAttributes ===

impl ClusterAttributes {
    fn answer(&mut self, facts: ClusterFacts) {
        self.arn = Value::known(facts.arn);
        self.status = Value::known(facts.status);
        self.endpoint = Value::from(facts.endpoint);
        self.certificate_authority = Value::from(facts.certificate_authority);
        self.oidc_issuer = Value::from(facts.oidc_issuer);
        self.version = Value::known(facts.version);
        self.subnet_ids = Value::known(facts.subnet_ids);
        self.security_group_id = Value::from(facts.security_group_id);
        self.vpc_id = Value::from(facts.vpc_id);
        self.auto_mode = Value::known(facts.auto_mode);
    }
}

#[cfg(test)]
mod tests {
    use value::AttributePath;

    use super::*;

    struct Known(Result<Option<ClusterFacts>, Diagnostic>);

    impl DescribeCluster for Known {
        fn describe<'a>(
            &'a self,
            _cx: &'a RequestCx,
            _name: &'a str,
        ) -> BoxFuture<'a, Result<Option<ClusterFacts>, Diagnostic>> {
            let answer = match &self.0 {
                Ok(facts) => Ok(facts.clone()),
                Err(complaint) => Err(complaint.clone()),
            };
            async move { answer }.boxed()
        }
    }

    fn read(answer: Result<Option<ClusterFacts>, Diagnostic>) -> (Cty, Vec<String>) {
        let source = Cluster::new(Arc::new(Known(answer)));
        let mut config = source.schema().block.null_object();
        config.set("name", Cty::from("ml-prod"));
        assert!(source.validate(&config).is_empty());
        let (read, told) =
            source.read(&RequestCx::default(), config).now_or_never().expect("the answer is there already");
        (read, told.iter().map(|told| format!("{}: {}", told.path, told.summary)).collect())
    }

    #[test]
    fn what_eks_tells_becomes_attributes() {
        let facts = ClusterFacts {
            version: "1.36".to_owned(),
            subnet_ids: BTreeSet::from(["subnet-a".to_owned()]),
            endpoint: Some("https://k".to_owned()),
            ..ClusterFacts::default()
        };
        let (read, told) = read(Ok(Some(facts)));
        assert!(told.is_empty());
        assert_eq!(read.get("endpoint"), &Cty::from("https://k"));
        assert_eq!(read.get("oidc_issuer"), &Cty::Null);
        assert_eq!(read.get("subnet_ids"), &Cty::Set(vec![Cty::from("subnet-a")]));
        assert_eq!(read.get("auto_mode"), &Cty::from(false));
    }

    #[test]
    fn a_cluster_that_is_not_there_is_an_error_on_its_name() {
        assert_eq!(read(Ok(None)).1, ["name: There is no EKS cluster \"ml-prod\""]);
        let complaint = Diagnostic::error(&AttributePath::root(), "Cannot ask EKS", "No credentials.");
        assert_eq!(read(Err(complaint)).1, [": Cannot ask EKS"]);
    }
}
