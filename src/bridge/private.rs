//! What is kept beside the state: the record of the engine, and which attributes the user left out.
//!
//! State alone cannot tell a value the user wrote from a default that we filled in, and the two expand differently
//! (a role that was given, a role that we made). No secret may enter here: Terraform stores it in clear.

use std::collections::BTreeSet;

use converge::Ledger;
use serde::{Deserialize, Serialize};
use tf_provider::Diagnostic;
use value::AttributePath;

/// What is kept beside the state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Private {
    /// The record. None after an import.
    pub(super) ledger: Option<Ledger>,
    /// Optional attributes that the configuration left to us.
    #[serde(default)]
    pub(super) defaulted: BTreeSet<AttributePath>,
}

// === impl Private ===

impl Private {
    pub(super) fn decode(bytes: &[u8], noun: &str) -> Result<Self, Diagnostic> {
        if bytes.is_empty() {
            return Ok(Self::default());
        }
        let private: Self = serde_json::from_slice(bytes).map_err(|error| unreadable(noun, &format!("{error}.")))?;
        match &private.ledger {
            Some(ledger) if ledger.version > Ledger::VERSION => Err(unreadable(
                noun,
                &format!(
                    "It has version {}; this version of the provider knows version {}.",
                    ledger.version,
                    Ledger::VERSION
                ),
            )),
            _ => Ok(private),
        }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        // Maps with string keys and plain values always serialise.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

fn unreadable(noun: &str, why: &str) -> Diagnostic {
    Diagnostic::error(
        &AttributePath::root(),
        format!("Cannot read the record of this {noun}"),
        format!("The private data that Terraform keeps beside the state is not understood. {why}"),
    )
    .advise(
        "Use the provider version that wrote the state, or a newer one. If the data is damaged, remove the resource \
         from the state with `terraform state rm` and import it again.",
    )
}
