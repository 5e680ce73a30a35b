//! The environment of the server: where it may write, the token, and the user's variables, which win.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::{
    super::{EngineKind, InferenceService, engine::model_path, expand::token_source, sizing::STREAM_BUFFER_GIB},
    volumes::CACHE_PATH,
};
use crate::catalog::{ModelUri, Scheme, parse_model_uri};

/// The variables, by name.
pub(super) fn environment(service: &InferenceService) -> Vec<Json> {
    let mut variables = own(service);
    let users = service.engine.get().and_then(|engine| engine.env.get()).into_iter().flatten();
    variables.extend(users.map(|(name, value)| (name.clone(), json!({ "name": name, "value": value }))));
    variables.into_values().collect()
}

fn own(service: &InferenceService) -> BTreeMap<String, Json> {
    let uri = service.model.get().and_then(|model| parse_model_uri(model.source.get()?).ok());
    // The user has neither a home nor an entry in the image's list of users; libraries ask for both.
    let mut texts = vec![
        ("HOME", CACHE_PATH.to_owned()),
        ("USER", "server".to_owned()),
        ("HF_HOME", format!("{CACHE_PATH}/huggingface")),
    ];
    if let Some(uri) = &uri {
        texts.extend(for_source(uri, service));
    }
    let mut variables: BTreeMap<String, Json> =
        texts.into_iter().map(|(name, value)| (name.to_owned(), json!({ "name": name, "value": value }))).collect();
    if let Some((secret, key)) = token_source(service) {
        let from = json!({ "secretKeyRef": { "name": secret, "key": key } });
        variables.insert("HF_TOKEN".to_owned(), json!({ "name": "HF_TOKEN", "valueFrom": from }));
    }
    variables
}

fn for_source(uri: &ModelUri, service: &InferenceService) -> Vec<(&'static str, String)> {
    let is_custom = service.engine.get().and_then(|engine| engine.kind.get()) == Some(&EngineKind::Custom);
    let mut texts = Vec::new();
    if is_custom {
        // An engine whose arguments are not known here finds the model by this.
        texts.push(("MODEL_SOURCE", model_path(uri)));
    } else if uri.scheme == Scheme::S3 {
        // Its own limit is beyond what a pod of this memory has.
        texts.push(("RUNAI_STREAMER_MEMORY_LIMIT", (u64::from(STREAM_BUFFER_GIB) << 30).to_string()));
    }
    texts
}
