//! Required attributes that are null. Terraform sees only whether one is written; its value may still be nothing, such
//! as that of a variable or of another resource's output.

use super::search;
use crate::{Block, Cty, Diagnostic, Diagnostics};

/// Complains of each.
pub(super) fn missing(config: &Cty, block: &Block) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    for path in search::found(config, block, |attribute, value| attribute.required && value.is_null()) {
        let told = Diagnostic::error(&path, format!("`{path}` has no value"), "It is required, and it is null.");
        diagnostics.push(told.advise("Give it a value, or see why what it refers to has none."));
    }
    diagnostics
}
