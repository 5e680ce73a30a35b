//! `#[derive(Component)]`.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::{DeriveInput, LitStr};

use crate::{
    docs,
    errors::Errors,
    fields::{self, Named},
    flags::{Flags, Known, Takes},
};

const ON_STRUCT: &Known = &[
    ("kind", Takes::Text),
    ("noun", Takes::Text),
    ("outputs", Takes::Type),
    ("holds_data", Takes::Nothing),
    ("slots", Takes::Nothing),
    ("part", Takes::Nothing),
];
const ON_FIELD: &Known = &[
    ("identity", Takes::Nothing),
    ("place", Takes::Nothing),
    ("fixed", Takes::Nothing),
    ("initial", Takes::Nothing),
    ("local", Takes::Nothing),
    ("merged", Takes::Nothing),
];

/// A field and what is true of it.
struct Marked<'a> {
    field: Named<'a>,
    flags: Flags,
}

pub(crate) fn expand(input: &DeriveInput, errors: &mut Errors) -> TokenStream {
    let flags = Flags::read(&input.attrs, "component", ON_STRUCT, errors);
    check_serde(input, errors);
    let fields: Vec<_> = fields::named(input, errors).into_iter().map(|field| mark(field, errors)).collect();
    if flags.has("slots") {
        check_slot(input, &fields, errors);
    }
    let (component, draft) = (component(input, &flags, &fields, errors), draft(input, &fields));
    quote!(#component #draft)
}

fn check_serde(input: &DeriveInput, errors: &mut Errors) {
    fields::refuse_renaming(&input.attrs, errors);
    if !fields::has_serde(&input.attrs, "default") {
        errors.add(&input.ident, "add `#[serde(default)]`: an import knows only the fields of the identity");
    }
}

fn mark<'a>(field: Named<'a>, errors: &mut Errors) -> Marked<'a> {
    fields::refuse_renaming(&field.field.attrs, errors);
    let flags = Flags::read(&field.field.attrs, "component", ON_FIELD, errors);
    for other in ["initial", "local", "merged"] {
        flags.exclusive(&["identity", other], errors);
        flags.exclusive(&["fixed", other], errors);
    }
    flags.exclusive(&["initial", "local"], errors);
    if flags.has("place") && !flags.has("identity") {
        errors.add(field.ident, "`place` is for a field of the identity: add `identity`");
    }
    Marked { field, flags }
}

fn check_slot(input: &DeriveInput, fields: &[Marked<'_>], errors: &mut Errors) {
    let is_slot =
        |marked: &Marked<'_>| marked.field.name == "slot" && fields::inside(&marked.field.field.ty, "Option").is_some();
    if !fields.iter().any(is_slot) {
        errors.add(&input.ident, "`slots` needs a field `slot: Option<String>`, which the engine fills");
    }
}

fn component(input: &DeriveInput, flags: &Flags, fields: &[Marked<'_>], errors: &mut Errors) -> TokenStream {
    let ident = &input.ident;
    let kind = text(input, flags, "kind", "the name that ledgers store, such as \"aws_iam_role\"", errors);
    let noun = text(input, flags, "noun", "the kind in words for messages, such as \"IAM role\"", errors);
    let outputs = flags.ty("outputs").map_or_else(|| quote!(()), |path| quote!(#path));
    let (holds_data, slots, part) = (flags.has("holds_data"), flags.has("slots"), flags.has("part"));
    let (identity, place) = (names(fields, &["identity"]), names(fields, &["place"]));
    let fixed = names(fields, &["identity", "fixed"]);
    let (initial, local, merged) = (names(fields, &["initial"]), names(fields, &["local"]), names(fields, &["merged"]));
    quote! {
        #[automatically_derived]
        impl ::converge::Component for #ident {
            const FACTS: ::converge::KindFacts = ::converge::KindFacts {
                kind: #kind,
                noun: #noun,
                identity: #identity,
                place: #place,
                fixed: #fixed,
                initial: #initial,
                local: #local,
                merged: #merged,
                volatile: <#outputs as ::converge::Outputs>::VOLATILE,
                has_id: <#outputs as ::converge::Outputs>::HAS_ID,
                holds_data: #holds_data,
                slots: #slots,
                part: #part,
                mends: false,
            };
            type Outputs = #outputs;
        }
    }
}

fn text(input: &DeriveInput, flags: &Flags, name: &str, what: &str, errors: &mut Errors) -> LitStr {
    flags.text(name).cloned().unwrap_or_else(|| {
        errors.add(&input.ident, format!("add `#[component({name} = \"…\")]`: {what}"));
        LitStr::new("", Span::call_site())
    })
}

fn names(fields: &[Marked<'_>], flags: &[&str]) -> TokenStream {
    let names =
        fields.iter().filter(|marked| flags.iter().any(|flag| marked.flags.has(flag))).map(|marked| &marked.field.name);
    quote!(&[#(#names),*])
}

fn draft(input: &DeriveInput, fields: &[Marked<'_>]) -> TokenStream {
    let (ident, visibility) = (&input.ident, &input.vis);
    let draft = format_ident!("{ident}Draft");
    let summary = format!("What is wanted of a [`{ident}`]: its fields, each a value that may be pending.");
    let declared = fields.iter().map(|Marked { field, .. }| {
        let (name, docs) = (field.ident, docs::attributes(&field.field.attrs));
        let ty = fields::inside(&field.field.ty, "Option").unwrap_or(&field.field.ty);
        quote!(#(#docs)* pub #name: ::value::Value<#ty>)
    });
    let listed = fields.iter().map(|Marked { field, .. }| {
        let (ident, name) = (field.ident, &field.name);
        quote!((#name, self.#ident.into_field()))
    });
    quote! {
        #[doc = #summary]
        #[derive(::std::clone::Clone, ::std::fmt::Debug, ::std::default::Default)]
        #visibility struct #draft {
            #(#declared,)*
        }

        #[automatically_derived]
        impl ::converge::Draft for #draft {
            type Of = #ident;

            fn fields(self) -> ::std::vec::Vec<(&'static str, ::value::Field)> {
                ::std::vec![#(#listed),*]
            }
        }
    }
}
