//! The attributes of an inference service. Their comments are the reference that users read.

use std::collections::BTreeMap;

use tf_provider::{Attributes, Choice};
use value::Value;

use super::signal::Signal;
use crate::{
    components::kube::Labels,
    resources::{Toleration, kubernetes::Adopt},
};

/// A model server in a Kubernetes cluster: a Deployment with everything that it needs to start, to be reached, to be
/// scaled and to be changed without being down.
///
/// Pods run under the `restricted` Pod Security Standard, with requests and limits that are always set. How long a
/// start may take follows from the size of the model.
///
/// An apply waits until all replicas take requests, and ends early where they never will: an image that cannot be
/// pulled, an engine that ends again and again, pods that a quota or a policy refuses. A pod that no node has a place
/// for is waited for while an autoscaler brings a node. The waiting ends a minute after Cluster Autoscaler or Karpenter
/// said that none comes, and after 5 minutes where no autoscaler says anything.
///
/// The attributes are remembered in an annotation of the Deployment, so that an import gives them back.
#[derive(Attributes, Clone, Debug, Default)]
pub struct InferenceService {
    /// Name of the EKS cluster. Left out: the cluster of the provider's `kubernetes` block. Changing it makes another
    /// service.
    #[attribute(replaces)]
    pub cluster: Value<String>,
    /// Namespace. It has to exist, such as one of `mlplat_tenant`. Changing it makes another service.
    #[attribute(required, replaces)]
    pub namespace: Value<String>,
    /// Name of the service, at most 63 lower-case letters, digits and hyphens. It is the name of its objects and its
    /// host name within the namespace. Changing it makes another service.
    #[attribute(required, replaces)]
    pub name: Value<String>,
    /// The program that serves the model.
    #[attribute(required)]
    pub engine: Value<Engine>,
    /// The model. It may be left out for a `custom` engine only.
    pub model: Value<Model>,
    /// The GPUs or other accelerators of a replica.
    #[attribute(default = "{ per_replica = 1 }")]
    pub gpus: Value<Gpus>,
    /// Where pods may run. Take both maps from the outputs of a `mlplat_gpu_pool`.
    #[attribute(default = "{}")]
    pub placement: Value<Placement>,
    /// Number of replicas. Left out: 1, or what the autoscaler wants where there is `scaling`. Not together with
    /// `scaling`.
    #[attribute(optional, computed)]
    pub replicas: Value<u32>,
    /// Scaling by load. The number of replicas is then the autoscaler's and never written.
    pub scaling: Value<Scaling>,
    /// How pods are replaced when something about them changes.
    #[attribute(default = "{ strategy = \"auto\" }")]
    pub rollout: Value<Rollout>,
    /// An Ingress for clients outside of the cluster.
    pub expose: Value<Expose>,
    /// Name of the Kueue LocalQueue that admits the pods. Kueue has to have its `deployment` integration switched on.
    pub queue: Value<String>,
    /// AWS permissions of the pods, to read `s3://` models for example.
    pub access: Value<Access>,
    /// What each pod asks for, and at the same time its limit.
    #[attribute(default = "{}")]
    pub resources: Value<Resources>,
    /// How Prometheus finds the metrics of the pods.
    #[attribute(default = "{ pod_monitor = false }")]
    pub metrics: Value<Metrics>,
    /// Labels of the objects and the pods, beside those that the provider sets: `app.kubernetes.io/name`,
    /// `app.kubernetes.io/managed-by`, `workload-type`, `managed-by` and those of its `cost_allocation`.
    #[attribute(default = "{}")]
    pub labels: Value<Labels>,
    /// What to do where an object of this name is there already and is not of this resource.
    #[attribute(default = "\"never\"")]
    pub adopt: Value<Adopt>,
    /// Address of the service: that of `expose` where it is exposed, else the one within the cluster.
    #[attribute(computed)]
    pub service_url: Value<String>,
    /// Number of replicas that take requests.
    #[attribute(computed)]
    pub ready_replicas: Value<i64>,
    /// Number of replicas wanted now, as the autoscaler has it.
    #[attribute(computed)]
    pub live_replicas: Value<i64>,
    /// Why pods are not there or not ready, in the cluster's words. Empty where all are.
    #[attribute(computed)]
    pub pod_reasons: Value<Vec<String>>,
}

/// The program that serves a model.
#[derive(Attributes, Clone, Debug, Default)]
pub struct Engine {
    /// The kind of program. It decides the command and the arguments.
    #[attribute(required)]
    pub kind: Value<EngineKind>,
    /// Container image, such as `vllm/vllm-openai:v0.32.0`.
    #[attribute(required)]
    pub image: Value<String>,
    /// Arguments after those that follow from the other attributes.
    #[attribute(default = "[]")]
    pub args: Value<Vec<String>>,
    /// Environment variables.
    #[attribute(default = "{}")]
    pub env: Value<BTreeMap<String, String>>,
    /// Command in the place of the image's. Left out: the kind's own; for `custom` the image's.
    pub command: Value<Vec<String>>,
    /// Port that it listens on. Default: 8000 for `vllm`, 30000 for `sglang`. Needed for `custom`.
    #[attribute(optional, computed)]
    pub port: Value<u16>,
    /// Path that answers 200 when requests can be taken. Default: `/health`. Needed for `custom`.
    #[attribute(optional, computed)]
    pub health_path: Value<String>,
    /// Longest time in seconds from the start of the container until it is healthy. Default: from the size, the source
    /// and the data type of the model and the number of GPUs; 1800 where no size is known.
    #[attribute(optional, computed)]
    pub startup_seconds: Value<u32>,
    /// User id of the process. Not 0: `restricted` refuses root.
    #[attribute(default = "1000")]
    pub run_as_user: Value<i64>,
    /// Names of Secrets with credentials for the image's registry.
    #[attribute(default = "[]")]
    pub image_pull_secrets: Value<Vec<String>>,
}

/// A kind of model server.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EngineKind {
    /// vLLM.
    Vllm,
    /// SGLang.
    Sglang,
    /// Any other.
    Custom,
}

/// A model.
#[derive(Attributes, Clone, Debug, Default)]
pub struct Model {
    /// Where the weights are: `hf://organisation/name`, `s3://bucket/prefix` or `pvc://claim/path`.
    #[attribute(required)]
    pub source: Value<String>,
    /// Branch, tag or commit of a `hf://` model. Left out: the default branch.
    pub revision: Value<String>,
    /// Name that clients ask for. Default: the repository of a `hf://` model, else the last part of its path.
    #[attribute(optional, computed)]
    pub served_name: Value<String>,
    /// Number of parameters in billions. This or `size_gib` is needed for what is computed from the model's size.
    pub parameters_billion: Value<f64>,
    /// Size of the weights in GiB.
    pub size_gib: Value<f64>,
    /// How the weights are stored: `float32`, `bfloat16`, `float16`, `fp8`, `int8`, `int4`, `awq` or `gptq`. Left out:
    /// as the model says, and counted as 16 bits.
    pub dtype: Value<String>,
    /// Most tokens of a request, prompt and answer together. Left out: as many as the model can.
    pub max_context: Value<u32>,
    /// Token for the Hugging Face Hub. It is put into a Secret of its own and is never in state, plan or log.
    #[attribute(write_only, sensitive)]
    pub token_wo: Value<String>,
    /// Version of `token_wo`, a number that you count up when the token changes. The pods are then replaced.
    pub token_wo_version: Value<i64>,
    /// Secret in the namespace that has the token, in the place of `token_wo`.
    pub token_secret: Value<TokenSecretRef>,
    /// Size in GiB of the volume for a downloaded `hf://` model and for compiled kernels. Default: from the size of the
    /// model, 100 where none is known; 10 where nothing is downloaded.
    #[attribute(optional, computed)]
    pub cache_gib: Value<u32>,
    /// Storage class of a volume made for each pod to download to. Left out: the disk of the node.
    pub cache_storage_class: Value<String>,
}

/// A key of a Secret.
#[derive(Attributes, Clone, Debug, Default)]
pub struct TokenSecretRef {
    /// Name of the Secret.
    #[attribute(required)]
    pub name: Value<String>,
    /// Key within it.
    #[attribute(required)]
    pub key: Value<String>,
}

/// The accelerators of a replica.
#[derive(Attributes, Clone, Debug, Default)]
pub struct Gpus {
    /// Number for each replica; the model is split over all of them. 0 is none.
    #[attribute(default = "1")]
    pub per_replica: Value<u32>,
    /// Product, such as `NVIDIA-A10G` or `L4`. Whether the model fits is checked against its memory, and nodes whose
    /// label `nvidia.com/gpu.product` has it are preferred. To use no others, select them in `placement`.
    pub product: Value<String>,
    /// Name under which Kubernetes counts them. Default: the one of the product's maker, `nvidia.com/gpu` where none
    /// is known.
    #[attribute(optional, computed)]
    pub resource_name: Value<String>,
}

/// Where pods may run.
#[derive(Attributes, Clone, Debug, Default)]
pub struct Placement {
    /// Labels that a node has to have.
    #[attribute(default = "{}")]
    pub node_selector: Value<BTreeMap<String, String>>,
    /// Taints that pods tolerate, beside the one named like the accelerator's resource, which they always do.
    #[attribute(default = "[]")]
    pub tolerations: Value<Vec<Toleration>>,
    /// Most accelerators that these nodes can ever have, such as `mlplat_gpu_pool.inference.gpu.total_max`. With it
    /// `rollout.strategy = "auto"` knows whether there is place for a new pod beside the old ones.
    pub gpu_capacity: Value<u32>,
}

/// Scaling by load.
#[derive(Attributes, Clone, Debug, Default)]
pub struct Scaling {
    /// Fewest replicas. 0 is possible with an external metric only, since nothing else is measured without pods, and
    /// with `keda`: a HorizontalPodAutoscaler refuses it in most clusters.
    #[attribute(default = "1")]
    pub min: Value<u32>,
    /// Most replicas.
    #[attribute(required)]
    pub max: Value<u32>,
    /// What is measured: `queue_depth` (requests that wait), `kv_cache` (part of the cache in use), `gpu_utilization`
    /// (percent busy, a poor measure: one request can make a GPU busy), or `{ metric = "…" }` for a metric of the pods
    /// by its name in Prometheus, with `scope = "external"` for one of something else.
    #[attribute(default = "\"queue_depth\"")]
    pub signal: Value<Signal>,
    /// Value for each replica that is aimed at: a number of requests for `queue_depth`, a fraction between 0 and 1 for
    /// `kv_cache`, percent for `gpu_utilization`.
    #[attribute(required)]
    pub target: Value<f64>,
    /// Who scales: the HorizontalPodAutoscaler, for which a metrics adapter has to serve the metric (with `_` in the
    /// place of `:` in its name), or KEDA.
    #[attribute(default = "\"hpa\"")]
    pub via: Value<Via>,
    /// Address of Prometheus, for `keda`. Default: `http://prometheus-operated.monitoring.svc:9090`, the name that the
    /// Prometheus operator gives in the namespace `monitoring`.
    #[attribute(optional, computed)]
    pub prometheus_address: Value<String>,
}

/// Who scales.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Via {
    /// A HorizontalPodAutoscaler.
    Hpa,
    /// KEDA's ScaledObject.
    Keda,
}

/// How pods are replaced.
#[derive(Attributes, Clone, Debug, Default)]
pub struct Rollout {
    /// The strategy. `auto` is `surge` where `placement.gpu_capacity` has place for one more replica or no GPU is
    /// used, else `free_first`, and `recreate` where there is only one replica.
    #[attribute(default = "\"auto\"")]
    pub strategy: Value<RolloutStrategy>,
    /// Seconds that a pod has to finish its requests before it is killed.
    #[attribute(default = "120")]
    pub termination_grace_seconds: Value<u32>,
}

/// A strategy of replacing pods.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RolloutStrategy {
    /// Whichever fits.
    Auto,
    /// A new pod first; needs free GPUs.
    Surge,
    /// An old pod goes first, and a new one takes its GPUs.
    FreeFirst,
    /// All old pods go first.
    Recreate,
}

/// An Ingress.
#[derive(Attributes, Clone, Debug, Default)]
pub struct Expose {
    /// Host name.
    #[attribute(required)]
    pub host: Value<String>,
    /// Beginning of the paths.
    #[attribute(default = "\"/\"")]
    pub path: Value<String>,
    /// Ingress class, such as `alb` or `nginx`. Left out: the cluster's default.
    pub class: Value<String>,
    /// Name of the Secret with the TLS certificate. AWS Load Balancer Controller (`alb`) reads none: give it the
    /// annotation `alb.ingress.kubernetes.io/certificate-arn`.
    pub tls_secret: Value<String>,
    /// Annotations for the Ingress controller, beside those that the provider sets for `alb`.
    #[attribute(default = "{}")]
    pub annotations: Value<BTreeMap<String, String>>,
}

/// AWS permissions of pods.
#[derive(Attributes, Clone, Debug, Default)]
pub struct Access {
    /// ARN of the role.
    #[attribute(required)]
    pub role_arn: Value<String>,
    /// How pods get the role. `pod_identity` makes an association before any pod; `irsa` an annotation of the service
    /// account, for roles that trust the cluster's OIDC provider.
    #[attribute(default = "\"pod_identity\"")]
    pub method: Value<AccessMethod>,
}

/// How pods get an AWS role.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccessMethod {
    /// EKS Pod Identity.
    PodIdentity,
    /// IAM roles for service accounts.
    Irsa,
}

/// What a pod asks for.
#[derive(Attributes, Clone, Debug, Default)]
pub struct Resources {
    /// CPU, such as `"4"` or `"3500m"`. Default: 1 and 2 more for each GPU.
    #[attribute(optional, computed)]
    pub cpu: Value<String>,
    /// Memory, such as `"24Gi"`, shared memory included. Default: 4 GiB, 2 more for each GPU, the shared memory, and
    /// what the weights need on their way: a quarter of them, or 5 GiB for each GPU where they are streamed from S3.
    #[attribute(optional, computed)]
    pub memory: Value<String>,
    /// Shared memory (`/dev/shm`) in GiB, through which the processes of several GPUs talk. Default: 2 for one GPU, 8
    /// for more.
    #[attribute(optional, computed)]
    pub shm_gib: Value<u32>,
}

/// How Prometheus finds the metrics of pods.
#[derive(Attributes, Clone, Debug, Default)]
pub struct Metrics {
    /// Whether to make a PodMonitor. The Prometheus operator has to be installed; the plan cannot know whether it is
    /// when the cluster is made in the same run, so it is said here.
    #[attribute(default = "false")]
    pub pod_monitor: Value<bool>,
    /// Path of the metrics.
    #[attribute(default = "\"/metrics\"")]
    pub path: Value<String>,
    /// Labels of the PodMonitor, by which a Prometheus selects it, such as `release`.
    #[attribute(default = "{}")]
    pub labels: Value<BTreeMap<String, String>>,
}
