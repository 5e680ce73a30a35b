//! Whose an object is: our mark, and the marks of others that keep an object from being adopted.

use converge::{Owner, Ownership};
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};

use crate::components::kube::{Labels, OWNER_ANNOTATION, OWNER_LABEL};

/// Labels and annotations that tools put on what they manage, by their beginnings.
const TOOLS: [&str; 5] = [
    "meta.helm.sh/",
    "argocd.argoproj.io/",
    "kustomize.toolkit.fluxcd.io/",
    "helm.toolkit.fluxcd.io/",
    "helm.sh/chart",
];
const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
const TOOL_NAMES: [&str; 3] = ["Helm", "argocd", "flux"];

/// What servers and controllers write into labels and annotations for themselves.
const NOISE: [&str; 7] = [
    "deployment.kubernetes.io/",
    "kubectl.kubernetes.io/last-applied-configuration",
    "kubernetes.io/metadata.name",
    "pv.kubernetes.io/",
    "volume.beta.kubernetes.io/",
    "volume.kubernetes.io/",
    "mlplat.io/",
];

/// Puts the owner's mark into labels and annotations.
pub(super) fn put(owner: &Owner, labels: &mut Labels, annotations: &mut Labels) {
    labels.insert(OWNER_LABEL.to_owned(), hash(owner));
    annotations.insert(OWNER_ANNOTATION.to_owned(), owner.0.clone());
}

/// A hash of the owner that fits into a label's value.
pub(crate) fn hash(owner: &Owner) -> String {
    use std::fmt::Write as _;
    Sha256::digest(&owner.0).iter().take(8).fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Whose the object is, under the user's word on adoption.
pub(super) fn ownership(live: &Json, adopt: Option<&str>) -> Ownership {
    let annotations = map(live, "annotations");
    if let Some(mark) = annotations.get(OWNER_ANNOTATION) {
        return Ownership::Marked(Owner(mark.clone()));
    }
    match adopt {
        Some("always") => Ownership::Adoptable,
        Some("if_unmanaged") if !is_managed(&map(live, "labels"), &annotations) => Ownership::Adoptable,
        _ => Ownership::Unmarked,
    }
}

/// The object's labels or annotations, without what is nobody's wish; a key that we wish for stays.
pub(super) fn ours(live: &Json, field: &str, wanted: &Labels) -> Labels {
    let is_noise = |key: &str| NOISE.iter().any(|noise| key.starts_with(noise));
    map(live, field).into_iter().filter(|(key, _)| wanted.contains_key(key) || !is_noise(key)).collect()
}

fn is_managed(labels: &Labels, annotations: &Labels) -> bool {
    let has_mark = labels.keys().chain(annotations.keys()).any(|key| TOOLS.iter().any(|tool| key.starts_with(tool)));
    has_mark || labels.get(MANAGED_BY).is_some_and(|name| TOOL_NAMES.iter().any(|tool| tool.eq_ignore_ascii_case(name)))
}

fn map(live: &Json, field: &str) -> Labels {
    let map = live.get("metadata").and_then(|metadata| metadata.get(field)).and_then(Json::as_object);
    let texts = map.into_iter().flatten().filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())));
    texts.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(labels: &Json, annotations: &Json, adopt: Option<&str>, expected: &Ownership) {
        let live = json!({ "metadata": { "labels": labels, "annotations": annotations } });
        assert_eq!(ownership(&live, adopt), *expected, "{live} {adopt:?}");
    }

    #[test]
    fn a_mark_counts_before_anything_else() {
        let owner = Owner("mlplat_tenant/ml/alpha".into());
        let (mut labels, mut annotations) = (Labels::new(), Labels::new());
        put(&owner, &mut labels, &mut annotations);
        check(&json!(labels), &json!(annotations), Some("always"), &Ownership::Marked(owner));
        assert!(labels[OWNER_LABEL].len() <= 63);
    }

    #[test]
    fn the_users_word_decides_about_an_object_without_a_mark() {
        check(&json!({}), &json!({}), None, &Ownership::Unmarked);
        check(&json!({}), &json!({}), Some("never"), &Ownership::Unmarked);
        check(&json!({}), &json!({}), Some("if_unmanaged"), &Ownership::Adoptable);
        check(&json!({ MANAGED_BY: "Kustomize" }), &json!({}), Some("if_unmanaged"), &Ownership::Adoptable);
    }

    #[test]
    fn an_object_of_another_tool_is_adopted_only_where_always_is_said() {
        for (labels, annotations) in [
            (json!({ MANAGED_BY: "Helm" }), json!({})),
            (json!({}), json!({ "meta.helm.sh/release-name": "x" })),
            (json!({ "argocd.argoproj.io/instance": "x" }), json!({})),
            (json!({ "kustomize.toolkit.fluxcd.io/name": "x" }), json!({})),
            (json!({ "helm.toolkit.fluxcd.io/name": "x" }), json!({})),
        ] {
            check(&labels, &annotations, Some("if_unmanaged"), &Ownership::Unmarked);
            check(&labels, &annotations, Some("always"), &Ownership::Adoptable);
        }
    }

    #[test]
    fn what_controllers_write_for_themselves_is_nobodys_wish() {
        let live = json!({ "metadata": { "labels": { "kubernetes.io/metadata.name": "a", "team": "x" } } });
        assert_eq!(ours(&live, "labels", &Labels::new()), Labels::from([("team".into(), "x".into())]));
        let wanted = Labels::from([("kubernetes.io/metadata.name".to_owned(), "a".to_owned())]);
        assert_eq!(ours(&live, "labels", &wanted).len(), 2);
    }
}
