//! Which attribute is behind which part of a manifest: where a message of the API server about that part is shown.

use serde_json::Value as Json;
use value::{AttributePath, Value};

use super::attributes::Tenant;

/// The ResourceQuota's.
pub(super) fn quota(mut manifest: Value<Json>, tenant: &Tenant) -> Value<Json> {
    let path = tenant.quota.path();
    let device = tenant.quota.get().and_then(|quota| quota.gpu_resource_name.get());
    let gpus = format!("requests.{}", device.map_or("nvidia.com/gpu", String::as_str).replace('/', "~1"));
    for (name, attribute) in [
        (gpus.as_str(), "gpus"),
        ("requests.cpu", "cpu"),
        ("requests.memory", "memory"),
        ("requests.storage", "storage"),
        ("persistentvolumeclaims", "persistent_volume_claims"),
        ("pods", "pods"),
    ] {
        manifest = manifest.blamed_at(format!("/spec/hard/{name}"), path.attribute(attribute));
    }
    manifest.blamed_on(&tenant.quota)
}

/// The LimitRange's.
pub(super) fn limits(mut manifest: Value<Json>, tenant: &Tenant) -> Value<Json> {
    for (what, attribute) in [("default", "default"), ("defaultRequest", "default_request"), ("max", "max")] {
        let (part, path) = (format!("/spec/limits/0/{what}"), tenant.container.path().attribute(attribute));
        for (name, amount) in [("cpu", "cpu"), ("memory", "memory"), ("ephemeral-storage", "ephemeral_storage")] {
            manifest = manifest.blamed_at(format!("{part}/{name}"), path.attribute(amount));
        }
        manifest = manifest.blamed_at(part, path);
    }
    manifest.blamed_on(&tenant.container)
}

/// The ExternalSecret's, of the copy at `path`.
pub(super) fn external_secret(manifest: Value<Json>, path: &AttributePath) -> Value<Json> {
    manifest
        .blamed_at("/spec/refreshInterval", path.attribute("refresh_interval"))
        .blamed_at("/spec/secretStoreRef", path.attribute("store"))
        .blamed_at("/spec/secretStoreRef/kind", path.attribute("store_kind"))
        .blamed_at("/spec/data/0/remoteRef", path.attribute("key"))
        .blamed_at("/spec/data/0/remoteRef/property", path.attribute("property"))
        .blamed_at("/spec/data/0/secretKey", path.attribute("secret_key"))
        .blamed_at("", path.clone())
}
