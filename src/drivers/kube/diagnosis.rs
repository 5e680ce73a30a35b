//! Whether an object can be used, where the object alone does not tell: why a Deployment's pods do not run, and whether
//! a claim waits for its first user. Reads more only while the object is not ready.

use converge::{Fault, Readiness};
use http::Method;
use serde_json::{Value as Json, json};

use super::{
    address::{Address, encode},
    call::{Answer, JSON, Reply, Request},
    connection::ClusterClient,
    fault::Deed,
    holders,
    pods::{More, Trouble, trouble},
    readiness::{KUEUE_IN_USE, find, is, is_seen, readiness, text},
};

/// What was learned of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) readiness: Readiness,
    /// One line for each pod that does not run.
    pub(super) pod_reasons: Vec<String>,
}

/// As many pods are looked at more closely; the others say the same.
const CLOSELY: usize = 2;
const LOG_LINES: usize = 5;
const REVISION: &str = "deployment.kubernetes.io/revision";

/// Whether the object can be used.
pub(super) async fn of(
    client: &ClusterClient,
    address: &Address<'_>,
    live: &Json,
    owns_replicas: bool,
) -> Result<Seen, Fault> {
    let readiness = readiness(address.of.kind, live, owns_replicas);
    // Of what the controller has not seen yet, pods say nothing.
    let is_telling = live.pointer("/metadata/deletionTimestamp").is_none() && is_seen(live);
    let asker = Asker { client, namespace: address.namespace.unwrap_or_default(), words: address.words() };
    match (address.of.kind, &readiness) {
        (_, Readiness::Waiting(state)) if is_in_use(live) => {
            let readiness = Readiness::Waiting(asker.held(address, state).await?);
            Ok(Seen { readiness, pod_reasons: Vec::new() })
        }
        ("Deployment", Readiness::Waiting(_) | Readiness::Broken(_)) if is_telling => {
            asker.deployment(live, readiness).await
        }
        ("PersistentVolumeClaim", Readiness::Waiting(_)) if is_telling => {
            let waits = asker.waits_for_first_user(live).await?;
            Ok(Seen { readiness: if waits { Readiness::Ready } else { readiness }, pod_reasons: Vec::new() })
        }
        _ => Ok(Seen { readiness, pod_reasons: Vec::new() }),
    }
}

struct Asker<'a> {
    client: &'a ClusterClient,
    namespace: &'a str,
    words: String,
}

// === impl Asker ===

impl Asker<'_> {
    async fn deployment(&self, live: &Json, readiness: Readiness) -> Result<Seen, Fault> {
        let selector = selector(live);
        let path = format!("/apis/apps/v1/namespaces/{}/replicasets?labelSelector={}", self.space(), encode(&selector));
        let Some(sets) = self.look("list replicasets", path).await? else {
            return Ok(Seen { readiness, pod_reasons: Vec::new() });
        };
        let Some(newest) = newest(live, &sets.body) else { return Ok(Seen { readiness, pod_reasons: Vec::new() }) };
        let (pods, now) = self.pods(&selector, newest).await?;
        let troubles: Vec<_> = pods.iter().filter_map(|pod| trouble(pod, now)).collect();
        let mut lines: Vec<_> = troubles.iter().map(Trouble::line).collect();
        let mut is_final = troubles.iter().any(|trouble| trouble.is_final);
        for (trouble, line) in troubles.iter().zip(&mut lines).take(CLOSELY) {
            line.push_str(&self.more(trouble).await?);
        }
        if let Some(refusal) = find(newest, "ReplicaFailure").filter(|condition| is(Some(condition), "True")) {
            lines.insert(0, super::readiness::because(refusal));
            is_final |= self.is_refused(newest).await?;
        }
        lines.dedup();
        Ok(Seen { readiness: verdict(readiness, &lines, is_final), pod_reasons: lines })
    }

    async fn pods(&self, selector: &str, set: &Json) -> Result<(Vec<Json>, Option<i64>), Fault> {
        let hash = set.pointer("/metadata/labels/pod-template-hash").and_then(Json::as_str).unwrap_or_default();
        let selector = encode(&format!("{selector},pod-template-hash={hash}"));
        let path = format!("/api/v1/namespaces/{}/pods?labelSelector={selector}", self.space());
        let Some(answer) = self.look("list pods", path).await? else { return Ok((Vec::new(), None)) };
        let pods = answer.body.get("items").and_then(Json::as_array).into_iter().flatten();
        // Another Deployment may have the same labels.
        Ok((pods.filter(|pod| is_owned(pod, set)).cloned().collect(), answer.time))
    }

    // What the log's end or the kubelet's events add, as a continuation of the line.
    async fn more(&self, trouble: &Trouble) -> Result<String, Fault> {
        let pod = encode(&trouble.pod);
        match (trouble.more, &trouble.container) {
            (More::FormerLog, Some(container)) => {
                let path = format!(
                    "/api/v1/namespaces/{}/pods/{pod}/log?previous=true&tailLines={LOG_LINES}&limitBytes=4096&container={}",
                    self.space(),
                    encode(container)
                );
                let log = self.look("get pods/log", path).await?;
                // One line of a log may be JSON.
                let log = log.map(|answer| answer.body.as_str().map_or_else(|| answer.body.to_string(), str::to_owned));
                let log = log.unwrap_or_default();
                let log = log.trim_end();
                Ok(if log.is_empty() { String::new() } else { format!("; the end of its log:\n{log}") })
            }
            (More::Events, _) => {
                let fields = encode(&format!("involvedObject.name={},type=Warning", trouble.pod));
                let path = format!("/api/v1/namespaces/{}/events?fieldSelector={fields}", self.space());
                let events = self.look("list events", path).await?;
                Ok(events
                    .and_then(|answer| last_event(&answer.body))
                    .map_or_else(String::new, |text| format!("; {text}")))
            }
            _ => Ok(String::new()),
        }
    }

    // The controller says that pods are refused, not by what. A pod tried without effect tells by the code of the
    // answer: a policy or a quota refuses it for good, a webhook that is down does not.
    async fn is_refused(&self, set: &Json) -> Result<bool, Fault> {
        let Some(template) = set.pointer("/spec/template") else { return Ok(false) };
        let mut pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "generateName": "mlplat-dry-run-" } });
        for pointer in ["labels", "annotations"] {
            if let (Some(value), Some(metadata)) = (
                template.pointer(&format!("/metadata/{pointer}")),
                pod.get_mut("metadata").and_then(Json::as_object_mut),
            ) {
                metadata.insert(pointer.to_owned(), value.clone());
            }
        }
        if let (Some(spec), Some(pod)) = (template.get("spec"), pod.as_object_mut()) {
            pod.insert("spec".to_owned(), spec.clone());
        }
        let path = format!("/api/v1/namespaces/{}/pods?dryRun=All", self.space());
        let request = Request::new(Method::POST, path).with(JSON, pod);
        let reply = self.client.ask(&self.deed("create pods"), &request).await?;
        Ok(matches!(reply, Reply::Refused { http: 403 | 422, .. }))
    }

    // Of an object that Kueue keeps from going, whoever uses it.
    async fn held(&self, address: &Address<'_>, state: &str) -> Result<String, Fault> {
        let Some(holders) = holders::of(address.of.kind) else { return Ok(state.to_owned()) };
        let (group, plural) = (address.of.group, holders.plural);
        let path = format!("/apis/{group}/{}/{plural}?limit={}", address.version, holders::LOOKED_THROUGH);
        let list = self.look(&format!("list {plural}"), path).await?;
        let named = list.and_then(|answer| holders.named(&answer.body, address.name));
        Ok(named.map_or_else(|| state.to_owned(), |named| format!("{state} ({plural}: {named})")))
    }

    async fn waits_for_first_user(&self, claim: &Json) -> Result<bool, Fault> {
        let Some(class) =
            claim.pointer("/spec/storageClassName").and_then(Json::as_str).filter(|name| !name.is_empty())
        else {
            return Ok(false);
        };
        let path = format!("/apis/storage.k8s.io/v1/storageclasses/{}", encode(class));
        let class = self.look("get storageclasses", path).await?;
        Ok(class.is_some_and(|answer| text(&answer.body, "volumeBindingMode") == "WaitForFirstConsumer"))
    }

    // Reasons are worth having, not worth failing for: none where they are forbidden or gone.
    async fn look(&self, verb: &str, path: String) -> Result<Option<Answer>, Fault> {
        let accept = if path.contains("/log?") { "*/*" } else { JSON };
        match self.client.ask(&self.deed(verb), &Request::get(path).accepting(accept)).await? {
            Reply::Done(answer) => Ok(Some(answer)),
            Reply::Refused { .. } => Ok(None),
        }
    }

    fn deed(&self, verb: &str) -> Deed {
        Deed { action: format!("kubernetes:{verb}"), object: self.words.clone(), is_write: false }
    }

    fn space(&self) -> String {
        encode(self.namespace)
    }
}

fn is_in_use(live: &Json) -> bool {
    let finalizers = live.pointer("/metadata/finalizers").and_then(Json::as_array).into_iter().flatten();
    live.pointer("/metadata/deletionTimestamp").is_some()
        && finalizers.filter_map(Json::as_str).any(|finalizer| finalizer == KUEUE_IN_USE)
}

fn selector(live: &Json) -> String {
    let labels = live.pointer("/spec/selector/matchLabels").and_then(Json::as_object).into_iter().flatten();
    labels.filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?))).collect::<Vec<_>>().join(",")
}

// The ReplicaSet of what is wanted now; the pods of an older one do not matter any more.
fn newest<'s>(deployment: &Json, sets: &'s Json) -> Option<&'s Json> {
    let annotation = |object: &Json| {
        let annotations = object.pointer("/metadata/annotations")?;
        annotations.get(REVISION)?.as_str().map(str::to_owned)
    };
    let revision = annotation(deployment)?;
    let sets = sets.get("items")?.as_array()?;
    sets.iter().find(|set| is_owned(set, deployment) && annotation(set).as_ref() == Some(&revision))
}

fn is_owned(object: &Json, owner: &Json) -> bool {
    let uid = owner.pointer("/metadata/uid");
    let owners = object.pointer("/metadata/ownerReferences").and_then(Json::as_array);
    uid.is_some() && owners.is_some_and(|owners| owners.iter().any(|owner| owner.get("uid") == uid))
}

fn last_event(events: &Json) -> Option<String> {
    let events = events.get("items")?.as_array()?;
    let last = events.iter().max_by_key(|event| text(event, "lastTimestamp"))?;
    Some(super::readiness::because(last))
}

fn verdict(readiness: Readiness, lines: &[String], is_final: bool) -> Readiness {
    if lines.is_empty() {
        return readiness;
    }
    let reasons = lines.join("; ");
    match readiness {
        Readiness::Waiting(_) if is_final => Readiness::Broken(reasons),
        Readiness::Waiting(state) => Readiness::Waiting(format!("{state}: {reasons}")),
        Readiness::Broken(state) => Readiness::Broken(format!("{state}: {reasons}")),
        Readiness::Ready => Readiness::Ready,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_replica_set_of_this_deployment_counts() {
        let set = |name: &str, owner: &str, revision: &str| {
            json!({ "metadata": {
                "name": name, "annotations": { REVISION: revision }, "ownerReferences": [{ "uid": owner }],
            } })
        };
        let deployment = json!({ "metadata": { "uid": "u", "annotations": { REVISION: "2" } } });
        let sets = json!({ "items": [set("old", "u", "1"), set("other", "v", "2"), set("new", "u", "2")] });
        assert_eq!(newest(&deployment, &sets).unwrap()["metadata"]["name"], "new");
        assert_eq!(newest(&deployment, &json!({ "items": [] })), None);
    }

    #[test]
    fn a_final_reason_ends_the_waiting() {
        let waiting = || Readiness::Waiting("0 of 1 replicas are available".to_owned());
        let lines = ["pod p: InvalidImageName".to_owned()];
        assert_eq!(verdict(waiting(), &[], false), waiting());
        assert_eq!(verdict(waiting(), &lines, true), Readiness::Broken("pod p: InvalidImageName".to_owned()));
        let text = "0 of 1 replicas are available: pod p: InvalidImageName".to_owned();
        assert_eq!(verdict(waiting(), &lines, false), Readiness::Waiting(text));
    }

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
    fn a_selector_is_written_as_a_query() {
        let live = json!({ "spec": { "selector": { "matchLabels": { "a": "b", "c": "d" } } } });
        assert_eq!(selector(&live), "a=b,c=d");
    }
}
