//! The attributes of a GPU pool. Their comments are the reference that users read.

use std::collections::{BTreeMap, BTreeSet};

use tf_provider::{Attributes, Choice};
use value::Value;

use crate::components::aws::Tags;

/// A pool of nodes with GPUs or other accelerators in an EKS cluster.
///
/// It is a managed node group with its launch template, its node role and the tags that Cluster Autoscaler reads. A
/// change that EKS cannot make to a node group, such as another instance type, rolls the pool: a second group is made,
/// and when its nodes are ready the first one is drained and deleted.
#[derive(Attributes, Clone, Debug, Default)]
pub struct GpuPool {
    /// Name of the EKS cluster. Changing it makes another pool.
    #[attribute(required, replaces)]
    pub cluster: Value<String>,
    /// Name of the pool, at most 61 letters, digits, hyphens and underscores. It is the name of the node group and the
    /// value of the node label `mlplat.io/pool`. Changing it makes another pool.
    #[attribute(required, replaces)]
    pub name: Value<String>,
    /// What the nodes are for. It decides the default of `disk.size_gib`, and is the value of the tag and label
    /// `workload-type`.
    #[attribute(default = "\"inference\"")]
    pub purpose: Value<Purpose>,
    /// Instance types in order of preference, at most 20. They should have one shape: Cluster Autoscaler takes a node
    /// of the pool to be like any other. Changing them rolls the pool. Left out, they follow from `accelerator`.
    #[attribute(optional, computed)]
    pub instance_types: Value<Vec<String>>,
    /// The accelerator wanted, in the place of `instance_types`: the cheapest instance type that has it, and those of
    /// the same shape. Types that the pool has already stay for as long as they have it, whatever prices become.
    /// Otherwise changing it rolls the pool.
    pub accelerator: Value<AcceleratorRequest>,
    /// Ids of the subnets that nodes start in. Changing them rolls the pool.
    #[attribute(required)]
    pub subnet_ids: Value<BTreeSet<String>>,
    /// How many nodes the pool may have.
    #[attribute(required)]
    pub size: Value<Size>,
    /// How the nodes are bought. Changing it rolls the pool.
    #[attribute(default = "{ type = \"on_demand\" }")]
    pub capacity: Value<Capacity>,
    /// Who moves the number of nodes within `size`.
    #[attribute(default = "\"cluster_autoscaler\"")]
    pub scaler: Value<Scaler>,
    /// The image of the nodes.
    #[attribute(default = "{ family = \"al2023\" }")]
    pub image: Value<Image>,
    /// The volume of a node that holds container images and what containers write. Changing it replaces the nodes
    /// within their group, a few at a time.
    #[attribute(optional, computed)]
    pub disk: Value<Disk>,
    /// Whether nodes have Elastic Fabric Adapters. Not supported by this version: only `false` is accepted.
    #[attribute(default = "false")]
    pub efa: Value<bool>,
    /// Where nodes are placed in relation to each other. Not supported by this version.
    pub placement: Value<Placement>,
    /// ARN of the IAM role of the nodes. Left out, a role is made with the policies that nodes need. Changing it rolls
    /// the pool.
    #[attribute(optional, computed)]
    pub node_role_arn: Value<String>,
    /// Labels of the nodes in Kubernetes, beside those that the provider sets: `mlplat.io/pool`, `workload-type`,
    /// `managed-by`, `k8s.amazonaws.com/accelerator` and those of the provider's `cost_allocation`.
    #[attribute(default = "{}")]
    pub labels: Value<BTreeMap<String, String>>,
    /// Taints of the nodes in Kubernetes. The default keeps everything off the nodes that does not tolerate it:
    /// `nvidia.com/gpu` or `aws.amazon.com/neuron`, value `present`, effect `NoSchedule`. An empty list takes the
    /// taint away.
    #[attribute(optional, computed)]
    pub taints: Value<BTreeSet<Taint>>,
    /// Whether EKS replaces nodes that it finds unhealthy, those with a broken accelerator included.
    #[attribute(default = "true")]
    pub node_repair: Value<bool>,
    /// US dollars an hour that the pool may cost at most. The plan fails where `size.max` nodes of the dearest instance
    /// type cost more at list price.
    pub max_hourly_cost_usd: Value<f64>,
    /// Tags of the node group, the launch template, the node role, and of every instance, volume and network interface,
    /// beside those of the provider's `default_tags` and `cost_allocation`, over which they win.
    #[attribute(default = "{}")]
    pub tags: Value<Tags>,
    /// ARN of the node group.
    #[attribute(computed)]
    pub arn: Value<String>,
    /// Status of the node group, such as `ACTIVE`.
    #[attribute(computed)]
    pub status: Value<String>,
    /// Number of nodes wanted now, as the scaler has it.
    #[attribute(computed)]
    pub live_size: Value<u32>,
    /// Names of the scaling groups behind the node group.
    #[attribute(computed)]
    pub autoscaling_group_names: Value<Vec<String>>,
    /// Id of the launch template.
    #[attribute(computed)]
    pub launch_template_id: Value<String>,
    /// The accelerators of the pool.
    #[attribute(computed)]
    pub gpu: Value<Gpu>,
    /// What the pool costs at list price: on demand, Linux, us-east-1, without volumes and traffic.
    #[attribute(computed)]
    pub cost: Value<Cost>,
    /// Node selector of a workload for this pool.
    #[attribute(computed)]
    pub node_selector: Value<BTreeMap<String, String>>,
    /// Tolerations of a workload for this pool.
    #[attribute(computed)]
    pub tolerations: Value<Vec<Toleration>>,
}

/// What nodes are for.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// Notebooks and experiments.
    Interactive,
    /// Jobs that run to an end.
    Training,
    /// Model servers.
    Inference,
}

/// The accelerator wanted of each node.
#[derive(Attributes, Clone, Debug, Default)]
pub struct AcceleratorRequest {
    /// Name of the product, such as `L4`, `A100-80GB` or `Trainium2`.
    #[attribute(required)]
    pub product: Value<String>,
    /// Number of accelerators on each node. Left out: whatever the cheapest instance type has.
    pub count: Value<u32>,
    /// Least memory of each accelerator in GiB.
    pub memory_gib_min: Value<f64>,
}

/// The range of a pool's number of nodes.
#[derive(Attributes, Clone, Debug, Default)]
pub struct Size {
    /// Fewest nodes.
    #[attribute(default = "0")]
    pub min: Value<u32>,
    /// Most nodes.
    #[attribute(required)]
    pub max: Value<u32>,
    /// Number of nodes at creation. It is not looked at afterwards. Default: `min`.
    #[attribute(optional, computed)]
    pub initial: Value<u32>,
}

/// How nodes are bought.
#[derive(Attributes, Clone, Debug, Default)]
pub struct Capacity {
    /// The kind of capacity. `reserved` and `capacity_block` are not supported by this version.
    #[attribute(name = "type", default = "\"on_demand\"")]
    pub kind: Value<CapacityType>,
    /// Id of the capacity reservation or capacity block, for the types that use one.
    pub reservation_id: Value<String>,
}

/// A kind of capacity.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CapacityType {
    /// At list price, for as long as it is used.
    OnDemand,
    /// Cheaper, and taken away at two minutes' notice.
    Spot,
    /// From an on-demand capacity reservation.
    Reserved,
    /// From a capacity block for machine learning.
    CapacityBlock,
}

/// Who moves a pool's number of nodes.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scaler {
    /// Nobody.
    None,
    /// Kubernetes' Cluster Autoscaler, which has to run in the cluster.
    ClusterAutoscaler,
    /// Karpenter.
    Karpenter,
}

/// The image of nodes. EKS's image type follows from it, from the processor and from the accelerator.
#[derive(Attributes, Clone, Debug, Default)]
pub struct Image {
    /// Operating system: `al2023` or `bottlerocket`. Changing it rolls the pool.
    #[attribute(default = "\"al2023\"")]
    pub family: Value<String>,
    /// Release of the image to stay at, such as `1.36.0-20261110`. Left out: the newest one when the group is made.
    /// Changing it replaces the nodes within their group, a few at a time.
    pub release: Value<String>,
}

/// The volume of a node.
#[derive(Attributes, Clone, Debug, Default)]
pub struct Disk {
    /// Size in GiB. Default: 200 for `inference` and `interactive`, 500 for `training`. Images with the libraries for
    /// accelerators have 10 GiB and more.
    #[attribute(optional, computed)]
    pub size_gib: Value<u32>,
    /// Type of EBS volume: `gp3`, `gp2`, `io1` or `io2`.
    #[attribute(name = "type", default = "\"gp3\"")]
    pub kind: Value<String>,
    /// I/O operations a second. Left out: EBS's default for the type, 3000 for `gp3`.
    pub iops: Value<u32>,
    /// Throughput in MiB a second, for `gp3`. Left out: EBS's default, 125.
    pub throughput_mibps: Value<u32>,
}

/// Where nodes are placed in relation to each other.
#[derive(Attributes, Clone, Debug, Default)]
pub struct Placement {
    /// Strategy of the placement group.
    pub strategy: Value<PlacementStrategy>,
    /// Availability zone of all nodes.
    pub zone: Value<String>,
}

/// A strategy of placement.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlacementStrategy {
    /// Close together, for a fast network between nodes.
    Cluster,
    /// On hardware of their own.
    Spread,
    /// In groups on hardware of their own.
    Partition,
}

/// A taint of nodes.
#[derive(Attributes, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Taint {
    /// Key.
    #[attribute(required)]
    pub key: Value<String>,
    /// Value. None and an empty one are the same.
    pub value: Value<String>,
    /// What happens to pods that do not tolerate it.
    #[attribute(required)]
    pub effect: Value<TaintEffect>,
}

/// What a taint does.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TaintEffect {
    /// They are not scheduled there.
    #[choice(name = "NoSchedule", also = "NO_SCHEDULE")]
    NoSchedule,
    /// They are not scheduled there, and those that run there are evicted.
    #[choice(name = "NoExecute", also = "NO_EXECUTE")]
    NoExecute,
    /// They are scheduled there only where there is no other place.
    #[choice(name = "PreferNoSchedule", also = "PREFER_NO_SCHEDULE")]
    PreferNoSchedule,
}

/// The accelerators of a pool.
#[derive(Attributes, Clone, Debug, Default)]
#[attributes(computed)]
pub struct Gpu {
    /// Product, as the node label `nvidia.com/gpu.product` has it where there is one. Of several, that of the first
    /// instance type.
    pub product: Value<String>,
    /// Number on each node; the smallest where instance types differ.
    pub count: Value<u32>,
    /// Memory of each in GiB; the smallest where instance types differ.
    pub memory_gib: Value<f64>,
    /// Number on `size.max` nodes; with the largest number on a node where instance types differ.
    pub total_max: Value<u32>,
}

/// What a pool costs.
#[derive(Attributes, Clone, Debug, Default)]
#[attributes(computed)]
pub struct Cost {
    /// US dollars an hour of `size.min` nodes of the cheapest instance type. Null where no price is known.
    pub hourly_min_usd: Value<f64>,
    /// US dollars an hour of `size.max` nodes of the dearest instance type. Null where a price is not known.
    pub hourly_max_usd: Value<f64>,
    /// Date of the oldest price used, as `YYYY-MM-DD`.
    pub priced_on: Value<String>,
}

/// A toleration of a workload.
#[derive(Attributes, Clone, Debug, Default)]
#[attributes(computed)]
pub struct Toleration {
    /// Key of the taint.
    pub key: Value<String>,
    /// `Exists`: whatever the taint's value is.
    pub operator: Value<String>,
    /// Effect of the taint.
    pub effect: Value<String>,
}
