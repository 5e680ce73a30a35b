//! The mistakes found in one struct, reported together.

use proc_macro2::TokenStream;
use quote::ToTokens;

/// Mistakes, each at its place.
#[derive(Default)]
pub(crate) struct Errors(Option<syn::Error>);

impl Errors {
    /// Adds a mistake at the place of `tokens`.
    pub(crate) fn add(&mut self, tokens: &impl ToTokens, message: impl std::fmt::Display) {
        self.merge(syn::Error::new_spanned(tokens, message));
    }

    /// Adds a mistake that syn found.
    pub(crate) fn merge(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(all) => all.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// The texts, in the order in which they were found.
    #[cfg(test)]
    pub(crate) fn messages(self) -> Vec<String> {
        self.0.into_iter().flatten().map(|error| error.to_string()).collect()
    }

    /// What makes the compiler show them; nothing where there are none.
    pub(crate) fn into_tokens(self) -> Option<TokenStream> {
        self.0.map(|error| error.to_compile_error())
    }
}

/// The known word closest to `word`, if one is close enough to be meant.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distances = known.into_iter().map(|candidate| (distance(word, candidate), candidate));
    let (distance, candidate) = distances.min_by_key(|(distance, _)| *distance)?;
    (distance <= word.len().max(3) / 3).then_some(candidate)
}

// The number of letters to add, drop or replace.
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (above, letter) in from.chars().enumerate() {
        let mut diagonal = above;
        let mut left = above + 1;
        for (cell, other) in row.iter_mut().skip(1).zip(to.chars()) {
            let replaced = diagonal + usize::from(letter != other);
            diagonal = *cell;
            left = replaced.min(left + 1).min(diagonal + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = above + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_is_recognised_and_another_word_is_not() {
        let known = ["required", "optional", "computed"];
        assert_eq!(nearest("requird", known), Some("required"));
        assert_eq!(nearest("optonial", known), Some("optional"));
        assert_eq!(nearest("secret", known), None);
    }
}
