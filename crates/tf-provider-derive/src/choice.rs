//! `#[derive(Choice)]`.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Data, DeriveInput, Ident, LitStr, Variant, ext::IdentExt};

use crate::{
    errors::Errors,
    flags::{Flags, Known, Takes},
};

const ON_VARIANT: &Known = &[("name", Takes::Text), ("also", Takes::Texts)];

/// One variant and its words: the one that is written, and the others that are read as well.
struct Word<'a> {
    ident: &'a Ident,
    name: LitStr,
    also: Vec<LitStr>,
}

pub(crate) fn expand(input: &DeriveInput, errors: &mut Errors) -> TokenStream {
    let Data::Enum(data) = &input.data else {
        errors.add(&input.ident, "only an enum can be a choice");
        return TokenStream::new();
    };
    let words: Vec<_> = data.variants.iter().map(|variant| read(variant, errors)).collect();
    if words.is_empty() {
        errors.add(&input.ident, "a choice needs something to choose from");
    }
    refuse_twins(&words, errors);
    let (inherent, attribute, text) =
        (inherent(input, &words), attribute_type(input, &words), text_traits(input, &words));
    quote!(#inherent #attribute #text)
}

fn read<'a>(variant: &'a Variant, errors: &mut Errors) -> Word<'a> {
    if !variant.fields.is_empty() {
        errors.add(&variant.fields, "a variant of a choice is a word and holds nothing");
    }
    let flags = Flags::read(&variant.attrs, "choice", ON_VARIANT, errors);
    let snake = snake_case(&variant.ident.unraw().to_string());
    let name = flags.text("name").cloned().unwrap_or_else(|| LitStr::new(&snake, variant.ident.span()));
    Word { ident: &variant.ident, name, also: flags.texts("also").cloned().collect() }
}

fn refuse_twins(words: &[Word<'_>], errors: &mut Errors) {
    let mut seen = std::collections::BTreeSet::new();
    for text in words.iter().flat_map(|word| std::iter::once(&word.name).chain(&word.also)) {
        if !seen.insert(text.value()) {
            errors.merge(syn::Error::new(text.span(), format!("two variants share the word {:?}", text.value())));
        }
    }
}

fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for (position, letter) in name.char_indices() {
        if letter.is_uppercase() && position > 0 {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

fn inherent(input: &DeriveInput, words: &[Word<'_>]) -> TokenStream {
    let ident = &input.ident;
    let (variants, names): (Vec<_>, Vec<_>) = words.iter().map(|word| (word.ident, &word.name)).unzip();
    let read = words
        .iter()
        .map(|Word { ident, name, also }| quote!(#name #(| #also)* => ::std::option::Option::Some(Self::#ident)));
    quote! {
        #[automatically_derived]
        impl #ident {
            /// The words, in the order of the enum.
            pub const WORDS: &'static [&'static str] = &[#(#names),*];

            /// The word.
            pub const fn as_str(&self) -> &'static str {
                match self {
                    #(Self::#variants => #names),*
                }
            }

            /// The choice that a word stands for.
            pub fn from_word(word: &str) -> ::std::option::Option<Self> {
                match word {
                    #(#read,)*
                    _ => ::std::option::Option::None,
                }
            }
        }
    }
}

fn attribute_type(input: &DeriveInput, words: &[Word<'_>]) -> TokenStream {
    let ident = &input.ident;
    let names = words.iter().map(|word| &word.name);
    quote! {
        #[automatically_derived]
        impl ::tf_provider::AttributeType for #ident {
            fn shape() -> ::tf_provider::Shape {
                ::tf_provider::Shape::Plain(::tf_provider::Type::String)
            }

            fn choices() -> ::std::vec::Vec<::std::string::String> {
                ::std::vec![#(::std::string::String::from(#names)),*]
            }

            fn decode(
                cty: &::tf_provider::Cty,
                path: &::value::AttributePath,
                decoder: &mut ::tf_provider::Decoder,
            ) -> ::value::Value<Self> {
                ::tf_provider::decode_choice(cty, path, decoder, Self::WORDS, Self::from_word)
            }

            fn encode(&self) -> ::tf_provider::Cty {
                ::tf_provider::Cty::string(self.as_str())
            }
        }
    }
}

fn text_traits(input: &DeriveInput, words: &[Word<'_>]) -> TokenStream {
    let ident = &input.ident;
    let expected = LitStr::new(
        &words.iter().map(|word| format!("{:?}", word.name.value())).collect::<Vec<_>>().join(" or "),
        input.ident.span().resolved_at(Span::call_site()),
    );
    quote! {
        #[automatically_derived]
        impl ::std::fmt::Display for #ident {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        #[automatically_derived]
        impl ::serde::Serialize for #ident {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> ::std::result::Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        #[automatically_derived]
        impl<'de> ::serde::Deserialize<'de> for #ident {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> ::std::result::Result<Self, D::Error> {
                let word = <::std::string::String as ::serde::Deserialize>::deserialize(deserializer)?;
                Self::from_word(&word).ok_or_else(|| {
                    ::serde::de::Error::invalid_value(::serde::de::Unexpected::Str(&word), &#expected)
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_become_words_in_snake_case() {
        assert_eq!(snake_case("NoSchedule"), "no_schedule");
        assert_eq!(snake_case("Spot"), "spot");
    }
}
