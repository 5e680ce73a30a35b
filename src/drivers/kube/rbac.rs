//! The role that the provider needs in a cluster: what the reference prints, and what an acceptance test has no more
//! than.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use super::address::Type;
use crate::components::kube::{self, for_every_kube_kind};

/// What every kind needs, since its objects are made and looked at.
const ALL: [&str; 5] = ["create", "delete", "get", "list", "patch"];

/// What else is asked.
const BESIDE: [Rule; 10] = [
    // Listing would show the content of every Secret.
    Rule::new("", &["secrets"], &["create", "delete", "get", "patch"], "The token of a model's source."),
    Rule {
        names: &["admin", "edit", "view"],
        ..Rule::new(
            "rbac.authorization.k8s.io",
            &["clusterroles"],
            &["bind"],
            "Members of a tenant: every role that `members` gives.",
        )
    },
    Rule::new(
        "",
        &["pods"],
        &["create", "list"],
        "Tells whether pods are let in, tried without effect, and why they do not start.",
    ),
    Rule::new("", &["pods/log"], &["get"], "Tells the last words of an engine that ended."),
    Rule::new("", &["events"], &["list"], "Tells what the scheduler, the kubelet and autoscalers say of a pod."),
    Rule::new("", &["nodes"], &["list"], "Tells whether a node has the GPUs that a pod asks for."),
    Rule::new(
        "apps",
        &["daemonsets", "replicasets"],
        &["list"],
        "Tells whether NetworkPolicies are enforced, and which pods are the newest.",
    ),
    Rule::new(
        "kueue.x-k8s.io",
        &["workloads"],
        &["list"],
        "Tells why Kueue does not admit a pod, and who holds a queue.",
    ),
    Rule::new(
        "external-secrets.io",
        &["clustersecretstores", "secretstores"],
        &["get"],
        "Tells what is amiss with the store that a secret is copied from.",
    ),
    Rule::new(
        "storage.k8s.io",
        &["storageclasses"],
        &["get"],
        "Tells whether a storage class is there, and whether a claim waits for its first pod.",
    ),
];

struct Rule {
    group: &'static str,
    resources: &'static [&'static str],
    /// Only these; all where there are none.
    names: &'static [&'static str],
    verbs: &'static [&'static str],
    what_for: &'static str,
}

// === impl Rule ===

impl Rule {
    const fn new(
        group: &'static str,
        resources: &'static [&'static str],
        verbs: &'static [&'static str],
        what_for: &'static str,
    ) -> Self {
        Self { group, resources, names: &[], verbs, what_for }
    }
}

/// The ClusterRole of this name, as YAML.
pub fn cluster_role(name: &str) -> String {
    let mut text =
        format!("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: {name}\nrules:\n");
    for (group, resources) in kinds() {
        let resources: Vec<_> = resources.iter().map(String::as_str).collect();
        rule(&mut text, group, &resources, &[], &ALL);
    }
    for Rule { group, resources, names, verbs, what_for } in BESIDE {
        let _ = writeln!(text, "  # {what_for}");
        rule(&mut text, group, resources, names, verbs);
    }
    text
}

fn kinds() -> BTreeMap<&'static str, BTreeSet<String>> {
    let mut found = BTreeMap::<_, BTreeSet<_>>::new();
    macro_rules! add {
        ($kind:ident) => {
            let of = Type::of::<kube::$kind>();
            found.entry(of.group).or_default().insert(of.plural());
        };
    }
    for_every_kube_kind!(add);
    found
}

fn rule(text: &mut String, group: &str, resources: &[&str], names: &[&str], verbs: &[&str]) {
    let _ = writeln!(text, "  - apiGroups: [\"{group}\"]\n    resources: [{}]", resources.join(", "));
    if !names.is_empty() {
        let _ = writeln!(text, "    resourceNames: [{}]", names.join(", "));
    }
    let _ = writeln!(text, "    verbs: [{}]", verbs.join(", "));
}
