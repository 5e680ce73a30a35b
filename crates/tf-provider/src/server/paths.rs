//! Attribute paths as they travel.
//!
//! Terraform has no step for an element of a set, and a path must begin with an attribute's name; what cannot be
//! said is left off, so that the nearest place that can be named is.

use crate::{
    Attribute, Block, Nesting, Shape, Type,
    wire::proto::tfplugin6::{self as proto, attribute_path::Step as WireStep, attribute_path::step::Selector},
};
use value::{AttributePath, Step};

/// What a step leads into.
enum Place<'a> {
    Block(&'a Block),
    Attributes(&'a [Attribute]),
    Shape(&'a Shape),
    /// An element of a nested list or map.
    Type(&'a Type),
}

/// The longest beginning of `path` that names a place of `block`.
pub(super) fn within(path: &AttributePath, block: &Block) -> AttributePath {
    let mut place = Place::Block(block);
    let mut said = AttributePath::root();
    for step in path.steps() {
        let Some(next) = place.enter(step) else {
            break;
        };
        said = match step {
            Step::Attribute(name) => said.attribute(name),
            Step::Key(key) => said.key(key),
            Step::Index(index) => said.index(*index),
        };
        place = next;
    }
    said
}

/// The beginning of `path` that Terraform finds in a configuration. It looks for attributes in blocks, and for one
/// element of an attribute, but never inside an attribute's value: of a longer path it would show the first line of
/// the block.
pub(super) fn to_source(path: &AttributePath, block: &Block) -> AttributePath {
    let path = within(path, block);
    let mut steps = path.steps().iter();
    let mut block = Some(block);
    let mut said = AttributePath::root();
    while let Some(outer) = block
        && let Some(Step::Attribute(name)) = steps.next()
    {
        said = said.attribute(name);
        block = outer.blocks.iter().find(|one| one.name == *name).map(|one| &one.block);
    }
    match steps.next() {
        Some(Step::Key(key)) => said.key(key),
        Some(Step::Index(index)) => said.index(*index),
        _ => said,
    }
}

/// The path as it travels.
pub(super) fn to_proto(path: &AttributePath) -> proto::AttributePath {
    let steps = path.steps().iter().map(|step| WireStep {
        selector: Some(match step {
            Step::Attribute(name) => Selector::AttributeName(name.clone()),
            Step::Key(key) => Selector::ElementKeyString(key.clone()),
            Step::Index(index) => Selector::ElementKeyInt(i64::try_from(*index).unwrap_or(i64::MAX)),
        }),
    });
    proto::AttributePath { steps: steps.collect() }
}

// === impl Place ===

impl Place<'_> {
    fn enter(&self, step: &Step) -> Option<Self> {
        match (self, step) {
            (Self::Block(block), Step::Attribute(name)) => block
                .attribute(name)
                .map(|attribute| Self::Shape(&attribute.shape))
                .or_else(|| block.blocks.iter().find(|one| one.name == *name).map(|one| Self::Block(&one.block))),
            (Self::Attributes(attributes), Step::Attribute(name)) => attribute(attributes, name),
            (Self::Shape(Shape::Nested(Nesting::Single, attributes)), Step::Attribute(name)) => {
                attribute(attributes, name)
            }
            (Self::Shape(Shape::Nested(Nesting::List, attributes)), Step::Index(_))
            | (Self::Shape(Shape::Nested(Nesting::Map, attributes)), Step::Key(_)) => {
                Some(Self::Attributes(attributes))
            }
            (Self::Shape(Shape::Plain(ty)), step) => element(ty, step).map(Self::Type),
            (Self::Type(ty), step) => element(ty, step).map(Self::Type),
            _ => None,
        }
    }
}

fn attribute<'a>(attributes: &'a [Attribute], name: &str) -> Option<Place<'a>> {
    attributes.iter().find(|one| one.name == name).map(|one| Place::Shape(&one.shape))
}

fn element<'a>(ty: &'a Type, step: &Step) -> Option<&'a Type> {
    match (ty, step) {
        (Type::Object(attributes), Step::Attribute(name)) => attributes.get(name),
        (Type::List(element), Step::Index(_)) | (Type::Map(element), Step::Key(_)) => Some(element),
        (Type::Tuple(elements), Step::Index(index)) => elements.get(*index),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NestedBlock;

    fn attribute(name: &str, shape: Shape) -> Attribute {
        Attribute {
            name: name.into(),
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
    fn a_path_ends_where_the_protocol_has_no_more_words() {
        let leaf = || vec![attribute("effect", Shape::Plain(Type::String))];
        let block = Block {
            attributes: vec![
                attribute("set", Shape::Nested(Nesting::Set, leaf())),
                attribute("list", Shape::Nested(Nesting::List, leaf())),
                attribute("tags", Shape::Plain(Type::map(Type::String))),
            ],
            ..Block::default()
        };
        let root = AttributePath::root();
        let cases = [
            (AttributePath::new("set").index(0).attribute("effect"), "set"),
            (AttributePath::new("set").attribute("effect"), "set"),
            (AttributePath::new("list").index(0).attribute("effect"), "list[0].effect"),
            (AttributePath::new("tags").key("a"), "tags[\"a\"]"),
            (AttributePath::new("tags").key("a").index(1), "tags[\"a\"]"),
            (AttributePath::new("nothing"), ""),
            (root.index(3), ""),
        ];
        for (path, said) in cases {
            assert_eq!(within(&path, &block).to_string(), said, "{path}");
        }
    }

    #[test]
    fn a_diagnostic_points_at_what_terraform_finds_in_a_configuration() {
        let leaf = || vec![attribute("min", Shape::Plain(Type::String))];
        let timeouts = Block { attributes: leaf(), ..Block::default() };
        let block = Block {
            attributes: vec![
                attribute("size", Shape::Nested(Nesting::Single, leaf())),
                attribute("list", Shape::Nested(Nesting::List, leaf())),
                attribute("tags", Shape::Plain(Type::map(Type::String))),
            ],
            blocks: vec![NestedBlock { name: "timeouts".into(), block: timeouts }],
            ..Block::default()
        };
        let cases = [
            (AttributePath::new("size"), "size"),
            (AttributePath::new("size").attribute("min"), "size"),
            (AttributePath::new("list").index(0).attribute("min"), "list[0]"),
            (AttributePath::new("tags").key("a"), "tags[\"a\"]"),
            (AttributePath::new("timeouts").attribute("min"), "timeouts.min"),
        ];
        for (path, said) in cases {
            assert_eq!(to_source(&path, &block).to_string(), said, "{path}");
        }
    }
}
