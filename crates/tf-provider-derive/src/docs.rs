//! Doc comments as Markdown.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The text of a doc comment; empty where there is none.
pub(crate) fn text(attributes: &[Attribute]) -> String {
    let lines: Vec<String> = attributes.iter().filter_map(line).collect();
    // A comment in one block (`/** … */`) has its line breaks inside, so the text is cut again.
    let text = lines.join("\n");
    let trimmed: Vec<&str> = text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end()).collect();
    trimmed.join("\n").trim().to_owned()
}

/// The doc attributes, to be carried over as they are.
pub(crate) fn attributes(attributes: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attributes.iter().filter(|attribute| attribute.path().is_ident("doc"))
}

fn line(attribute: &Attribute) -> Option<String> {
    match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}
