//! The fields of a struct, and what their types are made of.

use syn::{Attribute, Data, DeriveInput, Field, Fields, GenericArgument, Ident, Meta, PathArguments, Token, Type};
use syn::{ext::IdentExt, parse::Parser, punctuated::Punctuated};

use crate::errors::Errors;

/// A field with a name.
pub(crate) struct Named<'a> {
    /// Its identifier.
    pub(crate) ident: &'a Ident,
    /// The identifier as a word, without `r#`.
    pub(crate) name: String,
    /// The field.
    pub(crate) field: &'a Field,
}

/// The named fields of a struct; anything else is a mistake.
pub(crate) fn named<'a>(input: &'a DeriveInput, errors: &mut Errors) -> Vec<Named<'a>> {
    let Data::Struct(data) = &input.data else {
        errors.add(&input.ident, "only a struct with named fields can be derived");
        return Vec::new();
    };
    if let Fields::Unnamed(fields) = &data.fields {
        errors.add(fields, "the fields need names");
    }
    let named = |field: &'a Field| {
        let ident = field.ident.as_ref()?;
        Some(Named { ident, name: ident.unraw().to_string(), field })
    };
    data.fields.iter().filter_map(named).collect()
}

/// The `T` of a type written `wrapper<T>`.
pub(crate) fn inside<'a>(ty: &'a Type, wrapper: &str) -> Option<&'a Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|segment| segment.ident == wrapper)?;
    match &last.arguments {
        PathArguments::AngleBracketed(arguments) => match arguments.args.first() {
            Some(GenericArgument::Type(inner)) if arguments.args.len() == 1 => Some(inner),
            _ => None,
        },
        _ => None,
    }
}

/// Reports serde attributes that would give a field another name in the document than it has in the struct: the
/// engine finds fields by the struct's names.
pub(crate) fn refuse_renaming(attributes: &[Attribute], errors: &mut Errors) {
    for meta in serde(attributes) {
        if ["rename", "rename_all", "flatten", "skip"].iter().any(|word| meta.path().is_ident(word)) {
            errors.add(&meta, "a field has the same name in the document as in the struct");
        }
    }
}

/// Whether a serde attribute of that name stands among them.
pub(crate) fn has_serde(attributes: &[Attribute], name: &str) -> bool {
    serde(attributes).iter().any(|meta| meta.path().is_ident(name))
}

// serde reports its own mistakes, so what cannot be read here is passed over.
fn serde(attributes: &[Attribute]) -> Vec<Meta> {
    let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
    attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("serde"))
        .filter_map(|attribute| attribute.meta.require_list().ok())
        .filter_map(|list| parser.parse2(list.tokens.clone()).ok())
        .flatten()
        .collect()
}
