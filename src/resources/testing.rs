//! Shared by the tests of resources: a resource from JSON, and its graph as text.

use std::{collections::BTreeMap, fmt::Write};

use converge::{Document, Graph, Ledger, Owner, Run, testing::InstantClock};
use serde_json::Value as Json;
use tf_provider::{Attribute, Attributes, Cty, Decoder, Diagnostics, Schema, Severity, Shape, from_document};
use value::{AttributePath, Step};

use crate::composite::Composite;
pub(super) use crate::testing::{KINDS, cloud, settings};

/// The resource that a configuration in document form gives. A JSON text `"(unknown)"` at an attribute's place is
/// an unknown value.
pub(super) fn decoded<C: Attributes>(config: &Json) -> C {
    let (resource, complaints) = decoded_with_complaints(config, false);
    assert!(complaints.is_empty(), "{complaints:?}");
    resource
}

/// As [`decoded`], for an import's stub: nested objects left out are opened.
pub(super) fn stub<C: Attributes>(config: &Json) -> C {
    decoded_with_complaints(config, true).0
}

/// As [`decoded`], with what decoding complains of.
pub(super) fn decoded_with_complaints<C: Attributes>(config: &Json, open_nulls: bool) -> (C, Diagnostics) {
    let mut schema = Schema::default();
    schema.block.attributes = C::attributes();
    let mut object = from_document(config, &schema.ty());
    for (name, value) in config.as_object().into_iter().flatten() {
        assert!(schema.block.attribute(name).is_some(), "no attribute {name}");
        if value == "(unknown)" {
            object.set(name, Cty::unknown());
        }
    }
    let mut decoder = Decoder { open_nulls, ..Decoder::default() };
    let resource = C::decode_object(&object, &AttributePath::root(), &mut decoder);
    (resource, decoder.diagnostics)
}

/// The expansion, given outputs of objects that exist.
pub(super) fn expanded<C: Composite>(config: &Json, outputs: BTreeMap<String, Document>) -> (C, Graph) {
    let mut resource: C = decoded(config);
    let mut graph = Graph::new(outputs);
    resource.expand(&settings(), &mut graph);
    (resource, graph)
}

/// The graph as text: an object a paragraph, a field a line, or a line for each part of one that has parts.
pub(super) fn text(graph: &Graph) -> String {
    let mut text = String::new();
    for (key, node) in graph.nodes() {
        let after: Vec<_> =
            node.after.iter().filter(|key| node.inside.as_ref() != Some(key)).map(String::as_str).collect();
        let mut edges = node.inside.iter().map(|whole| format!(" inside {whole}")).collect::<String>();
        if !after.is_empty() {
            let _ = write!(edges, " after {}", after.join(", "));
        }
        let _ = writeln!(text, "{key}: {}{edges}", node.facts.kind);
        node.document().iter().for_each(|(field, value)| write_value(&mut text, field, value));
    }
    text
}

fn write_value(text: &mut String, name: &str, value: &Json) {
    let _ = match value {
        Json::Object(parts) if value::is_pending(value) => {
            let from = parts.values().map(|from| match from {
                Json::Array(from) => from.iter().filter_map(Json::as_str).collect::<Vec<_>>().join("."),
                other => other.to_string(),
            });
            writeln!(text, "  {name} <- {}", from.collect::<String>())
        }
        Json::Object(parts) => {
            return parts.iter().for_each(|(key, part)| write_value(text, &format!("{name}[{key}]"), part));
        }
        Json::Array(items)
            if items.iter().any(|item| item.is_object() || item.as_str().is_some_and(|s| s.len() > 20)) =>
        {
            let _ = writeln!(text, "  {name}:");
            items.iter().try_for_each(|item| writeln!(text, "    {item}"))
        }
        other => writeln!(text, "  {name} = {other}"),
    };
}

/// The attributes that messages about parts of the objects are shown at, a part a line. Each is in the schema.
pub(super) fn blames<C: Composite>(config: &Json) -> String {
    let (attributes, graph) = (C::attributes(), expanded::<C>(config, BTreeMap::new()).1);
    let mut text = String::new();
    for (key, node) in graph.nodes() {
        for (name, field) in &node.fields {
            for (part, path) in &field.parts {
                assert!(has_attribute(&attributes, path.steps()), "{key} {name}{part}: there is no {path}");
                let absent = if field.document.pointer(part).is_none_or(Json::is_null) { " (absent)" } else { "" };
                let _ = writeln!(text, "{key} {part}{absent}: {path}");
            }
        }
    }
    text
}

fn has_attribute(attributes: &[Attribute], path: &[Step]) -> bool {
    match path {
        [] => true,
        [Step::Attribute(name), rest @ ..] => attributes.iter().any(|one| {
            let inner = match &one.shape {
                Shape::Nested(_, inner) => inner.as_slice(),
                Shape::Plain(_) => &[],
            };
            let is_element = |step: &&Step| !matches!(step, Step::Attribute(_));
            one.name == *name && has_attribute(inner, &rest[rest.iter().take_while(is_element).count()..])
        }),
        _ => false,
    }
}

/// What `check` tells of a configuration: severity, attribute, summary.
pub(super) fn complaints<C: Composite>(config: &Json) -> Vec<String> {
    let resource: C = decoded(config);
    let mut complaints = Diagnostics::new();
    resource.check(&mut complaints);
    complaints
        .iter()
        .map(|told| {
            let severity = if told.severity == Severity::Error { "error" } else { "warning" };
            assert!(told.detail.contains("\n\n"), "no advice: {told:?}");
            format!("{severity} at {}: {}", told.path, told.summary)
        })
        .collect()
}

/// The mark of the resource in [`cloud`].
pub(super) fn owner() -> Owner {
    Owner("mlplat/test".to_owned())
}

/// What a look says of the attributes after somebody changed a field of an object that `config` made.
pub(super) async fn drifted<C: Composite>(config: &Json, object: (&str, &str), field: &str, found: Json) -> String {
    let (cx, cloud, owner) = (InstantClock::cx(), cloud(), owner());
    let drivers = cloud.drivers(KINDS);
    let source = |outputs| expanded::<C>(config, outputs).1;
    let run = Run { drivers: &drivers, cx: &cx, owner: &owner, record: &|_| {} };
    let made = converge::converge(&run, &source, Ledger::default()).await;
    assert!(made.failures.is_empty(), "{:?}", made.failures);
    cloud.alter(object.0, object.1, |object| {
        object.document.insert(field.to_owned(), found);
    });
    let ledger = &made.ledger;
    let outputs = ledger.entries.iter().map(|(key, entry)| (key.clone(), entry.outputs.clone())).collect();
    let graph = source(outputs);
    let inspection = converge::inspect(&drivers, &cx, &owner, &graph, Some(ledger)).await.expect("no faults are due");
    let said = inspection.write_backs.iter().map(|one| format!("{} = {}", one.path, one.value));
    said.collect::<Vec<_>>().join("\n")
}

/// What an import that knows `identity` alone says of the attributes of what `config` made. As the bridge does, looks
/// again until nothing new is said.
pub(super) async fn imported<C: Composite>(config: &Json, identity: &Json) -> BTreeMap<String, Json> {
    let (cx, cloud, owner) = (InstantClock::cx(), cloud(), owner());
    let drivers = cloud.drivers(KINDS);
    let source = |outputs| expanded::<C>(config, outputs).1;
    let run = Run { drivers: &drivers, cx: &cx, owner: &owner, record: &|_| {} };
    let made = converge::converge(&run, &source, Ledger::default()).await;
    assert!(made.failures.is_empty(), "{:?}", made.failures);
    let mut said: BTreeMap<AttributePath, Json> = BTreeMap::new();
    let mut outputs = BTreeMap::new();
    for round in 0.. {
        let mut resource: C = stub(&with_attributes(identity, &said));
        let mut graph = Graph::new(outputs);
        resource.expand(&settings(), &mut graph);
        let inspection = converge::inspect(&drivers, &cx, &owner, &graph, None).await.expect("no faults are due");
        outputs = inspection.ledger.entries.into_iter().map(|(key, entry)| (key, entry.outputs)).collect();
        let before = said.clone();
        said.extend(inspection.write_backs.into_iter().map(|one| (one.path, one.value)));
        if said == before && round > 0 {
            break;
        }
        assert!(round < 4, "an import does not come to rest: {said:?}");
    }
    said.into_iter().map(|(path, value)| (path.to_string(), value)).collect()
}

fn with_attributes(identity: &Json, said: &BTreeMap<AttributePath, Json>) -> Json {
    let mut config = identity.clone();
    for (path, value) in said.iter().filter(|(_, value)| !value.is_null()) {
        let mut place = &mut config;
        for step in path.steps() {
            let value::Step::Attribute(name) = step else { panic!("{path} is written back inside a collection") };
            if place.is_null() {
                *place = Json::Object(serde_json::Map::default());
            }
            place = place.as_object_mut().expect("an object on the way").entry(name.clone()).or_insert(Json::Null);
        }
        *place = value.clone();
    }
    config
}
