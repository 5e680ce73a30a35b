//! Terraform's values as they travel, before anybody gives them a meaning.
//!
//! Typed access is the business of [`crate::Attributes`]; this is the tree beneath.

use std::{collections::BTreeMap, sync::Arc};

use value::{AttributePath, Step};

use crate::{Number, Type};

/// A value of Terraform.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Cty {
    /// No value.
    #[default]
    Null,
    /// Not known yet; what is known of it all the same is echoed as it came.
    Unknown(Refinements),
    /// True or false.
    Bool(bool),
    /// A number of any size.
    Number(Number),
    /// Text.
    String(String),
    /// A list, or a tuple.
    List(Vec<Cty>),
    /// A set, in the order it came.
    Set(Vec<Cty>),
    /// A map.
    Map(BTreeMap<String, Cty>),
    /// An object; each attribute of its type is there.
    Object(BTreeMap<String, Cty>),
    /// A value that carries its type with it.
    Dynamic(Box<Type>, Box<Cty>),
}

/// What is known of an unknown value: the payload of MessagePack extension 12 as it came; empty for nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Refinements(pub Arc<[u8]>);

// === impl Cty ===

impl Cty {
    /// An unknown value of which nothing is known.
    pub fn unknown() -> Self {
        Self::Unknown(Refinements::default())
    }

    /// Text.
    pub fn string(text: impl Into<String>) -> Self {
        Self::String(text.into())
    }

    /// An object.
    pub fn object<K: Into<String>>(attributes: impl IntoIterator<Item = (K, Cty)>) -> Self {
        Self::Object(attributes.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }

    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether it is unknown as a whole.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown(_))
    }

    /// Whether it and all its parts are known.
    pub fn is_wholly_known(&self) -> bool {
        match self {
            Self::Unknown(_) => false,
            Self::List(items) | Self::Set(items) => items.iter().all(Self::is_wholly_known),
            Self::Map(map) | Self::Object(map) => map.values().all(Self::is_wholly_known),
            Self::Dynamic(_, inner) => inner.is_wholly_known(),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) => true,
        }
    }

    /// The text, if it is known text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The attribute of an object; null where it has none or is none.
    pub fn get(&self, name: &str) -> &Cty {
        match self {
            Self::Object(map) | Self::Map(map) => map.get(name).unwrap_or(&Self::Null),
            _ => &Self::Null,
        }
    }

    /// Puts an attribute into an object; nothing where it is none.
    pub fn set(&mut self, name: &str, value: Cty) {
        if let Self::Object(map) | Self::Map(map) = self {
            map.insert(name.to_owned(), value);
        }
    }

    /// The value at a path.
    pub fn at(&self, path: &AttributePath) -> Option<&Cty> {
        path.steps().iter().try_fold(self, |value, step| match (value, step) {
            (Self::Object(map), Step::Attribute(name)) | (Self::Map(map), Step::Key(name)) => map.get(name),
            (Self::List(items), Step::Index(index)) => items.get(*index),
            _ => None,
        })
    }
}

impl From<&str> for Cty {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Cty {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<bool> for Cty {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Cty {
    fn from(value: i64) -> Self {
        Self::Number(Number::from(value))
    }
}
