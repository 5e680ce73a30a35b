//! What core refuses about a schema, before it looks at any value.

use std::collections::BTreeSet;

use crate::{Attribute, Block, IdentitySchema, Nesting, Schema, Shape, Signature, Type, testing::rules::apply::name};
use value::AttributePath;

/// What core would refuse about a schema. Attributes are named by their paths.
pub fn check_schema(schema: &Schema) -> Vec<String> {
    let mut complaints = Vec::new();
    if schema.version < 0 {
        complaints.push("its version is negative".to_owned());
    }
    of_block(&schema.block, &AttributePath::root(), &mut complaints);
    complaints
}

/// What core would refuse about the schema of an identity.
pub(super) fn check_identity(schema: &IdentitySchema) -> Vec<String> {
    let simple = |ty: &Type| matches!(ty, Type::String | Type::Number | Type::Bool);
    let fits = |ty: &Type| simple(ty) || matches!(ty, Type::List(element) if simple(element));
    let misfits = schema.attributes.iter().filter(|attribute| !fits(&attribute.ty));
    let misfits =
        misfits.map(|attribute| format!("identity {}: neither a primitive nor a list of one", attribute.name));
    let names = schema.attributes.iter().map(|attribute| attribute.name.as_str());
    misfits.chain(bad_names(names).map(|text| format!("identity {text}"))).collect()
}

/// What core would refuse about a function.
pub(super) fn check_signature(name: &str, signature: &Signature) -> Vec<String> {
    let parameters = signature.parameters.iter().chain(&signature.variadic).map(|parameter| parameter.name);
    let parameters = bad_names(parameters).map(|text| format!("parameter {text}"));
    parameters.chain(bad_names([name])).collect()
}

fn of_block(block: &Block, path: &AttributePath, complaints: &mut Vec<String>) {
    let names = block.attributes.iter().map(|one| one.name.as_str());
    let names = names.chain(block.blocks.iter().map(|one| one.name.as_str()));
    complaints.extend(bad_names(names).map(|text| at(path, &text)));
    for attribute in &block.attributes {
        of_attribute(attribute, &path.attribute(&attribute.name), false, complaints);
    }
    for nested in &block.blocks {
        of_block(&nested.block, &path.attribute(&nested.name), complaints);
    }
}

fn of_attribute(attribute: &Attribute, path: &AttributePath, in_set: bool, complaints: &mut Vec<String>) {
    complaints.extend(of_flags(attribute).into_iter().map(|text| at(path, text)));
    if in_set && attribute.write_only {
        complaints.push(at(path, "write-only attributes are forbidden in a set"));
    }
    match &attribute.shape {
        Shape::Plain(ty) => {
            if (in_set && has_dynamic(ty)) || dynamic_element(ty) {
                complaints.push(at(path, "a dynamic type is forbidden in a collection"));
            }
        }
        Shape::Nested(nesting, attributes) => {
            if attributes.is_empty() {
                complaints.push(at(path, &format!("a nested {} without attributes", name(*nesting))));
            }
            complaints.extend(bad_names(attributes.iter().map(|one| one.name.as_str())).map(|text| at(path, &text)));
            let in_set = in_set || *nesting == Nesting::Set;
            for attribute in attributes {
                of_attribute(attribute, &path.attribute(&attribute.name), in_set, complaints);
            }
        }
    }
}

fn of_flags(attribute: &Attribute) -> Vec<&'static str> {
    let Attribute { required, optional, computed, write_only, .. } = *attribute;
    [
        (!required && !optional && !computed, "is neither required nor optional nor computed"),
        (required && (optional || computed), "is required, so it cannot be optional or computed too"),
        (write_only && computed, "is write-only, so it cannot be computed"),
        (write_only && !required && !optional, "is write-only, so it must be required or optional"),
    ]
    .into_iter()
    .filter_map(|(wrong, text)| wrong.then_some(text))
    .collect()
}

fn has_dynamic(ty: &Type) -> bool {
    match ty {
        Type::Dynamic => true,
        Type::List(element) | Type::Set(element) | Type::Map(element) => has_dynamic(element),
        Type::Tuple(elements) => elements.iter().any(has_dynamic),
        Type::Object(attributes) => attributes.values().any(has_dynamic),
        Type::String | Type::Number | Type::Bool => false,
    }
}

/// Whether a collection of the type has elements that are dynamic.
fn dynamic_element(ty: &Type) -> bool {
    match ty {
        Type::Set(element) => has_dynamic(element),
        Type::List(element) | Type::Map(element) => dynamic_element(element),
        Type::Tuple(elements) => elements.iter().any(dynamic_element),
        Type::Object(attributes) => attributes.values().any(dynamic_element),
        Type::String | Type::Number | Type::Bool | Type::Dynamic => false,
    }
}

/// Names that are no names, or stand twice.
fn bad_names<'a>(names: impl IntoIterator<Item = &'a str>) -> impl Iterator<Item = String> {
    let mut seen = BTreeSet::new();
    let complaints = names.into_iter().filter_map(move |name| {
        let first = name.chars().next().is_some_and(|first| first.is_ascii_lowercase() || first == '_');
        let rest = name.chars().all(|one| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '_');
        match (first && rest, seen.insert(name)) {
            (false, _) => Some(format!("{name:?}: a name has lower-case letters, digits and _ only")),
            (true, false) => Some(format!("{name:?}: stands twice")),
            (true, true) => None,
        }
    });
    complaints.collect::<Vec<_>>().into_iter()
}

fn at(path: &AttributePath, text: &str) -> String {
    if path.is_root() { text.to_owned() } else { format!("{path}: {text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(name: &str, flags: &str, shape: Shape) -> Attribute {
        Attribute {
            name: name.to_owned(),
            shape,
            description: String::new(),
            default: None,
            choices: Vec::new(),
            required: flags.contains('r'),
            optional: flags.contains('o'),
            computed: flags.contains('c'),
            sensitive: false,
            write_only: flags.contains('w'),
            deprecated: None,
            replaces: false,
        }
    }

    #[test]
    fn each_thing_core_refuses_is_told_with_its_place() {
        let string = || Shape::Plain(Type::String);
        let dynamic = || Shape::Plain(Type::Dynamic);
        let nested = |nesting, inner| Shape::Nested(nesting, vec![inner]);
        let table = [
            (vec![attribute("a", "r", string()), attribute("b", "oc", dynamic())], ""),
            (vec![attribute("a", "", string())], "a: is neither"),
            (vec![attribute("a", "rc", string())], "a: is required"),
            (vec![attribute("a", "owc", string())], "a: is write-only"),
            (vec![attribute("Name", "o", string())], "\"Name\": a name"),
            (vec![attribute("a", "o", string()), attribute("a", "o", string())], "\"a\": stands twice"),
            (vec![attribute("a", "o", nested(Nesting::Set, attribute("b", "ow", string())))], "a.b: write-only"),
            (vec![attribute("a", "o", nested(Nesting::Set, attribute("b", "o", dynamic())))], "a.b: a dynamic"),
            (vec![attribute("a", "o", Shape::Nested(Nesting::List, Vec::new()))], "a: a nested list"),
            (vec![attribute("a", "o", Shape::Plain(Type::set(Type::Dynamic)))], "a: a dynamic"),
        ];
        for (attributes, begins) in table {
            let schema = Schema { version: 0, block: Block { attributes, ..Block::default() } };
            let complaints = check_schema(&schema);
            let first = complaints.first().map_or("", String::as_str);
            assert!(first.starts_with(begins) && first.is_empty() == begins.is_empty(), "{complaints:?}, not {begins}");
        }
    }
}
