//! The attributes of a schema: what must be set, what may be set, what is only read; nested objects in sections of
//! their own, with anchors.

use super::page::{Page, prose};
use crate::{Attribute, Block, Nesting, Shape, Type};

type Belongs = fn(&Attribute) -> bool;

/// The groups of a section, and what belongs to each.
const GROUPS: [(&str, Belongs); 3] = [
    ("Required", |attribute| attribute.required),
    ("Optional", |attribute| attribute.optional && !attribute.required),
    ("Read-only", |attribute| !attribute.required && !attribute.optional),
];

/// One section of nested attributes that is still to be written.
struct Section<'a> {
    path: String,
    title: String,
    about: Option<&'a str>,
    attributes: &'a [Attribute],
}

/// The sections of a block.
pub(super) fn schema_sections(block: &Block) -> String {
    let mut page = Page::empty();
    let mut later = Vec::new();
    page.heading(2, "Schema");
    groups(&mut page, 3, "", &block.attributes, &mut later);
    for nested in &block.blocks {
        let name = &nested.name;
        later.push(Section {
            path: name.clone(),
            title: format!("Block `{name}`"),
            about: Some(&nested.block.description),
            attributes: &nested.block.attributes,
        });
    }
    if !block.blocks.is_empty() {
        page.heading(3, "Blocks");
        let lines = block.blocks.iter().map(|nested| {
            format!(
                "- `{0}` (block) {1} See [`{0}`](#{2}).\n",
                nested.name,
                nested.block.description,
                anchor(&nested.name)
            )
        });
        page.push(&lines.collect::<Vec<_>>().concat());
    }
    write_sections(&mut page, later);
    page.finish()
}

// Depth first, so that a nested object stands right after the one it belongs to.
fn write_sections(page: &mut Page, sections: Vec<Section<'_>>) {
    for section in sections {
        let mut later = Vec::new();
        page.push(&format!("<a id=\"{}\"></a>\n", anchor(&section.path)));
        page.heading(3, &section.title);
        if let Some(about) = section.about {
            page.text(about);
        }
        groups(page, 4, &section.path, section.attributes, &mut later);
        write_sections(page, later);
    }
}

fn groups<'a>(page: &mut Page, level: usize, path: &str, attributes: &'a [Attribute], later: &mut Vec<Section<'a>>) {
    for (title, belongs) in GROUPS {
        let members: Vec<&Attribute> = attributes.iter().filter(|attribute| belongs(attribute)).collect();
        if members.is_empty() {
            continue;
        }
        page.heading(level, title);
        let lines = members.iter().map(|attribute| line(path, attribute)).collect::<Vec<_>>().concat();
        page.push(&lines);
        later.extend(members.iter().filter_map(|attribute| section(path, attribute)));
    }
}

fn section<'a>(path: &str, attribute: &'a Attribute) -> Option<Section<'a>> {
    let Shape::Nested(_, attributes) = &attribute.shape else { return None };
    let path = join(path, &attribute.name);
    Some(Section { title: format!("Attributes of `{path}`"), path, about: None, attributes })
}

fn line(path: &str, attribute: &Attribute) -> String {
    let mut words = vec![type_words(&attribute.shape)];
    words.extend(attribute.sensitive.then(|| "sensitive".to_owned()));
    words.extend(attribute.write_only.then(|| "write-only".to_owned()));
    let about = prose(&attribute.description).replace('\n', "\n  ");
    let mut line = format!("- `{}` ({}) {about}", attribute.name, words.join(", "));
    for fact in facts(path, attribute) {
        line.push_str("\n  ");
        line.push_str(&fact);
    }
    line.push('\n');
    line
}

// What the schema knows and the description need not say again.
fn facts(path: &str, attribute: &Attribute) -> Vec<String> {
    let mut facts = Vec::new();
    if !attribute.choices.is_empty() {
        let choices: Vec<_> = attribute.choices.iter().map(|choice| format!("`{choice}`")).collect();
        facts.push(format!("One of {}.", choices.join(", ")));
    }
    if let Some(default) = &attribute.default {
        let is_literal = !default.contains(' ') || default.starts_with(['"', '[', '{']);
        facts.push(if is_literal { format!("Default: `{default}`.") } else { format!("Default: {default}.") });
    }
    if attribute.replaces {
        facts.push("**Changing it replaces the resource.**".to_owned());
    }
    if let Some(text) = &attribute.deprecated {
        facts.push(format!("**Deprecated:** {text}"));
    }
    if matches!(attribute.shape, Shape::Nested(..)) {
        let path = join(path, &attribute.name);
        facts.push(format!("See [`{path}`](#{}).", anchor(&path)));
    }
    facts
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn anchor(path: &str) -> String {
    format!("schema-{}", path.replace('.', "-"))
}

/// The type of an attribute in words.
pub(super) fn type_words(shape: &Shape) -> String {
    match shape {
        Shape::Plain(ty) => words(ty),
        Shape::Nested(Nesting::Single, _) => "object".to_owned(),
        Shape::Nested(Nesting::List, _) => "list of objects".to_owned(),
        Shape::Nested(Nesting::Set, _) => "set of objects".to_owned(),
        Shape::Nested(Nesting::Map, _) => "map of objects".to_owned(),
    }
}

/// A type in words.
pub(super) fn words(ty: &Type) -> String {
    match ty {
        Type::String => "string".to_owned(),
        Type::Number => "number".to_owned(),
        Type::Bool => "bool".to_owned(),
        Type::Dynamic => "any".to_owned(),
        Type::List(element) => format!("list of {}", words(element)),
        Type::Set(element) => format!("set of {}", words(element)),
        Type::Map(element) => format!("map of {}", words(element)),
        Type::Tuple(_) => "tuple".to_owned(),
        Type::Object(attributes) => {
            let parts: Vec<_> = attributes.iter().map(|(name, ty)| format!("`{name}`: {}", words(ty))).collect();
            format!("object with {}", parts.join(", "))
        }
    }
}
