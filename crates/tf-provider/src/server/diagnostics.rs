//! Diagnostics as they travel.
//!
//! **Invariant:** no diagnostic leaves with severity 0, which Terraform silently takes for no error at all.

use crate::{
    Block, Diagnostic, Diagnostics, Severity,
    server::paths,
    wire::proto::tfplugin6::{self as proto, diagnostic::Severity as Wire},
};
use value::AttributePath;

/// Diagnostics about values of `block`.
pub(super) fn in_block(diagnostics: Diagnostics, block: &Block) -> Vec<proto::Diagnostic> {
    diagnostics.into_iter().map(|one| convert(&one, &paths::to_source(&one.path, block))).collect()
}

/// Diagnostics about nothing that has a schema: only their text is told.
pub(super) fn plain(diagnostics: Diagnostics) -> Vec<proto::Diagnostic> {
    diagnostics.into_iter().map(|one| convert(&one, &AttributePath::root())).collect()
}

fn convert(diagnostic: &Diagnostic, path: &AttributePath) -> proto::Diagnostic {
    let severity = match diagnostic.severity {
        Severity::Error => Wire::Error,
        Severity::Warning => Wire::Warning,
    };
    proto::Diagnostic {
        severity: severity.into(),
        summary: diagnostic.summary.clone(),
        detail: diagnostic.detail.clone(),
        attribute: (!path.is_root()).then(|| paths::to_proto(path)),
    }
}
