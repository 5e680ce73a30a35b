//! What is wrong, told so that it can be acted upon: a summary, a detail, advice, and the attribute.

use value::{AttributePath, Value};

/// One thing to tell the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Whether it stops the run.
    pub severity: Severity,
    /// What failed, in the resource's words, on one line.
    pub summary: String,
    /// Why and where, then a blank line and what to do.
    pub detail: String,
    /// The attribute; the root for the whole resource.
    pub path: AttributePath,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// It stops the run.
    Error,
    /// Somebody should act on it; the run goes on.
    Warning,
}

/// What there is to tell, in order, each thing once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics(Vec<Diagnostic>);

// === impl Diagnostic ===

impl Diagnostic {
    /// An error about the attribute at `path`.
    pub fn error(path: &AttributePath, summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { severity: Severity::Error, summary: summary.into(), detail: detail.into(), path: path.clone() }
    }

    /// A warning about the attribute at `path`.
    pub fn warning(path: &AttributePath, summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(path, summary, detail) }
    }

    /// The same with advice after the detail: an imperative sentence.
    #[must_use]
    pub fn advise(mut self, advice: &str) -> Self {
        if !self.detail.is_empty() {
            self.detail.push_str("\n\n");
        }
        self.detail.push_str(advice);
        self
    }
}

// === impl Diagnostics ===

impl Diagnostics {
    /// Nothing to tell.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds one, unless the same was told already.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if !self.0.contains(&diagnostic) {
            self.0.push(diagnostic);
        }
    }

    /// Adds an error about the attribute that `value` came from.
    pub fn error<T>(&mut self, value: &Value<T>, summary: impl Into<String>, detail: impl Into<String>) {
        self.push(Diagnostic::error(&value.path(), summary, detail));
    }

    /// Adds a warning about the attribute that `value` came from.
    pub fn warn<T>(&mut self, value: &Value<T>, summary: impl Into<String>, detail: impl Into<String>) {
        self.push(Diagnostic::warning(&value.path(), summary, detail));
    }

    /// Whether the run has to stop.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One by one.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter()
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, diagnostics: I) {
        diagnostics.into_iter().for_each(|diagnostic| self.push(diagnostic));
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
