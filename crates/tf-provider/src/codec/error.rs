//! What is wrong with bytes that should be a value.

use value::{AttributePath, Step};

/// Bytes that are no value of the type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", place(.path))]
pub struct CodecError {
    /// Where in the value; ends at a set, whose elements have no path.
    pub path: AttributePath,
    /// What is wrong there, without a full stop.
    pub message: String,
}

/// The same on its way up; each level adds its step, so that values without mistakes cost nothing.
#[derive(Debug)]
pub(super) struct Fail {
    steps: Vec<Step>,
    message: String,
}

pub(super) type Outcome<T> = Result<T, Fail>;

impl Fail {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { steps: Vec::new(), message: message.into() }
    }

    pub(super) fn expected(wanted: &str, found: &str) -> Self {
        Self::new(format!("expected {wanted}, found {found}"))
    }

    pub(super) fn too_deep() -> Self {
        Self::new(format!("nested deeper than {} levels", super::MAX_DEPTH))
    }

    /// The same seen from one level further out.
    pub(super) fn inside(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// The same seen from the set in whose element it is.
    pub(super) fn inside_set(mut self) -> Self {
        self.steps.clear();
        self
    }
}

impl From<Fail> for CodecError {
    fn from(fail: Fail) -> Self {
        let path = fail.steps.into_iter().rev().fold(AttributePath::root(), |path, step| match step {
            Step::Attribute(name) => path.attribute(name),
            Step::Key(key) => path.key(key),
            Step::Index(index) => path.index(index),
        });
        Self { path, message: fail.message }
    }
}

fn place(path: &AttributePath) -> String {
    if path.is_root() { String::new() } else { format!("at {path}: ") }
}
