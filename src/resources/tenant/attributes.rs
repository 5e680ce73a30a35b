//! The attributes of a tenant. Their comments are the reference that users read.

use std::collections::{BTreeMap, BTreeSet};

use tf_provider::{Attributes, Choice};
use value::Value;

use crate::{
    components::{aws::Tags, kube::Labels},
    resources::kubernetes::Adopt,
};

/// A team's place in a Kubernetes cluster: a namespace with quotas, security standards, network isolation, trusted
/// registries, permissions and access to data.
///
/// IAM roles and Pod Identity associations are made before the namespace, so that no pod can start without its
/// credentials. Destroying a tenant deletes the namespace with everything in it, also what others put there, and names
/// what keeps it from going; protect it with `lifecycle { prevent_destroy = true }`. The attributes are remembered in
/// an annotation of the namespace, so that an import gives them back.
#[derive(Attributes, Clone, Debug, Default)]
pub struct Tenant {
    /// Name of the EKS cluster. Left out: the cluster of the provider's `kubernetes` block. Changing it makes another
    /// tenant.
    #[attribute(replaces)]
    pub cluster: Value<String>,
    /// Name of the namespace, at most 63 lower-case letters, digits and hyphens. Changing it makes another tenant.
    #[attribute(required, replaces)]
    pub name: Value<String>,
    /// The team that costs are told of: the label and tag `team`, in the place of the one of the provider's
    /// `cost_allocation`.
    pub team: Value<String>,
    /// The most that all pods of the namespace together may ask for.
    pub quota: Value<Quota>,
    /// What containers get that say nothing, and the most that each may have.
    #[attribute(default = "{}")]
    pub container: Value<Container>,
    /// Pod Security Standard that pods have to meet: `privileged`, `baseline` or `restricted`. It is enforced, warned
    /// of and written to the audit log.
    #[attribute(default = "\"restricted\"")]
    pub pod_security: Value<PodSecurity>,
    /// Kubernetes version whose standard counts, so that an upgrade of the cluster refuses no pod that ran before.
    #[attribute(default = "\"v1.36\"")]
    pub pod_security_version: Value<String>,
    /// Who may talk to the pods, and to whom they may talk.
    #[attribute(default = "{ isolation = \"standard\" }")]
    pub network: Value<Network>,
    /// Where images may come from: hosts such as `ghcr.io`, or a host and a path such as `ghcr.io/acme/`. Images
    /// without a host are of `docker.io`. Init containers, ephemeral containers and image volumes count too. Left
    /// out: from everywhere.
    #[attribute(default = "[]")]
    pub trusted_registries: Value<BTreeSet<String>>,
    /// Parts of S3 buckets that pods may read or write, by their service account.
    #[attribute(default = "[]")]
    pub data_access: Value<Vec<DataAccess>>,
    /// How pods come to the roles for `data_access`: `pod_identity` or `irsa`. EKS Pod Identity needs its agent, which
    /// EKS Auto Mode has and other clusters have as an add-on; IAM roles for service accounts need the cluster's
    /// OIDC provider in IAM.
    #[attribute(default = "\"pod_identity\"")]
    pub access_method: Value<Access>,
    /// ARN of the OIDC provider in IAM, for `irsa`. Left out: that of the EKS cluster's issuer in its account.
    pub oidc_provider_arn: Value<String>,
    /// Whether to make the service accounts of `data_access` with the annotation that `irsa` needs. An account that is
    /// there and is nobody's, as `default` is, is taken over. Not for accounts that something else makes, such as
    /// `mlplat_inference_service`, which takes the role from `role_arns`.
    #[attribute(default = "true")]
    pub annotate_service_accounts: Value<bool>,
    /// Secrets that the External Secrets operator copies from a store. It has to be installed.
    #[attribute(default = "[]")]
    pub external_secrets: Value<Vec<ExternalSecretCopy>>,
    /// People and programs that may work in the namespace.
    #[attribute(default = "[]")]
    pub members: Value<Vec<Member>>,
    /// Labels of the objects, beside those that the provider sets.
    #[attribute(default = "{}")]
    pub labels: Value<Labels>,
    /// Tags of the IAM roles and associations, beside those of the provider's `default_tags` and `cost_allocation`,
    /// over which they win.
    #[attribute(default = "{}")]
    pub tags: Value<Tags>,
    /// What to do where an object of this name is there already and is not of this resource. A namespace that is
    /// taken over is deleted with the tenant.
    #[attribute(default = "\"never\"")]
    pub adopt: Value<Adopt>,
    /// ARN of the role of each service account in `data_access`.
    #[attribute(computed)]
    pub role_arns: Value<BTreeMap<String, String>>,
}

/// The most that all pods of a namespace together may ask for.
#[derive(Attributes, Clone, Debug, Default)]
pub struct Quota {
    /// Number of GPUs or other accelerators. Where it is given, pods get no others that this provider knows: parts of
    /// GPUs by MIG, those of other makers, and devices by ResourceClaims, unless `extended` counts them.
    pub gpus: Value<u32>,
    /// Name under which Kubernetes counts them.
    #[attribute(default = "\"nvidia.com/gpu\"")]
    pub gpu_resource_name: Value<String>,
    /// Amounts of other resources, by name, such as `{ "nvidia.com/mig-1g.10gb" = 4 }`. Names that begin with `count/`
    /// are of objects, as in `count/resourceclaims.resource.k8s.io`, and those that end in
    /// `.deviceclass.resource.k8s.io/devices` of device classes. Kubernetes limits no resource by a pattern: one that
    /// is neither here nor known to this provider is not limited.
    pub extended: Value<BTreeMap<String, u32>>,
    /// CPUs requested, such as `"64"` or `"500m"`. Every container then has to request some; see `container`.
    pub cpu: Value<String>,
    /// Memory requested, such as `"256Gi"`. Every container then has to request some; see `container`.
    pub memory: Value<String>,
    /// Storage of all persistent volume claims, such as `"2Ti"`.
    pub storage: Value<String>,
    /// Number of persistent volume claims.
    pub persistent_volume_claims: Value<u32>,
    /// Number of pods that are not finished.
    pub pods: Value<u32>,
}

/// Requests and limits of containers.
#[derive(Attributes, Clone, Debug, Default)]
pub struct Container {
    /// Limits of a container that sets none, and its requests where `default_request` says nothing. A model server
    /// that sets no memory is killed at this limit.
    pub default: Value<Amounts>,
    /// Requests of a container that sets none. Default: 500m CPU and 1Gi memory, at most those of `max`, where `quota`
    /// counts them and `default` says nothing of them: without, a pod that requests nothing would be refused.
    #[attribute(optional, computed)]
    pub default_request: Value<Amounts>,
    /// Most that a container may have as a limit. Of what is counted here every container gets a limit.
    pub max: Value<Amounts>,
}

/// Amounts of what a container uses.
#[derive(Attributes, Clone, Debug, Default)]
pub struct Amounts {
    /// CPU, such as `"1"` or `"500m"`.
    #[attribute(optional, computed)]
    pub cpu: Value<String>,
    /// Memory, such as `"2Gi"`.
    #[attribute(optional, computed)]
    pub memory: Value<String>,
    /// Disk of the node, such as `"10Gi"`.
    pub ephemeral_storage: Value<String>,
}

/// A Pod Security Standard.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PodSecurity {
    /// Everything is allowed.
    Privileged,
    /// Known ways of breaking out are not allowed.
    Baseline,
    /// As hardened as pods can be.
    Restricted,
}

/// Who may talk to the pods, and to whom they may talk.
#[derive(Attributes, Clone, Debug, Default)]
pub struct Network {
    /// `strict` is a promise: the plan of a new tenant fails where nothing in the cluster enforces NetworkPolicies, and
    /// so does every apply. `standard` makes the same policies and warns. `none` makes no policies.
    #[attribute(default = "\"standard\"")]
    pub isolation: Value<Isolation>,
    /// Namespaces whose pods may open connections to the pods, such as that of an Ingress controller or of Prometheus.
    #[attribute(default = "[]")]
    pub ingress_from_namespaces: Value<BTreeSet<String>>,
    /// Whether pods of the namespace may exchange every protocol, not only TCP: distributed training over RoCE and
    /// UCX uses UDP. EFA passes by all NetworkPolicies; for it the security group of the nodes has to allow all
    /// traffic from and to itself.
    #[attribute(default = "false")]
    pub allow_gang_traffic: Value<bool>,
    /// Addresses that pods may reach by HTTPS (TCP 443 and 6443): the API server, registries, S3 and model hubs.
    #[attribute(default = "[\"0.0.0.0/0\", \"::/0\"]")]
    pub egress_cidrs: Value<BTreeSet<String>>,
    /// Addresses of the cluster's Services. Pods may reach them by TCP and for DNS; the other side's policies decide.
    /// The default holds those of EKS and kubeadm.
    #[attribute(default = "[\"10.96.0.0/12\", \"172.20.0.0/16\"]")]
    pub service_cidrs: Value<BTreeSet<String>>,
    /// DaemonSet that enforces NetworkPolicies, as `namespace/name`, where it is none that the provider knows: the
    /// Amazon VPC CNI, Antrea, Calico, Canal, Cilium, kindnet, kube-router, OVN-Kubernetes, Weave Net and those of GKE
    /// and AKS.
    pub enforcer: Value<String>,
}

/// How far the network of a tenant is isolated.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isolation {
    /// With a guarantee.
    Strict,
    /// Where the cluster can.
    Standard,
    /// Not at all.
    None,
}

/// A part of an S3 bucket that pods may read or write.
#[derive(Attributes, Clone, Debug, Default)]
pub struct DataAccess {
    /// ARN of the bucket.
    #[attribute(required)]
    pub bucket_arn: Value<String>,
    /// Beginning of the keys, such as `models/`. Left out: the whole bucket.
    #[attribute(default = "\"\"")]
    pub prefix: Value<String>,
    /// `read`, or `write` for reading, writing and deleting.
    #[attribute(default = "\"read\"")]
    pub mode: Value<Mode>,
    /// Service account of the pods.
    #[attribute(default = "\"default\"")]
    pub service_account: Value<String>,
    /// ARN of the KMS key of the bucket, where it has one.
    pub kms_key_arn: Value<String>,
}

/// What pods may do with objects.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// List and read.
    Read,
    /// Also write and delete.
    #[choice(also = "read_write")]
    Write,
}

/// How pods come to AWS roles.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// EKS Pod Identity.
    PodIdentity,
    /// IAM roles for service accounts.
    Irsa,
}

/// A Secret that the External Secrets operator copies from a store.
#[derive(Attributes, Clone, Debug, Default)]
pub struct ExternalSecretCopy {
    /// Name of the Secret, and of the ExternalSecret that asks for it.
    #[attribute(required)]
    pub name: Value<String>,
    /// Name of the store.
    #[attribute(required)]
    pub store: Value<String>,
    /// Kind of the store.
    #[attribute(default = "\"ClusterSecretStore\"")]
    pub store_kind: Value<String>,
    /// Key in the store.
    #[attribute(required)]
    pub key: Value<String>,
    /// Property of what is stored under the key, where it is JSON.
    pub property: Value<String>,
    /// Key in the Secret. Default: the property, else the last part of the key in the store.
    #[attribute(optional, computed)]
    pub secret_key: Value<String>,
    /// How often the store is asked again, such as `1h`.
    #[attribute(default = "\"1h\"")]
    pub refresh_interval: Value<String>,
}

/// Somebody who may work in the namespace.
#[derive(Attributes, Clone, Debug, Default)]
pub struct Member {
    /// Group, as the cluster's authentication names it. Either this or `user`.
    pub group: Value<String>,
    /// User, as the cluster's authentication names it. Either this or `group`.
    pub user: Value<String>,
    /// ClusterRole that counts within the namespace: `view`, `edit`, `admin` or one of your own. `edit` and `admin` may
    /// also write NetworkPolicies, which open more than those made here.
    #[attribute(required)]
    pub role: Value<String>,
}
