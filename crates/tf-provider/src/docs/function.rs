//! The page of a function.

use super::{
    attributes::words,
    page::{Page, prose},
};
use crate::{Parameter, Signature};

pub(super) fn page(provider: &str, name: &str, signature: &Signature, example: Option<String>) -> String {
    let mut page = Page::new(&format!("{name} Function - {provider}"), "", &signature.summary);
    page.heading(1, &format!("{name} (function)"));
    page.text(&signature.summary);
    page.text(&signature.description);
    if let Some(example) = example {
        page.heading(2, "Example");
        page.code("terraform", &example);
    }
    page.heading(2, "Signature");
    page.code("text", &call(provider, name, signature));
    page.text(&format!("Returns: {}.", words(&signature.result)));
    let parameters: Vec<&Parameter> = signature.parameters.iter().chain(&signature.variadic).collect();
    if !parameters.is_empty() {
        page.heading(2, "Arguments");
        page.push(&parameters.into_iter().map(line).collect::<Vec<_>>().concat());
    }
    page.finish()
}

fn call(provider: &str, name: &str, signature: &Signature) -> String {
    let mut parts: Vec<String> = signature.parameters.iter().map(|parameter| parameter.name.to_owned()).collect();
    parts.extend(signature.variadic.as_ref().map(|parameter| format!("{}...", parameter.name)));
    format!("provider::{provider}::{name}({})", parts.join(", "))
}

fn line(parameter: &Parameter) -> String {
    let null = if parameter.nullable { ", may be null" } else { "" };
    let about = prose(&parameter.description).replace('\n', "\n  ");
    format!("- `{}` ({}{null}) {about}\n", parameter.name, words(&parameter.ty))
}
