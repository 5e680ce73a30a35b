//! Asks the API server at plan time whether it would take an object, where it can be reached soon. Changes nothing.

use std::{sync::Arc, time::Duration};

use converge::{Cx, Finding, Place, Severity};
use http::Method;
use kube::core::Status;
use serde_json::{Value as Json, json};

use super::{
    address::{Address, Type, encode},
    apply::{Way, Wish},
    call::{JSON, Reply, Request},
    connection::ClusterClient,
    fault::{Deed, SELECTOR, is_about_selector, is_terminating, is_unknown_kind},
    mark::ownership,
    nodes::{Look, Pod, SPEC},
    place::{MANIFEST, place},
    reader::{Extent, Reader, get},
};

/// A plan does not wait for a cluster that may not be there yet. One that cannot be reached is given up sooner.
const PATIENCE: Duration = Duration::from_secs(10);

/// Of more nodes than this it is not known what there is among them.
const MOST_NODES: usize = 500;

/// What `asked` says, if it says it soon.
pub(super) async fn soon<T>(cx: &Cx, asked: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        answer = asked => Some(answer),
        () = cx.cancel.cancelled() => None,
        () = cx.clock.sleep(PATIENCE) => None,
    }
}

/// What the server says of the object. Silence where it cannot be asked, where the namespace is not there yet, and where
/// we may not ask. Where the object is new, one that is there already would end the apply half-way; `adopt` is the user's
/// word on that.
pub(super) async fn dry_run(wish: &Wish<'_>, is_new: bool, adopt: Option<&str>) -> Vec<Finding> {
    // Forced: who manages which field is a question for the apply.
    let Ok(reply) = wish.send(Way { is_forced: true, is_dry_run: true }).await else { return Vec::new() };
    if is_new
        && may_be_there(&reply)
        && let Some(finding) = taken(wish.client, &wish.address, adopt).await
    {
        return vec![finding];
    }
    match reply {
        Reply::Done(answer) => answer.warnings.iter().map(|warning| warned(wish, warning)).collect(),
        Reply::Refused { http, status } if is_unknown_kind(http, &status) => vec![unknown(wish.address.of)],
        Reply::Refused { http, status } => match verdict(http, &status) {
            // What a stranger put in the way of ours goes with the change.
            Verdict::Refused if wish.can_clear().await.unwrap_or(false) => Vec::new(),
            Verdict::Refused => vec![refused(wish, &status)],
            Verdict::RefusedIfAllowed if may_write(wish).await => vec![refused(wish, &status)],
            Verdict::RefusedIfAllowed | Verdict::Silent => Vec::new(),
        },
    }
}

// An object that would be made has no version yet. Of one that is refused it is not said.
fn may_be_there(reply: &Reply) -> bool {
    match reply {
        Reply::Done(answer) => {
            let version = answer.body.pointer("/metadata/resourceVersion").and_then(Json::as_str);
            version.is_some_and(|version| !version.is_empty())
        }
        Reply::Refused { status, .. } => status.reason == "Invalid",
    }
}

/// What stands in the way of an object that is to be made: one that is there, without a mark of ours, and that the user
/// did not say may be taken over. One with a mark may be left from a run that was killed; the apply tells.
pub(super) async fn taken(client: &ClusterClient, address: &Address<'_>, adopt: Option<&str>) -> Option<Finding> {
    let live = get(client, address, Extent::Metadata).await.ok()??;
    let (whose, advice) = ownership(&live, adopt).claimable()?;
    Some(Finding {
        severity: Severity::Error,
        at: "name".into(),
        summary: format!("{} is there already", address.words()),
        detail: format!(
            "It {whose}, so the apply would stop before it, with what it made until then.\n\nImport the resource that it \
             is part of, or choose another name. {advice}"
        ),
    })
}

/// What the nodes that are there say of pods that choose among them. Silence where they cannot be listed, or not at
/// once.
pub(super) async fn nodes(cx: &Cx, client: &Arc<ClusterClient>, wish: &Wish<'_>) -> Vec<Finding> {
    let Some(spec) = wish.object.pointer(SPEC) else { return Vec::new() };
    let pod = Pod(spec);
    if !pod.is_choosy() {
        return Vec::new();
    }
    let words = wish.address.words();
    let path = format!("/api/v1/nodes?limit={MOST_NODES}&labelSelector={}", encode(&pod.selector()));
    let Some(page) = Reader::page(cx, client, &path).await else { return Vec::new() };
    let has_more = page.pointer("/metadata/continue").and_then(Json::as_str).is_some_and(|more| !more.is_empty());
    let nodes = page.get("items").and_then(Json::as_array).filter(|_| !has_more);
    nodes.map_or_else(Vec::new, |nodes| Look { of: &words, pod, nodes }.findings())
}

const REFUSED: &str = "Change what the message names, or the policy of the cluster that refuses it.";

/// What a refusal says of the apply to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The server will not take the object.
    Refused,
    /// It will not, or we may not ask.
    RefusedIfAllowed,
    /// Nothing.
    Silent,
}

pub(super) fn verdict(http: u16, status: &Status) -> Verdict {
    match status.reason.as_str() {
        // It will be there no more when the object is made.
        _ if is_terminating(status) => Verdict::Silent,
        "Invalid" | "BadRequest" => Verdict::Refused,
        "Forbidden" => Verdict::RefusedIfAllowed,
        // Admission may refuse with any code of its own.
        "" if matches!(http, 400 | 422) => Verdict::Refused,
        "" if http == 403 => Verdict::RefusedIfAllowed,
        _ => Verdict::Silent,
    }
}

// Admission and authorisation both answer "Forbidden"; this tells them apart.
async fn may_write(wish: &Wish<'_>) -> bool {
    let Address { of: kind, namespace, name, .. } = wish.address;
    let attributes = json!({
        "group": kind.group, "resource": kind.plural(), "namespace": namespace.unwrap_or_default(), "name": name,
    });
    let of = wish.address.words();
    may(wish.client, &of, "patch", &attributes).await && may(wish.client, &of, "create", &attributes).await
}

/// Whether we may do that with what the attributes of a SelfSubjectAccessReview name.
pub(super) async fn may(client: &ClusterClient, of: &str, verb: &str, attributes: &Json) -> bool {
    let deed = Deed {
        action: "kubernetes:create selfsubjectaccessreviews".to_owned(),
        object: of.to_owned(),
        is_write: false,
    };
    let mut review = json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": { "resourceAttributes": attributes },
    });
    review["spec"]["resourceAttributes"]["verb"] = Json::from(verb);
    let request =
        Request::new(Method::POST, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews").with(JSON, review);
    let answer = client.done(&deed, &request).await;
    answer.is_ok_and(|answer| answer.body.pointer("/status/allowed") == Some(&Json::Bool(true)))
}

// What the server speaks of. A namespace has nothing but labels.
fn whole(wish: &Wish<'_>) -> Place {
    Place::from(if wish.address.of.kind == "Namespace" { "labels" } else { MANIFEST })
}

/// The server does not have the kind, or no version of it that we know.
pub(super) fn unknown(of: Type) -> Finding {
    Finding {
        severity: Severity::Warning,
        at: "".into(),
        summary: format!("The cluster does not know {} yet", of.kind),
        detail: format!(
            "It has no version {} of {} of {}. Have what brings it installed before, in this run or another.",
            of.versions.join(" or "),
            of.kind,
            of.group
        ),
    }
}

fn refused(wish: &Wish<'_>, status: &Status) -> Finding {
    Finding {
        severity: Severity::Error,
        at: place(status, wish.object).unwrap_or_else(|| whole(wish)),
        summary: format!("The cluster will refuse {}", wish.address.words()),
        detail: format!(
            "{}: {}.\n\n{}",
            if status.reason.is_empty() { "Refused" } else { &status.reason },
            status.message.trim_end_matches('.'),
            if is_about_selector(status) { SELECTOR } else { REFUSED }
        ),
    }
}

fn warned(wish: &Wish<'_>, warning: &str) -> Finding {
    Finding {
        severity: Severity::Warning,
        at: whole(wish),
        summary: format!("The cluster warns of {}", wish.address.words()),
        detail: format!("{}.\n\nSee whether it is meant so.", warning.trim_end_matches('.')),
    }
}

#[cfg(test)]
mod tests {
    use converge::{Clock, SystemClock};
    use futures::future::BoxFuture;

    use super::*;

    #[test]
    fn only_what_is_wrong_with_the_object_counts() {
        let status = |reason: &str| Status { reason: reason.to_owned(), ..Status::default() };
        for (http, reason, expected) in [
            (422, "Invalid", Verdict::Refused),
            (400, "BadRequest", Verdict::Refused),
            (403, "Forbidden", Verdict::RefusedIfAllowed),
            (403, "", Verdict::RefusedIfAllowed),
            (404, "NotFound", Verdict::Silent),
            (404, "", Verdict::Silent),
            (409, "Conflict", Verdict::Silent),
            (401, "Unauthorized", Verdict::Silent),
            (429, "TooManyRequests", Verdict::Silent),
            (500, "InternalError", Verdict::Silent),
        ] {
            assert_eq!(verdict(http, &status(reason)), expected, "{http} {reason}");
        }
        let terminating = json!({
            "reason": "Forbidden", "details": { "causes": [{ "reason": "NamespaceTerminating" }] },
        });
        assert_eq!(verdict(403, &serde_json::from_value(terminating).unwrap()), Verdict::Silent);
    }

    #[derive(Debug)]
    struct Hasty;

    impl Clock for Hasty {
        fn now(&self) -> std::time::Instant {
            SystemClock.now()
        }

        fn sleep(&self, _duration: Duration) -> BoxFuture<'static, ()> {
            Box::pin(std::future::ready(()))
        }
    }

    #[tokio::test]
    async fn a_plan_waits_for_no_cluster() {
        let cx = Cx::new(Arc::new(Hasty));
        assert_eq!(soon(&cx, std::future::pending::<()>()).await, None);
        assert_eq!(soon(&cx, async { 1 }).await, Some(1));
    }
}
