//! Where in a child object something stands, so that a message can name the attribute behind it.

use std::borrow::Cow;

/// A place in a component's document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The field; empty for the whole component.
    pub field: Cow<'static, str>,
    /// The part of the field's document, as a JSON pointer (RFC 6901); empty for the whole field.
    pub part: String,
}

// === impl Place ===

impl Place {
    /// A part of a field.
    pub fn within(field: &'static str, part: impl Into<String>) -> Self {
        Self { field: Cow::Borrowed(field), part: part.into() }
    }
}

impl From<&'static str> for Place {
    fn from(field: &'static str) -> Self {
        Self::within(field, "")
    }
}

impl From<String> for Place {
    fn from(field: String) -> Self {
        Self { field: Cow::Owned(field), part: String::new() }
    }
}
