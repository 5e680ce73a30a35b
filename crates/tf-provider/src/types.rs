//! The types of Terraform's values, and their JSON form on the wire.

use std::collections::BTreeMap;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// Text.
    String,
    /// A number of any size.
    Number,
    /// True or false.
    Bool,
    /// Any type, told with each value.
    Dynamic,
    /// Ordered elements of one type.
    List(Box<Type>),
    /// Unordered, distinct elements of one type.
    Set(Box<Type>),
    /// Elements of one type by key.
    Map(Box<Type>),
    /// Ordered elements, each with its type.
    Tuple(Vec<Type>),
    /// Attributes, each with its type.
    Object(BTreeMap<String, Type>),
}

// === impl Type ===

impl Type {
    /// A list of `element`.
    pub fn list(element: Type) -> Self {
        Self::List(Box::new(element))
    }

    /// A set of `element`.
    pub fn set(element: Type) -> Self {
        Self::Set(Box::new(element))
    }

    /// A map of `element`.
    pub fn map(element: Type) -> Self {
        Self::Map(Box::new(element))
    }

    /// The type of an attribute of an object type.
    pub fn attribute(&self, name: &str) -> Option<&Type> {
        match self {
            Self::Object(attributes) => attributes.get(name),
            _ => None,
        }
    }
}
