//! Which attribute is behind which part of a manifest: where a message of the API server about that part is shown.

use serde_json::Value as Json;
use value::{AttributePath, Value};

use super::{attributes::Tenant, limits::gpu_key};

/// The ResourceQuota's.
pub(super) fn quota(manifest: Value<Json>, tenant: &Tenant) -> Value<Json> {
    let path = tenant.quota.path();
    let gpus = tenant.quota.get().map(|quota| gpu_key(quota).replace('/', "~1"));
    let parts = [
        ("requests.cpu", "cpu"),
        ("requests.memory", "memory"),
        ("requests.storage", "storage"),
        ("persistentvolumeclaims", "persistent_volume_claims"),
        ("pods", "pods"),
    ];
    let parts = gpus.as_deref().map(|gpus| (gpus, "gpus")).into_iter().chain(parts);
    let part = |(name, attribute): (&str, &str)| (format!("/spec/hard/{name}"), path.attribute(attribute));
    manifest.blamed_on(&tenant.quota).blamed_within(parts.map(part))
}

/// The LimitRange's.
pub(super) fn limits(manifest: Value<Json>, tenant: &Tenant) -> Value<Json> {
    let of = |(what, attribute): (&str, &str)| {
        let (part, path) = (format!("/spec/limits/0/{what}"), tenant.container.path().attribute(attribute));
        let amounts = [("cpu", "cpu"), ("memory", "memory"), ("ephemeral-storage", "ephemeral_storage")];
        let each = amounts.map(|(name, amount)| (format!("{part}/{name}"), path.attribute(amount)));
        each.into_iter().chain([(part, path)])
    };
    let parts = [("default", "default"), ("defaultRequest", "default_request"), ("max", "max")];
    manifest.blamed_on(&tenant.container).blamed_within(parts.into_iter().flat_map(of))
}

/// The ExternalSecret's, of the copy at `path`.
pub(super) fn external_secret(manifest: Value<Json>, path: &AttributePath) -> Value<Json> {
    manifest.blamed_within([
        ("/spec/refreshInterval", path.attribute("refresh_interval")),
        ("/spec/secretStoreRef", path.attribute("store")),
        ("/spec/secretStoreRef/kind", path.attribute("store_kind")),
        ("/spec/data/0/remoteRef", path.attribute("key")),
        ("/spec/data/0/remoteRef/property", path.attribute("property")),
        ("/spec/data/0/secretKey", path.attribute("secret_key")),
        ("", path.clone()),
    ])
}
