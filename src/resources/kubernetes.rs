//! What the objects of a resource in a Kubernetes cluster have in common: where they are, their labels, adoption, and
//! the memory that gives an import every attribute back.
//!
//! Use: [`memory`] first thing in `expand` (before defaults), [`labels`], then [`Common::object`] for each object, with
//! the memory as the annotations of the one object that is always there.
//! **Invariant:** what [`memory`] wrote is read back as the attributes that were written, each as it was spelled.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};
use tf_provider::{Attribute, AttributeType, Choice, Cty, Nesting, Shape};
use value::{AttributePath, Back, Pending, Value};

use super::tags::{MANAGED_BY, WORKLOAD_TYPE};
use crate::{
    components::kube::{Kind, Labels, ObjectDraft},
    composite::Composite,
    settings::Settings,
};

/// The annotation that remembers the attributes as the user wrote them, as JSON. No secret is in it: write-only
/// attributes are left out.
pub(super) const MEMORY: &str = "mlplat.io/attributes";

/// The label with the name of the resource that an object belongs to.
pub(super) const NAME_LABEL: &str = "app.kubernetes.io/name";

/// What to do with an object that is there and is not ours.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Adopt {
    /// Nothing: it is an error.
    Never,
    /// It becomes ours, unless it carries a mark of another resource, of Helm, Argo CD or Flux.
    IfUnmanaged,
    /// It becomes ours.
    Always,
}

/// What every object of a resource has.
pub(super) struct Common {
    /// Name of the EKS cluster; null: the provider's `kubernetes` block.
    pub cluster: Value<String>,
    /// Namespace; null for objects outside namespaces.
    pub namespace: Value<String>,
    /// Labels.
    pub labels: Value<Labels>,
    /// What to do with objects that are not ours.
    pub adopt: Value<Adopt>,
}

// === impl Common ===

impl Common {
    /// An object of kind `K`. What is found of it says nothing of the attributes; its faults are told of them.
    pub(super) fn object<K: Kind>(&self, name: &Value<String>, manifest: Value<Json>) -> ObjectDraft<K> {
        let mut draft = ObjectDraft::default();
        draft.cluster = self.cluster.map(Clone::clone);
        draft.namespace = self.namespace.map(Clone::clone);
        draft.name = name.map(Clone::clone);
        draft.labels = self.labels.map(Clone::clone);
        draft.adopt = self.adopt_word();
        draft.manifest = manifest;
        draft
    }

    /// The word for a component's `adopt`.
    pub(super) fn adopt_word(&self) -> Value<String> {
        self.adopt.map(|adopt| adopt.as_str().to_owned())
    }
}

/// The labels of every object of a resource: whose they are, what they cost under, and the user's, which win.
pub(super) fn labels(settings: &Settings, name: &Value<String>, workload: &str, user: &Value<Labels>) -> Value<Labels> {
    let costs = settings.cost_allocation.map(|costs| {
        costs.iter().filter_map(|(key, value)| Some((key.clone(), label_value(value)?))).collect::<Labels>()
    });
    name.with(&costs, |name, costs| {
        let mut labels = Labels::from([
            ("app.kubernetes.io/managed-by".to_owned(), MANAGED_BY.1.to_owned()),
            (MANAGED_BY.0.to_owned(), MANAGED_BY.1.to_owned()),
            (WORKLOAD_TYPE.to_owned(), workload.to_owned()),
        ]);
        labels.extend(name.map(|name| (NAME_LABEL.to_owned(), name.clone())));
        labels.extend(costs.cloned().unwrap_or_default());
        labels
    })
    .with(user, |labels: Option<&Labels>, user| {
        let mut labels = labels.cloned().unwrap_or_default();
        labels.extend(user.cloned().unwrap_or_default());
        labels
    })
    .blamed_on(user)
}

/// The value as a label's: what Kubernetes does not allow becomes a hyphen. None where nothing is left.
pub(super) fn label_value(value: &str) -> Option<String> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let replaced: String = value.chars().map(|c| if is_allowed(c) { c } else { '-' }).take(63).collect();
    let trimmed = replaced.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    (!trimmed.is_empty()).then(|| trimmed.to_owned())
}

/// Whether a value and all its parts are known or null.
pub(super) fn is_settled<T: AttributeType>(value: &Value<T>) -> bool {
    tf_provider::encode(value).is_wholly_known()
}

/// A manifest, pending until everything it is made from is known.
pub(super) fn manifest(is_known: bool, build: impl FnOnce() -> Json) -> Value<Json> {
    if is_known { Value::known(build()) } else { Value::pending(Pending::Config) }
}

/// The annotation [`MEMORY`] of a resource whose defaults are not filled in yet. It mirrors every attribute but the
/// identity and those that are write-only, so an import finds them all in it.
pub(super) fn memory<C: Composite>(resource: &C) -> Value<Labels> {
    let object = resource.encode_object();
    let settable: Vec<Attribute> = C::attributes().into_iter().filter(is_remembered::<C>).collect();
    let written = Cty::object(settable.iter().map(|at| (at.name.clone(), readable(&at.shape, object.get(&at.name)))));
    let known = written.is_wholly_known().then(|| document(&written));
    let text = known.as_ref().map_or_else(|| Value::pending(Pending::Config), |known| Value::known(known.to_string()));
    let annotations = text.map(|text| Labels::from([(MEMORY.to_owned(), text.clone())]));
    settable.into_iter().fold(annotations, |annotations, attribute| {
        let place = Value::<()>::null().at(&AttributePath::new(attribute.name.clone()));
        let ours = known.as_ref().and_then(|known| known.get(&attribute.name)).cloned();
        annotations.mirrored(&place, move |found| read(found, &attribute.name, ours.as_ref()))
    })
}

fn is_remembered<C: Composite>(attribute: &Attribute) -> bool {
    let is_settable = attribute.required || attribute.optional;
    is_settable && !attribute.write_only && !C::IDENTITY.contains(&attribute.name.as_str())
}

// What is remembered as it stands says nothing new: the attribute may hold defaults beside it. An empty object is what
// an import takes for one left out; its defaults are the same.
fn read(annotations: &Json, name: &str, ours: Option<&Json>) -> Back {
    let text = annotations.get(MEMORY).and_then(Json::as_str).unwrap_or_default();
    let remembered: Json = serde_json::from_str(text).unwrap_or_default();
    match remembered.get(name) {
        Some(Json::Object(nothing)) if nothing.is_empty() => Back::Unsaid,
        Some(value) if Some(without_empty(value)) != ours.map(without_empty) => Back::Is(value.clone()),
        _ => Back::Unsaid,
    }
}

// The value without the empty objects in it, which say no more than what is left out.
fn without_empty(value: &Json) -> Json {
    let Json::Object(map) = value else { return value.clone() };
    let is_empty = |value: &Json| value.as_object().is_some_and(Map::is_empty);
    let kept = map.iter().map(|(key, value)| (key.clone(), without_empty(value))).filter(|(_, value)| !is_empty(value));
    Json::Object(kept.collect())
}

// The value without what must not be read anywhere.
fn readable(shape: &Shape, value: &Cty) -> Cty {
    let Shape::Nested(nesting, attributes) = shape else { return value.clone() };
    let object = |object: &Cty| match object {
        Cty::Object(_) => Cty::object(
            attributes
                .iter()
                .filter(|attribute| !attribute.write_only)
                .map(|attribute| (attribute.name.clone(), readable(&attribute.shape, object.get(&attribute.name)))),
        ),
        other => other.clone(),
    };
    match (nesting, value) {
        (Nesting::Single, value) => object(value),
        (_, Cty::List(items)) => Cty::List(items.iter().map(object).collect()),
        (_, Cty::Set(items)) => Cty::Set(items.iter().map(object).collect()),
        (_, Cty::Map(items)) => Cty::Map(items.iter().map(|(key, item)| (key.clone(), object(item))).collect()),
        (_, other) => other.clone(),
    }
}

// The value as a document: objects and maps alike, without what is null.
fn document(value: &Cty) -> Json {
    match value {
        Cty::Bool(value) => Json::from(*value),
        Cty::Number(number) => serde_json::from_str(&number.to_string()).unwrap_or_default(),
        Cty::String(text) => Json::from(text.as_str()),
        Cty::List(items) | Cty::Set(items) => items.iter().map(document).collect(),
        Cty::Map(map) | Cty::Object(map) => Json::Object(
            map.iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (key.clone(), document(value)))
                .collect::<Map<_, _>>(),
        ),
        Cty::Dynamic(_, inner) => document(inner),
        Cty::Null | Cty::Unknown(_) => Json::Null,
    }
}

/// What a Kubernetes name may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameRule {
    /// A DNS label that begins with a letter, at most so long: what a Service is named.
    Label(usize),
    /// A DNS subdomain.
    Subdomain,
}

/// What is wrong with a name, and what to do about it.
pub(super) fn name_fault(name: &str, rule: NameRule) -> Option<String> {
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let (limit, is_allowed): (usize, fn(char) -> bool) = match rule {
        NameRule::Label(limit) => (limit, |c| c == '-'),
        NameRule::Subdomain => (253, |c| c == '-' || c == '.'),
    };
    let begins = match rule {
        NameRule::Label(_) => name.starts_with(|c: char| c.is_ascii_lowercase()),
        NameRule::Subdomain => name.starts_with(is_inner),
    };
    let reason = match name.chars().find(|c| !is_inner(*c) && !is_allowed(*c)) {
        Some(stranger) => format!("It has {stranger:?} in it."),
        None if name.is_empty() || name.len() > limit => format!("It has {} characters.", name.len()),
        None if !begins => format!("It begins with {:?}.", name.chars().next().unwrap_or_default()),
        None if !name.ends_with(is_inner) => format!("It ends with {:?}.", name.chars().last().unwrap_or_default()),
        None => return None,
    };
    let advice = match rule {
        NameRule::Label(_) => "lower-case letters, digits and hyphens, beginning with a letter",
        NameRule::Subdomain => "lower-case letters, digits, hyphens and dots, beginning with a letter or digit",
    };
    Some(format!("{reason}\n\nUse 1 to {limit} {advice} and ending with a letter or digit."))
}

/// What is wrong with labels of our objects, and what to do about it.
pub(super) fn label_fault(labels: &BTreeMap<String, String>) -> Option<String> {
    labels.iter().find_map(|(key, value)| {
        let is_ours = key.starts_with("mlplat.io/") || key == NAME_LABEL;
        if is_ours {
            return Some(format!("The label {key:?} is this provider's own.\n\nChoose another key."));
        }
        label_syntax_fault(key, value)
    })
}

/// What Kubernetes would not take of a label or a taint, and what to do about it.
pub(super) fn label_syntax_fault(key: &str, value: &str) -> Option<String> {
    let is_fine = is_qualified_name(key) && (value.is_empty() || is_label_word(value));
    (!is_fine).then(|| {
        format!(
            "Kubernetes does not take the label {key:?} with the value {value:?}.\n\nUse at most 63 letters, digits, \
             hyphens, underscores and dots, with a letter or digit at both ends; a key may have a domain and a slash \
             before it."
        )
    })
}

/// Whether it can be the key of a label or the name of a resource: a word, with or without a domain before it.
pub(super) fn is_qualified_name(text: &str) -> bool {
    let (prefix, name) = text.split_once('/').map_or((None, text), |(prefix, name)| (Some(prefix), name));
    is_label_word(name) && prefix.is_none_or(|prefix| name_fault(prefix, NameRule::Subdomain).is_none())
}

fn is_label_word(text: &str) -> bool {
    let is_end = |c: char| c.is_ascii_alphanumeric();
    text.len() <= 63
        && text.starts_with(is_end)
        && text.ends_with(is_end)
        && text.chars().all(|c| is_end(c) || "-_.".contains(c))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tf_provider::Type;

    use super::*;

    #[test]
    fn a_cost_value_becomes_a_valid_label_value() {
        assert_eq!(label_value("ML Platform (EU)").as_deref(), Some("ML-Platform--EU"));
        assert_eq!(label_value(&"x".repeat(80)).map(|value| value.len()), Some(63));
        assert_eq!(label_value("éé"), None);
    }

    #[test]
    fn what_is_remembered_as_it_stands_says_nothing() {
        let found = json!({ MEMORY: json!({ "a": 1, "b": [2], "d": {}, "e": { "x": 1 } }).to_string() });
        // An import opens what is not there.
        assert_eq!(read(&found, "e", Some(&json!({ "x": 1, "opened": {} }))), Back::Unsaid);
        assert_eq!(read(&found, "e", Some(&json!({ "x": 2 }))), Back::Is(json!({ "x": 1 })));
        assert_eq!(read(&found, "d", None), Back::Unsaid);
        assert_eq!(read(&found, "a", Some(&json!(1))), Back::Unsaid);
        assert_eq!(read(&found, "a", Some(&json!(2))), Back::Is(json!(1)));
        assert_eq!(read(&found, "b", None), Back::Is(json!([2])));
        assert_eq!(read(&found, "c", None), Back::Unsaid);
        assert_eq!(read(&json!({ MEMORY: "{" }), "a", None), Back::Unsaid);
        assert_eq!(read(&Json::Null, "a", None), Back::Unsaid);
    }

    #[test]
    fn what_is_write_only_is_not_remembered_however_deep() {
        let plain = |name: &str, write_only| Attribute { write_only, ..attribute(name, Shape::Plain(Type::String)) };
        let shape = Shape::Nested(Nesting::List, vec![plain("open", false), plain("token_wo", true)]);
        let value = Cty::List(vec![Cty::object([("open", Cty::from("a")), ("token_wo", Cty::from("hf_secret"))])]);
        assert_eq!(document(&readable(&shape, &value)), json!([{ "open": "a" }]));
    }

    fn attribute(name: &str, shape: Shape) -> Attribute {
        Attribute {
            name: name.to_owned(),
            shape,
            description: String::new(),
            default: None,
            choices: Vec::new(),
            required: false,
            optional: true,
            computed: false,
            sensitive: false,
            write_only: false,
            deprecated: None,
            replaces: false,
        }
    }

    #[test]
    fn names_follow_the_rules_of_their_kind() {
        for (name, rule, is_fine) in [
            ("vllm-qwen", NameRule::Label(63), true),
            ("7b", NameRule::Label(63), false),
            ("qwen.7b", NameRule::Label(63), false),
            ("Qwen", NameRule::Label(63), false),
            ("qwen-", NameRule::Label(63), false),
            ("", NameRule::Label(63), false),
            ("abcd", NameRule::Label(3), false),
            ("7.b", NameRule::Subdomain, true),
            ("7..", NameRule::Subdomain, false),
        ] {
            assert_eq!(name_fault(name, rule).is_none(), is_fine, "{name}");
        }
    }

    #[test]
    fn labels_that_kubernetes_refuses_or_that_are_ours_are_refused() {
        let fault = |key: &str, value: &str| label_fault(&Labels::from([(key.to_owned(), value.to_owned())]));
        assert_eq!(fault("team", "search"), None);
        assert_eq!(fault("example.com/team", ""), None);
        for (key, value) in [("team", "a b"), ("", "x"), ("-x", "x"), ("UPPER.com/x", "x"), ("a/b/c", "x")] {
            assert!(fault(key, value).is_some_and(|told| told.contains("does not take")), "{key}");
        }
        assert!(fault("mlplat.io/owner-hash", "x").is_some_and(|told| told.contains("own")));
    }
}
