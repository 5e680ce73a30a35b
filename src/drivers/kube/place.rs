//! Which part of an object an API server speaks of, as a place in its component: what attribute a message stands on.
//!
//! The server names fields in its own way (`spec.template.spec.containers[0].env[2].name`), and admission often names
//! none. Then it is the text of the object that the message quotes. That decides where a message is shown, and nothing
//! else.

use converge::Place;
use kube::core::Status;
use serde_json::Value as Json;

/// The field of a component that holds all of a manifest but its metadata.
pub(super) const MANIFEST: &str = "manifest";

/// Shorter texts of an object are words of any message.
const SHORTEST: usize = 8;

/// The part of `object` that the answer is about.
pub(super) fn place(status: &Status, object: &Json) -> Option<Place> {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let named = causes.map(|cause| cause.field.as_str()).find(|field| !field.is_empty());
    named.map(|field| of_field(field, object)).or_else(|| quoted(&status.message, object))
}

/// The place of a field as the server writes it.
pub(super) fn of_field(field: &str, object: &Json) -> Place {
    let (mut at, mut pointer) = (object, String::new());
    for step in steps(field) {
        let Some((name, inner)) = enter(at, step) else { break };
        (at, pointer) = (inner, format!("{pointer}/{name}"));
    }
    let rest = |field: &'static str| pointer.strip_prefix("/metadata/")?.strip_prefix(field);
    for field in ["labels", "annotations", "namespace", "name"] {
        if let Some(rest) = rest(field) {
            return Place::within(field, rest);
        }
    }
    Place::within(MANIFEST, pointer)
}

/// A key of a map as a step of a JSON pointer.
pub(super) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

// The steps of `a.b[0].c[x.y/z]`, as they are written.
fn steps(field: &str) -> Vec<&str> {
    let (mut steps, mut from, mut is_inside) = (Vec::new(), 0, false);
    for (at, c) in field.char_indices() {
        match c {
            '.' if is_inside => continue,
            '[' => is_inside = true,
            ']' => is_inside = false,
            '.' => {}
            _ => continue,
        }
        steps.extend(field.get(from..at));
        from = at + 1;
    }
    steps.extend(field.get(from..));
    steps.retain(|step| !step.is_empty());
    steps
}

// The step as a JSON pointer has it, and what is there.
fn enter<'o>(at: &'o Json, step: &str) -> Option<(String, &'o Json)> {
    match at {
        Json::Array(items) => {
            let index = step.parse().ok().or_else(|| items.iter().position(|item| is_entry(item, step)))?;
            Some((index.to_string(), items.get(index)?))
        }
        // Of a pod's template the server leaves out `metadata`.
        Json::Object(map) => map.get(step).map(|inner| (escaped(step), inner)).or_else(|| {
            let inner = at.get("metadata")?.get(step)?;
            Some((format!("metadata/{}", escaped(step)), inner))
        }),
        _ => None,
    }
}

// Whether an entry of a list has the keys of `name="server",port=80`.
fn is_entry(entry: &Json, keys: &str) -> bool {
    let is_key = |key: &str| {
        let (name, value) = key.split_once('=')?;
        let found = entry.get(name)?;
        Some(found.as_str().map_or_else(|| found.to_string(), str::to_owned) == value.trim_matches('"'))
    };
    keys.split(',').all(|key| is_key(key) == Some(true))
}

// The longest text of the object that the message has in it; of amounts their names count.
fn quoted(message: &str, object: &Json) -> Option<Place> {
    let mut texts = Vec::new();
    for (name, value) in object.as_object()?.iter().filter(|(name, _)| *name != "metadata") {
        collect(value, format!("/{name}"), &mut texts);
    }
    let name = object.pointer("/metadata/name").and_then(Json::as_str);
    let namespace = object.pointer("/metadata/namespace").and_then(Json::as_str);
    let told = texts.into_iter().filter(|(text, _)| Some(*text) != name && Some(*text) != namespace);
    // A taint that is tolerated has the name of the amount that is asked for.
    let longest = told
        .filter(|(text, _)| has_word(message, text))
        .max_by_key(|(text, pointer)| (text.len(), pointer.contains("/limits/")));
    longest.map(|(_, pointer)| Place::within(MANIFEST, pointer))
}

fn collect<'o>(value: &'o Json, pointer: String, texts: &mut Vec<(&'o str, String)>) {
    match value {
        Json::String(text) if text.len() >= SHORTEST => texts.push((text, pointer)),
        Json::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| collect(item, format!("{pointer}/{at}"), texts));
        }
        Json::Object(map) => {
            let are_amounts = pointer.ends_with("/limits");
            for (key, inner) in map {
                let pointer = format!("{pointer}/{}", escaped(key));
                texts.extend(are_amounts.then(|| (key.as_str(), pointer.clone())));
                collect(inner, pointer, texts);
            }
        }
        _ => {}
    }
}

fn has_word(message: &str, text: &str) -> bool {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || "-_/".contains(c);
    message.match_indices(text).any(|(at, _)| {
        let before = message.get(..at).and_then(|before| before.chars().next_back());
        let after = message.get(at + text.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(is_inner) && !after.is_some_and(is_inner)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn deployment() -> Json {
        json!({
            "kind": "Deployment",
            "metadata": { "name": "vllm-qwen", "namespace": "inference", "labels": { "a.b/team": "x y" } },
            "spec": { "template": {
                "metadata": { "labels": { "a": "b" } },
                "spec": { "serviceAccountName": "vllm-qwen", "containers": [{
                    "name": "server", "image": "docker.io/acme/vllm:1",
                    "env": [{ "name": "A" }, { "name": "B-" }],
                    "ports": [{ "containerPort": 8000, "protocol": "TCP" }],
                    "resources": { "limits": { "cpu": "4", "nvidia.com/gpu": "1" } },
                }], "tolerations": [{ "key": "nvidia.com/gpu" }] },
            } },
        })
    }

    #[test]
    fn a_field_is_found_as_the_server_writes_it() {
        const CONTAINER: &str = "/spec/template/spec/containers/0";
        for (field, of, part) in [
            ("spec.template.spec.containers[0].env[1].name", MANIFEST, format!("{CONTAINER}/env/1/name")),
            (
                "spec.template.spec.containers[0].resources.limits[nvidia.com/gpu]",
                MANIFEST,
                format!("{CONTAINER}/resources/limits/nvidia.com~1gpu"),
            ),
            (".spec.template.spec.containers[name=\"server\"].image", MANIFEST, format!("{CONTAINER}/image")),
            (
                ".spec.template.spec.containers[name=\"server\"].ports[containerPort=8000,protocol=\"TCP\"].name",
                MANIFEST,
                format!("{CONTAINER}/ports/0"),
            ),
            ("spec.template.labels", MANIFEST, "/spec/template/metadata/labels".to_owned()),
            ("spec.template.spec.containers[7].image", MANIFEST, "/spec/template/spec/containers".to_owned()),
            ("spec.paused", MANIFEST, "/spec".to_owned()),
            ("metadata.labels[a.b/team]", "labels", "/a.b~1team".to_owned()),
            ("metadata.labels", "labels", String::new()),
            ("metadata.name", "name", String::new()),
            ("metadata.namespace", "namespace", String::new()),
            ("", MANIFEST, String::new()),
            ("[[.", MANIFEST, String::new()),
        ] {
            assert_eq!(of_field(field, &deployment()), Place::within(of, part), "{field}");
        }
    }

    #[test]
    fn a_refusal_without_a_field_is_shown_at_what_it_quotes() {
        let quoted = |message: &str| quoted(message, &deployment()).map(|place| place.part);
        let container = |rest: &str| Some(format!("/spec/template/spec/containers/0/{rest}"));
        for (message, expected) in [
            ("docker.io/acme/vllm:1 is not trusted", container("image")),
            ("exceeded quota: x, requested: requests.nvidia.com/gpu=1", container("resources/limits/nvidia.com~1gpu")),
            ("maximum cpu usage per Container is 2, but limit is 4", container("resources/limits/cpu")),
            ("deployments \"vllm-qwen\" in inference is refused", None),
            ("docker.io/acme/vllm:10 is not trusted", None),
        ] {
            assert_eq!(quoted(message), expected, "{message}");
        }
    }
}
