//! An inline policy of an IAM role.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use tf_provider_derive::Component;

/// A policy that is part of one role and goes with it.
#[derive(Component, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[component(kind = "aws_iam_role_policy", noun = "IAM role policy", part)]
pub struct IamRolePolicy {
    /// Name of the role.
    #[component(identity)]
    pub role: String,
    /// Name of the policy, unique within the role.
    #[component(identity)]
    pub name: String,
    /// What the role may do, in normal form (see [`super::policy`]).
    pub document: Json,
}
