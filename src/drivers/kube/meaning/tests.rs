//! What counts as a difference, case by case.

use serde_json::json;

use super::*;

/// What we write, what the server has, and the expected part of it that is ours.
#[expect(clippy::needless_pass_by_value, reason = "reads better with literals")]
fn check(kind: &str, wanted: Json, live: Json, expected: Json) {
    assert_eq!(ours(kind, &wanted, &live), expected, "{kind}: {wanted} beside {live}");
}

fn same(kind: &str, wanted: Json, live: Json) {
    check(kind, wanted.clone(), live, wanted);
}

#[test]
fn the_servers_spelling_is_no_difference() {
    same(
        "Deployment",
        json!({ "resources": { "requests": { "cpu": "1000m", "memory": "1024Mi" }, "limits": { "nvidia.com/gpu": 1 } } }),
        json!({ "resources": { "requests": { "cpu": "1", "memory": "1Gi" }, "limits": { "nvidia.com/gpu": "1" } } }),
    );
    same(
        "ResourceQuota",
        json!({ "spec": { "hard": { "cpu": "0.5" } } }),
        json!({ "spec": { "hard": { "cpu": "500m" } } }),
    );
    same("Service", json!({ "targetPort": "8080", "port": 80.0 }), json!({ "targetPort": 8080, "port": 80 }));
    same("Ingress", json!({ "a": null, "b": [], "c": "", "d": false, "e": {} }), json!({}));
    same("ExternalSecret", json!({ "refreshInterval": "1h" }), json!({ "refreshInterval": "1h0m0s" }));
}

#[test]
fn a_text_that_only_looks_like_an_amount_is_compared_as_text() {
    check(
        "Deployment",
        json!({ "env": [{ "name": "A", "value": "1000m" }] }),
        json!({ "env": [{ "name": "A", "value": "1" }] }),
        json!({ "env": [{ "name": "A", "value": "1" }] }),
    );
}

#[test]
fn defaults_and_fields_of_others_are_not_ours() {
    same(
        "Deployment",
        json!({ "spec": { "template": { "spec": { "containers": [{ "name": "main", "image": "i" }] } } } }),
        json!({ "spec": { "replicas": 5, "template": { "spec": {
            "containers": [
                { "name": "sidecar", "image": "s" },
                { "name": "main", "image": "i", "imagePullPolicy": "Always" },
            ],
            "dnsPolicy": "ClusterFirst",
        } } } }),
    );
}

#[test]
fn a_changed_or_missing_field_is_shown_as_it_is() {
    check(
        "Deployment",
        json!({ "spec": { "a": 1, "b": "x" } }),
        json!({ "spec": { "a": 2 } }),
        json!({ "spec": { "a": 2 } }),
    );
    check("ConfigMap", json!({ "data": { "k": "v" } }), json!({}), json!({}));
    check(
        "Deployment",
        json!({ "containers": [{ "name": "main", "image": "i" }] }),
        json!({ "containers": [{ "name": "other", "image": "o" }] }),
        json!({ "containers": [] }),
    );
}

#[test]
fn lists_with_keys_are_compared_whatever_their_order() {
    let metric = |kind: &str, name: &str, value: &str| match kind {
        "Pods" => json!({ "type": kind, "pods": { "metric": { "name": name }, "target": { "averageValue": value } } }),
        _ => json!({ "type": kind, "resource": { "name": name, "target": { "averageValue": value } } }),
    };
    same(
        "HorizontalPodAutoscaler",
        json!({ "metrics": [metric("Pods", "queue", "4"), metric("Resource", "memory", "1Gi")] }),
        json!({ "metrics": [metric("Resource", "memory", "1024Mi"), metric("Pods", "queue", "4000m")] }),
    );
    same(
        "Service",
        json!({ "ports": [{ "name": "a", "port": 1 }, { "name": "b", "port": 2, "protocol": "TCP" }] }),
        json!({ "ports": [{ "name": "b", "port": 2, "protocol": "TCP" }, { "name": "a", "port": 1, "protocol": "TCP" }] }),
    );
    same(
        "Deployment",
        json!({ "tolerations": [{ "key": "a" }, { "key": "b" }], "volumeMounts": [{ "mountPath": "/a", "name": "x" }] }),
        json!({ "tolerations": [{ "key": "b" }, { "key": "a" }], "volumeMounts": [{ "mountPath": "/b", "name": "y" },
            { "mountPath": "/a", "name": "x" }] }),
    );
    same(
        "NetworkPolicy",
        json!({ "policyTypes": ["Ingress", "Egress"] }),
        json!({ "policyTypes": ["Egress", "Ingress"] }),
    );
}

#[test]
fn a_list_without_keys_has_an_order() {
    check(
        "ClusterQueue",
        json!({ "flavors": [{ "name": "a" }, { "name": "b" }] }),
        json!({ "flavors": [{ "name": "b" }, { "name": "a" }] }),
        json!({ "flavors": [{ "name": "b" }, { "name": "a" }] }),
    );
    check(
        "Deployment",
        json!({ "command": ["a"] }),
        json!({ "command": ["a", "b"] }),
        json!({ "command": ["a", "b"] }),
    );
    check("Deployment", json!({ "command": ["a", "b"] }), json!({ "command": ["a"] }), json!({ "command": ["a"] }));
}

#[test]
fn an_empty_selector_that_somebody_narrowed_differs() {
    let narrowed = json!({ "spec": { "podSelector": { "matchLabels": { "a": "b" } } } });
    check("NetworkPolicy", json!({ "spec": { "podSelector": {} } }), narrowed.clone(), narrowed);
    same("NetworkPolicy", json!({ "spec": { "podSelector": {} } }), json!({ "spec": { "podSelector": {} } }));
    check(
        "NetworkPolicy",
        json!({ "ingress": [{}] }),
        json!({ "ingress": [{ "from": [{ "podSelector": {} }] }] }),
        json!({ "ingress": [{ "from": [{ "podSelector": {} }] }] }),
    );
    same("Deployment", json!({ "securityContext": {} }), json!({ "securityContext": { "fsGroup": 1 } }));
    same("Namespace", json!({}), json!({ "spec": { "finalizers": ["kubernetes"] } }));
}

#[test]
fn what_others_add_differs_only_where_it_changes_the_meaning() {
    let widened = json!({ "ports": [{ "name": "a", "port": 1 }, { "name": "theirs", "port": 2 }] });
    check("Service", json!({ "ports": [{ "name": "a", "port": 1 }] }), widened.clone(), widened);
    let softened = json!({ "validationActions": ["Deny", "Warn"] });
    check("ValidatingAdmissionPolicyBinding", json!({ "validationActions": ["Deny"] }), softened.clone(), softened);
    let narrowed = json!({ "selector": { "matchLabels": { "app": "x", "also": "y" } } });
    check("PodMonitor", json!({ "selector": { "matchLabels": { "app": "x" } } }), narrowed.clone(), narrowed);
    same(
        "ValidatingAdmissionPolicy",
        json!({ "spec": { "matchConstraints": { "resourceRules": [{ "operations": ["CREATE"] }] } } }),
        json!({ "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {},
                "resourceRules": [{ "operations": ["CREATE"], "scope": "*" }],
            },
        } }),
    );
    same(
        "NetworkPolicy",
        json!({ "spec": { "podSelector": {}, "egress": [{ "ports": [{ "port": 53 }] }] } }),
        json!({ "spec": { "podSelector": {}, "egress": [{ "ports": [{ "port": 53, "protocol": "TCP" }] }],
            "policyTypes": ["Egress"] } }),
    );
}

#[test]
fn the_words_of_an_older_kueue_mean_the_same() {
    same("ClusterQueue", json!({ "whenCanBorrow": "Borrow" }), json!({ "whenCanBorrow": "MayStopSearch" }));
    same("ClusterQueue", json!({ "stopPolicy": "None" }), json!({}));
    check("ClusterQueue", json!({ "stopPolicy": "Hold" }), json!({}), json!({}));
}

#[test]
fn what_kueue_writes_into_a_queue_is_no_difference() {
    same(
        "ClusterQueue",
        json!({ "spec": {
            "preemption": { "withinClusterQueue": "LowerPriority" },
            "stopPolicy": "None",
            "resourceGroups": [{ "coveredResources": ["memory"], "flavors": [
                { "name": "a", "resources": [{ "name": "memory", "nominalQuota": "2048Gi" }] },
            ] }],
        } }),
        json!({ "spec": {
            "flavorFungibility": { "whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor" },
            "preemption": {
                "borrowWithinCohort": { "policy": "Never" },
                "reclaimWithinCohort": "Never",
                "withinClusterQueue": "LowerPriority",
            },
            "queueingStrategy": "BestEffortFIFO",
            "resourceGroups": [{ "coveredResources": ["memory"], "flavors": [
                { "name": "a", "resources": [{ "name": "memory", "nominalQuota": "2Ti" }] },
            ] }],
        } }),
    );
}

#[test]
fn a_flavor_that_somebody_made_narrower_differs_and_an_empty_taint_value_does_not() {
    let taint = json!({ "spec": { "nodeTaints": [{ "key": "a", "effect": "NoSchedule" }] } });
    let empty = json!({ "spec": { "nodeTaints": [{ "key": "a", "value": "", "effect": "NoSchedule" }] } });
    same("ResourceFlavor", taint, empty);
    let narrowed = json!({ "spec": { "nodeLabels": { "a": "b", "c": "d" } } });
    check("ResourceFlavor", json!({ "spec": { "nodeLabels": { "a": "b" } } }), narrowed.clone(), narrowed.clone());
    check("ResourceFlavor", json!({ "spec": {} }), narrowed.clone(), narrowed);
}

#[expect(clippy::needless_pass_by_value, reason = "reads better with literals")]
fn operations(kind: &str, wanted: Json, live: Json) -> Vec<Json> {
    strays(kind, &wanted, &live).iter().map(Stray::operation).collect()
}

#[test]
fn strangers_additions_are_taken_away_and_nothing_else() {
    assert_eq!(
        operations(
            "Service",
            json!({ "spec": { "ports": [{ "name": "http", "port": 80 }] } }),
            json!({ "spec": { "ports": [{ "name": "http", "port": 81 }] } }),
        ),
        [json!({ "op": "replace", "path": "/spec/ports", "value": [{ "name": "http", "port": 80 }] })],
    );
    assert_eq!(
        operations(
            "Service",
            json!({ "spec": { "ports": [{ "name": "http", "port": 80 }] } }),
            json!({ "spec": { "ports": [{ "name": "x", "port": 81 }, { "name": "http", "port": 80, "nodePort": 3 }] } }),
        ),
        [json!({ "op": "replace", "path": "/spec/ports", "value": [{ "name": "http", "port": 80, "nodePort": 3 }] })],
        "what the server added to ours stays",
    );
    assert_eq!(
        operations(
            "NetworkPolicy",
            json!({ "spec": { "podSelector": {} } }),
            json!({ "spec": { "podSelector": { "matchLabels": { "a/b": "c" } } } }),
        ),
        [json!({ "op": "remove", "path": "/spec/podSelector/matchLabels" })],
    );
    assert_eq!(
        operations(
            "PodMonitor",
            json!({ "selector": { "matchLabels": { "app": "x" } } }),
            json!({ "selector": { "matchLabels": { "app": "x", "a/b": "c" } } }),
        ),
        [json!({ "op": "remove", "path": "/selector/matchLabels/a~1b" })],
    );
    assert_eq!(
        operations(
            "Deployment",
            json!({ "containers": [{ "name": "main" }] }),
            json!({ "containers": [{ "name": "main" }, { "name": "sidecar" }] }),
        ),
        Vec::<Json>::new(),
    );
}

#[test]
fn a_queue_that_somebody_lets_borrow_is_not_as_wanted() {
    let wanted = json!({ "spec": { "preemption": { "withinClusterQueue": "Never" }, "stopPolicy": "None" } });
    let check =
        |live: Json, is_same: bool| assert_eq!(ours("ClusterQueue", &wanted, &live) == wanted, is_same, "{live}");
    let with = |preemption: Json, more: Json| {
        let mut live =
            json!({ "spec": { "preemption": { "withinClusterQueue": "Never" }, "fairSharing": { "weight": "1" } } });
        for (into, from) in [("/spec/preemption", preemption), ("/spec", more)] {
            if let (Some(into), Json::Object(from)) = (live.pointer_mut(into).and_then(Json::as_object_mut), from) {
                into.extend(from);
            }
        }
        live
    };
    check(with(json!({ "borrowWithinCohort": { "policy": "Never" } }), json!({})), true);
    check(with(json!({ "borrowWithinCohort": { "policy": "LowerPriority" } }), json!({})), false);
    check(with(json!({}), json!({ "cohortName": "somebody" })), false);
    let live = with(json!({}), json!({ "cohort": "somebody" }));
    assert_eq!(strays("ClusterQueue", &wanted, &live), [Stray::Field { pointer: "/spec/cohort".to_owned() }]);
}

#[test]
fn what_takes_from_ours_without_touching_it_is_taken_away() {
    let pointers = |kind, wanted: Json, live: Json| {
        let strays = strays(kind, &json!({ "spec": wanted }), &json!({ "spec": live }));
        strays.into_iter().map(|stray| stray.operation()["path"].clone()).collect::<Vec<_>>()
    };
    let budget = json!({ "minAvailable": 1, "selector": {} });
    assert_eq!(
        pointers("PodDisruptionBudget", json!({ "maxUnavailable": 1, "selector": {} }), budget),
        ["/spec/minAvailable"],
        "a budget with another number"
    );
    let hard = |amounts: Json| json!({ "hard": amounts });
    let theirs = hard(json!({ "requests.cpu": "9", "pods": "1" }));
    let ours = hard(json!({ "requests.cpu": "9" }));
    assert!(pointers("ResourceQuota", ours, theirs).is_empty(), "what nothing is said of is anybody's");
    let paused = json!({ "paused": true, "replicas": 1 });
    assert_eq!(pointers("Deployment", json!({ "replicas": 1 }), paused), ["/spec/paused"], "a rollout that never ends");
}

#[test]
fn what_ours_cannot_stand_beside_is_taken_away() {
    assert_eq!(
        operations(
            "Deployment",
            json!({ "containers": [{ "name": "main", "ports": [{ "name": "http", "containerPort": 80 }] }] }),
            json!({ "containers": [{ "name": "main", "ports": [
                { "name": "http", "containerPort": 81 }, { "name": "x", "containerPort": 82 },
            ] }] }),
        ),
        [json!({
            "op": "replace", "path": "/containers/0/ports", "value": [{ "name": "x", "containerPort": 82 }],
        })],
        "what ours cannot stand beside goes from an open list too",
    );
    for (wanted, live) in [
        (
            json!({ "strategy": { "type": "Recreate" } }),
            json!({ "strategy": { "type": "RollingUpdate", "rollingUpdate": { "maxSurge": 1 } } }),
        ),
        (
            json!({ "env": [{ "name": "A", "value": "1" }] }),
            json!({ "env": [{ "name": "A", "valueFrom": { "fieldRef": { "fieldPath": "metadata.name" } } }] }),
        ),
        (
            json!({ "volumes": [{ "name": "a", "emptyDir": { "medium": "Memory" } }] }),
            json!({ "volumes": [{ "name": "a", "hostPath": { "path": "/" } }] }),
        ),
    ] {
        let (field, value) = wanted.as_object().and_then(|map| map.iter().next()).expect("one field");
        let (path, value) = match value.as_array() {
            Some(list) => (format!("/{field}/0"), list[0].clone()),
            None => (format!("/{field}"), value.clone()),
        };
        let replaced = json!({ "op": "replace", "path": path, "value": value });
        assert_eq!(operations("Deployment", wanted.clone(), live), [replaced], "another alternative goes");
        assert_eq!(operations("Deployment", wanted.clone(), wanted.clone()), Vec::<Json>::new());
    }
    let probe = json!({ "startupProbe": { "httpGet": { "path": "/health" } } });
    let filled_in = json!({ "startupProbe": { "httpGet": { "path": "/health" }, "successThreshold": 1 } });
    assert_eq!(operations("Deployment", probe, filled_in), Vec::<Json>::new(), "a default is no alternative");
}
