//! Where in a configuration a value stands.
//!
//! Not a query language: a path names exactly one place, as Terraform's protocol can express it. Elements of a
//! set have no step of their own, so a path ends at the set.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One step from a value to a part of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// An attribute of an object, or of the resource itself.
    Attribute(String),
    /// An element of a map.
    Key(String),
    /// An element of a list, counted from zero.
    Index(usize),
}

/// The place of an attribute, from the resource's root: `size.max`, `taints[0].effect`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AttributePath(Vec<Step>);

// === impl AttributePath ===

impl AttributePath {
    /// The resource itself.
    pub const fn root() -> Self {
        Self(Vec::new())
    }

    /// The attribute `name` of the resource.
    pub fn new(name: impl Into<String>) -> Self {
        Self::root().attribute(name)
    }

    /// This path and one attribute more.
    #[must_use]
    pub fn attribute(&self, name: impl Into<String>) -> Self {
        self.with(Step::Attribute(name.into()))
    }

    /// This path and one map key more.
    #[must_use]
    pub fn key(&self, key: impl Into<String>) -> Self {
        self.with(Step::Key(key.into()))
    }

    /// This path and one list position more.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.with(Step::Index(index))
    }

    /// The steps from the root.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Whether this is the resource itself.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    fn with(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }
}

impl fmt::Display for AttributePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                Step::Attribute(name) if position == 0 => write!(f, "{name}")?,
                Step::Attribute(name) => write!(f, ".{name}")?,
                Step::Key(key) => write!(f, "[{key:?}]")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_reads_like_an_hcl_reference() {
        let path = AttributePath::new("taints").index(0).attribute("effect");
        assert_eq!(path.to_string(), "taints[0].effect");
        assert_eq!(AttributePath::new("tags").key("a b").to_string(), r#"tags["a b"]"#);
    }
}
