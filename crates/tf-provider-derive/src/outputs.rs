//! `#[derive(Outputs)]`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::DeriveInput;

use crate::{
    docs,
    errors::Errors,
    fields,
    flags::{Flags, Known, Takes},
};

const ON_FIELD: &Known = &[("volatile", Takes::Nothing), ("moved_by", Takes::Text)];

pub(crate) fn expand(input: &DeriveInput, errors: &mut Errors) -> TokenStream {
    let ident = &input.ident;
    fields::refuse_renaming(&input.attrs, errors);
    let fields = fields::named(input, errors);
    let mut volatile = Vec::new();
    for field in &fields {
        fields::refuse_renaming(&field.field.attrs, errors);
        let flags = Flags::read(&field.field.attrs, "output", ON_FIELD, errors);
        flags.exclusive(&["volatile", "moved_by"], errors);
        if flags.has("volatile") || flags.has("moved_by") {
            volatile.push(one(&field.name, &flags));
        }
    }
    let has_id = fields.iter().any(|field| field.name == "id");
    let constants = fields.iter().map(|field| {
        let (constant, name) = (format_ident!("{}", field.name.to_uppercase()), &field.name);
        let ty = fields::inside(&field.field.ty, "Option").unwrap_or(&field.field.ty);
        let docs = docs::attributes(&field.field.attrs);
        quote!(#(#docs)* pub const #constant: ::converge::Output<Self, #ty> = ::converge::Output::new(#name))
    });
    quote! {
        #[automatically_derived]
        #[allow(dead_code, reason = "one constant a field, whether or not another object needs it")]
        impl #ident {
            #(#constants;)*
        }

        #[automatically_derived]
        impl ::converge::Outputs for #ident {
            const VOLATILE: &'static [::converge::Volatile] = &[#(#volatile),*];
            const HAS_ID: bool = #has_id;
        }
    }
}

// `moved_by = "max, min"` names the fields of the component whose update may change the output.
fn one(output: &str, flags: &Flags) -> TokenStream {
    let fields = flags.text("moved_by").map(syn::LitStr::value).unwrap_or_default();
    let fields = fields.split(',').map(str::trim).filter(|field| !field.is_empty());
    quote!(::converge::Volatile { output: #output, moved_by: &[#(#fields),*] })
}
