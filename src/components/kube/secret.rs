//! A Secret with one value that no document may hold. Not an [`Object`](super::Object): the manifest of one would end
//! in plan, state and record.

use serde::{Deserialize, Serialize};
use tf_provider_derive::{Component, Outputs};

use super::Labels;

/// A Secret with one key, whose value comes past all documents.
#[derive(Component, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[component(kind = "kubernetes_token_secret", noun = "Secret", outputs = TokenSecretOutputs)]
pub struct TokenSecret {
    /// Name of the EKS cluster; absent: the provider's `kubernetes` block.
    #[component(identity, place)]
    pub cluster: Option<String>,
    /// Namespace.
    #[component(identity)]
    pub namespace: String,
    /// Name.
    #[component(identity)]
    pub name: String,
    /// Labels; those of others are left alone.
    #[component(merged)]
    pub labels: Labels,
    /// Annotations; those of others are left alone.
    #[component(merged)]
    pub annotations: Labels,
    /// The key that the value is under.
    pub key: String,
    /// What tells one value from the next, counted up by the user. Absent in what is observed where the value is not
    /// the one that was written.
    pub version: Option<i64>,
    /// What to do with an object that is there and carries no mark of ours: `never` | `if_unmanaged` | `always`.
    #[component(local)]
    pub adopt: Option<String>,
}

/// What the API server tells of a Secret.
#[derive(Outputs, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TokenSecretOutputs {
    /// `namespace/name`.
    pub id: String,
    /// UID.
    pub uid: String,
}

// === impl TokenSecret ===

impl TokenSecret {
    /// The name under which the driver asks for the value: `graph.secret(&handle, TokenSecret::SECRET, &value)`.
    pub const SECRET: &'static str = "token";
}
