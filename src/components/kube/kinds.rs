//! The kinds of objects this provider makes, one marker type each.

use converge::KindFacts;

use super::{Kind, facts};

// Type, name in ledgers, API group, versions we write, whether it lives in a namespace, a fact that is not as usual.
macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident, $stored:literal, $group:literal, [$($version:literal),+], $namespaced:literal $(, $fact:ident = $is:expr)?;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub enum $name {}

            impl Kind for $name {
                const FACTS: KindFacts = KindFacts { $($fact: $is,)? ..facts($stored, stringify!($name)) };
                const GROUP: &'static str = $group;
                const VERSIONS: &'static [&'static str] = &[$($version),+];
                const KIND: &'static str = stringify!($name);
                const NAMESPACED: bool = $namespaced;
            }
        )*

        /// Calls a macro once with every kind.
        macro_rules! for_every_kube_kind {
            ($call:ident) => { $( $call!($name); )* };
        }
        pub(crate) use for_every_kube_kind;
    };
}

kinds! {
    /// A namespace. Deleting it deletes what is in it.
    Namespace, "kubernetes_namespace", "", ["v1"], false;
    /// A pod's identity.
    ServiceAccount, "kubernetes_service_account", "", ["v1"], true;
    /// Configuration that pods read.
    ConfigMap, "kubernetes_config_map", "", ["v1"], true;
    /// A stable address of pods.
    Service, "kubernetes_service", "", ["v1"], true;
    /// Limits on what a namespace may ask for.
    ResourceQuota, "kubernetes_resource_quota", "", ["v1"], true;
    /// Defaults and limits of containers in a namespace.
    LimitRange, "kubernetes_limit_range", "", ["v1"], true;
    /// A volume. Once its claim is gone it serves no other, and only a new one does.
    PersistentVolume, "kubernetes_persistent_volume", "", ["v1"], false, mends = false;
    /// A claim to a volume. It stays as it was made, and bound to what it was bound to.
    PersistentVolumeClaim, "kubernetes_persistent_volume_claim", "", ["v1"], true, fixed = &["cluster", "namespace", "name", "manifest"];
    /// Replicated pods.
    Deployment, "kubernetes_deployment", "apps", ["v1"], true;
    /// How many pods may be down at once for maintenance.
    PodDisruptionBudget, "kubernetes_pod_disruption_budget", "policy", ["v1"], true;
    /// An autoscaler on metrics.
    HorizontalPodAutoscaler, "kubernetes_horizontal_pod_autoscaler", "autoscaling", ["v2"], true;
    /// HTTP routes from outside.
    Ingress, "kubernetes_ingress", "networking.k8s.io", ["v1"], true;
    /// Which traffic pods may send and receive.
    NetworkPolicy, "kubernetes_network_policy", "networking.k8s.io", ["v1"], true;
    /// A role within a namespace given to people.
    RoleBinding, "kubernetes_role_binding", "rbac.authorization.k8s.io", ["v1"], true;
    /// A rule on objects, in CEL.
    ValidatingAdmissionPolicy, "kubernetes_validating_admission_policy", "admissionregistration.k8s.io", ["v1"], false;
    /// Where such a rule is in force.
    ValidatingAdmissionPolicyBinding, "kubernetes_validating_admission_policy_binding", "admissionregistration.k8s.io", ["v1"], false;
    /// KEDA's autoscaler.
    ScaledObject, "keda_scaled_object", "keda.sh", ["v1alpha1"], true;
    /// Which pods Prometheus asks for metrics.
    PodMonitor, "prometheus_pod_monitor", "monitoring.coreos.com", ["v1"], true;
    /// A secret copied from a store.
    ExternalSecret, "external_secrets_external_secret", "external-secrets.io", ["v1"], true;
    /// A kind of capacity that Kueue hands out.
    ResourceFlavor, "kueue_resource_flavor", "kueue.x-k8s.io", ["v1beta2", "v1beta1"], false;
    /// A queue of workloads with quotas.
    ClusterQueue, "kueue_cluster_queue", "kueue.x-k8s.io", ["v1beta2", "v1beta1"], false;
    /// A namespace's way into a queue.
    LocalQueue, "kueue_local_queue", "kueue.x-k8s.io", ["v1beta2", "v1beta1"], true;
    /// A priority of workloads.
    WorkloadPriorityClass, "kueue_workload_priority_class", "kueue.x-k8s.io", ["v1beta2", "v1beta1"], false;
    /// Racks and blocks that Kueue places jobs in.
    Topology, "kueue_topology", "kueue.x-k8s.io", ["v1beta2", "v1beta1"], false;
}
