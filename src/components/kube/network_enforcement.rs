//! Whether a cluster keeps its NetworkPolicies. Something to look at, not something to make: the API server takes
//! NetworkPolicies whether or not anything in the cluster heeds them.

use serde::{Deserialize, Serialize};
use tf_provider_derive::Component;

/// Whether NetworkPolicies are in force for a namespace. A part of the namespace: it goes with it, and there is
/// nothing to delete.
#[derive(Component, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[component(kind = "kubernetes_network_enforcement", noun = "network isolation", part)]
pub struct NetworkEnforcement {
    /// Name of the EKS cluster; absent: the provider's `kubernetes` block.
    #[component(identity, place)]
    pub cluster: Option<String>,
    /// Namespace.
    #[component(identity)]
    pub namespace: String,
    /// Whether a program in the cluster enforces NetworkPolicies. Absent where it does not matter; then nothing is
    /// asked after the plan.
    pub enforced: Option<bool>,
    /// Whether to warn at plan where nothing enforces them.
    pub warn: bool,
    /// A DaemonSet that enforces them, `namespace/name`, where it is none of those known to this provider.
    pub enforcer: Option<String>,
}
