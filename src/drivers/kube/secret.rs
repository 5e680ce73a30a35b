//! The driver of a Secret whose value no document holds. It never reads a value: the server's book on who wrote which
//! field tells whether ours is still there.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use converge::{
    Action, Changes, Creation, Cx, Driver, Fault, FaultClass, Finding, Observed, Owner, Ownership, Readiness, Step,
};
use serde_json::{Value as Json, json};

use super::{
    address::{Address, Type},
    apply::{Claim, Wish},
    connection::{ClusterClient, Clusters},
    mark,
    object::{delete, gone},
    preflight::{soon, taken},
    reader::{Extent, Reader},
    readiness::{readiness, text},
};
use crate::components::kube::{FIELD_MANAGER, TokenSecret, TokenSecretOutputs};

/// Makes Secrets as wanted.
pub(super) struct SecretDriver(pub(super) Arc<Clusters>);

const SECRET: Type = Type { group: "", versions: &["v1"], kind: "Secret", is_namespaced: true };
/// Carries [`TokenSecret::version`].
const VERSION: &str = "mlplat.io/token-version";

// === impl SecretDriver ===

impl SecretDriver {
    async fn client(&self, spec: &TokenSecret) -> Result<Arc<ClusterClient>, Fault> {
        self.0.client(spec.cluster.as_deref()).await
    }
}

impl Driver<TokenSecret> for SecretDriver {
    const ACTIONS: &'static [&'static str] = super::ACTIONS;

    async fn observe(&self, cx: &Cx, spec: &TokenSecret) -> Result<Option<Observed<TokenSecret>>, Fault> {
        // Without a name the path would be that of all Secrets.
        if spec.name.is_empty() {
            return Ok(None);
        }
        let (client, address) = (self.client(spec).await?, address(spec));
        let Some(live) = Reader::read(cx, &client, &address, Extent::Metadata).await? else { return Ok(None) };
        Ok(Some(Observed {
            ownership: mark::ownership(&live, spec.adopt.as_deref()),
            readiness: match readiness(SECRET.kind, &live, true) {
                Readiness::Broken { reasons, .. } => Readiness::Waiting(reasons),
                readiness => readiness,
            },
            outputs: TokenSecretOutputs {
                id: address.id(),
                uid: live.pointer("/metadata/uid").and_then(Json::as_str).unwrap_or_default().to_owned(),
            },
            spec: found(spec, &live),
        }))
    }

    async fn create(&self, cx: &Cx, spec: &TokenSecret, creation: &Creation<'_, TokenSecret>) -> Result<(), Fault> {
        let (client, object) = (self.client(spec).await?, document(cx, spec, creation.owner)?);
        Wish { client: &client, address: address(spec), object: &object }.create().await
    }

    async fn update(&self, cx: &Cx, spec: &TokenSecret, changes: &Changes<'_, TokenSecret>) -> Result<(), Fault> {
        let (client, object) = (self.client(spec).await?, document(cx, spec, changes.owner)?);
        let applied = changes.applied.as_ref().map(|applied| document(cx, applied, changes.owner)).transpose()?;
        let claim = match &applied {
            _ if changes.found.ownership == Ownership::Adoptable || spec.adopt.as_deref() == Some("always") => {
                Claim::All
            }
            Some(applied) => Claim::Applied(applied),
            None => Claim::Nothing,
        };
        let gone = gone(&changes.removed_keys);
        Wish { client: &client, address: address(spec), object: &object }.update(claim, &gone).await
    }

    // The Secret itself is not tried: its value goes nowhere before the apply.
    async fn preflight(&self, cx: &Cx, spec: &TokenSecret, step: &Step) -> Vec<Finding> {
        if step.action != Action::Create || spec.name.is_empty() || spec.namespace.is_empty() {
            return Vec::new();
        }
        let asked = async { taken(&*self.client(spec).await.ok()?, &address(spec), spec.adopt.as_deref()).await };
        Box::pin(soon(cx, asked)).await.flatten().into_iter().collect()
    }

    async fn delete(&self, _cx: &Cx, spec: &TokenSecret, found: &Observed<TokenSecret>) -> Result<(), Fault> {
        delete(&*self.client(spec).await?, &address(spec), &found.outputs.uid).await
    }
}

fn address(spec: &TokenSecret) -> Address<'_> {
    Address { of: SECRET, version: "v1", namespace: Some(&spec.namespace), name: &spec.name }
}

fn document(cx: &Cx, spec: &TokenSecret, owner: &Owner) -> Result<Json, Fault> {
    let Some(token) = cx.secret(TokenSecret::SECRET) else {
        let words = address(spec).words();
        return Err(Fault::new(FaultClass::Invalid, words, "its value is not known in this run").advise(
            "Set the write-only attribute that holds the value, and count up its version where the value is new.",
        ));
    };
    let (mut labels, mut annotations) = (spec.labels.clone(), spec.annotations.clone());
    mark::put(owner, &mut labels, &mut annotations);
    if let Some(version) = spec.version {
        annotations.insert(VERSION.to_owned(), version.to_string());
    }
    Ok(json!({
        "apiVersion": "v1",
        "kind": SECRET.kind,
        "metadata": {
            "name": spec.name, "namespace": spec.namespace, "labels": labels, "annotations": annotations,
        },
        "type": "Opaque",
        "data": { spec.key.as_str(): STANDARD.encode(token) },
    }))
}

fn found(spec: &TokenSecret, live: &Json) -> TokenSecret {
    let version = live.pointer("/metadata/annotations").and_then(|annotations| text(annotations, VERSION).parse().ok());
    TokenSecret {
        labels: mark::ours(live, "labels", &spec.labels),
        annotations: mark::ours(live, "annotations", &spec.annotations),
        key: if has_key(live, &spec.key, |_| true) { spec.key.clone() } else { String::new() },
        version: version.filter(|_| has_key(live, &spec.key, is_our_apply)),
        ..spec.clone()
    }
}

// A field that somebody else writes otherwise is no longer ours in the server's book.
fn has_key(live: &Json, key: &str, by: impl Fn(&Json) -> bool) -> bool {
    let entries = live.pointer("/metadata/managedFields").and_then(Json::as_array);
    entries.into_iter().flatten().filter(|entry| by(entry)).any(|entry| {
        let data = entry.pointer("/fieldsV1/f:data");
        data.is_some_and(|data| data.get(format!("f:{key}")).is_some())
    })
}

fn is_our_apply(entry: &Json) -> bool {
    text(entry, "manager") == FIELD_MANAGER && text(entry, "operation") == "Apply"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(manager: &str, key: &str) -> Json {
        json!({ "metadata": {
            "annotations": { VERSION: "3" },
            "managedFields": [{
                "manager": manager, "operation": "Apply", "fieldsV1": { "f:data": { (format!("f:{key}")): {} } },
            }],
        } })
    }

    fn spec() -> TokenSecret {
        TokenSecret {
            namespace: "ml".into(),
            name: "hf".into(),
            key: "token".into(),
            version: Some(3),
            ..TokenSecret::default()
        }
    }

    #[test]
    fn a_value_that_is_still_ours_has_its_version() {
        assert_eq!(found(&spec(), &live(FIELD_MANAGER, "token")), spec());
    }

    #[test]
    fn a_value_that_somebody_else_wrote_has_none() {
        let found = found(&spec(), &live("kubectl", "token"));
        assert_eq!((found.key.as_str(), found.version), ("token", None));
    }

    #[test]
    fn a_key_that_is_gone_is_missed() {
        let found = found(&spec(), &live(FIELD_MANAGER, "other"));
        assert_eq!((found.key.as_str(), found.version), ("", None));
    }

    #[test]
    fn nothing_is_written_without_the_value() {
        let fault = document(&Cx::default(), &spec(), &Owner("o".into())).unwrap_err();
        assert_eq!(fault.class, FaultClass::Invalid);
    }
}
