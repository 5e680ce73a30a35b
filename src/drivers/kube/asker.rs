//! Questions about pods and what they wait for, asked while an object is not ready. Each is worth asking, none worth
//! failing for: where an answer is forbidden or gone there is none.

use converge::Fault;
use serde_json::Value as Json;

use super::{
    address::{Address, Type, encode},
    admission::{self, Trial},
    call::{Answer, JSON, Reply, Request},
    connection::ClusterClient,
    fault::Deed,
    holders,
    pods::{More, Trouble},
    readiness::{because, find, text},
    unplaced::{Knowledge, outlook},
};
use crate::components::kube::LocalQueue;

const LOG_LINES: usize = 5;

/// Asks about what belongs to one object.
pub(super) struct Asker<'a> {
    pub(super) client: &'a ClusterClient,
    pub(super) namespace: &'a str,
    /// The object in words.
    pub(super) words: String,
}

/// The pods of an object.
#[derive(Debug, Default)]
pub(super) struct Pods {
    /// Those of what is wanted now.
    pub(super) newest: Vec<Json>,
    /// Some, of whatever age, are going.
    pub(super) some_leave: bool,
    /// The server's time.
    pub(super) now: Option<i64>,
}

// === impl Asker ===

impl Asker<'_> {
    /// The ReplicaSets that the selector has.
    pub(super) async fn replica_sets(&self, selector: &str) -> Result<Option<Json>, Fault> {
        let path = format!("/apis/apps/v1/namespaces/{}/replicasets?labelSelector={}", self.space(), encode(selector));
        Ok(self.look("list replicasets", path).await?.map(|answer| answer.body))
    }

    /// The pods that the selector has and the set owns.
    pub(super) async fn pods(&self, selector: &str, set: &Json) -> Result<Pods, Fault> {
        let path = format!("/api/v1/namespaces/{}/pods?labelSelector={}", self.space(), encode(selector));
        let Some(answer) = self.look("list pods", path).await? else { return Ok(Pods::default()) };
        let all = answer.body.get("items").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
        Ok(Pods {
            // Another Deployment may have the same labels.
            newest: all.iter().filter(|pod| is_owned(pod, set)).cloned().collect(),
            some_leave: all.iter().any(|pod| pod.pointer("/metadata/deletionTimestamp").is_some()),
            now: answer.time,
        })
    }

    /// Puts into the trouble of a pod what the log's end, its events or its gate's owner add.
    pub(super) async fn look_closer(&self, pod: &Json, trouble: &mut Trouble, of: &Pods) -> Result<(), Fault> {
        match trouble.more {
            More::Nowhere => {}
            More::FormerLog => trouble.text.push_str(&self.former_log(trouble).await?),
            More::Events => {
                let events = self.events(&trouble.pod, ",type=Warning").await?;
                let last = events.as_ref().and_then(last_event);
                trouble.text.extend(last.map(|text| format!("; {text}")));
            }
            More::Place => {
                let events = self.events(&trouble.pod, "").await?;
                let claim = self.missing_claim(pod).await?;
                let known = Knowledge {
                    events: events.as_ref(),
                    missing_claim: claim.as_deref(),
                    others_leave: of.some_leave,
                    now: of.now,
                };
                let outlook = outlook(pod, &known);
                trouble.text.push_str(&outlook.text);
                trouble.advice = outlook.advice;
            }
            More::Gate => {
                let workload = self.workload(pod).await?;
                trouble.text.extend(workload.as_ref().and_then(unadmitted).map(|text| format!("; Kueue says {text}")));
            }
        }
        Ok(())
    }

    /// Whether pods of this set are refused for good. The controller says that they are refused, not by what. A pod
    /// tried without effect tells: a policy or a quota refuses it for good, a webhook that is down does not.
    pub(super) async fn is_refused(&self, set: &Json) -> Result<bool, Fault> {
        let Some(pod) = admission::pod(set, "mlplat-dry-run") else { return Ok(false) };
        Trial { client: self.client, of: &self.words, namespace: self.namespace }.is_refused(&pod).await
    }

    /// The state of an object that is kept from going, with whoever uses it.
    pub(super) async fn held(&self, address: &Address<'_>, state: &str) -> Result<String, Fault> {
        let Some(holders) = holders::of(address.of.kind) else { return Ok(state.to_owned()) };
        let (group, plural) = (address.of.group, holders.plural);
        let place = match (group, address.namespace) {
            ("", Some(namespace)) => format!("/api/{}/namespaces/{}", address.version, encode(namespace)),
            _ => format!("/apis/{group}/{}", address.version),
        };
        let path = format!("{place}/{plural}?limit={}", holders::LOOKED_THROUGH);
        let list = self.look(&format!("list {plural}"), path).await?;
        let named = list.and_then(|answer| holders.named(&answer.body, address.name));
        Ok(named.map_or_else(|| state.to_owned(), |named| format!("{state} ({plural}: {named})")))
    }

    /// Whether a claim waits for its first user.
    pub(super) async fn waits_for_first_user(&self, claim: &Json) -> Result<bool, Fault> {
        let Some(class) =
            claim.pointer("/spec/storageClassName").and_then(Json::as_str).filter(|name| !name.is_empty())
        else {
            return Ok(false);
        };
        let path = format!("/apis/storage.k8s.io/v1/storageclasses/{}", encode(class));
        let class = self.look("get storageclasses", path).await?;
        Ok(class.is_some_and(|answer| text(&answer.body, "volumeBindingMode") == "WaitForFirstConsumer"))
    }

    async fn former_log(&self, trouble: &Trouble) -> Result<String, Fault> {
        let Some(container) = &trouble.container else { return Ok(String::new()) };
        let (pod, container) = (encode(&trouble.pod), encode(container));
        let path = format!(
            "/api/v1/namespaces/{}/pods/{pod}/log?previous=true&tailLines={LOG_LINES}&limitBytes=4096&container={container}",
            self.space(),
        );
        let log = self.look("get pods/log", path).await?;
        // One line of a log may be JSON.
        let log = log.map(|answer| answer.body.as_str().map_or_else(|| answer.body.to_string(), str::to_owned));
        let log = log.unwrap_or_default();
        let log = log.trim_end();
        Ok(if log.is_empty() { String::new() } else { format!("; the end of its log:\n{log}") })
    }

    async fn events(&self, pod: &str, more: &str) -> Result<Option<Json>, Fault> {
        let fields = encode(&format!("involvedObject.kind=Pod,involvedObject.name={pod}{more}"));
        let path = format!("/api/v1/namespaces/{}/events?fieldSelector={fields}", self.space());
        Ok(self.look("list events", path).await?.map(|answer| answer.body))
    }

    async fn missing_claim(&self, pod: &Json) -> Result<Option<String>, Fault> {
        let volumes = pod.pointer("/spec/volumes").and_then(Json::as_array).into_iter().flatten();
        for claim in volumes.filter_map(|volume| volume.pointer("/persistentVolumeClaim/claimName")?.as_str()) {
            let path = format!("/api/v1/namespaces/{}/persistentvolumeclaims/{}", self.space(), encode(claim));
            let reply = self.reply("get persistentvolumeclaims", path).await?;
            if matches!(reply, Reply::Refused { http: 404, .. }) {
                return Ok(Some(claim.to_owned()));
            }
        }
        Ok(None)
    }

    // What Kueue made for the pod.
    async fn workload(&self, pod: &Json) -> Result<Option<Json>, Fault> {
        let queue = Type::of::<LocalQueue>();
        let Some(version) = self.client.discovery.version(self.client, queue).await? else { return Ok(None) };
        let of = Type { kind: "Workload", ..queue };
        let answer = self.look("list workloads", of.list_path(version, Some(self.namespace))).await?;
        let all = answer.as_ref().and_then(|answer| answer.body.get("items")?.as_array()).into_iter().flatten();
        Ok(all.into_iter().find(|workload| is_owned(workload, pod)).cloned())
    }

    pub(super) async fn look(&self, verb: &str, path: String) -> Result<Option<Answer>, Fault> {
        match self.reply(verb, path).await? {
            Reply::Done(answer) => Ok(Some(answer)),
            Reply::Refused { .. } => Ok(None),
        }
    }

    pub(super) async fn reply(&self, verb: &str, path: String) -> Result<Reply, Fault> {
        let accept = if path.contains("/log?") { "*/*" } else { JSON };
        self.client.ask(&self.deed(verb), &Request::get(path).accepting(accept)).await
    }

    fn deed(&self, verb: &str) -> Deed {
        Deed { action: format!("kubernetes:{verb}"), object: self.words.clone(), is_write: false }
    }

    fn space(&self) -> String {
        encode(self.namespace)
    }
}

/// Whether `object` belongs to `owner`.
pub(super) fn is_owned(object: &Json, owner: &Json) -> bool {
    let uid = owner.pointer("/metadata/uid");
    let owners = object.pointer("/metadata/ownerReferences").and_then(Json::as_array);
    uid.is_some() && owners.is_some_and(|owners| owners.iter().any(|owner| owner.get("uid") == uid))
}

fn last_event(events: &Json) -> Option<String> {
    let events = events.get("items")?.as_array()?;
    let last = events.iter().max_by_key(|event| text(event, "lastTimestamp"))?;
    Some(because(last))
}

// Why a workload has no quota.
fn unadmitted(workload: &Json) -> Option<String> {
    find(workload, "QuotaReserved").filter(|condition| text(condition, "status") == "False").map(because)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_latest_event_is_told() {
        let events = json!({ "items": [
            { "lastTimestamp": "2026-01-01T00:00:02Z", "reason": "FailedMount", "message": "no volume" },
            { "lastTimestamp": "2026-01-01T00:00:01Z", "reason": "Unhealthy", "message": "probe" },
        ] });
        assert_eq!(last_event(&events).as_deref(), Some("FailedMount: no volume"));
        assert_eq!(last_event(&json!({})), None);
    }

    #[test]
    fn a_workload_without_quota_says_why() {
        let workload = |status: &str| {
            let message = "couldn't assign flavors to pod set main: insufficient unused quota";
            let condition =
                json!({ "type": "QuotaReserved", "status": status, "reason": "Pending", "message": message });
            json!({ "status": { "conditions": [condition] } })
        };
        let text = "Pending: couldn't assign flavors to pod set main: insufficient unused quota";
        assert_eq!(unadmitted(&workload("False")).as_deref(), Some(text));
        assert_eq!(unadmitted(&workload("True")), None);
    }
}
