//! Where images may come from, as a ValidatingAdmissionPolicy in CEL and its binding to the namespace.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

/// The images of a pod of the name `object` or `oldObject`, as one list of texts. CEL has no flattening, so the three
/// kinds of containers are added up.
fn images(object: &str) -> String {
    let of = |field: &str| {
        format!("(has({object}.spec.{field}) ? {object}.spec.{field}.map(c, has(c.image) ? c.image : '') : [])")
    };
    let volumes = format!(
        "(has({object}.spec.volumes) ? {object}.spec.volumes.filter(v, has(v.image) && has(v.image.reference))\
         .map(v, v.image.reference) : [])"
    );
    format!("{} + {} + {} + {volumes}", of("containers"), of("initContainers"), of("ephemeralContainers"))
}

// The first part is a host where it looks like one; otherwise the image is Docker Hub's, whose own images have no path.
const WHOLE: &str = "i.contains('/') && (i.split('/')[0].contains('.') || i.split('/')[0].contains(':') || \
                     i.split('/')[0] == 'localhost') ? i : (i.contains('/') ? 'docker.io/' + i : 'docker.io/library/' + i)";

/// The manifest of the policy.
pub(super) fn policy(registries: &BTreeSet<String>) -> Json {
    // An image that the pod had before is not asked about again: a pod that runs can still be labelled and deleted.
    let added = format!("variables.images.filter(i, oldObject == null || !(i in ({})))", images("oldObject"));
    let untrusted = format!("variables.added.map(i, {WHOLE}).filter(i, !({}))", is_trusted(registries));
    let list = registries.iter().map(|registry| quoted(registry)).collect::<Vec<_>>().join(" + ', ' + ");
    json!({ "spec": {
        "failurePolicy": "Fail",
        "matchConstraints": { "resourceRules": [
            {
                "apiGroups": [""], "apiVersions": ["v1"],
                "operations": ["CREATE", "UPDATE"], "resources": ["pods", "pods/ephemeralcontainers"],
            },
        ] },
        "variables": [
            { "name": "images", "expression": images("object") },
            { "name": "added", "expression": added },
            { "name": "untrusted", "expression": untrusted },
        ],
        "validations": [{
            "expression": "size(variables.untrusted) == 0",
            "messageExpression":
                format!("'images that are not from a trusted registry: ' + variables.untrusted.join(', ') + '; trusted are ' + {list}"),
            "reason": "Forbidden",
        }],
    } })
}

/// The manifest of the binding.
pub(super) fn binding(policy: &str, namespace: &str) -> Json {
    json!({ "spec": {
        "policyName": policy,
        "validationActions": ["Deny"],
        "matchResources": { "namespaceSelector": { "matchLabels": { "kubernetes.io/metadata.name": namespace } } },
    } })
}

// Whether `i` is from one of the registries. A host ends where its slash is, and a repository where its tag, its digest
// or a deeper path begins: `ghcr.io/acme` is not `ghcr.io/acme-evil`, `ghcr.io` not `ghcr.io.evil.com`.
fn is_trusted(registries: &BTreeSet<String>) -> String {
    let matches = registries.iter().map(|registry| {
        let begins = |text: &str| format!("i.startsWith({})", quoted(text));
        let plain = registry.trim_end_matches('/');
        if registry.ends_with('/') || !registry.contains('/') {
            return begins(&format!("{plain}/"));
        }
        let ends = ["/", ":", "@"].map(|end| begins(&format!("{plain}{end}"))).join(" || ");
        format!("i == {} || {ends}", quoted(plain))
    });
    matches.collect::<Vec<_>>().join(" || ")
}

/// Whether an image is from one of the registries: what the policy says, in Rust.
pub(in crate::resources) fn trusts(registries: &BTreeSet<String>, image: &str) -> bool {
    let whole = match image.split_once('/') {
        Some((host, _)) if host.contains(['.', ':']) || host == "localhost" => image.to_owned(),
        Some(_) => format!("docker.io/{image}"),
        None => format!("docker.io/library/{image}"),
    };
    registries.iter().any(|registry| {
        let plain = registry.trim_end_matches('/');
        let Some(rest) = whole.strip_prefix(plain) else { return false };
        if registry.ends_with('/') || !registry.contains('/') {
            return rest.starts_with('/');
        }
        rest.is_empty() || rest.starts_with(['/', ':', '@'])
    })
}

// As a CEL text. What would need escaping is refused by the checks; it is taken out here all the same.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace(['\'', '\\', '\n', '\r'], ""))
}

/// What is wrong with a registry, and what to do about it.
pub(super) fn fault(registry: &str) -> Option<&'static str> {
    let (host, path) = registry.split_once('/').unwrap_or((registry, ""));
    let (name, port) = host.split_once(':').unwrap_or((host, ""));
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_name = |text: &str, more: &str| {
        text.chars().all(|c| is_inner(c) || more.contains(c)) && text.starts_with(is_inner) && text.ends_with(is_inner)
    };
    match () {
        () if registry.contains("://") => Some("It has a scheme.\n\nGive the host without it, such as \"ghcr.io\"."),
        () if registry.contains('*') => {
            Some("It has a wildcard, which means nothing here.\n\nGive the beginning of the image's name and a slash.")
        }
        () if registry.contains('@') || path.contains(':') => {
            Some("It names one image by tag or digest.\n\nGive the repository without it.")
        }
        () if !name.contains('.') && port.is_empty() && name != "localhost" => Some(
            "Its first part is no host: it has no dot and no port.\n\nGive the host as well, such as \
             \"docker.io/vllm/\" for images of Docker Hub.",
        ),
        () if !is_name(name, "-.") || !port.chars().all(|c| c.is_ascii_digit()) || host.ends_with(':') => Some(
            "Its host cannot be one.\n\nUse lower-case letters, digits, hyphens and dots, and a port after a colon.",
        ),
        () if path.split('/').any(|part| !part.is_empty() && !is_name(part, "-._"))
            || format!("/{path}").contains("//") =>
        {
            Some(
                "Its path cannot be that of an image.\n\nUse lower-case letters, digits, hyphens, dots and underscores.",
            )
        }
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_trusted_by_its_host_and_by_whole_parts_of_its_path() {
        for (registry, image, is_trusted) in [
            ("ghcr.io/acme/", "ghcr.io/acme/vllm:1", true),
            ("ghcr.io/acme/", "ghcr.io/acme-evil/vllm:1", false),
            ("ghcr.io/acme", "ghcr.io/acme-evil/vllm:1", false),
            ("ghcr.io/acme", "ghcr.io/acme:1", true),
            ("ghcr.io/acme", "ghcr.io/acme@sha256:ab", true),
            ("ghcr.io/acme", "ghcr.io/acme/a/b", true),
            ("ghcr.io", "ghcr.io.evil.com/vllm", false),
            ("ghcr.io", "ghcr.io/vllm", true),
            ("docker.io/vllm/", "vllm/vllm-openai:v1", true),
            ("docker.io/library/", "busybox", true),
            ("docker.io/vllm/", "busybox", false),
            ("localhost:5000", "localhost:5000/a", true),
            ("localhost:5000", "localhost/a", false),
        ] {
            assert_eq!(trusts(&BTreeSet::from([registry.to_owned()]), image), is_trusted, "{registry} {image}");
        }
    }
}
