//! Values that may be known, null or pending, and that remember the attribute they came from.
//!
//! Not a configuration format and not a schema: this crate knows neither Terraform nor any cloud.
//!
//! A [`Value`] carries, beside its state, three things that make the rest of the provider short:
//! - its **origin**, the attribute a person would look at when something is wrong with the value; a value built from
//!   several attributes may have one for each of its parts;
//! - its **mirrors**, how a value found in the world is written back into attributes. A value passed on as it is
//!   mirrors its origin; a computed one mirrors nothing unless [`Value::mirrored`] says how;
//! - its **sources**, the child objects whose outputs it is made from, which become edges of the graph.

mod field;
mod path;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use serde::Serialize;
use serde_json::{Value as Json, json};

pub use field::{Field, is_pending, pending_in};
use field::{MARKER, without_nulls};
pub use path::{AttributePath, Step};

/// A value of a configuration, or one computed from others.
#[derive(Clone)]
pub struct Value<T> {
    state: State<T>,
    origin: Option<AttributePath>,
    parts: BTreeMap<String, AttributePath>,
    mirrors: Vec<Mirror>,
    sources: BTreeSet<String>,
}

/// What is known of a value now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State<T> {
    /// Left out. For a field of a child object: not ours, neither compared nor written.
    Null,
    /// Known.
    Known(T),
    /// Not known yet.
    Pending(Pending),
}

/// Why a value is not known yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pending {
    /// The configuration refers to something that is known only during apply.
    Config,
    /// An output of a child object that does not exist yet, or that its update may change.
    Output {
        /// The child object's key.
        component: String,
        /// The output's name.
        field: String,
    },
}

/// How a value found in the world is written back into one attribute.
#[derive(Clone)]
pub struct Mirror {
    /// The attribute.
    pub path: AttributePath,
    back: Arc<dyn Fn(&Json) -> Back + Send + Sync>,
}

/// What a found value says of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Back {
    /// The attribute has this value; null clears it.
    Is(Json),
    /// Nothing; the attribute stays as it is.
    Unsaid,
}

// === impl Value ===

impl<T> Value<T> {
    /// A value known now.
    pub fn known(value: T) -> Self {
        State::Known(value).into()
    }

    /// A value left out.
    pub fn null() -> Self {
        State::Null.into()
    }

    /// A value known later.
    pub fn pending(why: Pending) -> Self {
        let sources = match &why {
            Pending::Config => BTreeSet::new(),
            Pending::Output { component, .. } => BTreeSet::from([component.clone()]),
        };
        Self { sources, ..State::Pending(why).into() }
    }

    /// The same value, standing at `path` in the configuration: its origin, and the one attribute it mirrors.
    #[must_use]
    pub fn at(mut self, path: &AttributePath) -> Self {
        self.origin = Some(path.clone());
        self.mirrors = vec![Mirror::same(path.clone())];
        self
    }

    /// The same value, made from the outputs of the component `key`.
    #[must_use]
    pub fn from_component(mut self, key: impl Into<String>) -> Self {
        self.sources.insert(key.into());
        self
    }

    /// The same value, for whose faults `other`'s attribute is to be named. Mirrors are unchanged.
    #[must_use]
    pub fn blamed_on<U>(mut self, other: &Value<U>) -> Self {
        self.origin.clone_from(&other.origin);
        self
    }

    /// The same value; for faults of the part of its document at `pointer` (RFC 6901, such as `/spec/replicas`), and of
    /// what is inside it, this attribute is to be named.
    #[must_use]
    pub fn blamed_at(mut self, pointer: impl Into<String>, path: AttributePath) -> Self {
        self.parts.insert(pointer.into(), path);
        self
    }

    /// As [`Value::blamed_at`], for many parts.
    #[must_use]
    pub fn blamed_within<P: Into<String>>(mut self, parts: impl IntoIterator<Item = (P, AttributePath)>) -> Self {
        self.parts.extend(parts.into_iter().map(|(pointer, path)| (pointer.into(), path)));
        self
    }

    /// The same value; what is found in its place is also written back into the attribute that `other` came from,
    /// as `back` says. Does nothing where `other` came from no attribute.
    #[must_use]
    pub fn mirrored<U>(mut self, other: &Value<U>, back: impl Fn(&Json) -> Back + Send + Sync + 'static) -> Self {
        if let Some(path) = &other.origin {
            self.mirrors.push(Mirror { path: path.clone(), back: Arc::new(back) });
        }
        self
    }

    /// What is known now.
    pub fn state(&self) -> &State<T> {
        &self.state
    }

    /// What is known of it now, for good: origin, mirrors and sources are let go.
    pub fn into_state(self) -> State<T> {
        self.state
    }

    /// The value where it is known. For checks; an `expand` that decides on it asks `Graph::shape` instead, which
    /// notices when it is pending.
    pub fn get(&self) -> Option<&T> {
        match &self.state {
            State::Known(value) => Some(value),
            State::Null | State::Pending(_) => None,
        }
    }

    /// Whether it is left out.
    pub fn is_null(&self) -> bool {
        matches!(self.state, State::Null)
    }

    /// Whether it is known now.
    pub fn is_known(&self) -> bool {
        matches!(self.state, State::Known(_))
    }

    /// Whether it is known later.
    pub fn is_pending(&self) -> bool {
        matches!(self.state, State::Pending(_))
    }

    /// The attribute it came from.
    pub fn origin(&self) -> Option<&AttributePath> {
        self.origin.as_ref()
    }

    /// The attribute it came from; the root where it came from none.
    pub fn path(&self) -> AttributePath {
        self.origin.clone().unwrap_or_default()
    }

    /// Keys of the components it is made from.
    pub fn sources(&self) -> &BTreeSet<String> {
        &self.sources
    }

    /// A value computed from this one: null stays null, pending stays pending. It keeps origin and sources, and
    /// mirrors nothing.
    pub fn map<U>(&self, f: impl FnOnce(&T) -> U) -> Value<U> {
        let state = match &self.state {
            State::Null => State::Null,
            State::Known(value) => State::Known(f(value)),
            State::Pending(why) => State::Pending(why.clone()),
        };
        Value { origin: self.origin.clone(), sources: self.sources.clone(), ..Value::from(state) }
    }

    /// As [`Value::map`], for a computation that may itself give a value (a field of a nested object, say, which
    /// then brings its own origin and mirrors).
    pub fn and_then<U>(&self, f: impl FnOnce(&T) -> Value<U>) -> Value<U> {
        match &self.state {
            State::Known(value) => {
                let mut inner = f(value);
                inner.sources.extend(self.sources.iter().cloned());
                if inner.origin.is_none() {
                    inner.origin.clone_from(&self.origin);
                }
                inner
            }
            State::Null => Value { origin: self.origin.clone(), sources: self.sources.clone(), ..Value::null() },
            State::Pending(why) => Value {
                origin: self.origin.clone(),
                sources: self.sources.clone(),
                ..Value::from(State::Pending(why.clone()))
            },
        }
    }

    /// A value computed from two. Pending where either is pending; otherwise the computation sees null as `None`.
    pub fn with<U, V>(&self, other: &Value<U>, f: impl FnOnce(Option<&T>, Option<&U>) -> V) -> Value<V> {
        let state = match (&self.state, &other.state) {
            (State::Pending(why), _) | (_, State::Pending(why)) => State::Pending(why.clone()),
            _ => State::Known(f(self.get(), other.get())),
        };
        Value {
            origin: self.origin.clone().or_else(|| other.origin.clone()),
            sources: self.sources.union(&other.sources).cloned().collect(),
            ..Value::from(state)
        }
    }

    /// Puts `default` in the place of null; origin and mirrors stay, so what is found still reaches the attribute.
    pub fn default_to(&mut self, default: T) {
        if self.is_null() {
            self.state = State::Known(default);
        }
    }

    /// What is known, to be changed in place.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        match &mut self.state {
            State::Known(value) => Some(value),
            State::Null | State::Pending(_) => None,
        }
    }

    /// Puts `default` in the place of null, keeping this value's origin and mirrors and adding `default`'s sources.
    pub fn default_to_value(&mut self, default: Value<T>) {
        if self.is_null() {
            self.state = default.state;
            self.sources.extend(default.sources);
        }
    }

    /// The value for a graph: see [`Field`].
    pub fn into_field(self) -> Field
    where
        T: Serialize,
    {
        let document = match &self.state {
            State::Null => Json::Null,
            State::Known(value) => without_nulls(serde_json::to_value(value).unwrap_or(Json::Null)),
            State::Pending(Pending::Config) => json!({ MARKER: "config" }),
            State::Pending(Pending::Output { component, field }) => json!({ MARKER: [component, field] }),
        };
        Field { document, origin: self.origin, parts: self.parts, mirrors: self.mirrors, sources: self.sources }
    }
}

impl<T> From<State<T>> for Value<T> {
    fn from(state: State<T>) -> Self {
        Self { state, origin: None, parts: BTreeMap::new(), mirrors: Vec::new(), sources: BTreeSet::new() }
    }
}

impl<T> From<T> for Value<T> {
    fn from(value: T) -> Self {
        Self::known(value)
    }
}

impl From<&str> for Value<String> {
    fn from(value: &str) -> Self {
        Self::known(value.to_owned())
    }
}

impl<T> From<Option<T>> for Value<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or_else(Self::null, Self::known)
    }
}

impl<T> Default for Value<T> {
    fn default() -> Self {
        Self::null()
    }
}

impl<T: fmt::Debug> fmt::Debug for Value<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.state {
            State::Null => f.write_str("null"),
            State::Known(value) => value.fmt(f),
            State::Pending(Pending::Config) => f.write_str("(known after apply)"),
            State::Pending(Pending::Output { component, field }) => write!(f, "({component}.{field})"),
        }
    }
}

/// Two values are equal where their states are; where they came from does not count.
impl<T: PartialEq> PartialEq for Value<T> {
    fn eq(&self, other: &Self) -> bool {
        self.state == other.state
    }
}

impl<T: Eq> Eq for Value<T> {}

impl<T: Eq> PartialOrd for Value<T>
where
    T: Ord,
{
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Null before known before pending; for use in sets.
impl<T: Ord> Ord for Value<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let rank = |state: &State<T>| match state {
            State::Null => 0,
            State::Known(_) => 1,
            State::Pending(_) => 2,
        };
        rank(&self.state).cmp(&rank(&other.state)).then_with(|| self.get().cmp(&other.get()))
    }
}

// Serialises a value inside a document (an element of a map, a nested object); pending is a marker there too.
impl<T: Serialize> Serialize for Value<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.state {
            State::Null => serializer.serialize_none(),
            State::Known(value) => value.serialize(serializer),
            State::Pending(Pending::Config) => json!({ MARKER: "config" }).serialize(serializer),
            State::Pending(Pending::Output { component, field }) => {
                json!({ MARKER: [component, field] }).serialize(serializer)
            }
        }
    }
}

// === impl Mirror ===

impl Mirror {
    /// The attribute at `path` is what was found.
    pub fn same(path: AttributePath) -> Self {
        Self { path, back: Arc::new(|found| Back::Is(found.clone())) }
    }

    /// What `found` says of the attribute.
    pub fn back(&self, found: &Json) -> Back {
        (self.back)(found)
    }
}

impl fmt::Debug for Mirror {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mirror({})", self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(name: &str, value: u32) -> Value<u32> {
        Value::known(value).at(&AttributePath::new(name))
    }

    #[test]
    fn a_mapped_value_keeps_origin_and_sources_and_mirrors_nothing() {
        let field = at("size", 1).from_component("role").map(|n| n + 1).into_field();
        assert_eq!(field.document, json!(2));
        assert_eq!(field.origin, Some(AttributePath::new("size")));
        assert_eq!(field.sources, BTreeSet::from(["role".to_owned()]));
        assert!(field.mirrors.is_empty());
    }

    #[test]
    fn a_default_keeps_the_attribute_it_stands_for() {
        let mut value = Value::<u32>::null().at(&AttributePath::new("size"));
        value.default_to(3);
        assert_eq!(value.get(), Some(&3));
        assert_eq!(value.into_field().mirrors.len(), 1);
    }

    #[test]
    fn pending_wins_over_known_and_is_a_marker_in_documents() {
        let pending = Value::<u32>::pending(Pending::Output { component: "role".into(), field: "arn".into() });
        let sum = at("size", 1).with(&pending, |a, b| a.copied().unwrap_or(0) + b.copied().unwrap_or(0));
        assert!(sum.is_pending());
        let field = sum.into_field();
        assert!(is_pending(&field.document));
        assert_eq!(field.sources, BTreeSet::from(["role".to_owned()]));
        assert!(is_pending(&json!({ "tags": { "a": { MARKER: "config" } } })));
        assert!(!is_pending(&json!({ "tags": { "a": "b" } })));
    }

    #[test]
    fn a_found_value_goes_back_through_every_mirror() {
        let tags = at("tags", 1).mirrored(&at("purpose", 0), |found| match found.get("purpose") {
            Some(purpose) => Back::Is(purpose.clone()),
            None => Back::Unsaid,
        });
        let field = tags.into_field();
        let found = json!({ "purpose": "training" });
        let said: Vec<_> = field.mirrors.iter().map(|m| (m.path.to_string(), m.back(&found))).collect();
        assert_eq!(said, [("tags".into(), Back::Is(found)), ("purpose".into(), Back::Is(json!("training")))]);
    }

    #[test]
    fn a_part_is_blamed_on_the_innermost_attribute_around_it() {
        let pod = at("pods", 1).blamed_at("/spec", AttributePath::new("placement"));
        let field = pod.blamed_at("/spec/cpu", AttributePath::new("resources")).into_field();
        for (pointer, expected) in [
            ("", "pods"),
            ("/status", "pods"),
            ("/spec", "placement"),
            ("/spec/memory/0", "placement"),
            ("/spec/cpu/x/0", "resources"),
            ("/spec/cpus", "placement"),
        ] {
            assert_eq!(field.origin_at(pointer), Some(&AttributePath::new(expected)), "{pointer}");
        }
        assert_eq!(Value::known(1).into_field().origin_at("/spec"), None);
    }

    #[test]
    fn documents_hold_no_nulls() {
        #[derive(Serialize)]
        struct Taint {
            key: &'static str,
            value: Option<&'static str>,
        }
        let field = Value::known(vec![Taint { key: "gpu", value: None }]).into_field();
        assert_eq!(field.document, json!([{ "key": "gpu" }]));
    }
}
