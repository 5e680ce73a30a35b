//! Derive macros: attributes and choices for resources, components and outputs for child objects.
//!
//! Holds no rule of Terraform or of the engine: each macro only writes down what the struct says, so that there is
//! one place to say it. Every mistake in a struct is reported at once, each at its own place.

mod attributes;
mod choice;
mod component;
mod docs;
mod errors;
mod fields;
mod flags;
mod literal;
mod outputs;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

use crate::errors::Errors;

/// Implements `tf_provider::Attributes` and `tf_provider::AttributeType` for a struct whose fields are `Value<T>`.
///
/// The doc comments are the documentation and must be there. On a field, `#[attribute(…)]` takes `required`,
/// `optional`, `computed`, `sensitive`, `write_only`, `replaces`, `default = "…"`, `deprecated = "…"` and
/// `name = "…"`; on the struct, `#[attributes(computed)]` makes every field computed.
#[proc_macro_derive(Attributes, attributes(attribute, attributes))]
pub fn attributes(input: TokenStream) -> TokenStream {
    run(&parse_macro_input!(input as DeriveInput), attributes::expand)
}

/// Implements `tf_provider::AttributeType` for an enum of words, with `as_str`, `from_word`, `Display`, and serde's
/// traits by the same words.
///
/// The word is the variant in snake_case, or as `#[choice(name = "…")]` says; each `also = "…"` is read as well, and
/// never written.
#[proc_macro_derive(Choice, attributes(choice))]
pub fn choice(input: TokenStream) -> TokenStream {
    run(&parse_macro_input!(input as DeriveInput), choice::expand)
}

/// Implements `converge::Component` for a struct, and makes its draft: the same struct with each field a `Value<T>`.
///
/// On the struct, `#[component(kind = "…", noun = "…")]` is needed; `outputs = Type`, `holds_data`, `slots` and
/// `part` may be added. On a field, `#[component(…)]` takes `identity`, `fixed`, `initial`, `local` and `merged`.
#[proc_macro_derive(Component, attributes(component))]
pub fn component(input: TokenStream) -> TokenStream {
    run(&parse_macro_input!(input as DeriveInput), component::expand)
}

/// Makes one typed constant for each field of an outputs struct and implements `converge::Outputs`.
///
/// A field that an update may change is marked `#[output(volatile)]`; where only an update of some fields of the
/// component may change it, `#[output(moved_by = "max, min")]`.
#[proc_macro_derive(Outputs, attributes(output))]
pub fn outputs(input: TokenStream) -> TokenStream {
    run(&parse_macro_input!(input as DeriveInput), outputs::expand)
}

// Nothing is generated beside errors: half a generated item would only add errors of the compiler's own.
fn run(input: &DeriveInput, expand: fn(&DeriveInput, &mut Errors) -> proc_macro2::TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    if let Some(parameter) = input.generics.params.first() {
        errors.add(parameter, "a derived struct or enum has no generic parameters");
    }
    let tokens = expand(input, &mut errors);
    errors.into_tokens().unwrap_or(tokens).into()
}
