//! Asks the API server at plan time whether it would take a pod of a Deployment. Changes nothing.
//!
//! Quotas, limits, Pod Security and rules about images look at pods alone: the Deployment is taken, and no pod of it
//! ever comes. What is found is a doubt, since another resource of the same run may change the rule or make room.

use converge::{Fault, Finding, Place, Severity};
use http::Method;
use kube::core::Status;
use serde_json::{Value as Json, json};

use super::{
    address::encode,
    apply::Wish,
    call::{JSON, Reply, Request},
    connection::ClusterClient,
    fault::Deed,
    place::{MANIFEST, place},
    preflight::{Verdict, may, verdict},
};
use crate::components::kube::FIELD_MANAGER;

/// Where in a workload its pods are.
const TEMPLATE: &str = "/spec/template";

/// A place to try pods in, without effect.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial<'a> {
    pub(super) client: &'a ClusterClient,
    /// The object whose pods they are, in words.
    pub(super) of: &'a str,
    pub(super) namespace: &'a str,
}

/// What the server says of a pod of the object. Silence where the object has none, where the namespace is not there yet,
/// and where we may not ask. A new object has no pods yet that count against a quota and go first.
pub(super) async fn findings(wish: &Wish<'_>, is_new: bool) -> Vec<Finding> {
    let words = wish.address.words();
    let pod = pod(wish.object, &format!("{}-planned", wish.address.name)).map(without_identity);
    let Some((namespace, pod)) = wish.address.namespace.zip(pod) else { return Vec::new() };
    let trial = Trial { client: wish.client, of: &words, namespace };
    let Ok(Some((verdict, status))) = trial.refusal(&pod).await else { return Vec::new() };
    // Room that pods make before it is needed is not missing.
    let is_about_room = !is_new && !has_surge(wish.object);
    if is_about_room && !matches!(trial.refusal(&without_amounts(&pod)).await, Ok(Some(_))) {
        return Vec::new();
    }
    if trial.is_about_the_pod(verdict).await { vec![refused(&words, &pod, &status)] } else { Vec::new() }
}

/// A pod of a workload, by the workload's template.
pub(super) fn pod(workload: &Json, name: &str) -> Option<Json> {
    let template = workload.pointer(TEMPLATE)?;
    let metadata = |field: &str| template.pointer(&format!("/metadata/{field}"));
    Some(json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": { "name": name, "labels": metadata("labels"), "annotations": metadata("annotations") },
        "spec": template.get("spec")?,
    }))
}

// === impl Trial ===

impl Trial<'_> {
    /// Whether a pod is refused for good.
    pub(super) async fn is_refused(&self, pod: &Json) -> Result<bool, Fault> {
        match self.refusal(pod).await? {
            Some((verdict, _)) => Ok(self.is_about_the_pod(verdict).await),
            None => Ok(false),
        }
    }

    async fn refusal(&self, pod: &Json) -> Result<Option<(Verdict, Box<Status>)>, Fault> {
        let path =
            format!("/api/v1/namespaces/{}/pods?fieldManager={FIELD_MANAGER}&dryRun=All", encode(self.namespace));
        let deed = Deed { action: "kubernetes:create pods".to_owned(), object: self.of.to_owned(), is_write: false };
        let reply = self.client.ask(&deed, &Request::new(Method::POST, path).with(JSON, pod.clone())).await?;
        let Reply::Refused { http, status } = reply else { return Ok(None) };
        Ok(Some((verdict(http, &status), status)).filter(|(verdict, _)| *verdict != Verdict::Silent))
    }

    // Whether the pod is what is refused, and not us, and not a namespace without what every namespace has.
    async fn is_about_the_pod(&self, verdict: Verdict) -> bool {
        if verdict == Verdict::Refused {
            return true;
        }
        let path = format!("/api/v1/namespaces/{}/serviceaccounts/default", encode(self.namespace));
        let deed = Deed { action: "kubernetes:get serviceaccounts".to_owned(), ..Deed::default() };
        let pods = json!({ "resource": "pods", "namespace": self.namespace });
        may(self.client, self.of, "create", &pods).await && self.client.done(&deed, &Request::get(path)).await.is_ok()
    }
}

// Its own account may be made in the same run.
fn without_identity(mut pod: Json) -> Json {
    pod.get_mut("spec").and_then(Json::as_object_mut).map(|spec| spec.remove("serviceAccountName"));
    pod
}

// Whether a new pod comes before an old one goes.
fn has_surge(deployment: &Json) -> bool {
    let strategy = deployment.pointer("/spec/strategy");
    let is = |pointer: &str, value: Json| strategy.and_then(|strategy| strategy.pointer(pointer)) == Some(&value);
    !is("/type", json!("Recreate")) && !is("/rollingUpdate/maxSurge", json!(0))
}

fn without_amounts(pod: &Json) -> Json {
    let mut pod = pod.clone();
    let containers = pod.pointer_mut("/spec/containers").and_then(Json::as_array_mut);
    for container in containers.into_iter().flatten().filter_map(Json::as_object_mut) {
        container.remove("resources");
    }
    pod
}

fn refused(of: &str, pod: &Json, status: &Status) -> Finding {
    let at = place(status, pod).and_then(|place| in_template(&place)).unwrap_or_else(|| Place::from(MANIFEST));
    Finding {
        severity: Severity::Warning,
        at,
        summary: format!("Pods of {of} would be refused"),
        detail: format!(
            "{}: {}.\n\nChange what the message names, or the namespace's quota, limits, Pod Security level or policies. \
             Where this run changes those first all is well.",
            if status.reason.is_empty() { "Refused" } else { &status.reason },
            status.message.trim_end_matches('.')
        ),
    }
}

// A place in the pod, in the object that has its template.
fn in_template(place: &Place) -> Option<Place> {
    let part = &place.part;
    let part = match place.field.as_ref() {
        MANIFEST => format!("{TEMPLATE}{part}"),
        field @ ("labels" | "annotations") => format!("{TEMPLATE}/metadata/{field}{part}"),
        _ => return None,
    };
    Some(Place::within(MANIFEST, part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        components::kube::Deployment,
        drivers::kube::{
            address::{Address, Type},
            testing::{Asked, Server},
        },
    };

    fn deployment(surge: u32) -> Json {
        json!({
            "metadata": { "name": "llm", "namespace": "ml" },
            "spec": {
                "strategy": { "type": "RollingUpdate", "rollingUpdate": { "maxSurge": surge } },
                "template": {
                    "metadata": { "labels": { "a": "b" } },
                    "spec": { "serviceAccountName": "llm", "containers": [{
                        "name": "server", "image": "docker.io/acme/vllm:1", "resources": { "limits": { "cpu": "4" } },
                    }] },
                },
            },
        })
    }

    fn refusal(reason: &str, message: &str) -> (u16, Json) {
        (403, json!({ "reason": reason, "message": message, "details": { "kind": "pods" } }))
    }

    async fn ask(
        object: &Json,
        is_new: bool,
        answer: impl Fn(&Asked) -> (u16, Json) + Send + Sync + 'static,
    ) -> (Vec<Finding>, Vec<String>) {
        let server = Server::start(answer).await;
        let client = ClusterClient::of(&server.url, None).await;
        let address = Address { of: Type::of::<Deployment>(), version: "v1", namespace: Some("ml"), name: "llm" };
        let found = findings(&Wish { client: &client, address, object }, is_new).await;
        (found, server.lines())
    }

    fn is_pod(asked: &Asked) -> bool {
        asked.line.starts_with("POST /api/v1/namespaces/ml/pods?")
    }

    const IMAGE: &str = "image docker.io/acme/vllm:1 is not from a trusted registry";

    #[tokio::test]
    async fn a_pod_that_would_be_refused_is_a_doubt_about_what_the_refusal_quotes() {
        let answer = |asked: &Asked| match asked.line.as_str() {
            _ if is_pod(asked) => refusal("Forbidden", IMAGE),
            line if line.starts_with("POST") => (201, json!({ "status": { "allowed": true } })),
            _ => (200, json!({})),
        };
        let (found, lines) = ask(&deployment(1), true, answer).await;
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(finding.severity, Severity::Warning);
        assert_eq!(finding.at, Place::within(MANIFEST, "/spec/template/spec/containers/0/image"));
        assert!(finding.detail.starts_with("Forbidden: image docker.io/acme/vllm:1"), "{}", finding.detail);
        assert_eq!(lines.len(), 3);
    }

    #[tokio::test]
    async fn a_pod_that_is_taken_is_asked_about_once() {
        let (found, lines) = ask(&deployment(1), true, |_| (201, json!({}))).await;
        assert_eq!((found, lines), (Vec::new(), vec!["POST /api/v1/namespaces/ml/pods".to_owned()]));
    }

    #[tokio::test]
    async fn who_may_not_make_pods_is_told_nothing() {
        let denied = |asked: &Asked| {
            if is_pod(asked) {
                return refusal("Forbidden", "cannot create resource");
            }
            (201, json!({ "status": { "allowed": false } }))
        };
        assert_eq!(ask(&deployment(1), true, denied).await.0, []);
        let absent = |_: &Asked| (404, json!({ "reason": "NotFound", "details": { "kind": "namespaces" } }));
        assert_eq!(ask(&deployment(1), true, absent).await.0, []);
    }

    #[tokio::test]
    async fn room_that_old_pods_make_first_is_not_missing() {
        let answer = |asked: &Asked| match asked.line.as_str() {
            _ if is_pod(asked) && asked.body.contains("resources") => refusal("Forbidden", "exceeded quota"),
            line if line.starts_with("POST /apis") => (201, json!({ "status": { "allowed": true } })),
            _ => (200, json!({})),
        };
        assert_eq!(ask(&deployment(0), false, answer).await.0, []);
        assert_eq!(ask(&deployment(0), true, answer).await.0.len(), 1, "nothing goes first");
        assert_eq!(ask(&deployment(1), false, answer).await.0.len(), 1, "the new one comes first");
    }
}
