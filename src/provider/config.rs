//! The provider block: what it says, and the checks of it.

use std::collections::BTreeMap;

use converge::DEFAULT_RETRIES;
use tf_provider::{Attributes, Choice, Cty, Decoder, Diagnostic, Diagnostics};
use value::{AttributePath, Value};

use super::kubernetes;
use crate::{
    bridge::Preflight,
    drivers::{
        aws::{self, AwsConfig},
        kube::{ExecConfig, KubernetesConfig},
    },
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
    /// URLs of endpoints to use instead of AWS's own, for LocalStack or moto: one key a service (`s3`, `ec2`, `efs`,
    /// `eks`, `iam`, `sts`, `autoscaling`), `all` for the rest. Also read from `AWS_ENDPOINT_URL` and
    /// `AWS_ENDPOINT_URL_<SERVICE>`.
    pub endpoints: Value<BTreeMap<String, String>>,
    /// Whether S3 is asked with the bucket in the path instead of in the host name. Default: where the endpoint is
    /// an address.
    pub s3_use_path_style: Value<bool>,
    /// How often a call is made again at most after a failure that may pass: throttling, an error inside the service, a
    /// lost connection. The pauses between grow from 0.2 to 20 seconds. Waiting until an object can be used, changed or
    /// deleted is not counted; `timeouts` of the resource ends it. Default: 8.
    pub max_retries: Value<u32>,
    /// Cost allocation keys and values, such as `cost_center = "ml-platform"`. Stamped on every object as tags and
    /// labels, with `-` in the place of `_`. Tag keys must be activated in AWS billing before they show in bills.
    pub cost_allocation: Value<BTreeMap<String, String>>,
    /// Tags put on every object in AWS. A resource's own tags win over them.
    pub default_tags: Value<BTreeMap<String, String>>,
    /// Kubernetes cluster that is not named by a resource's `cluster`. Read by resources with Kubernetes objects.
    pub kubernetes: Value<Kubernetes>,
    /// What a certain failure found at plan time does. Default: `error`. Of what was asked for before, such as a repair,
    /// it is a warning, since Terraform plans what is there before it destroys it.
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

// === impl Config ===

impl Config {
    pub(super) fn check(&self, complaints: &mut Diagnostics) {
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
        if let Some(block) = self.kubernetes.get() {
            kubernetes::check(block, complaints);
        }
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
    pub(super) fn unknown(&self) -> Option<AttributePath> {
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

    pub(super) fn aws(&self) -> AwsConfig {
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

    // As `unknown`, for the cluster of the `kubernetes` block.
    pub(super) fn unknown_kubernetes(&self) -> Option<AttributePath> {
        if self.kubernetes.is_pending() {
            return Some(self.kubernetes.path());
        }
        let block = self.kubernetes.get()?;
        let texts = [
            &block.config_path,
            &block.context,
            &block.eks_cluster,
            &block.host,
            &block.cluster_ca_certificate,
            &block.token,
            &block.client_certificate,
            &block.client_key,
        ];
        let pending = texts.into_iter().find(|text| text.is_pending()).map(Value::path);
        pending.or_else(|| block.exec.is_pending().then(|| block.exec.path())).or_else(|| {
            let exec = block.exec.get()?;
            let pending = [
                exec.command.is_pending().then(|| exec.command.path()),
                exec.args.is_pending().then(|| exec.args.path()),
                exec.env.is_pending().then(|| exec.env.path()),
            ];
            pending.into_iter().flatten().next()
        })
    }

    pub(super) fn kubernetes(&self) -> KubernetesConfig {
        let Some(block) = self.kubernetes.get() else { return KubernetesConfig::default() };
        let exec = block.exec.get().and_then(|exec| {
            Some(ExecConfig {
                command: exec.command.get()?.clone(),
                args: exec.args.get().cloned().unwrap_or_default(),
                env: exec.env.get().cloned().unwrap_or_default(),
            })
        });
        KubernetesConfig {
            config_path: block.config_path.get().cloned(),
            context: block.context.get().cloned(),
            eks_cluster: block.eks_cluster.get().cloned(),
            host: block.host.get().cloned(),
            cluster_ca_certificate: block.cluster_ca_certificate.get().cloned(),
            token: block.token.get().cloned(),
            client_certificate: block.client_certificate.get().cloned(),
            client_key: block.client_key.get().cloned(),
            exec,
        }
    }

    pub(super) fn retries(&self) -> u32 {
        self.max_retries.get().copied().unwrap_or(DEFAULT_RETRIES)
    }

    pub(super) fn mode(&self) -> Preflight {
        match self.preflight.get() {
            None | Some(PreflightMode::Error) => Preflight::Error,
            Some(PreflightMode::Warn) => Preflight::Warn,
            Some(PreflightMode::Off) => Preflight::Off,
        }
    }
}

/// Reads the block, gathering complaints.
pub(super) fn decode(config: &Cty) -> (Config, Diagnostics) {
    let mut decoder = Decoder::default();
    let config = Config::decode_object(config, &AttributePath::root(), &mut decoder);
    (config, decoder.diagnostics)
}
