//! Server-side apply: sends what we want under our field manager, and nothing of what was read.
//!
//! A field that another manager holds is taken back where it is ours by the record, or where the user lets the object
//! be adopted; otherwise the refusal names the manager and the field. What others added beside ours, and apply cannot
//! take away, is removed by a patch.

use std::collections::BTreeSet;

use converge::{Fault, FaultClass};
use http::Method;
use serde_json::{Map, Value as Json, json};

use super::{
    address::Address,
    call::{APPLY, Answer, Reply, Request},
    connection::ClusterClient,
    discovery::not_installed,
    fault::{Conflict, Deed, conflicts, is_unknown_kind, refused},
    fields::holds,
    place::{of_field, place},
    translate::in_all_words,
};
use crate::components::kube::FIELD_MANAGER;

const REPLICAS: &str = ".spec.replicas";

/// What is wanted of one object, in the words of the version spoken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish<'a> {
    pub(super) client: &'a ClusterClient,
    pub(super) address: Address<'a>,
    /// The whole object, with apiVersion, kind and metadata.
    pub(super) object: &'a Json,
}

/// What may be taken from others.
#[derive(Clone, Copy, Debug)]
pub(super) enum Claim<'a> {
    /// Nothing.
    Nothing,
    /// What we have applied before.
    Applied(&'a Json),
    /// All that is wanted.
    All,
}

/// How an apply is made.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Way {
    pub(super) is_forced: bool,
    pub(super) is_dry_run: bool,
}

// === impl Wish ===

impl Wish<'_> {
    /// Makes the object.
    pub(super) async fn create(&self) -> Result<(), Fault> {
        let deed = self.deed();
        match self.send(Way::default()).await? {
            Reply::Done(_) => Ok(()),
            Reply::Refused { status, .. } if !conflicts(&status).is_empty() => {
                let message = format!("somebody made it meanwhile: {}", sentences(&conflicts(&status)));
                Err(Fault { action: deed.action, ..Fault::new(FaultClass::AlreadyExists, deed.object, message) })
            }
            reply @ Reply::Refused { .. } => self.done(reply).await.map(drop),
        }
    }

    /// Makes the object as wanted. `gone` are keys of labels and annotations that were ours and are to go.
    pub(super) async fn update(&self, claim: Claim<'_>, gone: &BTreeSet<(String, String)>) -> Result<(), Fault> {
        let mut reply = self.send(Way { is_forced: matches!(claim, Claim::All), is_dry_run: false }).await?;
        if let Reply::Refused { status, .. } = &reply
            && let held = conflicts(status)
            && !held.is_empty()
        {
            self.may_take(&held, claim)?;
            reply = self.send(Way { is_forced: true, is_dry_run: false }).await?;
        }
        if let Reply::Refused { status, .. } = &reply
            && status.reason == "Invalid"
            && self.is_fine_alone().await?
            && self.clear(None, gone).await?
        {
            // What was refused may have been ours beside a stranger's.
            reply = self.send(Way { is_forced: true, is_dry_run: false }).await?;
        }
        let live = self.done(reply).await?.body;
        self.clear(Some(live), gone).await.map(drop)
    }

    /// Keeps the live number of replicas when we give the field up: the server would put its default, one, in the
    /// place of a field that nobody holds, before an autoscaler could say otherwise.
    pub(super) async fn hand_over_replicas(&self, live: i64) -> Result<(), Fault> {
        let mut kept = json!({ "apiVersion": self.object.get("apiVersion"), "kind": self.object.get("kind") });
        kept["metadata"] = json!({ "name": self.address.name, "namespace": self.address.namespace });
        kept["spec"] = json!({ "replicas": live });
        let path = format!("{}?fieldManager={FIELD_MANAGER}-replicas&force=true", self.address.path());
        let request = Request::new(Method::PATCH, path).with(APPLY, kept);
        let reply = self.client.ask(&self.deed(), &request).await?;
        self.done(reply).await.map(drop)
    }

    /// Lets go of all that is ours in an object that stays. `object` has nothing but its name.
    pub(super) async fn release(&self) -> Result<(), Fault> {
        let reply = self.send(Way { is_forced: true, is_dry_run: false }).await?;
        self.done(reply).await.map(drop)
    }

    /// One apply; a refusal is an answer.
    pub(super) async fn send(&self, way: Way) -> Result<Reply, Fault> {
        let mut path = format!("{}?fieldManager={FIELD_MANAGER}", self.address.path());
        if way.is_forced {
            path.push_str("&force=true");
        }
        if way.is_dry_run {
            path.push_str("&dryRun=All");
        }
        let request = Request::new(Method::PATCH, path).with(APPLY, self.object.clone());
        self.client.ask(&self.deed(), &request).await
    }

    pub(super) fn deed(&self) -> Deed {
        Deed {
            action: format!("kubernetes:patch {}", self.address.of.plural()),
            object: self.address.words(),
            is_write: true,
        }
    }

    async fn done(&self, reply: Reply) -> Result<Answer, Fault> {
        match reply {
            Reply::Done(answer) => Ok(answer),
            Reply::Refused { http, status } if is_unknown_kind(http, &status) => {
                self.client.discovery.forget(self.address.of.group).await;
                Err(not_installed(self.address.of, &self.address.words()))
            }
            Reply::Refused { http, status } => {
                Err(Fault { at: place(&status, self.object), ..refused(&self.deed(), http, &status) })
            }
        }
    }

    fn may_take(&self, held: &[Conflict], claim: Claim<'_>) -> Result<(), Fault> {
        let applied = match claim {
            Claim::Applied(applied) => in_all_words(self.address.of.kind, applied),
            Claim::Nothing | Claim::All => Vec::new(),
        };
        let foreign: Vec<_> = held
            .iter()
            .filter(|conflict| match claim {
                Claim::Nothing => true,
                // A number that was an autoscaler's, or handed over to one, and is the user's again.
                Claim::Applied(_) if conflict.field == REPLICAS => false,
                Claim::Applied(_) => !applied.iter().any(|applied| holds(applied, &conflict.field)),
                Claim::All => false,
            })
            .cloned()
            .collect();
        if foreign.is_empty() {
            return Ok(());
        }
        let deed = self.deed();
        let message = format!("others manage fields that are to be set: {}", sentences(&foreign));
        let fault = Fault {
            action: deed.action,
            code: Some("Conflict".to_owned()),
            at: foreign.first().map(|conflict| of_field(&conflict.field, self.object)),
            ..Fault::new(FaultClass::Foreign, deed.object, message)
        };
        Err(fault.advise(
            "Take the field out of the configuration here or out of the other manager's; with adopt = \"always\" it \
             is taken over.",
        ))
    }
}

/// What an object says but for what every object has and what controllers write.
pub(super) fn content(object: &Json) -> Json {
    let fields = object.as_object().into_iter().flatten();
    let ours = fields.filter(|(name, _)| !matches!(name.as_str(), "apiVersion" | "kind" | "metadata" | "status"));
    Json::Object(ours.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>())
}

// Each names the manager and the field: `conflict with "kubectl": .spec.replicas`.
fn sentences(conflicts: &[Conflict]) -> String {
    let of = |conflict: &Conflict| format!("{} ({})", conflict.field, conflict.sentence);
    let texts: BTreeSet<_> = conflicts.iter().map(of).collect();
    texts.into_iter().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        components::kube::Service,
        drivers::kube::{
            address::Type,
            testing::{Asked, Server},
        },
    };

    const APPLY_LINE: &str = "PATCH /api/v1/namespaces/a/services/x?fieldManager=terraform-provider-mlplat";

    fn wanted() -> Json {
        json!({ "metadata": { "name": "x" }, "spec": { "ports": [{ "name": "http", "port": 80 }] } })
    }

    fn conflict() -> (u16, Json) {
        let cause = json!({
            "reason": "FieldManagerConflict", "message": "conflict with \"kubectl\" using v1",
            "field": ".spec.ports[port=80,protocol=\"TCP\"].name",
        });
        (409, json!({ "reason": "Conflict", "details": { "name": "x", "causes": [cause] } }))
    }

    async fn update(
        claim: Claim<'_>,
        answer: impl Fn(&Asked) -> (u16, Json) + Send + Sync + 'static,
    ) -> (Result<(), Fault>, Vec<String>) {
        let server = Server::start(answer).await;
        let client = ClusterClient::of(&server.url, None).await;
        let address = Address { of: Type::of::<Service>(), version: "v1", namespace: Some("a"), name: "x" };
        let object = wanted();
        let outcome = Wish { client: &client, address, object: &object }.update(claim, &BTreeSet::new()).await;
        (outcome, server.asked().into_iter().map(|asked| asked.line).collect())
    }

    #[tokio::test]
    async fn a_field_of_another_manager_is_not_taken_and_both_are_named() {
        let (outcome, lines) = update(Claim::Nothing, |_| conflict()).await;
        let fault = outcome.unwrap_err();
        assert_eq!((fault.class, lines.len()), (FaultClass::Foreign, 1));
        assert!(fault.message.contains(".spec.ports") && fault.message.contains("kubectl"), "{}", fault.message);
    }

    #[tokio::test]
    async fn a_field_that_is_ours_by_the_record_is_taken_back() {
        let answer = |asked: &Asked| if asked.line.contains("force=true") { (200, wanted()) } else { conflict() };
        let (outcome, lines) = update(Claim::Applied(&wanted()), answer).await;
        outcome.unwrap();
        assert_eq!(lines, [APPLY_LINE.to_owned(), format!("{APPLY_LINE}&force=true")]);
        let (outcome, lines) = update(Claim::All, answer).await;
        outcome.unwrap();
        assert_eq!(lines, [format!("{APPLY_LINE}&force=true")], "an object that may be adopted");
    }

    #[tokio::test]
    async fn a_strangers_entry_that_ours_cannot_stand_beside_goes_in_the_same_change() {
        let renamed = json!({
            "metadata": { "resourceVersion": "7" }, "spec": { "ports": [{ "name": "http", "port": 81 }] },
        });
        let answer = move |asked: &Asked| match asked.line.as_str() {
            line if line.starts_with("GET") => (200, renamed.clone()),
            line if line.contains("force=true") => (200, wanted()),
            // The apply is refused; the patch, which has no Status to answer, is not.
            line if line == APPLY_LINE && asked.content.contains("apply") => (422, json!({ "reason": "Invalid" })),
            _ => {
                assert!(asked.content.contains("json-patch"), "{asked:?}");
                (200, wanted())
            }
        };
        let (outcome, lines) = update(Claim::Applied(&wanted()), answer).await;
        outcome.unwrap();
        let path = "GET /api/v1/namespaces/a/services/x".to_owned();
        let alone = format!("{APPLY_LINE}&force=true&dryRun=All").replace("/x?", "/mlplat-dry-run?");
        let forced = format!("{APPLY_LINE}&force=true");
        assert_eq!(lines, [APPLY_LINE.to_owned(), alone, path, APPLY_LINE.to_owned(), forced]);
    }

    #[tokio::test]
    async fn what_the_server_refuses_for_itself_leaves_a_strangers_entry_alone() {
        let (outcome, lines) = update(Claim::Nothing, |_| (422, json!({ "reason": "Invalid" }))).await;
        assert_eq!(outcome.unwrap_err().class, FaultClass::Invalid);
        assert!(lines.iter().all(|line| *line == APPLY_LINE || line.ends_with("&dryRun=All")), "{lines:?}");
    }

    #[tokio::test]
    async fn replicas_that_are_given_up_stay_as_they_are() {
        let server = Server::start(|_| (200, wanted())).await;
        let client = ClusterClient::of(&server.url, None).await;
        let address = Address { of: Type::of::<Service>(), version: "v1", namespace: Some("a"), name: "x" };
        Wish { client: &client, address, object: &wanted() }.hand_over_replicas(5).await.unwrap();
        let lines: Vec<_> = server.asked().into_iter().map(|asked| asked.line).collect();
        assert_eq!(lines, [format!("{APPLY_LINE}-replicas&force=true")]);
    }

    #[tokio::test]
    async fn an_object_that_is_let_go_of_is_applied_without_what_was_ours() {
        let server = Server::start(|_| (200, json!({}))).await;
        let client = ClusterClient::of(&server.url, None).await;
        let address = Address { of: Type::of::<Service>(), version: "v1", namespace: Some("a"), name: "x" };
        let object = json!({ "metadata": { "name": "x" } });
        Wish { client: &client, address, object: &object }.release().await.unwrap();
        let lines: Vec<_> = server.asked().into_iter().map(|asked| asked.line).collect();
        assert_eq!(lines, [format!("{APPLY_LINE}&force=true")]);
    }

    #[tokio::test]
    async fn a_kind_that_is_not_installed_is_named() {
        let (outcome, _) = update(Claim::Nothing, |_| (404, json!("404 page not found"))).await;
        let fault = outcome.unwrap_err();
        assert!(fault.class == FaultClass::Invalid && fault.message.contains("not installed"), "{}", fault.message);
    }
}
