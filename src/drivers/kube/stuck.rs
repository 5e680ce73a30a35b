//! Whether what an object waits for comes by itself: told by the reason of its condition, after a while in which
//! somebody else may have made it, in the same run or beside it.

use converge::{Fault, Readiness};
use serde_json::Value as Json;

use super::{
    address::{Address, Type},
    asker::Asker,
    call::{Reply, seconds},
    readiness::{because, find, is, text},
};
use crate::components::kube::FIELD_MANAGER;

/// That while, in seconds: what is made after a role is known to AWS everywhere only minutes later.
const PATIENCE: i64 = 120;

/// A reason that does not pass by itself, and what to do.
type Reason = (&'static str, &'static str);

const SECRETS: [Reason; 1] = [(
    "SecretSyncedError",
    "See that the store is there and ready, that it has the key and the property, and that its credentials may read \
     them.",
)];
const QUEUES: [Reason; 8] = [
    ("FlavorNotFound", "Make the ResourceFlavor that the message names, or take it out of the queue."),
    ("TopologyNotFound", "Make the Topology that the message names, or take it out of the flavor."),
    ("AdmissionCheckNotFound", "Make the AdmissionCheck that the message names, or take it out of the queue."),
    ("FlavorIndependentAdmissionCheckAppliedPerFlavor", CHECKS),
    ("MultiKueueAdmissionCheckAppliedPerFlavor", CHECKS),
    ("MultipleMultiKueueAdmissionChecks", CHECKS),
    ("MultipleSingleInstanceControllerAdmissionChecks", CHECKS),
    ("NotSupportedWithTopologyAwareScheduling", CHECKS),
];
const CHECKS: &str = "Change the admission checks of the queue as the message says.";
const LOCAL_QUEUES: [Reason; 1] =
    [("ClusterQueueDoesNotExist", "Make the ClusterQueue that the message names, or name one that is there.")];

/// A condition that keeps an object from being ready and that does not pass by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stuck<'l> {
    condition: &'l Json,
    /// Since when, in seconds since 1970.
    since: i64,
    advice: &'static str,
}

/// Whether the object waits for something that does not come by itself.
pub(super) fn of<'l>(kind: &str, live: &'l Json) -> Option<Stuck<'l>> {
    let (condition, reasons): (_, &[Reason]) = match kind {
        "ExternalSecret" => ("Ready", &SECRETS),
        "ClusterQueue" => ("Active", &QUEUES),
        "LocalQueue" => ("Active", &LOCAL_QUEUES),
        _ => return None,
    };
    let condition = find(live, condition).filter(|condition| is(Some(*condition), "False"))?;
    let (_, advice) = reasons.iter().find(|(reason, _)| text(condition, "reason") == *reason)?;
    let is_older = condition
        .get("observedGeneration")
        .and_then(Json::as_i64)
        .zip(live.pointer("/metadata/generation").and_then(Json::as_i64))
        .is_some_and(|(seen, generation)| seen < generation);
    let is_going = live.pointer("/metadata/deletionTimestamp").is_some();
    // A condition that was so before says nothing of what was written since.
    let since = seconds(text(condition, "lastTransitionTime"))?.max(written(live).unwrap_or_default());
    (!is_older && !is_going).then_some(Stuck { condition, since, advice })
}

// When we last changed the object.
fn written(live: &Json) -> Option<i64> {
    let entries = live.pointer("/metadata/managedFields").and_then(Json::as_array).into_iter().flatten();
    entries
        .filter(|entry| text(entry, "manager") == FIELD_MANAGER)
        .filter_map(|entry| seconds(text(entry, "time")))
        .max()
}

impl Stuck<'_> {
    fn is_for_good(self, now: i64) -> bool {
        now - self.since > PATIENCE
    }
}

impl Asker<'_> {
    /// Whether waiting has to end, given how the object is by itself.
    pub(super) async fn outlived(
        &self,
        stuck: Stuck<'_>,
        address: &Address<'_>,
        live: &Json,
        readiness: Readiness,
    ) -> Result<Readiness, Fault> {
        if !self.time(address).await?.is_some_and(|now| stuck.is_for_good(now)) {
            return Ok(readiness);
        }
        let more = self.store(address, live).await?.map(|text| format!("; {text}")).unwrap_or_default();
        let reasons = format!("{}{more}", because(stuck.condition));
        Ok(Readiness::Broken { reasons, advice: Some(stuck.advice.to_owned()) })
    }

    // The server's time.
    async fn time(&self, address: &Address<'_>) -> Result<Option<i64>, Fault> {
        let verb = format!("get {}", address.of.plural());
        Ok(self.look(&verb, address.path()).await?.and_then(|answer| answer.time))
    }

    // What is amiss with the store of an ExternalSecret, which its own condition may not say.
    async fn store(&self, address: &Address<'_>, live: &Json) -> Result<Option<String>, Fault> {
        let Some(store) = live.pointer("/spec/secretStoreRef") else { return Ok(None) };
        let is_namespaced = text(store, "kind") != "ClusterSecretStore";
        let kind = if is_namespaced { "SecretStore" } else { "ClusterSecretStore" };
        let of = Type { kind, is_namespaced, ..address.of };
        let at = Address {
            of,
            namespace: address.namespace.filter(|_| is_namespaced),
            name: text(store, "name"),
            ..*address
        };
        Ok(match self.reply(&format!("get {}", of.plural()), at.path()).await? {
            Reply::Refused { http: 404, .. } => Some(format!("{} is not there", at.words())),
            Reply::Refused { .. } => None,
            Reply::Done(answer) => find(&answer.body, "Ready")
                .filter(|condition| is(Some(*condition), "False"))
                .map(|condition| format!("{} is not ready: {}", at.words(), because(condition))),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::drivers::kube::{
        connection::ClusterClient,
        testing::{Asked, Server},
    };

    const LONG_AGO: &str = "2020-01-01T00:00:00Z";
    const NOW: &str = "2999-01-01T00:00:00Z";

    fn live(kind: &str, reason: &str, since: &str, written: &str) -> Json {
        json!({
            "metadata": {
                "generation": 2,
                "managedFields": [
                    { "manager": "controller", "time": NOW }, { "manager": FIELD_MANAGER, "time": written },
                ],
            },
            "spec": { "secretStoreRef": { "kind": "ClusterSecretStore", "name": "aws" } },
            "status": { "conditions": [
                { "type": kind, "status": "False", "reason": reason, "message": "could not.", "lastTransitionTime": since },
            ] },
        })
    }

    #[test]
    fn only_reasons_that_do_not_pass_count() {
        for (kind, condition, reason, is_stuck) in [
            ("ExternalSecret", "Ready", "SecretSyncedError", true),
            ("ExternalSecret", "Ready", "SecretDeleted", false),
            ("ClusterQueue", "Active", "FlavorNotFound", true),
            ("ClusterQueue", "Active", "AdmissionCheckInactive", false),
            ("ClusterQueue", "Active", "Stopped", false),
            ("LocalQueue", "Active", "ClusterQueueDoesNotExist", true),
            ("LocalQueue", "Active", "ClusterQueueIsInactive", false),
            ("Deployment", "Ready", "SecretSyncedError", false),
        ] {
            let live = live(condition, reason, LONG_AGO, LONG_AGO);
            assert_eq!(of(kind, &live).is_some(), is_stuck, "{kind} {reason}");
        }
        let mut older = live("Active", "FlavorNotFound", LONG_AGO, LONG_AGO);
        older["status"]["conditions"][0]["observedGeneration"] = json!(1);
        assert_eq!(of("ClusterQueue", &older), None, "it speaks of what was before");
        let mut going = live("Active", "FlavorNotFound", LONG_AGO, LONG_AGO);
        going["metadata"]["deletionTimestamp"] = json!(NOW);
        assert_eq!(of("ClusterQueue", &going), None);
    }

    #[test]
    fn the_while_begins_with_the_condition_or_with_the_last_write_of_ours() {
        let patient = seconds(LONG_AGO).map(|since| since + PATIENCE);
        let is_for_good = |since, written, now| {
            of("ClusterQueue", &live("Active", "FlavorNotFound", since, written)).map(|stuck| stuck.is_for_good(now))
        };
        let now = patient.expect("a time");
        assert_eq!(is_for_good(LONG_AGO, LONG_AGO, now), Some(false));
        assert_eq!(is_for_good(LONG_AGO, LONG_AGO, now + 1), Some(true));
        assert_eq!(is_for_good("2020-01-01T00:00:01Z", LONG_AGO, now + 1), Some(false));
        assert_eq!(is_for_good(LONG_AGO, "2020-01-01T00:00:01Z", now + 1), Some(false));
    }

    async fn told(store: (u16, Json)) -> Readiness {
        let answer = move |asked: &Asked| match asked.line.as_str() {
            "GET /apis/external-secrets.io/v1/clustersecretstores/aws" => store.clone(),
            _ => (200, json!({})),
        };
        let server = Server::start(answer).await;
        let client = ClusterClient::of(&server.url, None).await;
        let of = Type::of::<crate::components::kube::ExternalSecret>();
        let address = Address { of, version: "v1", namespace: Some("ml"), name: "hf" };
        let live = live("Ready", "SecretSyncedError", LONG_AGO, LONG_AGO);
        let asker = Asker { client: &client, namespace: "ml", words: address.words() };
        let stuck = super::of("ExternalSecret", &live).expect("it is stuck");
        asker.outlived(stuck, &address, &live, Readiness::Ready).await.expect("the server answers")
    }

    #[tokio::test]
    async fn what_is_amiss_with_the_store_is_told() {
        let broken = |more: &str| Readiness::Broken {
            reasons: format!("SecretSyncedError: could not{more}"),
            advice: Some(SECRETS[0].1.to_owned()),
        };
        let condition =
            json!({ "type": "Ready", "status": "False", "reason": "InvalidProviderConfig", "message": "no role" });
        let status = json!({ "status": { "conditions": [condition] } });
        let missing = json!({ "reason": "NotFound" });
        assert_eq!(told((404, missing)).await, broken("; ClusterSecretStore \"aws\" is not there"));
        let text = "; ClusterSecretStore \"aws\" is not ready: InvalidProviderConfig: no role";
        assert_eq!(told((200, status)).await, broken(text));
        assert_eq!(told((403, json!({ "reason": "Forbidden" }))).await, broken(""));
        assert_eq!(told((200, json!({}))).await, broken(""));
    }
}
