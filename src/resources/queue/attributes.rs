//! The attributes of a queue. Their comments are the reference that users read.

use std::collections::{BTreeMap, BTreeSet};

use tf_provider::{Attributes, Choice};
use value::Value;

use crate::{
    components::kube::Labels,
    resources::{Toleration, gpu_pool::Taint, kubernetes::Adopt},
};

/// A Kueue queue: quotas of one or more kinds of nodes, the namespaces that may use them, and priorities by which
/// workloads wait and make place for each other.
///
/// It is a ClusterQueue with its ResourceFlavors and Topologies, a LocalQueue in each namespace, and
/// WorkloadPriorityClasses. Kueue has to be installed; it is spoken to in the newest version that the cluster serves,
/// `v1beta2` or `v1beta1`. ResourceFlavors, Topologies and WorkloadPriorityClasses have no namespace: each belongs to
/// the one queue that makes it, and another queue that names it as its own is refused. To share a flavor, as queues of
/// a cohort do, make it in one queue and name it with `existing = true` in the others.
///
/// Destroying a queue deletes first the LocalQueues, then the ClusterQueue, which Kueue lets go when everything that
/// runs in it has ended, then flavors and topologies. To evict what runs instead of waiting for it, apply
/// `stop_policy = "HoldAndDrain"` before. The attributes are remembered in an annotation of the ClusterQueue, so that
/// an import gives them back.
#[derive(Attributes, Clone, Debug, Default)]
pub struct Queue {
    /// Name of the EKS cluster. Left out: the cluster of the provider's `kubernetes` block. Changing it makes another
    /// queue.
    #[attribute(replaces)]
    pub cluster: Value<String>,
    /// Name of the ClusterQueue, at most 63 lower-case letters, digits, hyphens and dots. Changing it makes another
    /// queue.
    #[attribute(required, replaces)]
    pub name: Value<String>,
    /// Name of the cohort: queues of one cohort lend each other what they do not use of flavors that they share. Left
    /// out: the quota is a hard limit.
    pub cohort: Value<String>,
    /// Kinds of nodes with the quota of each, in the order of use: a workload gets the first one that it fits.
    #[attribute(required)]
    pub flavors: Value<Vec<Flavor>>,
    /// Who makes place for whom. The default puts important work first: within the queue a workload may evict those
    /// of lower priority, and what others of the cohort have borrowed is taken back whenever it is needed.
    #[attribute(default = "{ within_queue = \"LowerPriority\", reclaim_within_cohort = \"Any\" }")]
    pub preemption: Value<Preemption>,
    /// When a workload tries the next flavor instead of borrowing or evicting in this one.
    #[attribute(default = "{ when_can_borrow = \"MayStopSearch\", when_can_preempt = \"TryNextFlavor\" }")]
    pub flavor_fungibility: Value<FlavorFungibility>,
    /// What happens to the workloads behind one that does not fit: `BestEffortFIFO` admits those that do,
    /// `StrictFIFO` lets them wait.
    #[attribute(default = "\"BestEffortFIFO\"")]
    pub queueing_strategy: Value<QueueingStrategy>,
    /// Whether the queue is stopped: `Hold` admits nothing more, `HoldAndDrain` also evicts what runs.
    #[attribute(default = "\"None\"")]
    pub stop_policy: Value<StopPolicy>,
    /// Namespaces that may use the queue, each with the name of its LocalQueue: what jobs name in the label
    /// `kueue.x-k8s.io/queue-name`. Nobody else may use it. The namespaces have to exist, such as those of
    /// `mlplat_tenant`. The plan warns where a LimitRange gives their containers what the queue has no quota of.
    #[attribute(default = "{}")]
    pub namespaces: Value<BTreeMap<String, String>>,
    /// Names of WorkloadPriorityClasses with the priority of each, larger is more important: what jobs name in the
    /// label `kueue.x-k8s.io/priority-class`. They can be used in every queue of the cluster.
    #[attribute(default = "{}")]
    pub priorities: Value<BTreeMap<String, i64>>,
    /// Labels of the objects, beside those that the provider sets: `app.kubernetes.io/name`,
    /// `app.kubernetes.io/managed-by`, `workload-type`, `managed-by` and those of its `cost_allocation`.
    #[attribute(default = "{}")]
    pub labels: Value<Labels>,
    /// What to do where an object of this name is there already and is not of this resource.
    #[attribute(default = "\"never\"")]
    pub adopt: Value<Adopt>,
    /// Names of the resources that have a quota.
    #[attribute(computed)]
    pub covered_resources: Value<Vec<String>>,
    /// Number of workloads that wait.
    #[attribute(computed)]
    pub pending_workloads: Value<i64>,
    /// Number of workloads that are admitted and have not ended.
    #[attribute(computed)]
    pub admitted_workloads: Value<i64>,
}

/// A kind of nodes, and the quota of it.
#[derive(Attributes, Clone, Debug, Default)]
pub struct Flavor {
    /// Name of the ResourceFlavor, one of its kind in the cluster. Another name is another flavor.
    #[attribute(required)]
    pub name: Value<String>,
    /// Labels of the nodes, at most 8, such as `mlplat_gpu_pool.training.node_selector`. Admitted pods run on no
    /// others. Left out or empty: any node. They cannot be changed while the flavor has a `topology`. Where they are
    /// those of a pool in the same configuration, the plan warns of a quota that is more than the pool can have.
    pub node_labels: Value<BTreeMap<String, String>>,
    /// Taints of the nodes, at most 8, such as `mlplat_gpu_pool.training.taints`. Workloads have to tolerate them to
    /// get this flavor, unless `tolerations` does it for them.
    pub taints: Value<BTreeSet<Taint>>,
    /// Tolerations that admitted pods get, at most 8, such as `mlplat_gpu_pool.training.tolerations`. They cannot be
    /// changed while the flavor has a `topology`.
    pub tolerations: Value<Vec<Toleration>>,
    /// Racks and blocks of the nodes, for workloads whose pods have to be near each other. Needs `node_labels`.
    pub topology: Value<FlavorTopology>,
    /// Whether the ResourceFlavor is there already, made by another queue or by somebody else. Then only the quota is
    /// of this queue. Refer to the queue that makes it with `depends_on`, so that it is made first and deleted last.
    pub existing: Value<bool>,
    /// Quota of each resource that pods ask for, by its name: `cpu`, `memory`, `nvidia.com/gpu`. Every flavor needs
    /// one for every resource of the queue. A workload that asks for anything else is never admitted.
    #[attribute(required)]
    pub quota: Value<BTreeMap<String, ResourceQuota>>,
}

/// Quota of a resource.
#[derive(Attributes, Clone, Debug, Default)]
pub struct ResourceQuota {
    /// Amount that is the queue's own, such as `32` or `"2Ti"`.
    #[attribute(required)]
    pub nominal: Value<String>,
    /// Most that it may borrow from its cohort beyond that. Left out: all that others do not use.
    pub borrowing_limit: Value<String>,
    /// Most that it lends to its cohort. Left out: all that it does not use.
    pub lending_limit: Value<String>,
}

/// How near nodes are to each other.
#[derive(Attributes, Clone, Debug, Default)]
pub struct FlavorTopology {
    /// Name of the Topology. Flavors of one queue may share it.
    #[attribute(required)]
    pub name: Value<String>,
    /// Node labels from the widest to the narrowest, at most 16, such as `["topology.kubernetes.io/zone",
    /// "kubernetes.io/hostname"]`. Left out: the Topology is there already. They cannot be changed; another name is
    /// another topology.
    pub levels: Value<Vec<String>>,
}

/// Who makes place for whom.
#[derive(Attributes, Clone, Debug, Default)]
pub struct Preemption {
    /// Whom a workload that does not fit may evict within the queue: `Never`, `LowerPriority` or
    /// `LowerOrNewerEqualPriority`.
    #[attribute(default = "\"LowerPriority\"")]
    pub within_queue: Value<WithinQueue>,
    /// From whom a workload may take back quota that others of the cohort have borrowed: `Never`, `LowerPriority` or
    /// `Any`.
    #[attribute(default = "\"Any\"")]
    pub reclaim_within_cohort: Value<Reclaim>,
    /// Whether a workload that borrows may evict others of the cohort. Left out: it may not. Not for clusters where
    /// Kueue shares fairly.
    pub borrow_within_cohort: Value<BorrowWithinCohort>,
}

/// Whom a workload that borrows may evict: those of lower priority.
#[derive(Attributes, Clone, Debug, Default)]
pub struct BorrowWithinCohort {
    /// Only workloads of at most this priority. Left out: all of lower priority.
    pub max_priority_threshold: Value<i64>,
}

/// Whom a workload may evict within its queue.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WithinQueue {
    /// Nobody.
    #[choice(name = "Never")]
    Never,
    /// Those of lower priority.
    #[choice(name = "LowerPriority")]
    LowerPriority,
    /// Those, and newer ones of the same priority.
    #[choice(name = "LowerOrNewerEqualPriority")]
    LowerOrNewerEqualPriority,
}

/// From whom a workload may take back quota.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reclaim {
    /// From nobody.
    #[choice(name = "Never")]
    Never,
    /// From those of lower priority.
    #[choice(name = "LowerPriority")]
    LowerPriority,
    /// From all.
    #[choice(name = "Any")]
    Any,
}

/// When a workload tries the next flavor.
#[derive(Attributes, Clone, Debug, Default)]
pub struct FlavorFungibility {
    /// Where it would have to borrow: `MayStopSearch` borrows, `TryNextFlavor` tries the next one first.
    #[attribute(default = "\"MayStopSearch\"")]
    pub when_can_borrow: Value<CanBorrow>,
    /// Where it would have to evict others: `MayStopSearch` evicts, `TryNextFlavor` tries the next one first.
    #[attribute(default = "\"TryNextFlavor\"")]
    pub when_can_preempt: Value<CanPreempt>,
}

/// What a workload does that would have to borrow.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CanBorrow {
    /// It borrows.
    #[choice(name = "MayStopSearch", also = "Borrow")]
    MayStopSearch,
    /// It tries the next flavor.
    #[choice(name = "TryNextFlavor")]
    TryNextFlavor,
}

/// What a workload does that would have to evict others.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CanPreempt {
    /// It evicts them.
    #[choice(name = "MayStopSearch", also = "Preempt")]
    MayStopSearch,
    /// It tries the next flavor.
    #[choice(name = "TryNextFlavor")]
    TryNextFlavor,
}

/// What happens to workloads behind one that does not fit.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum QueueingStrategy {
    /// Those that fit are admitted.
    #[choice(name = "BestEffortFIFO")]
    BestEffort,
    /// They wait.
    #[choice(name = "StrictFIFO")]
    Strict,
}

/// Whether a queue is stopped.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopPolicy {
    /// It is not.
    #[choice(name = "None")]
    None,
    /// Nothing more is admitted.
    #[choice(name = "Hold")]
    Hold,
    /// Nothing more is admitted, and what runs is evicted.
    #[choice(name = "HoldAndDrain")]
    HoldAndDrain,
}
