//! Why a pod does not run, in the cluster's own words, and whether it will ever. Pure.

use serde_json::Value as Json;

use super::{
    call::seconds,
    readiness::{because, find, is, text},
};

/// What keeps one pod from being ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    /// The pod's name.
    pub(super) pod: String,
    /// The container, where it is about one.
    pub(super) container: Option<String>,
    /// The reason.
    pub(super) text: String,
    /// What to do where it will not pass by itself.
    pub(super) advice: Option<&'static str>,
    /// Where more is to be learned.
    pub(super) more: More,
}

/// Where more is to be learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum More {
    Nowhere,
    /// The log of the run that ended.
    FormerLog,
    /// The pod's events: what the kubelet complains of.
    Events,
    /// What autoscalers say.
    Place,
    /// Who holds its gate.
    Gate,
}

/// Reasons that no retry cures, and what does.
const FINAL: [(&str, &str); 2] = [("ErrImageNeverPull", IMAGE), ("InvalidImageName", IMAGE)];
/// Reasons that a retry may cure, for a while.
const STUCK: [(&str, &str); 5] = [
    ("CreateContainerConfigError", CONFIG),
    ("CreateContainerError", START),
    ("ErrImagePull", IMAGE),
    ("ImagePullBackOff", IMAGE),
    ("RunContainerError", START),
];
const IMAGE: &str = "Check the name of the image, and the credentials for its registry.";
const CONFIG: &str = "Make what the message names: the Secret or the ConfigMap, and its key.";
const START: &str = "Check the command and what is mounted.";
const MEMORY: &str = "Give the container more memory.";
const LOG: &str = "Correct what the end of its log names.";
/// How long that while is, in seconds: two or three pulls.
const PATIENCE: i64 = 60;
/// As many ends of a container are no accident.
const CRASHES: i64 = 3;
/// As many kills for want of memory; it will not need less.
const KILLS: i64 = 2;

/// What keeps the pod from being ready; none where it is, or is going away. `now`: the server's time.
pub(super) fn trouble(pod: &Json, now: Option<i64>) -> Option<Trouble> {
    let is_gone = pod.pointer("/metadata/deletionTimestamp").is_some();
    if is_gone || is(find(pod, "Ready"), "True") {
        return None;
    }
    let scheduled = find(pod, "PodScheduled");
    if is(scheduled, "False") {
        return scheduled.map(|condition| {
            let more = match text(condition, "reason") {
                "Unschedulable" => More::Place,
                "SchedulingGated" => More::Gate,
                _ => More::Nowhere,
            };
            Trouble { more, ..whole(pod, because(condition)) }
        });
    }
    let is_stuck = scheduled
        .and_then(|condition| seconds(text(condition, "lastTransitionTime")))
        .zip(now)
        .is_some_and(|(since, now)| now - since > PATIENCE);
    let found = ["initContainerStatuses", "containerStatuses"].into_iter().find_map(|field| {
        let statuses = pod.get("status")?.get(field)?.as_array()?;
        statuses.iter().find_map(|status| container(pod, status, is_stuck))
    });
    if found.is_some() {
        return found;
    }
    match pod.pointer("/status/phase").and_then(Json::as_str) {
        Some("Failed") => {
            let status = pod.get("status").unwrap_or(pod);
            Some(whole(pod, format!("failed: {}", because(status))))
        }
        _ => Some(whole(pod, "has not started yet".to_owned())),
    }
}

fn whole(pod: &Json, text: String) -> Trouble {
    Trouble { pod: name(pod).to_owned(), container: None, text, advice: None, more: More::Nowhere }
}

fn container(pod: &Json, status: &Json, is_stuck: bool) -> Option<Trouble> {
    let trouble = |text: String, advice: Option<&'static str>, more: More| {
        let container = Some(self::text(status, "name").to_owned());
        Some(Trouble { pod: name(pod).to_owned(), container, text, advice, more })
    };
    let cure = |of: &[(&str, &'static str)], reason: &str| {
        of.iter().find(|(known, _)| *known == reason).map(|(_, advice)| *advice)
    };
    let restarts = status.get("restartCount").and_then(Json::as_i64).unwrap_or_default();
    let waiting = status.pointer("/state/waiting");
    let ended = status.pointer("/state/terminated").or_else(|| status.pointer("/lastState/terminated"));
    let exit = ended.and_then(|ended| ended.get("exitCode")?.as_i64());
    let reason = waiting.map_or("", |waiting| text(waiting, "reason"));
    if ended.is_some_and(|ended| text(ended, "reason") == "OOMKilled") && restarts_matter(status) {
        let text = format!("OOMKilled: it needs more memory than its limit ({restarts} restarts)");
        return trouble(text, (restarts >= KILLS).then_some(MEMORY), More::FormerLog);
    }
    match (waiting, exit) {
        (Some(waiting), _) if cure(&FINAL, reason).is_some() => {
            trouble(because(waiting), cure(&FINAL, reason), More::Nowhere)
        }
        (Some(waiting), _) if cure(&STUCK, reason).is_some() => {
            trouble(because(waiting), cure(&STUCK, reason).filter(|_| is_stuck), More::Nowhere)
        }
        (_, Some(exit)) if restarts_matter(status) && (exit != 0 || restarts > 0) => {
            let text = format!("its process ended with code {exit} ({restarts} restarts)");
            trouble(text, (restarts >= CRASHES).then_some(LOG), More::FormerLog)
        }
        (Some(waiting), _) if reason == "PodInitializing" || reason == "ContainerCreating" => {
            trouble(because(waiting), None, More::Events)
        }
        (Some(waiting), _) => trouble(because(waiting), None, More::Nowhere),
        (None, _) => running(status).and_then(|text| trouble(text.to_owned(), None, More::Events)),
    }
}

// Of a container that runs and is ready, or ended well, the past does not count.
fn restarts_matter(status: &Json) -> bool {
    let is_ready = status.get("ready") == Some(&Json::Bool(true));
    !is_ready && status.pointer("/state/terminated/exitCode").and_then(Json::as_i64) != Some(0)
}

fn running(status: &Json) -> Option<&'static str> {
    let says = |field: &str, value: bool| status.get(field) == Some(&Json::Bool(value));
    match () {
        () if status.pointer("/state/running").is_none() || says("ready", true) => None,
        () if says("started", false) => Some("runs; its startup probe has not passed yet"),
        () => Some("runs; its readiness probe does not pass"),
    }
}

fn name(pod: &Json) -> &str {
    pod.pointer("/metadata/name").and_then(Json::as_str).unwrap_or_default()
}

// === impl Trouble ===

impl Trouble {
    /// One line: who and why.
    pub(super) fn line(&self) -> String {
        match &self.container {
            Some(container) => format!("pod {} (container {container}): {}", self.pod, self.text),
            None => format!("pod {}: {}", self.pod, self.text),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW: Option<i64> = Some(1_700_000_100);

    fn pod(conditions: &Json, container: &Json) -> Json {
        json!({
            "metadata": { "name": "p" },
            "status": { "phase": "Pending", "conditions": conditions, "containerStatuses": [container] },
        })
    }

    fn bound(container: &Json) -> Json {
        // 100 seconds ago.
        let condition =
            json!({ "type": "PodScheduled", "status": "True", "lastTransitionTime": "2023-11-14T22:13:20Z" });
        pod(&json!([condition]), container)
    }

    fn check(pod: &Json, line: &str, is_final: bool) {
        let trouble = trouble(pod, NOW).unwrap();
        assert_eq!((trouble.line().as_str(), trouble.advice.is_some()), (line, is_final), "{pod}");
    }

    fn waiting(reason: &str, message: &str) -> Json {
        json!({ "name": "c", "state": { "waiting": { "reason": reason, "message": message } } })
    }

    #[test]
    fn a_pod_without_a_place_says_why_and_is_waited_for() {
        let message = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.";
        let condition =
            json!({ "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message });
        let pod = pod(&json!([condition]), &json!({}));
        check(&pod, "pod p: Unschedulable: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu", false);
        assert_eq!(trouble(&pod, NOW).unwrap().more, More::Place);
    }

    #[test]
    fn an_image_that_cannot_be_pulled_is_given_a_while() {
        let container = waiting("ImagePullBackOff", "Back-off pulling image \"x\"");
        let line = "pod p (container c): ImagePullBackOff: Back-off pulling image \"x\"";
        check(&bound(&container), line, true);
        assert!(trouble(&bound(&container), Some(1_700_000_030)).unwrap().advice.is_none());
        assert!(trouble(&bound(&container), None).unwrap().advice.is_none(), "a server without a clock is believed");
        check(&bound(&waiting("InvalidImageName", "bad")), "pod p (container c): InvalidImageName: bad", true);
    }

    #[test]
    fn a_container_that_ends_again_and_again_will_not_run() {
        let crashed = |restarts: i64, reason: &str, exit: i64| {
            bound(&json!({
                "name": "c", "restartCount": restarts, "ready": false,
                "state": { "waiting": { "reason": "CrashLoopBackOff", "message": "back-off" } },
                "lastState": { "terminated": { "reason": reason, "exitCode": exit } },
            }))
        };
        check(&crashed(1, "Error", 1), "pod p (container c): its process ended with code 1 (1 restarts)", false);
        check(&crashed(3, "Error", 1), "pod p (container c): its process ended with code 1 (3 restarts)", true);
        let killed = "pod p (container c): OOMKilled: it needs more memory than its limit (2 restarts)";
        check(&crashed(2, "OOMKilled", 137), killed, true);
        assert_eq!(trouble(&crashed(2, "OOMKilled", 137), NOW).unwrap().more, More::FormerLog);
    }

    #[test]
    fn a_container_that_runs_waits_for_its_probes() {
        let running =
            |started: bool| json!({ "name": "c", "state": { "running": {} }, "started": started, "ready": false });
        check(&bound(&running(false)), "pod p (container c): runs; its startup probe has not passed yet", false);
        check(&bound(&running(true)), "pod p (container c): runs; its readiness probe does not pass", false);
        assert_eq!(trouble(&bound(&running(false)), NOW).unwrap().more, More::Events);
    }

    #[test]
    fn a_pod_that_is_ready_or_goes_away_is_in_no_trouble() {
        assert_eq!(trouble(&pod(&json!([{ "type": "Ready", "status": "True" }]), &json!({})), NOW), None);
        assert_eq!(trouble(&json!({ "metadata": { "deletionTimestamp": "t" } }), NOW), None);
        check(&json!({ "metadata": { "name": "p" } }), "pod p: has not started yet", false);
    }

    #[test]
    fn an_init_container_that_ended_well_is_in_no_trouble() {
        let mut pod = bound(&waiting("PodInitializing", ""));
        let init = json!([{ "name": "i", "state": { "terminated": { "exitCode": 0 } } }]);
        pod["status"]["initContainerStatuses"] = init;
        check(&pod, "pod p (container c): PodInitializing", false);
    }
}
