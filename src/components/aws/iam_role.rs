//! An IAM role with the managed policies attached to it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use tf_provider_derive::{Component, Outputs};

use super::Tags;

/// An IAM role. The policies attached to it are part of it: one more or one fewer is drift.
#[derive(Component, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[component(kind = "aws_iam_role", noun = "IAM role", outputs = IamRoleOutputs)]
pub struct IamRole {
    /// Name, unique in the account, at most 64 characters.
    #[component(identity)]
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Who may assume it: the trust policy as JSON.
    pub trust_policy: Json,
    /// ARNs of the managed policies attached, all of them.
    pub managed_policy_arns: BTreeSet<String>,
    /// Tags; those of others are left alone.
    #[component(merged)]
    pub tags: Tags,
}

/// What IAM tells of a role.
#[derive(Outputs, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct IamRoleOutputs {
    /// Name.
    pub id: String,
    /// ARN.
    pub arn: String,
}
