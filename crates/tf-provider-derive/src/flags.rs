//! The flags in `#[attribute(…)]` and its sisters.

use proc_macro2::Span;
use syn::{
    Attribute, Expr, ExprLit, Lit, LitStr, Meta, MetaNameValue, Path, Token, punctuated::Punctuated, spanned::Spanned,
};

use crate::errors::{Errors, nearest};

/// What a flag is followed by.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Takes {
    /// Nothing: `required`.
    Nothing,
    /// A text: `name = "…"`.
    Text,
    /// A text, and the flag may be repeated.
    Texts,
    /// A type: `outputs = RoleOutputs`.
    Type,
}

/// The flags a macro knows at one place.
pub(crate) type Known = [(&'static str, Takes)];

/// The flags found at one place.
#[derive(Default)]
pub(crate) struct Flags(Vec<Flag>);

struct Flag {
    name: String,
    span: Span,
    value: Given,
}

enum Given {
    Nothing,
    Text(LitStr),
    Type(Path),
}

impl Flags {
    /// Reads every `#[name(…)]` among `attributes`.
    pub(crate) fn read(attributes: &[Attribute], name: &str, known: &Known, errors: &mut Errors) -> Self {
        let mut flags = Self::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident(name)) {
            match attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated) {
                Ok(metas) => metas.iter().for_each(|meta| flags.take(meta, known, errors)),
                Err(error) => errors.merge(error),
            }
        }
        flags
    }

    /// Whether the flag stands there.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|flag| flag.name == name)
    }

    /// Where the flag stands, to report it.
    pub(crate) fn span(&self, name: &str) -> Option<Span> {
        self.0.iter().find(|flag| flag.name == name).map(|flag| flag.span)
    }

    /// The text of a flag.
    pub(crate) fn text(&self, name: &str) -> Option<&LitStr> {
        self.texts(name).next()
    }

    /// The texts of a flag that may be repeated.
    pub(crate) fn texts(&self, name: &str) -> impl Iterator<Item = &LitStr> {
        self.0.iter().filter(move |flag| flag.name == name).filter_map(|flag| match &flag.value {
            Given::Text(text) => Some(text),
            Given::Nothing | Given::Type(_) => None,
        })
    }

    /// The type of a flag.
    pub(crate) fn ty(&self, name: &str) -> Option<&Path> {
        self.0.iter().filter(|flag| flag.name == name).find_map(|flag| match &flag.value {
            Given::Type(path) => Some(path),
            Given::Nothing | Given::Text(_) => None,
        })
    }

    /// Reports every two of `names` that stand together.
    pub(crate) fn exclusive(&self, names: &[&str], errors: &mut Errors) {
        let mut found = names.iter().filter_map(|name| self.span(name).map(|span| (name, span)));
        if let Some((first, _)) = found.next() {
            found.for_each(|(other, span)| {
                errors.merge(syn::Error::new(span, format!("`{first}` and `{other}` exclude each other")));
            });
        }
    }

    fn take(&mut self, meta: &Meta, known: &Known, errors: &mut Errors) {
        let name = meta.path().get_ident().map(ToString::to_string).unwrap_or_default();
        let Some((_, takes)) = known.iter().find(|(word, _)| *word == name) else {
            return errors.add(meta.path(), unknown(&name, known));
        };
        if *takes != Takes::Texts && self.has(&name) {
            return errors.add(meta, format!("`{name}` stands here twice"));
        }
        match given(meta, *takes) {
            Some(value) => self.0.push(Flag { name, span: meta.span(), value }),
            None => errors.add(meta, form(&name, *takes)),
        }
    }
}

fn given(meta: &Meta, takes: Takes) -> Option<Given> {
    match (takes, meta) {
        (Takes::Nothing, Meta::Path(_)) => Some(Given::Nothing),
        (Takes::Text | Takes::Texts, Meta::NameValue(MetaNameValue { value: Expr::Lit(literal), .. })) => match literal
        {
            ExprLit { lit: Lit::Str(text), .. } => Some(Given::Text(text.clone())),
            _ => None,
        },
        (Takes::Type, Meta::NameValue(MetaNameValue { value: Expr::Path(path), .. })) => {
            Some(Given::Type(path.path.clone()))
        }
        _ => None,
    }
}

fn form(name: &str, takes: Takes) -> String {
    match takes {
        Takes::Nothing => format!("`{name}` stands alone, without a value"),
        Takes::Text | Takes::Texts => format!("`{name}` needs a text: `{name} = \"…\"`"),
        Takes::Type => format!("`{name}` needs the name of a type: `{name} = Type`"),
    }
}

fn unknown(name: &str, known: &Known) -> String {
    let words = known.iter().map(|(word, _)| *word);
    match nearest(name, words.clone()) {
        Some(meant) => format!("unknown flag `{name}`; did you mean `{meant}`?"),
        None => format!(
            "unknown flag `{name}`; known are {}",
            words.map(|w| format!("`{w}`")).collect::<Vec<_>>().join(", ")
        ),
    }
}
