//! What the server reads and writes: shared memory, a place to download to, a claim with models.

use serde_json::{Value as Json, json};

use super::super::{InferenceService, engine::MODELS_PATH};
use crate::catalog::{ModelUri, Scheme, parse_model_uri};

/// Where downloads and compiled kernels go; also the home of the user.
pub(super) const CACHE_PATH: &str = "/cache";

/// A volume and where it is mounted.
struct Volume {
    volume: Json,
    mount: Json,
}

/// The volumes of the pod and the mounts of its container.
pub(super) fn volumes(service: &InferenceService) -> (Vec<Json>, Vec<Json>) {
    let all = [Some(shared_memory(service)), Some(cache(service)), models(service)];
    all.into_iter().flatten().map(|volume| (volume.volume, volume.mount)).unzip()
}

/// GiB of the node's disk that the pod may fill.
pub(super) fn node_disk_gib(service: &InferenceService) -> u32 {
    // For logs and what is written beside the volumes.
    const REST: u32 = 10;
    let model = service.model.get();
    if model.is_some_and(|model| model.cache_storage_class.is_known()) { REST } else { cache_gib(service) + REST }
}

fn cache_gib(service: &InferenceService) -> u32 {
    service.model.get().and_then(|model| model.cache_gib.get().copied()).unwrap_or(10)
}

fn shared_memory(service: &InferenceService) -> Volume {
    let gib = service.resources.get().and_then(|resources| resources.shm_gib.get().copied()).unwrap_or(2);
    Volume {
        volume: json!({ "name": "shm", "emptyDir": { "medium": "Memory", "sizeLimit": format!("{gib}Gi") } }),
        mount: json!({ "name": "shm", "mountPath": "/dev/shm" }),
    }
}

fn cache(service: &InferenceService) -> Volume {
    let size = format!("{}Gi", cache_gib(service));
    let class = service.model.get().and_then(|model| model.cache_storage_class.get());
    let source = match class {
        None => json!({ "emptyDir": { "sizeLimit": size } }),
        Some(class) => json!({ "ephemeral": { "volumeClaimTemplate": { "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": class,
            "resources": { "requests": { "storage": size } },
        } } } }),
    };
    let mut volume = json!({ "name": "cache" });
    if let (Some(volume), Json::Object(source)) = (volume.as_object_mut(), source) {
        volume.extend(source);
    }
    Volume { volume, mount: json!({ "name": "cache", "mountPath": CACHE_PATH }) }
}

fn models(service: &InferenceService) -> Option<Volume> {
    let source = service.model.get()?.source.get()?;
    let ModelUri { scheme: Scheme::VolumeClaim, location, .. } = parse_model_uri(source).ok()? else { return None };
    Some(Volume {
        volume: json!({ "name": "models", "persistentVolumeClaim": { "claimName": location, "readOnly": true } }),
        mount: json!({ "name": "models", "mountPath": MODELS_PATH, "readOnly": true }),
    })
}
