//! Words to choose from as attributes.

use value::{AttributePath, Value};

use crate::{Cty, Decoder};

/// Reads one of `words`. For the derive macro.
#[doc(hidden)]
pub fn decode_choice<T>(
    cty: &Cty,
    path: &AttributePath,
    decoder: &mut Decoder,
    words: &[&str],
    read: fn(&str) -> Option<T>,
) -> Value<T> {
    let Cty::String(word) = cty else {
        decoder.complain_of_type(path, "text");
        return Value::null();
    };
    let choice = read(word);
    if choice.is_none() {
        let quoted = words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ");
        let detail = format!("is \"{word}\", which is none of {quoted}.");
        let advice = match nearest(word, words) {
            Some(meant) => format!("Did you mean \"{meant}\"?"),
            None => "Give one of these words.".to_owned(),
        };
        decoder.complain(path, &detail, &advice);
    }
    Value::from(choice)
}

// The word that differs in the fewest letters, if that is at most every third; case and dashes do not count.
fn nearest<'a>(given: &str, words: &[&'a str]) -> Option<&'a str> {
    let given = plain(given);
    let distances = words.iter().map(|word| (distance(&given, &plain(word)), *word));
    let (distance, word) = distances.min_by_key(|(distance, _)| *distance)?;
    (distance <= word.len().max(3) / 3).then_some(word)
}

fn plain(word: &str) -> String {
    // A word is short; what is longer was not meant as one and would only cost time.
    word.chars().take(64).map(|letter| if letter == '-' { '_' } else { letter.to_ascii_lowercase() }).collect()
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
