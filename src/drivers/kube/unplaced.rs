//! A pod that no node has a place for: what autoscalers say of it in its events, and whether a place may still come.
//! Pure.
//!
//! An autoscaler that brings a node is waited for. One that says it brings none is believed after a moment. Where none
//! says anything, a node may still be added by hand or become ready, for a few minutes.

use serde_json::Value as Json;

use super::{
    call::seconds,
    readiness::{because, find, text},
};

/// Seconds after which an autoscaler's refusal is believed: it looks every ten, and other pods may be leaving.
const CONFIRMATION: i64 = 60;
/// Seconds after which a node is no longer expected that nobody has announced. Autoscalers announce theirs within one
/// minute; one that is added by hand starts in less than five.
const PATIENCE: i64 = 300;

/// What is to be expected for a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outlook {
    /// What there is to say, as a continuation of the scheduler's reason.
    pub(super) text: String,
    /// What the user can do, where nothing will come by itself.
    pub(super) advice: Option<&'static str>,
}

/// What is known beside the pod.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Knowledge<'a> {
    /// Its events; none where they could not be read.
    pub(super) events: Option<&'a Json>,
    /// A claim that the pod mounts and that is not there. No node helps it then.
    pub(super) missing_claim: Option<&'a str>,
    /// Pods of the same object are going, and their place becomes free.
    pub(super) others_leave: bool,
    /// The server's time.
    pub(super) now: Option<i64>,
}

/// Reasons by which Cluster Autoscaler and Karpenter say that a node comes.
const COMING: [&str; 2] = ["Nominated", "TriggeredScaleUp"];
/// Cluster Autoscaler's, for none.
const NOT_COMING: &str = "NotTriggerScaleUp";
/// The scheduler's, and that of Karpenter and of EKS Auto Mode for a node that they cannot make.
const FAILED: &str = "FailedScheduling";

const REFUSED: &str = "Let the autoscaler bring a node that fits (its largest size, instance types, labels and \
    taints), or ask for less: accelerators, processors, memory, the node selector.";
const SILENT: &str = "Add a node that fits, by hand or by an autoscaler, or ask for less: accelerators, processors, \
    memory, the node selector.";

const CLAIM: &str = "Make the claim, in the namespace of the pods.";

/// What is to be expected for a pod that the scheduler found no place for.
pub(super) fn outlook(pod: &Json, known: &Knowledge<'_>) -> Outlook {
    let wait = |text: String| Outlook { text, advice: None };
    let waited = waited(pod, known.now);
    if let Some(claim) = known.missing_claim {
        let advice = (waited >= CONFIRMATION).then_some(CLAIM);
        return Outlook { text: format!("; there is no PersistentVolumeClaim {claim:?}"), advice };
    }
    if let Some(node) = pod.pointer("/status/nominatedNodeName").and_then(Json::as_str).filter(|node| !node.is_empty())
    {
        return wait(format!("; place is being made for it on node {node}"));
    }
    if known.others_leave {
        return wait("; pods that are going still have their place".to_owned());
    }
    let Some(events) = known.events else { return wait(String::new()) };
    match last_word(pod, events) {
        Some((Word::Coming, said)) => wait(said),
        Some((Word::NotComing, said)) => Outlook { text: said, advice: (waited >= CONFIRMATION).then_some(REFUSED) },
        None if waited >= PATIENCE => {
            let minutes = PATIENCE / 60;
            Outlook {
                text: format!("; no autoscaler has said in {minutes} minutes that it brings a node"),
                advice: Some(SILENT),
            }
        }
        None => wait(String::new()),
    }
}

// For how long there has been no place.
fn waited(pod: &Json, now: Option<i64>) -> i64 {
    let since = find(pod, "PodScheduled").and_then(|condition| seconds(text(condition, "lastTransitionTime")));
    since.zip(now).map_or(0, |(since, now)| now.saturating_sub(since))
}

/// What an event says of a node to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Word {
    NotComing,
    Coming,
}

// What was said last counts, whoever said it; of two at once the better news.
fn last_word(pod: &Json, events: &Json) -> Option<(Word, String)> {
    let events = events.get("items").and_then(Json::as_array)?;
    let words = events.iter().filter_map(|event| Some((when(event), word(pod, event)?, event)));
    let (_, word, event) = words.max_by_key(|(time, word, _)| (*time, *word))?;
    Some((word, format!("; {} says {}", reporter(event), because(event))))
}

fn word(pod: &Json, event: &Json) -> Option<Word> {
    let scheduler = pod.pointer("/spec/schedulerName").and_then(Json::as_str).unwrap_or("default-scheduler");
    match text(event, "reason") {
        reason if COMING.contains(&reason) => Some(Word::Coming),
        NOT_COMING => Some(Word::NotComing),
        FAILED if !["", scheduler].contains(&reporter(event)) => Some(Word::NotComing),
        _ => None,
    }
}

fn reporter(event: &Json) -> &str {
    let source = event.pointer("/source/component").and_then(Json::as_str).unwrap_or_default();
    Some(text(event, "reportingComponent")).filter(|name| !name.is_empty()).unwrap_or(source)
}

// Two generations of events, and both may be repeated.
fn when(event: &Json) -> Option<i64> {
    let places = ["/series/lastObservedTime", "/lastTimestamp", "/eventTime", "/metadata/creationTimestamp"];
    places.iter().find_map(|place| seconds(event.pointer(place)?.as_str()?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// 2023-11-14T22:13:20Z.
    const SINCE: i64 = 1_700_000_000;

    fn pod() -> Json {
        let condition = json!({
            "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
            "lastTransitionTime": "2023-11-14T22:13:20Z",
        });
        json!({ "metadata": { "name": "p" }, "status": { "conditions": [condition] } })
    }

    fn event(component: &str, reason: &str, time: &str) -> Json {
        json!({
            "reason": reason, "message": "so it is.", "source": { "component": component },
            "lastTimestamp": format!("2023-11-14T22:{time}Z"),
        })
    }

    fn check(events: &[Json], waited: i64, text: &str, is_final: bool) {
        let events = json!({ "items": events });
        let known = Knowledge { events: Some(&events), now: Some(SINCE + waited), ..Knowledge::default() };
        let outlook = outlook(&pod(), &known);
        assert_eq!((outlook.text.as_str(), outlook.advice.is_some()), (text, is_final), "{events}");
    }

    #[test]
    fn an_autoscaler_that_brings_a_node_is_waited_for() {
        for (component, reason) in [("cluster-autoscaler", "TriggeredScaleUp"), ("karpenter", "Nominated")] {
            let text = format!("; {component} says {reason}: so it is");
            check(&[event(component, reason, "13:30")], 10_000, &text, false);
        }
    }

    #[test]
    fn an_autoscaler_that_brings_none_is_believed_after_a_moment() {
        for (component, reason) in [
            ("cluster-autoscaler", "NotTriggerScaleUp"),
            ("karpenter", "FailedScheduling"),
            ("eks-auto-mode/compute", "FailedScheduling"),
        ] {
            let (events, text) =
                ([event(component, reason, "13:30")], format!("; {component} says {reason}: so it is"));
            check(&events, CONFIRMATION - 1, &text, false);
            check(&events, CONFIRMATION, &text, true);
        }
    }

    #[test]
    fn what_an_autoscaler_says_last_counts() {
        let (coming, not) = ("TriggeredScaleUp", "NotTriggerScaleUp");
        let said = |first, second| [event("ca", first, "13:30"), event("ca", second, "14:30")];
        check(&said(not, coming), 1_000, "; ca says TriggeredScaleUp: so it is", false);
        check(&said(coming, not), 1_000, "; ca says NotTriggerScaleUp: so it is", true);
        let at_once = [event("ca", coming, "13:30"), event("ca", not, "13:30")];
        check(&at_once, 1_000, "; ca says TriggeredScaleUp: so it is", false);
    }

    #[test]
    fn without_a_word_of_an_autoscaler_a_node_is_awaited_for_some_minutes() {
        // The scheduler's own word, in the newer kind of event.
        let scheduler = json!({
            "reason": "FailedScheduling", "reportingComponent": "default-scheduler", "source": {},
            "eventTime": "2023-11-14T22:13:20.123456Z", "lastTimestamp": null,
        });
        check(std::slice::from_ref(&scheduler), PATIENCE - 1, "", false);
        check(&[scheduler], PATIENCE, "; no autoscaler has said in 5 minutes that it brings a node", true);
    }

    #[test]
    fn place_that_becomes_free_is_waited_for() {
        let refused = json!({ "items": [event("ca", "NotTriggerScaleUp", "13:30")] });
        let now = Some(SINCE + 10_000);
        let known = Knowledge { events: Some(&refused), others_leave: true, now, ..Knowledge::default() };
        assert_eq!(outlook(&pod(), &known).advice, None);
        let mut preempting = pod();
        preempting["status"]["nominatedNodeName"] = json!("n1");
        let outlook = outlook(&preempting, &Knowledge { others_leave: false, ..known });
        assert_eq!((outlook.text.as_str(), outlook.advice), ("; place is being made for it on node n1", None));
    }

    #[test]
    fn a_claim_that_is_not_there_is_what_a_pod_waits_for() {
        let coming = json!({ "items": [event("ca", "TriggeredScaleUp", "13:30")] });
        let missing = |waited| {
            let known = Knowledge { events: Some(&coming), missing_claim: Some("weights"), ..Knowledge::default() };
            outlook(&pod(), &Knowledge { now: Some(SINCE + waited), ..known })
        };
        assert_eq!(missing(10).text, "; there is no PersistentVolumeClaim \"weights\"");
        assert_eq!((missing(10).advice, missing(CONFIRMATION).advice), (None, Some(CLAIM)));
    }

    #[test]
    fn nothing_is_concluded_without_events_or_without_a_clock() {
        let known = Knowledge { now: Some(SINCE + 10_000), ..Knowledge::default() };
        assert_eq!(outlook(&pod(), &known), Outlook { text: String::new(), advice: None });
        let none = json!({ "items": [] });
        assert_eq!(outlook(&pod(), &Knowledge { events: Some(&none), now: None, ..known }).advice, None);
    }
}
