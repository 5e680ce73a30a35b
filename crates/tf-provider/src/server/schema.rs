//! Schemas as they travel.

use crate::{
    Attribute, Block, IdentitySchema, NestedBlock, Nesting, Parameter, Schema, Shape, Signature,
    codec::type_to_json,
    wire::proto::tfplugin6::{
        self as proto, StringKind,
        function::{Parameter as WireParameter, Return},
        resource_identity_schema::IdentityAttribute,
        schema::{
            Attribute as WireAttribute, Block as WireBlock, NestedBlock as WireNestedBlock, Object,
            nested_block::NestingMode as BlockMode, object::NestingMode,
        },
    },
};

/// A schema.
pub(super) fn schema(schema: &Schema) -> proto::Schema {
    let block = WireBlock { version: schema.version, ..block(&schema.block) };
    proto::Schema { version: schema.version, block: Some(block) }
}

/// The schema of an identity.
pub(super) fn identity(schema: &IdentitySchema) -> proto::ResourceIdentitySchema {
    let attributes = schema.attributes.iter().map(|attribute| IdentityAttribute {
        name: attribute.name.clone(),
        r#type: type_to_json(&attribute.ty),
        required_for_import: attribute.required,
        optional_for_import: !attribute.required,
        description: attribute.description.clone(),
    });
    proto::ResourceIdentitySchema { version: schema.version, identity_attributes: attributes.collect() }
}

/// The signature of a function.
pub(super) fn function(signature: &Signature) -> proto::Function {
    proto::Function {
        parameters: signature.parameters.iter().map(parameter).collect(),
        variadic_parameter: signature.variadic.as_ref().map(parameter),
        r#return: Some(Return { r#type: type_to_json(&signature.result) }),
        summary: signature.summary.clone(),
        description: signature.description.clone(),
        description_kind: StringKind::Markdown.into(),
        deprecation_message: String::new(),
    }
}

fn parameter(parameter: &Parameter) -> WireParameter {
    WireParameter {
        name: parameter.name.to_owned(),
        r#type: type_to_json(&parameter.ty),
        allow_null_value: parameter.nullable,
        // Terraform then answers for us that the result is unknown.
        allow_unknown_values: false,
        description: parameter.description.clone(),
        description_kind: StringKind::Markdown.into(),
    }
}

fn block(block: &Block) -> WireBlock {
    WireBlock {
        version: 0,
        attributes: block.attributes.iter().map(attribute).collect(),
        block_types: block.blocks.iter().map(nested_block).collect(),
        description: block.description.clone(),
        description_kind: StringKind::Markdown.into(),
        deprecated: block.deprecated.is_some(),
        deprecation_message: block.deprecated.clone().unwrap_or_default(),
    }
}

fn nested_block(nested: &NestedBlock) -> WireNestedBlock {
    WireNestedBlock {
        type_name: nested.name.clone(),
        block: Some(block(&nested.block)),
        nesting: BlockMode::Single.into(),
        min_items: 0,
        max_items: 0,
    }
}

fn attribute(attribute: &Attribute) -> WireAttribute {
    let (ty, nested) = match &attribute.shape {
        Shape::Plain(ty) => (type_to_json(ty), None),
        Shape::Nested(nesting, attributes) => (Vec::new(), Some(object(*nesting, attributes))),
    };
    WireAttribute {
        name: attribute.name.clone(),
        r#type: ty,
        description: attribute.description.clone(),
        required: attribute.required,
        optional: attribute.optional,
        computed: attribute.computed,
        sensitive: attribute.sensitive,
        description_kind: StringKind::Markdown.into(),
        deprecated: attribute.deprecated.is_some(),
        nested_type: nested,
        write_only: attribute.write_only,
        deprecation_message: attribute.deprecated.clone().unwrap_or_default(),
    }
}

fn object(nesting: Nesting, attributes: &[Attribute]) -> Object {
    let mode = match nesting {
        Nesting::Single => NestingMode::Single,
        Nesting::List => NestingMode::List,
        Nesting::Set => NestingMode::Set,
        Nesting::Map => NestingMode::Map,
    };
    Object { attributes: attributes.iter().map(self::attribute).collect(), nesting: mode.into(), ..Object::default() }
}
