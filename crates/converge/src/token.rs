//! The idempotency token of a creation.

use sha2::{Digest, Sha256};

use crate::{Document, Owner};

/// The same for every attempt to create the same object with the same content; 64 characters, hexadecimal.
pub(crate) fn token(owner: &Owner, key: &str, spec: &Document) -> String {
    let mut hash = Sha256::new();
    for part in [owner.0.as_str(), key, &serde_json::to_string(spec).unwrap_or_default()] {
        hash.update(part.len().to_be_bytes());
        hash.update(part);
    }
    hash.finalize().iter().fold(String::new(), |mut text, byte| {
        for half in [byte >> 4, byte & 0xf] {
            text.extend(char::from_digit(u32::from(half), 16));
        }
        text
    })
}
