//! Where an object is on an API server: group, version, plural, namespace, name.

use crate::components::kube::Kind;

/// The facts of a kind that a path is made from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Type {
    pub(super) group: &'static str,
    /// Versions we write, the one whose words manifests are in first.
    pub(super) versions: &'static [&'static str],
    pub(super) kind: &'static str,
    pub(super) is_namespaced: bool,
}

/// One object at one version.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address<'a> {
    pub(super) of: Type,
    pub(super) version: &'static str,
    pub(super) namespace: Option<&'a str>,
    pub(super) name: &'a str,
}

// === impl Type ===

impl Type {
    pub(super) const fn of<K: Kind>() -> Self {
        Self { group: K::GROUP, versions: K::VERSIONS, kind: K::KIND, is_namespaced: K::NAMESPACED }
    }

    /// The kind in paths. English as the API servers have it, which is enough for our kinds.
    pub(super) fn plural(self) -> String {
        let kind = self.kind.to_lowercase();
        match kind.strip_suffix('y') {
            Some(stem) => format!("{stem}ies"),
            None if kind.ends_with('s') => format!("{kind}es"),
            None => format!("{kind}s"),
        }
    }

    /// The path of all objects of the kind, or of those in a namespace.
    pub(super) fn list_path(self, version: &str, namespace: Option<&str>) -> String {
        let root =
            if self.group.is_empty() { format!("/api/{version}") } else { format!("/apis/{}/{version}", self.group) };
        match namespace {
            Some(namespace) => format!("{root}/namespaces/{}/{}", encode(namespace), self.plural()),
            None => format!("{root}/{}", self.plural()),
        }
    }

    /// As in a manifest.
    pub(super) fn api_version(self, version: &str) -> String {
        if self.group.is_empty() { version.to_owned() } else { format!("{}/{version}", self.group) }
    }
}

// === impl Address ===

impl Address<'_> {
    pub(super) fn path(&self) -> String {
        format!("{}/{}", self.of.list_path(self.version, self.namespace), encode(self.name))
    }

    /// `namespace/name`, or the name.
    pub(super) fn id(&self) -> String {
        match self.namespace {
            Some(namespace) => format!("{namespace}/{}", self.name),
            None => self.name.to_owned(),
        }
    }

    /// The object in words.
    pub(super) fn words(&self) -> String {
        format!("{} {:?}", self.of.kind, self.id())
    }
}

/// A path segment or a query's value, percent-encoded.
pub(super) fn encode(text: &str) -> String {
    use std::fmt::Write as _;
    text.bytes().fold(String::new(), |mut encoded, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
        encoded
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::components::kube;

    macro_rules! plurals {
        ($found:ident, $($kind:ident),*) => { $( $found.insert(Type::of::<kube::$kind>().plural()); )* };
    }

    #[test]
    fn plurals_are_those_of_the_api_servers() {
        let mut found = BTreeSet::new();
        plurals!(
            found,
            Namespace,
            ServiceAccount,
            Service,
            ResourceQuota,
            LimitRange,
            PersistentVolumeClaim,
            Deployment,
            PodDisruptionBudget,
            HorizontalPodAutoscaler,
            Ingress,
            NetworkPolicy,
            RoleBinding,
            ValidatingAdmissionPolicy,
            ValidatingAdmissionPolicyBinding,
            WorkloadPriorityClass,
            Topology,
            LocalQueue
        );
        let expected = [
            "deployments",
            "horizontalpodautoscalers",
            "ingresses",
            "limitranges",
            "localqueues",
            "namespaces",
            "networkpolicies",
            "persistentvolumeclaims",
            "poddisruptionbudgets",
            "resourcequotas",
            "rolebindings",
            "serviceaccounts",
            "services",
            "topologies",
            "validatingadmissionpolicies",
            "validatingadmissionpolicybindings",
            "workloadpriorityclasses",
        ];
        assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn paths_follow_group_and_namespace() {
        let address = |of: Type, namespace| Address { of, version: of.versions[0], namespace, name: "x" }.path();
        assert_eq!(address(Type::of::<kube::Namespace>(), None), "/api/v1/namespaces/x");
        assert_eq!(address(Type::of::<kube::Service>(), Some("ml")), "/api/v1/namespaces/ml/services/x");
        assert_eq!(address(Type::of::<kube::ClusterQueue>(), None), "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/x");
        assert_eq!(encode("a=b,c in (d)"), "a%3Db%2Cc%20in%20%28d%29");
    }
}
