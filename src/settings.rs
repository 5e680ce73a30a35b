//! The provider block as resources see it.
//!
//! Values may be pending: a provider configuration with unknown values is tolerated at plan.

use std::collections::BTreeMap;

use value::Value;

/// What the provider block says that becomes part of objects.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The AWS region.
    pub region: Value<String>,
    /// `default_tags`, without nulls.
    pub default_tags: Value<BTreeMap<String, String>>,
    /// `cost_allocation`: tag and label key (`cost-center`, `team`, …) to value.
    pub cost_allocation: Value<BTreeMap<String, String>>,
}
