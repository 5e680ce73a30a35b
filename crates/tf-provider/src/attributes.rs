//! From Terraform's values to typed structs and back.
//!
//! Decoding is our own, not serde's: it gathers every complaint instead of stopping at the first, each with its
//! path, and it knows unknown values.

mod choice;
mod collections;
mod primitives;

use value::{AttributePath, Pending, State, Value};

use crate::{Attribute, Cty, Diagnostic, Diagnostics, Nesting, Shape, Type};

pub use choice::decode_choice;

/// A struct whose fields are attributes: a resource, a data source, a provider block, or a nested object.
///
/// Derive it. Each field is a `Value<T>` with `T: AttributeType`; its doc comment is the attribute's documentation.
///
/// ```text
/// /// Size range of a pool.
/// #[derive(Attributes, Clone, Debug, Default)]
/// pub struct Size {
///     /// Fewest nodes.
///     #[attribute(default = "0")]
///     pub min: Value<u32>,
///     /// Most nodes.
///     #[attribute(required)]
///     pub max: Value<u32>,
/// }
/// ```
/// Flags: `required`, `optional`, `computed`, `sensitive`, `write_only`, `replaces`; `default = "…"` (a literal of
/// HCL, which users read and [`Attributes::fill_defaults`] fills in; implies optional and computed), `deprecated = "…"`, `name = "…"` where the attribute's name is no Rust identifier.
/// No flag at all: `optional`. On the struct, `#[attributes(computed)]` makes every field computed.
pub trait Attributes: Sized + Clone + Default + Send + Sync + 'static {
    /// The attributes, in the struct's order.
    fn attributes() -> Vec<Attribute>;
    /// The struct's doc comment.
    fn description() -> &'static str;
    /// Reads the struct from an object. Missing attributes are null.
    fn decode_object(object: &Cty, path: &AttributePath, decoder: &mut Decoder) -> Self;
    /// The object of the struct. Pending values are unknown.
    fn encode_object(&self) -> Cty;
    /// Gives each attribute that was left out its `default = "…"`, those of nested objects too. A nested object
    /// without a default stays null.
    fn fill_defaults(&mut self);
}

/// A type an attribute may have. Implemented here for `String`, `bool`, the integers, `f64`, `Number`, `Vec`,
/// `BTreeSet`, `BTreeMap<String, _>`; by `#[derive(Attributes)]` for nested objects; by `#[derive(Choice)]` for
/// enums whose variants are a fixed list of words (snake_case, or `#[choice(name = "…", also = "…")]`).
pub trait AttributeType: Sized {
    /// Its type.
    fn shape() -> Shape;
    /// The values allowed, where they can be listed.
    fn choices() -> Vec<String> {
        Vec::new()
    }
    /// Reads a value that is neither null nor unknown as a whole. Where a part that has no `Value` of its own is
    /// unknown, the whole is pending. What does not fit is complained about, and null.
    fn decode(cty: &Cty, path: &AttributePath, decoder: &mut Decoder) -> Value<Self>;
    /// The value.
    fn encode(&self) -> Cty;
    /// Fills in what was left out of the objects within.
    fn fill_within(&mut self) {}
}

/// Gathers complaints while decoding.
#[derive(Debug, Default)]
pub struct Decoder {
    /// The complaints so far.
    pub diagnostics: Diagnostics,
    /// Read a nested single object that is null as one whose attributes are null, so that values found for them
    /// have a place to go. For imports.
    pub open_nulls: bool,
    /// The set that is being read. Its elements have no path of their own, so what stands in them is told of the
    /// set, and mirrors nothing.
    pub set: Option<AttributePath>,
}

// === impl Decoder ===

impl Decoder {
    /// Complains about the value at `path`: `detail` is what is wrong with it, in words that go after its path.
    pub fn complain(&mut self, path: &AttributePath, detail: &str, advice: &str) {
        let place = self.set.as_ref().unwrap_or(path);
        let name = match &self.set {
            Some(set) => format!("An element of `{set}`"),
            None => format!("`{path}`"),
        };
        let summary = format!("Invalid value for `{place}`");
        self.diagnostics.push(Diagnostic::error(place, summary, format!("{name} {detail}")).advise(advice));
    }

    /// Complains of a value whose type is not that of the schema. Core converts every value before it sends it, so
    /// this is a mistake in the provider.
    pub(crate) fn complain_of_type(&mut self, path: &AttributePath, wanted: &str) {
        let advice = "This is a mistake in the provider: please report it with this text.";
        self.complain(path, &format!("is not {wanted}, which its type asks for."), advice);
    }

    // The value with its memory of where it stands.
    fn place<T>(&self, value: Value<T>, path: &AttributePath) -> Value<T> {
        match &self.set {
            Some(set) => Value::from(value.into_state()).blamed_on(&Value::<()>::null().at(set)),
            None => value.at(path),
        }
    }
}

/// Reads one attribute; the result has `path` as its origin and mirror.
pub fn decode<T: AttributeType>(cty: &Cty, path: &AttributePath, decoder: &mut Decoder) -> Value<T> {
    let value = match cty {
        Cty::Dynamic(_, inner) => return decode(inner, path, decoder),
        Cty::Null if decoder.open_nulls && matches!(T::shape(), Shape::Nested(Nesting::Single, _)) => {
            T::decode(&Cty::Object(std::collections::BTreeMap::new()), path, decoder)
        }
        Cty::Null => Value::null(),
        Cty::Unknown(_) => Value::pending(Pending::Config),
        known => T::decode(known, path, decoder),
    };
    decoder.place(value, path)
}

/// The Terraform value of one attribute.
pub fn encode<T: AttributeType>(value: &Value<T>) -> Cty {
    match value.state() {
        State::Null => Cty::Null,
        State::Known(known) => known.encode(),
        State::Pending(_) => Cty::unknown(),
    }
}

/// Gives an attribute that was left out its default, and fills in what was left out within. For the derive macro.
#[doc(hidden)]
pub fn fill_default<T: AttributeType>(value: &mut Value<T>, default: Option<fn() -> Cty>) {
    if let (true, Some(default)) = (value.is_null(), default) {
        let literal = shaped(default(), &T::shape());
        let mut decoder = Decoder::default();
        value.default_to_value(decode(&literal, &value.path(), &mut decoder));
        debug_assert!(!decoder.diagnostics.has_errors(), "a default that its attribute cannot have: {literal:?}");
    }
    if let Some(known) = value.get_mut() {
        known.fill_within();
    }
}

// In HCL a set is written as a list, and a map as an object.
fn shaped(literal: Cty, shape: &Shape) -> Cty {
    match (literal, shape) {
        (Cty::List(items), Shape::Plain(Type::Set(_)) | Shape::Nested(Nesting::Set, _)) => Cty::Set(items),
        (Cty::Object(items), Shape::Plain(Type::Map(_)) | Shape::Nested(Nesting::Map, _)) => Cty::Map(items),
        (literal, _) => literal,
    }
}

/// Reads a nested object. For the derive macro.
#[doc(hidden)]
pub fn decode_nested<T: Attributes>(cty: &Cty, path: &AttributePath, decoder: &mut Decoder) -> Value<T> {
    if let Cty::Object(_) = cty {
        return Value::known(T::decode_object(cty, path, decoder));
    }
    decoder.complain_of_type(path, "an object");
    Value::null()
}
