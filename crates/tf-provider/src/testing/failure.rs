//! Why a run stopped: what the provider told, and which rules it broke.

use std::fmt;

use crate::{Diagnostic, Diagnostics, Severity};

/// Why a run stopped. What came about before it stopped is in the state all the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    /// What the provider told; errors, unless rules were broken.
    pub diagnostics: Diagnostics,
    /// The rules it broke.
    pub violations: Vec<Violation>,
}

/// A rule of core that an answer broke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// Where and how.
    pub text: String,
}

/// A rule of core. Each breach ends a real run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Calls answer with diagnostics, not with a status of gRPC.
    Status,
    /// A diagnostic has a severity and a summary, and its path begins with an attribute.
    Diagnostic,
    /// A provider does not tell of bugs of its own: panics, answers of wrong types, answers without any word.
    Bug,
    /// Values have the schema's type.
    Conformance,
    /// States are known as a whole, and without write-only values.
    Object,
    /// A plan follows the configuration.
    Plan,
    /// Planning twice gives the same.
    StablePlan,
    /// Planning again during apply contradicts nothing.
    FinalPlan,
    /// What is applied is what was planned.
    Result,
    /// Only a deletion leaves nothing.
    Existence,
    /// An identity is there, known, and stays the same.
    Identity,
    /// An import gives one stub.
    Import,
    /// A data source gives a known object, a function the same result each time.
    Answer,
}

// === impl Failure ===

impl Failure {
    /// An error of this core's user.
    pub(super) fn misuse(text: impl Into<String>) -> Self {
        Diagnostic::error(&value::AttributePath::root(), text, "").into()
    }

    /// Whether that rule was broken.
    pub fn breaks(&self, rule: Rule) -> bool {
        self.violations.iter().any(|violation| violation.rule == rule)
    }

    /// `Ok` where nothing is wrong; warnings then stay warnings.
    pub(super) fn check(diagnostics: Diagnostics, violations: Vec<Violation>) -> Result<Diagnostics, Self> {
        if violations.is_empty() && !diagnostics.has_errors() {
            return Ok(diagnostics);
        }
        Err(Self { diagnostics, violations })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for violation in &self.violations {
            writeln!(f, "{violation}")?;
        }
        for Diagnostic { severity, summary, detail, path } in self.diagnostics.iter() {
            let word = if *severity == Severity::Error { "Error" } else { "Warning" };
            writeln!(f, "{word} at {:?}: {summary}\n{detail}", path.to_string())?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { diagnostics: diagnostic.into(), violations: Vec::new() }
    }
}

impl From<Violation> for Failure {
    fn from(violation: Violation) -> Self {
        Self { diagnostics: Diagnostics::new(), violations: vec![violation] }
    }
}

// === impl Rule ===

impl Rule {
    /// A breach of it.
    pub(super) fn broken(self, text: impl Into<String>) -> Violation {
        Violation { rule: self, text: text.into() }
    }

    /// Breaches of it.
    pub(super) fn each(self, texts: Vec<String>) -> impl Iterator<Item = Violation> {
        texts.into_iter().map(move |text| self.broken(text))
    }

    fn produced(self) -> &'static str {
        match self {
            Self::Status => "a gRPC status instead of an answer",
            Self::Diagnostic => "an invalid diagnostic",
            Self::Bug => "a bug",
            Self::Conformance => "a value that does not have the schema's type",
            Self::Object => "an invalid object",
            Self::Plan => "an invalid plan",
            Self::StablePlan => "two different plans for one change",
            Self::FinalPlan => "an inconsistent final plan",
            Self::Result => "an inconsistent result after apply",
            Self::Existence => "an object where there must be none, or none where there must be one",
            Self::Identity => "an invalid identity",
            Self::Import => "an invalid import",
            Self::Answer => "an invalid answer",
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Provider produced {}: {}", self.rule.produced(), self.text)
    }
}
