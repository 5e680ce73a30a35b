//! What a resource, data source or provider block looks like to Terraform.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::{Cty, Type};

/// A schema: the root of a resource, data source or provider configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    /// Version of the state's layout.
    pub version: i64,
    /// The root.
    pub block: Block,
}

/// Attributes and nested blocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// What it is, in Markdown.
    pub description: String,
    /// The attributes, in the order of the documentation.
    pub attributes: Vec<Attribute>,
    /// Nested blocks. Only `timeouts` is one; all else is a nested attribute.
    pub blocks: Vec<NestedBlock>,
    /// Text of its deprecation.
    pub deprecated: Option<String>,
}

/// A nested block that may stand once.
#[derive(Clone, Debug, PartialEq)]
pub struct NestedBlock {
    /// Its name.
    pub name: String,
    /// Its content.
    pub block: Block,
}

/// One attribute.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "they are the protocol's own, and most go together freely")]
pub struct Attribute {
    /// Its name.
    pub name: String,
    /// Its type.
    pub shape: Shape,
    /// What it is, in Markdown: noun phrase first, units, what changing it does.
    pub description: String,
    /// The default in words, where it is not told by the description; shown in the reference.
    pub default: Option<String>,
    /// The values allowed, where they can be listed; shown in the reference.
    pub choices: Vec<String>,
    /// Must be set.
    pub required: bool,
    /// May be set.
    pub optional: bool,
    /// The provider may set it.
    pub computed: bool,
    /// Not shown on screen.
    pub sensitive: bool,
    /// Given in configuration, never kept.
    pub write_only: bool,
    /// Text of its deprecation.
    pub deprecated: Option<String>,
    /// Changing it replaces the whole resource; stated in the reference and tested by a law.
    pub replaces: bool,
}

/// The type of an attribute: a plain type, or attributes of its own.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A value without attributes of its own.
    Plain(Type),
    /// An object, or a collection of objects, with attributes of their own.
    Nested(Nesting, Vec<Attribute>),
}

/// How objects are nested in an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nesting {
    /// One.
    Single,
    /// An ordered list.
    List,
    /// A set.
    Set,
    /// A map.
    Map,
}

/// The identity of a resource: what an `import` block with `identity` gives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IdentitySchema {
    /// Version of its layout.
    pub version: i64,
    /// Its attributes.
    pub attributes: Vec<IdentityAttribute>,
}

/// One attribute of an identity.
#[derive(Clone, Debug, PartialEq)]
pub struct IdentityAttribute {
    /// Its name.
    pub name: String,
    /// Its type: a primitive or a list of one.
    pub ty: Type,
    /// What it is.
    pub description: String,
    /// Must be given to import.
    pub required: bool,
}

// === impl Schema ===

impl Schema {
    /// The type of a value of this schema.
    pub fn ty(&self) -> Type {
        self.block.ty()
    }
}

// === impl Block ===

impl Block {
    /// The type of a value of this block.
    pub fn ty(&self) -> Type {
        let attributes = self.attributes.iter().map(|attribute| (attribute.name.clone(), attribute.shape.ty()));
        let blocks = self.blocks.iter().map(|nested| (nested.name.clone(), nested.block.ty()));
        Type::Object(attributes.chain(blocks).collect())
    }

    /// The attribute of that name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }

    /// An object of this block's type in which everything is null.
    pub fn null_object(&self) -> Cty {
        let attributes = self.attributes.iter().map(|attribute| attribute.name.clone());
        let blocks = self.blocks.iter().map(|nested| nested.name.clone());
        Cty::Object(attributes.chain(blocks).map(|name| (name, Cty::Null)).collect())
    }
}

// === impl Shape ===

impl Shape {
    /// The type of a value.
    pub fn ty(&self) -> Type {
        match self {
            Self::Plain(ty) => ty.clone(),
            Self::Nested(nesting, attributes) => {
                let attributes: BTreeMap<_, _> = attributes.iter().map(|a| (a.name.clone(), a.shape.ty())).collect();
                let object = Type::Object(attributes);
                match nesting {
                    Nesting::Single => object,
                    Nesting::List => Type::list(object),
                    Nesting::Set => Type::set(object),
                    Nesting::Map => Type::map(object),
                }
            }
        }
    }
}

// === impl IdentitySchema ===

impl IdentitySchema {
    /// The type of an identity.
    pub fn ty(&self) -> Type {
        Type::Object(self.attributes.iter().map(|attribute| (attribute.name.clone(), attribute.ty.clone())).collect())
    }
}

/// JSON in document form (as `value::Field` has it) to a value of `ty`: what does not fit is null.
pub fn from_document(document: &Json, ty: &Type) -> Cty {
    use crate::Number;
    match (document, ty) {
        (Json::Bool(value), Type::Bool) => Cty::Bool(*value),
        (Json::Number(number), Type::Number) => Number::parse(&number.to_string()).map_or(Cty::Null, Cty::Number),
        (Json::String(text), Type::String) => Cty::String(text.clone()),
        (Json::Array(items), Type::List(element)) => {
            Cty::List(items.iter().map(|item| from_document(item, element)).collect())
        }
        (Json::Array(items), Type::Set(element)) => {
            Cty::Set(items.iter().map(|item| from_document(item, element)).collect())
        }
        (Json::Array(items), Type::Tuple(elements)) => {
            Cty::List(items.iter().zip(elements).map(|(item, ty)| from_document(item, ty)).collect())
        }
        (Json::Object(map), Type::Map(element)) => {
            Cty::Map(map.iter().map(|(key, item)| (key.clone(), from_document(item, element))).collect())
        }
        (Json::Object(map), Type::Object(attributes)) => Cty::Object(
            attributes
                .iter()
                .map(|(name, ty)| (name.clone(), map.get(name).map_or(Cty::Null, |item| from_document(item, ty))))
                .collect(),
        ),
        (Json::Null, _) => Cty::Null,
        (document, Type::Dynamic) => {
            let ty = type_of(document);
            let value = from_document(document, &ty);
            Cty::Dynamic(Box::new(ty), Box::new(value))
        }
        _ => Cty::Null,
    }
}

// The type of a document that stands where any type may.
fn type_of(document: &Json) -> Type {
    match document {
        Json::Null => Type::Dynamic,
        Json::Bool(_) => Type::Bool,
        Json::Number(_) => Type::Number,
        Json::String(_) => Type::String,
        Json::Array(items) => Type::Tuple(items.iter().map(type_of).collect()),
        Json::Object(map) => Type::Object(map.iter().map(|(name, item)| (name.clone(), type_of(item))).collect()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_document_of_any_type_brings_its_own() {
        let text = from_document(&json!("queue_depth"), &Type::Dynamic);
        assert_eq!(text, Cty::Dynamic(Box::new(Type::String), Box::new(Cty::from("queue_depth"))));
        let object = from_document(&json!({ "metric": "x", "more": [1, true] }), &Type::Dynamic);
        let Cty::Dynamic(ty, value) = object else { panic!("{object:?}") };
        let list = Type::Tuple(vec![Type::Number, Type::Bool]);
        assert_eq!(*ty, Type::Object(BTreeMap::from([("metric".into(), Type::String), ("more".into(), list)])));
        assert_eq!(value.get("metric"), &Cty::from("x"));
        assert_eq!(from_document(&Json::Null, &Type::Dynamic), Cty::Null);
    }
}
