//! `#[derive(Attributes)]`.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{DeriveInput, LitStr, Type};

use crate::{
    docs,
    errors::Errors,
    fields::{self, Named},
    flags::{Flags, Known, Takes},
    literal,
};

const ON_STRUCT: &Known = &[("computed", Takes::Nothing)];
const ON_FIELD: &Known = &[
    ("required", Takes::Nothing),
    ("optional", Takes::Nothing),
    ("computed", Takes::Nothing),
    ("sensitive", Takes::Nothing),
    ("write_only", Takes::Nothing),
    ("replaces", Takes::Nothing),
    ("default", Takes::Text),
    ("deprecated", Takes::Text),
    ("name", Takes::Text),
];

/// One attribute, ready to be written down.
struct Attribute<'a> {
    field: &'a Named<'a>,
    name: String,
    ty: &'a Type,
    description: String,
    flags: Flags,
    presence: Presence,
    /// Makes the value of `default = "…"`.
    default: Option<TokenStream>,
}

/// Who sets an attribute.
struct Presence {
    required: bool,
    optional: bool,
    computed: bool,
}

pub(crate) fn expand(input: &DeriveInput, errors: &mut Errors) -> TokenStream {
    let all_computed = Flags::read(&input.attrs, "attributes", ON_STRUCT, errors).has("computed");
    let description = docs::text(&input.attrs);
    if description.is_empty() {
        errors.add(&input.ident, "a doc comment is missing: it is the documentation users read");
    }
    let fields = fields::named(input, errors);
    let attributes: Vec<_> = fields.iter().filter_map(|field| read(field, all_computed, errors)).collect();
    let ident = &input.ident;
    let list = attributes.iter().map(declared);
    let (decoded, encoded) = (attributes.iter().map(decoded), attributes.iter().map(encoded));
    let defaulted = attributes.iter().map(defaulted);
    let shape = shape(input);
    quote! {
        #[automatically_derived]
        impl ::tf_provider::Attributes for #ident {
            fn attributes() -> ::std::vec::Vec<::tf_provider::Attribute> {
                ::std::vec![#(#list),*]
            }

            fn description() -> &'static str {
                #description
            }

            fn decode_object(
                object: &::tf_provider::Cty,
                path: &::value::AttributePath,
                decoder: &mut ::tf_provider::Decoder,
            ) -> Self {
                Self { #(#decoded),* }
            }

            fn encode_object(&self) -> ::tf_provider::Cty {
                ::tf_provider::Cty::object::<&str>([#(#encoded),*])
            }

            fn fill_defaults(&mut self) {
                #(#defaulted)*
            }
        }

        #shape
    }
}

fn read<'a>(field: &'a Named<'a>, all_computed: bool, errors: &mut Errors) -> Option<Attribute<'a>> {
    let flags = Flags::read(&field.field.attrs, "attribute", ON_FIELD, errors);
    let description = docs::text(&field.field.attrs);
    if description.is_empty() {
        errors.add(field.ident, "a doc comment is missing: it is the documentation users read");
    }
    let name = flags.text("name").cloned().unwrap_or_else(|| LitStr::new(&field.name, Span::call_site()));
    if !is_name(&name.value()) {
        errors.add(&name, "the name of an attribute is made of a-z, 0-9 and _, and starts with a letter");
    }
    let presence = presence(&flags, all_computed, errors);
    let Some(ty) = fields::inside(&field.field.ty, "Value") else {
        errors.add(&field.field.ty, "the type of an attribute is a `Value<…>`, since it may be null or unknown");
        return None;
    };
    let default = flags.text("default").map(|text| literal::value(text, errors));
    Some(Attribute { field, name: name.value(), ty, description, flags, presence, default })
}

// What core's own check of a schema refuses is refused here, where the line is known.
fn presence(flags: &Flags, all_computed: bool, errors: &mut Errors) -> Presence {
    for other in ["optional", "computed", "default"] {
        flags.exclusive(&["required", other], errors);
    }
    for other in ["computed", "default"] {
        flags.exclusive(&["write_only", other], errors);
    }
    if let (Some(span), true) = (flags.span("required"), all_computed) {
        errors.merge(syn::Error::new(span, "`required` does not go with `#[attributes(computed)]` on the struct"));
    }
    let defaulted = flags.has("default");
    let required = flags.has("required");
    let computed = flags.has("computed") || defaulted || all_computed;
    let optional = flags.has("optional") || defaulted || !(required || computed);
    Presence { required, optional, computed }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase() || first == '_')
        && name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_')
}

fn declared(attribute: &Attribute<'_>) -> TokenStream {
    let Attribute { name, ty, description, flags, presence, .. } = attribute;
    let Presence { required, optional, computed } = presence;
    let (default, deprecated) = (option(flags.text("default")), option(flags.text("deprecated")));
    let (sensitive, write_only, replaces) = (flags.has("sensitive"), flags.has("write_only"), flags.has("replaces"));
    quote! {
        ::tf_provider::Attribute {
            name: ::std::string::String::from(#name),
            shape: <#ty as ::tf_provider::AttributeType>::shape(),
            description: ::std::string::String::from(#description),
            default: #default,
            choices: <#ty as ::tf_provider::AttributeType>::choices(),
            required: #required,
            optional: #optional,
            computed: #computed,
            sensitive: #sensitive,
            write_only: #write_only,
            deprecated: #deprecated,
            replaces: #replaces,
        }
    }
}

fn option(text: Option<&LitStr>) -> TokenStream {
    text.map_or_else(
        || quote!(::std::option::Option::None),
        |text| quote!(::std::option::Option::Some(::std::string::String::from(#text))),
    )
}

fn decoded(attribute: &Attribute<'_>) -> TokenStream {
    let (ident, name) = (attribute.field.ident, &attribute.name);
    quote!(#ident: ::tf_provider::decode(object.get(#name), &path.attribute(#name), decoder))
}

fn encoded(attribute: &Attribute<'_>) -> TokenStream {
    let (ident, name) = (attribute.field.ident, &attribute.name);
    quote!((#name, ::tf_provider::encode(&self.#ident)))
}

fn defaulted(attribute: &Attribute<'_>) -> TokenStream {
    let ident = attribute.field.ident;
    let default = attribute.default.as_ref();
    let default = default.map_or_else(
        || quote!(::std::option::Option::None),
        |default| quote!(::std::option::Option::Some(|| #default)),
    );
    quote!(::tf_provider::fill_default(&mut self.#ident, #default);)
}

fn shape(input: &DeriveInput) -> TokenStream {
    let ident = &input.ident;
    quote! {
        #[automatically_derived]
        impl ::tf_provider::AttributeType for #ident {
            fn shape() -> ::tf_provider::Shape {
                ::tf_provider::Shape::Nested(
                    ::tf_provider::Nesting::Single,
                    <Self as ::tf_provider::Attributes>::attributes(),
                )
            }

            fn decode(
                cty: &::tf_provider::Cty,
                path: &::value::AttributePath,
                decoder: &mut ::tf_provider::Decoder,
            ) -> ::value::Value<Self> {
                ::tf_provider::decode_nested(cty, path, decoder)
            }

            fn encode(&self) -> ::tf_provider::Cty {
                ::tf_provider::Attributes::encode_object(self)
            }

            fn fill_within(&mut self) {
                ::tf_provider::Attributes::fill_defaults(self);
            }
        }
    }
}
