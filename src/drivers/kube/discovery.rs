//! Which version of a kind to speak. Asked of the server only where this provider can write more than one; for the
//! others the call itself tells whether the kind is there.

use std::collections::HashMap;

use converge::{Fault, FaultClass};
use serde_json::Value as Json;
use tokio::sync::Mutex;

use super::{
    address::Type,
    call::{Reply, Request},
    connection::ClusterClient,
    fault::Deed,
};

/// The versions that a server has of each group asked about.
#[derive(Debug, Default)]
pub(super) struct Discovery(Mutex<HashMap<&'static str, Vec<String>>>);

// === impl Discovery ===

impl Discovery {
    /// The first of our versions that the server has; none where it has none.
    pub(super) async fn version(&self, client: &ClusterClient, of: Type) -> Result<Option<&'static str>, Fault> {
        if let [only] = of.versions {
            return Ok(Some(only));
        }
        // Held during the call, so that the kinds of a group asked for together are one question.
        let mut known = self.0.lock().await;
        if !known.contains_key(of.group) {
            let served = served(client, of.group).await?;
            // That a group is missing is not remembered: it may be installed in this very run.
            if !served.is_empty() {
                known.insert(of.group, served);
            }
        }
        let Some(served) = known.get(of.group) else { return Ok(None) };
        Ok(of.versions.iter().copied().find(|version| served.iter().any(|served| served == version)))
    }

    /// Asks again next time: the server says that it does not know a path.
    pub(super) async fn forget(&self, group: &'static str) {
        self.0.lock().await.remove(group);
    }
}

/// The fault of a kind that the server does not have.
pub(super) fn not_installed(of: Type, words: &str) -> Fault {
    let message = format!("the cluster does not know {} of {}: its CRD is not installed", of.kind, of.group);
    Fault::new(FaultClass::Invalid, words, message).advise(format!(
        "Install {} in the cluster, for one of the versions {}, and apply again.",
        product(of),
        of.versions.join(", ")
    ))
}

// Who brings the kind, as its users know it.
fn product(of: Type) -> String {
    let known = [
        ("external-secrets.io", "the External Secrets operator"),
        ("keda.sh", "KEDA"),
        ("kueue.x-k8s.io", "Kueue"),
        ("monitoring.coreos.com", "the Prometheus operator"),
    ];
    let found = known.iter().find(|(group, _)| *group == of.group);
    found.map_or_else(|| format!("what brings {} ({})", of.kind, of.group), |(_, product)| (*product).to_owned())
}

async fn served(client: &ClusterClient, group: &str) -> Result<Vec<String>, Fault> {
    let deed =
        Deed { action: "kubernetes:get apigroups".to_owned(), object: format!("API group {group:?}"), is_write: false };
    match client.ask(&deed, &Request::get(format!("/apis/{group}"))).await? {
        Reply::Refused { http: 404, .. } => Ok(Vec::new()),
        reply => Ok(versions(&reply.done(&deed)?.body)),
    }
}

fn versions(group: &Json) -> Vec<String> {
    let versions = group.get("versions").and_then(Json::as_array).into_iter().flatten();
    versions.filter_map(|version| version.get("version")?.as_str().map(str::to_owned)).collect()
}
