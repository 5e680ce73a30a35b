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
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
