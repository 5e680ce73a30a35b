//! Kubeconfig files, written as JSON, which is YAML.

use super::certificates::Identity;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

/// A user who proves himself by certificate.
pub(super) fn with_identity(endpoint: &str, ca_pem: &str, identity: &Identity) -> String {
    let encode = |text: String| STANDARD.encode(text);
    let user = json!({
        "client-certificate-data": encode(identity.certificate_pem()),
        "client-key-data": encode(identity.key_pem()),
    });
    document(&cluster(endpoint, ca_pem), &user)
}

/// A user who proves himself by a bearer token.
pub(super) fn with_token(endpoint: &str, ca_pem: &str, token: &str) -> String {
    document(&cluster(endpoint, ca_pem), &json!({ "token": token }))
}

/// The address of a webhook, in the form in which the API server wants it.
pub(super) fn of_webhook(url: &str) -> String {
    document(&json!({ "server": url }), &json!({}))
}

fn cluster(endpoint: &str, ca_pem: &str) -> Value {
    json!({"server": endpoint, "certificate-authority-data": STANDARD.encode(ca_pem)})
}

fn document(cluster: &Value, user: &Value) -> String {
    let named = |kind: &str, value: &Value| json!([{"name": "mlplat-test", kind: value}]);
    let context = json!({"cluster": "mlplat-test", "user": "mlplat-test"});
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": named("cluster", cluster),
        "users": named("user", user),
        "contexts": named("context", &context),
        "current-context": "mlplat-test",
    })
    .to_string()
}
