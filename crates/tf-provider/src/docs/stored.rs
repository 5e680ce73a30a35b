//! What a schema means for state that is stored already: its layout as JSON, and which changes of it break.

use serde_json::{Map, Value as Json, json};

use super::attributes::{type_words, words};
use crate::{Attribute, Block, Provider, Shape};

/// The layout of everything the provider stores or reads, for a golden file: types and flags, no descriptions.
pub fn stored(provider: &dyn Provider) -> Json {
    let mut resources = Map::new();
    for resource in provider.resources() {
        let schema = resource.schema();
        let identity = resource.identity_schema();
        let names: Vec<_> = identity.attributes.into_iter().map(|attribute| attribute.name).collect();
        let layout = json!({
            "version": schema.version,
            "identity": { "version": identity.version, "attributes": names },
            "attributes": block(&schema.block),
        });
        resources.insert(resource.type_name().to_owned(), layout);
    }
    let sources: Map<_, _> = provider
        .data_sources()
        .iter()
        .map(|source| (source.type_name().to_owned(), json!({ "attributes": block(&source.schema().block) })))
        .collect();
    let functions: Map<_, _> = provider
        .functions()
        .iter()
        .map(|function| (function.name().to_owned(), signature(function.as_ref())))
        .collect();
    json!({
        "provider": { "attributes": block(&provider.schema().block) },
        "resources": resources,
        "data_sources": sources,
        "functions": functions,
    })
}

/// The changes from `before` to `after` that stored state does not survive although its version stayed the same: an
/// attribute that has another type. (Attributes may come and go: what is missing is null, what is gone is dropped.)
pub fn breaking(before: &Json, after: &Json) -> Vec<String> {
    let mut broken = Vec::new();
    for (name, old) in entries(&before["resources"]) {
        let new = &after["resources"][name];
        if old["version"] == new["version"] {
            changed_types(name, &old["attributes"], &new["attributes"], &mut broken);
        }
    }
    broken
}

fn changed_types(place: &str, before: &Json, after: &Json, broken: &mut Vec<String>) {
    for (name, old) in entries(before) {
        let (place, new) = (format!("{place}.{name}"), &after[name]);
        if new.is_null() {
            continue;
        }
        if old["type"] != new["type"] {
            broken.push(format!("{place} was {} and is {}", old["type"], new["type"]));
        }
        changed_types(&place, &old["attributes"], &new["attributes"], broken);
    }
}

fn entries(object: &Json) -> impl Iterator<Item = (&String, &Json)> {
    object.as_object().into_iter().flatten()
}

fn block(block_: &Block) -> Json {
    let mut layout = attributes(&block_.attributes);
    for nested in &block_.blocks {
        layout.insert(nested.name.clone(), json!({ "type": "block", "attributes": block(&nested.block) }));
    }
    Json::Object(layout)
}

fn attributes(list: &[Attribute]) -> Map<String, Json> {
    list.iter().map(|attribute| (attribute.name.clone(), layout(attribute))).collect()
}

fn layout(attribute: &Attribute) -> Json {
    let flags = [
        ("required", attribute.required),
        ("optional", attribute.optional),
        ("computed", attribute.computed),
        ("sensitive", attribute.sensitive),
        ("write_only", attribute.write_only),
        ("replaces", attribute.replaces),
    ];
    let mut layout = Map::new();
    layout.insert("type".to_owned(), Json::from(type_words(&attribute.shape)));
    let flags: Vec<_> = flags.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| name).collect();
    layout.insert("is".to_owned(), Json::from(flags.join(", ")));
    if let Shape::Nested(_, nested) = &attribute.shape {
        layout.insert("attributes".to_owned(), Json::Object(attributes(nested)));
    }
    Json::Object(layout)
}

fn signature(function: &dyn crate::Function) -> Json {
    let signature = function.signature();
    let parameters: Vec<_> = signature
        .parameters
        .iter()
        .map(|parameter| format!("{}: {}", parameter.name, words(&parameter.ty)))
        .chain(signature.variadic.iter().map(|parameter| format!("{}...: {}", parameter.name, words(&parameter.ty))))
        .collect();
    json!({ "parameters": parameters, "result": words(&signature.result) })
}
