//! Whose an object is: our mark, and the marks of others that keep an object from being adopted.

use converge::{Owner, Ownership};
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};

use crate::components::kube::{Labels, OWNER_ANNOTATION, OWNER_LABEL};

/// Labels and annotations that tools put on what they manage, by their beginnings. Flux and Argo CD before Helm,
/// whose charts they install.
const TOOLS: [(&str, &str); 5] = [
    ("kustomize.toolkit.fluxcd.io/", "Flux"),
    ("helm.toolkit.fluxcd.io/", "Flux"),
    ("argocd.argoproj.io/", "Argo CD"),
    ("meta.helm.sh/", "Helm"),
    ("helm.sh/chart", "Helm"),
];
const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
const TOOL_NAMES: [(&str, &str); 3] = [("helm", "Helm"), ("argocd", "Argo CD"), ("flux", "Flux")];

/// How an object that nobody manages is taken over, and one that a tool manages.
const TAKE: &str = "To take it over, set `adopt = \"if_unmanaged\"`, or `adopt = \"always\"` for objects of other tools \
    as well.";
const TAKE_AWAY: &str = "To take it over, take it out of that tool, so that the two do not undo each other's work, and \
    set `adopt = \"always\"`.";

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
    match (adopt, manager(&map(live, "labels"), &annotations)) {
        (Some("always"), _) | (Some("if_unmanaged"), None) => Ownership::Adoptable,
        (_, None) => Ownership::Claimable { manager: None, advice: TAKE },
        (_, manager) => Ownership::Claimable { manager, advice: TAKE_AWAY },
    }
}

/// The object's labels or annotations, without what is nobody's wish; a key that we wish for stays.
pub(super) fn ours(live: &Json, field: &str, wanted: &Labels) -> Labels {
    let is_noise = |key: &str| NOISE.iter().any(|noise| key.starts_with(noise));
    map(live, field).into_iter().filter(|(key, _)| wanted.contains_key(key) || !is_noise(key)).collect()
}

fn manager(labels: &Labels, annotations: &Labels) -> Option<&'static str> {
    let has = |beginning: &str| labels.keys().chain(annotations.keys()).any(|key| key.starts_with(beginning));
    let marked = TOOLS.iter().find(|(beginning, _)| has(beginning));
    let named =
        labels.get(MANAGED_BY).and_then(|name| TOOL_NAMES.iter().find(|(tool, _)| tool.eq_ignore_ascii_case(name)));
    marked.or(named).map(|(_, tool)| *tool)
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
        let claimable = Ownership::Claimable { manager: None, advice: TAKE };
        check(&json!({}), &json!({}), None, &claimable);
        check(&json!({}), &json!({}), Some("never"), &claimable);
        check(&json!({}), &json!({}), Some("if_unmanaged"), &Ownership::Adoptable);
        check(&json!({ MANAGED_BY: "Kustomize" }), &json!({}), Some("if_unmanaged"), &Ownership::Adoptable);
    }

    #[test]
    fn an_object_of_another_tool_is_adopted_only_where_always_is_said() {
        for (labels, annotations, tool) in [
            (json!({ MANAGED_BY: "Helm" }), json!({}), "Helm"),
            (json!({ MANAGED_BY: "Helm" }), json!({ "helm.toolkit.fluxcd.io/name": "x" }), "Flux"),
            (json!({}), json!({ "meta.helm.sh/release-name": "x" }), "Helm"),
            (json!({ "argocd.argoproj.io/instance": "x" }), json!({}), "Argo CD"),
            (json!({ "kustomize.toolkit.fluxcd.io/name": "x" }), json!({}), "Flux"),
        ] {
            let managed = Ownership::Claimable { manager: Some(tool), advice: TAKE_AWAY };
            check(&labels, &annotations, Some("if_unmanaged"), &managed);
            check(&labels, &annotations, None, &managed);
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
