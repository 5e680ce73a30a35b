//! Whether an object can be used, where the object alone does not tell: why a Deployment's pods do not run, and whether
//! a claim waits for its first user. Reads more only while the object is not ready.

use converge::{Fault, Readiness};
use serde_json::Value as Json;

use super::{
    address::Address,
    asker::{Asker, is_owned},
    connection::ClusterClient,
    pods::{Trouble, trouble},
    readiness::{KUEUE_IN_USE, PVC_PROTECTION, because, find, is, is_seen, readiness},
    stuck,
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
const REVISION: &str = "deployment.kubernetes.io/revision";
/// What to do where pods are refused.
const REFUSED: &str = "Change what the message names, or the quota or the policy that refuses the pods.";

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
        (kind, Readiness::Waiting(_)) if let Some(stuck) = stuck::of(kind, live) => {
            let readiness = asker.outlived(stuck, address, live, readiness).await?;
            Ok(Seen { readiness, pod_reasons: Vec::new() })
        }
        ("Deployment", Readiness::Waiting(_) | Readiness::Broken { .. }) if is_telling => {
            deployment(&asker, live, readiness).await
        }
        ("PersistentVolumeClaim", Readiness::Waiting(_)) if is_telling => {
            let waits = asker.waits_for_first_user(live).await?;
            Ok(Seen { readiness: if waits { Readiness::Ready } else { readiness }, pod_reasons: Vec::new() })
        }
        _ => Ok(Seen { readiness, pod_reasons: Vec::new() }),
    }
}

async fn deployment(asker: &Asker<'_>, live: &Json, readiness: Readiness) -> Result<Seen, Fault> {
    let selector = selector(live);
    let sets = asker.replica_sets(&selector).await?;
    let Some(newest) = sets.as_ref().and_then(|sets| newest(live, sets)) else {
        return Ok(Seen { readiness, pod_reasons: Vec::new() });
    };
    let pods = asker.pods(&selector, newest).await?;
    let mut troubles: Vec<_> = pods.newest.iter().filter_map(|pod| Some((pod, trouble(pod, pods.now)?))).collect();
    for (pod, trouble) in troubles.iter_mut().take(CLOSELY) {
        asker.look_closer(pod, trouble, &pods).await?;
    }
    let mut lines: Vec<_> = troubles.iter().map(|(_, trouble)| Trouble::line(trouble)).collect();
    let mut advice = troubles.iter().find_map(|(_, trouble)| trouble.advice);
    if let Some(refusal) = find(newest, "ReplicaFailure").filter(|condition| is(Some(condition), "True")) {
        lines.insert(0, because(refusal));
        if asker.is_refused(newest).await? {
            advice = Some(REFUSED);
        }
    }
    lines.dedup();
    Ok(Seen { readiness: verdict(readiness, &lines, advice), pod_reasons: lines })
}

fn is_in_use(live: &Json) -> bool {
    let finalizers = live.pointer("/metadata/finalizers").and_then(Json::as_array).into_iter().flatten();
    live.pointer("/metadata/deletionTimestamp").is_some()
        && finalizers.filter_map(Json::as_str).any(|finalizer| [KUEUE_IN_USE, PVC_PROTECTION].contains(&finalizer))
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

// `advice`: what to do where waiting does not help.
fn verdict(readiness: Readiness, lines: &[String], advice: Option<&str>) -> Readiness {
    if lines.is_empty() {
        return readiness;
    }
    let reasons = lines.join("; ");
    match (readiness, advice) {
        (Readiness::Waiting(_), Some(advice)) => Readiness::Broken { reasons, advice: Some(advice.to_owned()) },
        (Readiness::Waiting(state), None) => Readiness::Waiting(format!("{state}: {reasons}")),
        (Readiness::Broken { reasons: state, .. }, advice) => {
            Readiness::Broken { reasons: format!("{state}: {reasons}"), advice: advice.map(str::to_owned) }
        }
        (Readiness::Ready, _) => Readiness::Ready,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
        assert_eq!(verdict(waiting(), &[], None), waiting());
        let broken =
            Readiness::Broken { reasons: "pod p: InvalidImageName".to_owned(), advice: Some("Check it.".to_owned()) };
        assert_eq!(verdict(waiting(), &lines, Some("Check it.")), broken);
        let text = "0 of 1 replicas are available: pod p: InvalidImageName".to_owned();
        assert_eq!(verdict(waiting(), &lines, None), Readiness::Waiting(text));
    }

    #[test]
    fn a_selector_is_written_as_a_query() {
        let live = json!({ "spec": { "selector": { "matchLabels": { "a": "b", "c": "d" } } } });
        assert_eq!(selector(&live), "a=b,c=d");
    }
}
