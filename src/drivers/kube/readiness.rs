//! Whether an object can be used, told from the object alone. Pure.

use converge::Readiness;
use serde_json::Value as Json;

/// Kueue's finalizer on what is in use.
pub(super) const KUEUE_IN_USE: &str = "kueue.x-k8s.io/resource-in-use";
/// Kubernetes' own, on a claim and on a volume.
pub(super) const PVC_PROTECTION: &str = "kubernetes.io/pvc-protection";
const PV_PROTECTION: &str = "kubernetes.io/pv-protection";

/// Whether an object of this kind can be used. `owns_replicas`: the number of replicas is ours; otherwise an
/// autoscaler moves it, and a rollout that was once complete stays so.
pub(super) fn readiness(kind: &str, live: &Json, owns_replicas: bool) -> Readiness {
    if live.pointer("/metadata/deletionTimestamp").is_some() {
        return Readiness::Waiting(deleting(kind, live));
    }
    match kind {
        "Deployment" => deployment(live, owns_replicas),
        "PersistentVolumeClaim" => claim(live),
        "PersistentVolume" => volume(live),
        "Namespace" => namespace(live),
        "ClusterQueue" => cluster_queue(live),
        "LocalQueue" => local_queue(live),
        "ExternalSecret" => condition(live, "Ready", "the External Secrets operator"),
        "CustomResourceDefinition" => condition(live, "Established", "the API server"),
        // An autoscaler without metrics, a service without pods: they become useful when what they serve is there.
        _ => Readiness::Ready,
    }
}

/// A condition of the object.
pub(super) fn find<'l>(live: &'l Json, kind: &str) -> Option<&'l Json> {
    let conditions = live.pointer("/status/conditions")?.as_array()?;
    conditions.iter().find(|condition| text(condition, "type") == kind)
}

pub(super) fn text<'l>(json: &'l Json, field: &str) -> &'l str {
    json.get(field).and_then(Json::as_str).unwrap_or_default()
}

pub(super) fn is(condition: Option<&Json>, status: &str) -> bool {
    condition.is_some_and(|condition| text(condition, "status") == status)
}

/// `Reason: message`, or what there is of it.
pub(super) fn because(condition: &Json) -> String {
    let (reason, message) = (text(condition, "reason"), text(condition, "message").trim_end_matches('.'));
    match (reason, message) {
        ("", message) => message.to_owned(),
        (reason, "") => reason.to_owned(),
        (reason, message) => format!("{reason}: {message}"),
    }
}

/// Whether the controller has seen the object as it is now; what the status says is of an earlier one otherwise.
pub(super) fn is_seen(live: &Json) -> bool {
    let generation = |pointer: &str| live.pointer(pointer).and_then(Json::as_i64);
    let seen = generation("/status/observedGeneration").unwrap_or_default();
    generation("/metadata/generation").is_none_or(|generation| seen >= generation)
}

// What keeps it: finalizers, what they wait for, and for a namespace what is left in it.
fn deleting(kind: &str, live: &Json) -> String {
    let finalizers: Vec<_> = ["/metadata/finalizers", "/spec/finalizers"]
        .into_iter()
        .filter_map(|pointer| live.pointer(pointer)?.as_array())
        .flatten()
        .filter_map(Json::as_str)
        // Every namespace has this one; what it waits for is in the conditions.
        .filter(|finalizer| (kind, *finalizer) != ("Namespace", "kubernetes"))
        .collect();
    let conditions = live.pointer("/status/conditions").and_then(Json::as_array).into_iter().flatten();
    let is_remainder =
        |condition: &&Json| text(condition, "type").starts_with("Namespace") && is(Some(condition), "True");
    let remains: Vec<_> = conditions
        .filter(is_remainder)
        .map(|condition| format!("{} ({})", text(condition, "type"), text(condition, "message").trim_end_matches('.')))
        .collect();
    let mut state = "being deleted".to_owned();
    if finalizers == ["foregroundDeletion"] {
        state.push_str(", until its pods are gone");
    } else if kind == "Namespace" && finalizers.is_empty() && remains.is_empty() {
        state.push_str(", until what is in it is gone");
    } else if !finalizers.is_empty() {
        state = format!("{state}, held by the finalizers {}", finalizers.join(", "));
        if [KUEUE_IN_USE, PVC_PROTECTION, PV_PROTECTION].iter().any(|finalizer| finalizers.contains(finalizer)) {
            state.push_str(&in_use(kind, live));
        }
    }
    if !remains.is_empty() {
        state = format!("{state}: {}", remains.join("; "));
    }
    state
}

// What such a finalizer waits for.
fn in_use(kind: &str, live: &Json) -> String {
    let count = |name: &str| live.pointer(&format!("/status/{name}")).and_then(Json::as_i64).unwrap_or_default();
    match kind {
        "ClusterQueue" => format!(
            ", until its workloads have ended: {} run, and {} have their quota",
            count("admittedWorkloads"),
            count("reservingWorkloads")
        ),
        "ResourceFlavor" => ", until no ClusterQueue has quota of it".to_owned(),
        "Topology" => ", until no ResourceFlavor refers to it".to_owned(),
        "PersistentVolumeClaim" => ", until no pod mounts it".to_owned(),
        "PersistentVolume" => {
            let claim = |field: &str| live.pointer(&format!("/spec/claimRef/{field}")).and_then(Json::as_str);
            let [namespace, name] = ["namespace", "name"].map(|field| claim(field).unwrap_or_default());
            format!(", until the claim \"{namespace}/{name}\" is gone")
        }
        _ => String::new(),
    }
}

fn deployment(live: &Json, owns_replicas: bool) -> Readiness {
    let status = |name: &str| live.get("status").and_then(|status| status.get(name)?.as_i64()).unwrap_or_default();
    if !is_seen(live) {
        return Readiness::Waiting("the controller has not seen the change yet".to_owned());
    }
    let progressing = find(live, "Progressing");
    let reason = progressing.map_or("", |condition| text(condition, "reason"));
    let wanted = live.pointer("/spec/replicas").and_then(Json::as_i64).unwrap_or(1);
    let (all, updated, available) = (status("replicas"), status("updatedReplicas"), status("availableReplicas"));
    if !owns_replicas && reason == "NewReplicaSetAvailable" && is(find(live, "Available"), "True") && all == updated {
        return Readiness::Ready;
    }
    match (updated < wanted, all > updated, available < updated) {
        (false, false, false) => Readiness::Ready,
        _ if reason == "ProgressDeadlineExceeded" => Readiness::broken(progressing.map_or(String::new(), because)),
        (true, ..) => Readiness::Waiting(format!("{updated} of {wanted} replicas are updated")),
        (_, true, _) => Readiness::Waiting(format!("{} replicas of the former kind are still there", all - updated)),
        (_, _, true) => Readiness::Waiting(format!("{available} of {wanted} replicas are available")),
    }
}

fn claim(live: &Json) -> Readiness {
    match live.pointer("/status/phase").and_then(Json::as_str) {
        Some("Bound") => Readiness::Ready,
        Some("Lost") => Readiness::broken("Lost: the volume it was bound to is gone"),
        phase => Readiness::Waiting(format!("{}, not bound to a volume yet", phase.unwrap_or("Pending"))),
    }
}

fn volume(live: &Json) -> Readiness {
    match live.pointer("/status/phase").and_then(Json::as_str) {
        Some("Failed") => Readiness::broken(format!("Failed: {}", text(live.get("status").unwrap_or(live), "message"))),
        // Bound for ever to a claim that was deleted; its data is where it was.
        Some("Released") => Readiness::broken("Released: the claim it was bound to was deleted"),
        None | Some("Pending") => Readiness::Waiting("Pending".to_owned()),
        Some(_) => Readiness::Ready,
    }
}

fn namespace(live: &Json) -> Readiness {
    match live.pointer("/status/phase").and_then(Json::as_str) {
        Some("Active") => Readiness::Ready,
        Some("Terminating") => Readiness::Waiting(deleting("Namespace", live)),
        phase => Readiness::Waiting(phase.unwrap_or("not active yet").to_owned()),
    }
}

// One that is to be stopped is as wanted when it is inactive.
fn cluster_queue(live: &Json) -> Readiness {
    let policy = live.pointer("/spec/stopPolicy").and_then(Json::as_str).unwrap_or("None");
    if policy == "None" { condition(live, "Active", "Kueue") } else { Readiness::Ready }
}

// That its ClusterQueue is inactive is told of that one.
fn local_queue(live: &Json) -> Readiness {
    match find(live, "Active") {
        Some(condition) if text(condition, "reason") == "ClusterQueueIsInactive" => Readiness::Ready,
        _ => condition(live, "Active", "Kueue"),
    }
}

fn condition(live: &Json, kind: &str, whose: &str) -> Readiness {
    match find(live, kind) {
        Some(condition) if is(Some(condition), "True") => Readiness::Ready,
        Some(condition) => Readiness::Waiting(format!("not {}: {}", kind.to_lowercase(), because(condition))),
        None => Readiness::Waiting(format!("{whose} has not said yet whether it is {}", kind.to_lowercase())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "reads better with literals")]
    fn check(kind: &str, live: Json, expected: Readiness) {
        assert_eq!(readiness(kind, &live, true), expected, "{kind} {live}");
    }

    fn waiting(state: &str) -> Readiness {
        Readiness::Waiting(state.to_owned())
    }

    fn rollout(observed: i64, counts: [i64; 3], reason: &str) -> Json {
        let [all, updated, available] = counts;
        json!({
            "metadata": { "generation": 2 },
            "spec": { "replicas": 2 },
            "status": {
                "observedGeneration": observed, "replicas": all, "updatedReplicas": updated,
                "availableReplicas": available,
                "conditions": [
                    { "type": "Progressing", "status": "True", "reason": reason, "message": "it says." },
                    { "type": "Available", "status": "True" },
                ],
            },
        })
    }

    #[test]
    fn a_deployment_is_ready_when_all_its_replicas_are_new_and_available() {
        check("Deployment", rollout(2, [2, 2, 2], ""), Readiness::Ready);
        check("Deployment", rollout(1, [2, 2, 2], ""), waiting("the controller has not seen the change yet"));
        check("Deployment", rollout(2, [2, 1, 2], ""), waiting("1 of 2 replicas are updated"));
        check("Deployment", rollout(2, [3, 2, 2], ""), waiting("1 replicas of the former kind are still there"));
        check("Deployment", rollout(2, [2, 2, 1], ""), waiting("1 of 2 replicas are available"));
    }

    #[test]
    fn a_deployment_past_its_deadline_is_broken() {
        let text = "ProgressDeadlineExceeded: it says".to_owned();
        check("Deployment", rollout(2, [2, 2, 1], "ProgressDeadlineExceeded"), Readiness::broken(text));
        check(
            "Deployment",
            rollout(1, [2, 2, 1], "ProgressDeadlineExceeded"),
            waiting("the controller has not seen the change yet"),
        );
        check("Deployment", rollout(2, [2, 2, 2], "ProgressDeadlineExceeded"), Readiness::Ready);
    }

    #[test]
    fn an_autoscaler_that_adds_replicas_does_not_undo_a_rollout() {
        let live = rollout(2, [3, 3, 2], "NewReplicaSetAvailable");
        assert_eq!(readiness("Deployment", &live, false), Readiness::Ready);
        assert_ne!(readiness("Deployment", &live, true), Readiness::Ready);
        assert_ne!(readiness("Deployment", &rollout(2, [3, 2, 2], "NewReplicaSetAvailable"), false), Readiness::Ready);
    }

    #[test]
    fn an_object_that_is_being_deleted_says_what_holds_it() {
        check(
            "ConfigMap",
            json!({ "metadata": { "deletionTimestamp": "t", "finalizers": ["a/b", "c/d"] } }),
            waiting("being deleted, held by the finalizers a/b, c/d"),
        );
        check(
            "Deployment",
            json!({ "metadata": { "deletionTimestamp": "t", "finalizers": ["foregroundDeletion"] } }),
            waiting("being deleted, until its pods are gone"),
        );
        check(
            "Namespace",
            json!({
                "metadata": { "deletionTimestamp": "t" },
                "spec": { "finalizers": ["kubernetes"] },
                "status": { "phase": "Terminating", "conditions": [
                    { "type": "NamespaceDeletionContentFailure", "status": "False", "message": "all deleted" },
                    { "type": "NamespaceContentRemaining", "status": "True",
                      "message": "Some resources are remaining: widgets.example.com has 1 resource instances" },
                    { "type": "NamespaceFinalizersRemaining", "status": "True",
                      "message": "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances" },
                ] },
            }),
            waiting(
                "being deleted: NamespaceContentRemaining (Some resources are \
                 remaining: widgets.example.com has 1 resource instances); NamespaceFinalizersRemaining (Some content \
                 in the namespace has finalizers remaining: example.com/hold in 1 resource instances)",
            ),
        );
    }

    #[test]
    fn what_kueue_keeps_says_what_it_waits_for() {
        let held = |status: Json| json!({ "metadata": { "deletionTimestamp": "t", "finalizers": [KUEUE_IN_USE] }, "status": status });
        let state =
            |rest: &str| waiting(&format!("being deleted, held by the finalizers {KUEUE_IN_USE}, until {rest}"));
        check(
            "ClusterQueue",
            held(json!({ "admittedWorkloads": 2, "reservingWorkloads": 3 })),
            state("its workloads have ended: 2 run, and 3 have their quota"),
        );
        check("ResourceFlavor", held(json!({})), state("no ClusterQueue has quota of it"));
        check("Topology", held(json!({})), state("no ResourceFlavor refers to it"));
    }

    #[test]
    fn a_queue_that_is_to_be_stopped_is_ready_and_its_state_is_told_once() {
        let queue = |policy: &str, reason: &str| {
            json!({
                "spec": { "stopPolicy": policy },
                "status": { "conditions": [{ "type": "Active", "status": "False", "reason": reason, "message": "m" }] },
            })
        };
        check("ClusterQueue", queue("Hold", "Stopped"), Readiness::Ready);
        check("ClusterQueue", queue("None", "Stopped"), waiting("not active: Stopped: m"));
        check("LocalQueue", queue("None", "ClusterQueueIsInactive"), Readiness::Ready);
        check(
            "LocalQueue",
            queue("None", "ClusterQueueDoesNotExist"),
            waiting("not active: ClusterQueueDoesNotExist: m"),
        );
    }

    #[test]
    fn claims_volumes_and_namespaces_go_by_phase() {
        let phase = |phase: &str| json!({ "status": { "phase": phase } });
        check("PersistentVolumeClaim", phase("Bound"), Readiness::Ready);
        check("PersistentVolumeClaim", phase("Pending"), waiting("Pending, not bound to a volume yet"));
        assert!(matches!(readiness("PersistentVolumeClaim", &phase("Lost"), true), Readiness::Broken { .. }));
        check("PersistentVolume", phase("Available"), Readiness::Ready);
        let bound = json!({
            "metadata": { "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": [PV_PROTECTION] },
            "spec": { "claimRef": { "namespace": "ml", "name": "weights" } },
        });
        let text =
            "being deleted, held by the finalizers kubernetes.io/pv-protection, until the claim \"ml/weights\" is gone";
        check("PersistentVolume", bound, waiting(text));
        check("PersistentVolume", json!({}), waiting("Pending"));
        check("Namespace", phase("Active"), Readiness::Ready);
        check("Namespace", json!({}), waiting("not active yet"));
    }

    #[test]
    fn what_a_controller_takes_up_goes_by_its_condition() {
        let with = |kind: &str, status: &str| {
            json!({ "status": { "conditions": [
                { "type": kind, "status": status, "reason": "FlavorNotFound", "message": "no flavor" },
            ] } })
        };
        check("ClusterQueue", with("Active", "True"), Readiness::Ready);
        check("LocalQueue", with("Active", "False"), waiting("not active: FlavorNotFound: no flavor"));
        check("ClusterQueue", json!({}), waiting("Kueue has not said yet whether it is active"));
        check("ExternalSecret", with("Ready", "True"), Readiness::Ready);
        check("HorizontalPodAutoscaler", with("ScalingActive", "False"), Readiness::Ready);
        check("ConfigMap", json!({}), Readiness::Ready);
    }
}
