//! What others added beside ours and an apply cannot take away, because it is not ours: removed by a patch.

use std::collections::BTreeSet;

use converge::{Fault, FaultClass};
use http::Method;
use serde_json::{Value as Json, json};

use super::{
    address::{Address, encode},
    apply::{Way, Wish, content},
    call::{Answer, JSON_PATCH, Reply, Request},
    meaning::{Stray, strays},
    reader::{Extent, get},
};
use crate::components::kube::FIELD_MANAGER;

/// A name for questions only.
const NOBODYS: &str = "mlplat-dry-run";

// === impl Wish ===

impl Wish<'_> {
    /// Removes what others added to what is ours. `live` is the object as it is, read here where it is not given.
    /// False where there was nothing to remove.
    pub(super) async fn clear(&self, live: Option<Json>, gone: &BTreeSet<(String, String)>) -> Result<bool, Fault> {
        let live = match live {
            Some(live) => Some(live),
            None => get(self.client, &self.address, Extent::Whole).await?,
        };
        let Some(live) = live else { return Ok(false) };
        let mut operations = self.strays(&live);
        operations.extend(gone.iter().filter_map(|(field, key)| removal(&live, field, key)));
        if operations.is_empty() {
            return Ok(false);
        }
        let patched = self.patch(&live, operations).await?;
        self.forget_patch(&patched.body).await?;
        Ok(true)
    }

    /// Whether there is something to remove, and the server would let us. An apply that is refused until then is not
    /// refused for good.
    pub(super) async fn can_clear(&self) -> Result<bool, Fault> {
        let Some(live) = get(self.client, &self.address, Extent::Whole).await? else { return Ok(false) };
        let operations = self.strays(&live);
        if operations.is_empty() || !self.is_fine_alone().await? {
            return Ok(false);
        }
        let reply = self.client.ask(&self.deed(), &self.request(&live, operations, "&dryRun=All")).await?;
        Ok(matches!(reply, Reply::Done(_)))
    }

    /// Whether the server would take the object if there were nothing of it yet: asked of a name that nobody has. What
    /// it refuses of the live one is then what others put beside ours.
    pub(super) async fn is_fine_alone(&self) -> Result<bool, Fault> {
        let mut object = self.object.clone();
        object["metadata"]["name"] = json!(NOBODYS);
        let alone = Wish { address: Address { name: NOBODYS, ..self.address }, object: &object, client: self.client };
        Ok(matches!(alone.send(Way { is_forced: true, is_dry_run: true }).await?, Reply::Done(_)))
    }

    fn strays(&self, live: &Json) -> Vec<Json> {
        strays(self.address.of.kind, &content(self.object), &content(live)).iter().map(Stray::operation).collect()
    }

    async fn patch(&self, live: &Json, operations: Vec<Json>) -> Result<Answer, Fault> {
        self.client.done(&self.deed(), &self.request(live, operations, "")).await
    }

    fn request(&self, live: &Json, mut operations: Vec<Json>, query: &str) -> Request {
        // Refused with a conflict, and tried again, where the object has changed since it was read.
        let version = live.pointer("/metadata/resourceVersion").cloned().unwrap_or(Json::Null);
        operations.push(json!({ "op": "replace", "path": "/metadata/resourceVersion", "value": version }));
        let path = format!("{}?fieldManager={}{query}", self.address.path(), encode(FIELD_MANAGER));
        Request::new(Method::PATCH, path).with(JSON_PATCH, Json::Array(operations))
    }

    // A patch leaves an entry beside that of our applies, which would go on holding fields that a later apply drops.
    async fn forget_patch(&self, patched: &Json) -> Result<(), Fault> {
        let entries = patched.pointer("/metadata/managedFields").and_then(Json::as_array);
        let is_patch = |entry: &Json| {
            entry.get("manager").and_then(Json::as_str) == Some(FIELD_MANAGER)
                && entry.get("operation").and_then(Json::as_str) == Some("Update")
                && entry.get("subresource").is_none()
        };
        let Some(index) = entries.and_then(|entries| entries.iter().position(is_patch)) else { return Ok(()) };
        let removal = json!({ "op": "remove", "path": format!("/metadata/managedFields/{index}") });
        match self.patch(patched, vec![removal]).await {
            // Somebody was faster: the entry goes with the next repair.
            Err(fault) if matches!(fault.class, FaultClass::Busy | FaultClass::NotFound) => Ok(()),
            outcome => outcome.map(drop),
        }
    }
}

fn removal(live: &Json, field: &str, key: &str) -> Option<Json> {
    live.get("metadata")?.get(field)?.get(key)?;
    let key = key.replace('~', "~0").replace('/', "~1");
    Some(json!({ "op": "remove", "path": format!("/metadata/{field}/{key}") }))
}
