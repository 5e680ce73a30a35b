//! Defaults: the text that users read, turned into the value that they get.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{
    Ident, LitBool, LitInt, LitStr, Token, braced, bracketed,
    ext::IdentExt,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
    token::{Brace, Bracket},
};

use crate::errors::Errors;

/// A literal of HCL, as far as defaults need it.
enum Literal {
    Text(LitStr),
    Number(LitInt),
    Bool(LitBool),
    List(Punctuated<Literal, Token![,]>),
    Object(Punctuated<Pair, Token![,]>),
}

/// An attribute of an object.
struct Pair {
    name: String,
    value: Literal,
}

/// An expression that makes the Terraform value of `text`; nothing where it is no literal, which is reported.
pub(crate) fn value(text: &LitStr, errors: &mut Errors) -> TokenStream {
    match text.parse::<Literal>() {
        Ok(literal) => literal.into_token_stream(),
        Err(error) => {
            errors.add(text, format!("this is no literal of HCL: {error}; leave it out and describe it in the text"));
            TokenStream::new()
        }
    }
}

impl Parse for Literal {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let next = input.lookahead1();
        if next.peek(LitStr) {
            input.parse().map(Self::Text)
        } else if next.peek(LitInt) {
            input.parse().map(Self::Number)
        } else if next.peek(LitBool) {
            input.parse().map(Self::Bool)
        } else if next.peek(Bracket) {
            let items;
            bracketed!(items in input);
            items.parse_terminated(Self::parse, Token![,]).map(Self::List)
        } else if next.peek(Brace) {
            let pairs;
            braced!(pairs in input);
            pairs.parse_terminated(Pair::parse, Token![,]).map(Self::Object)
        } else {
            Err(next.error())
        }
    }
}

impl Parse for Pair {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.call(Ident::parse_any)?.to_string();
        input.parse::<Token![=]>()?;
        Ok(Self { name, value: input.parse()? })
    }
}

impl ToTokens for Literal {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(match self {
            Self::Text(text) => quote!(::tf_provider::Cty::String(::std::string::String::from(#text))),
            Self::Number(number) => {
                quote!(::tf_provider::Cty::Number(<::tf_provider::Number as ::std::convert::From<i64>>::from(#number)))
            }
            Self::Bool(bool) => quote!(::tf_provider::Cty::Bool(#bool)),
            Self::List(items) => {
                let items = items.iter();
                quote!(::tf_provider::Cty::List(::std::vec![#(#items),*]))
            }
            Self::Object(pairs) => {
                let (names, values) = (pairs.iter().map(|pair| &pair.name), pairs.iter().map(|pair| &pair.value));
                quote!(::tf_provider::Cty::object::<&str>([#((#names, #values)),*]))
            }
        });
    }
}
