//! What somebody changes of a service behind terraform's back: shown by name, repaired alone.

use crate::support::{LIMIT, Stage, scene};
use acceptance_tests::printed::changed_lines;
use anyhow::{Context, Result};
use insta::assert_snapshot;
use serde_json::{Value, json};

const ATTRIBUTES: &str = "  scaling = { min = 1, max = 3, target = 4 }
  expose = { host = \"llm.example.com\" }
  access = { role_arn = \"arn:aws:iam::123456789012:role/reader\", method = \"irsa\" }
  labels = { team = \"search\" }
";

/// What is done to which object.
pub(crate) enum Drift {
    Patched(&'static str, fn() -> Value),
    Deleted(&'static str),
}

const DRIFTS: &[(&str, Drift)] = &[
    ("deployment: label changed", Drift::Patched("deployments/llm", || json!({"metadata": {"labels": {"team": "x"}}}))),
    (
        "deployment: label removed",
        Drift::Patched("deployments/llm", || json!({"metadata": {"labels": {"team": null}}})),
    ),
    (
        "deployment: strategy",
        Drift::Patched("deployments/llm", || json!({"spec": {"strategy": {"rollingUpdate": {"maxSurge": 2}}}})),
    ),
    (
        "deployment: pods",
        Drift::Patched(
            "deployments/llm",
            || json!({"spec": {"template": {"spec": {"terminationGracePeriodSeconds": 60}}}}),
        ),
    ),
    ("service: selector", Drift::Patched("services/llm", || json!({"spec": {"selector": {"app": "other"}}}))),
    (
        "service: port moved",
        Drift::Patched(
            "services/llm",
            || json!({"spec": {"ports": [{"name": "http", "port": 81, "targetPort": "http"}]}}),
        ),
    ),
    (
        "service account: role",
        Drift::Patched(
            "serviceaccounts/llm",
            || json!({"metadata": {"annotations": {"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/other"}}}),
        ),
    ),
    ("disruption budget", Drift::Patched("poddisruptionbudgets/llm", || json!({"spec": {"maxUnavailable": 3}}))),
    (
        "autoscaler: most replicas",
        Drift::Patched("horizontalpodautoscalers/llm", || json!({"spec": {"maxReplicas": 9}})),
    ),
    ("ingress: host", Drift::Patched("ingresses/llm", || json!({"spec": {"rules": [{"host": "other.example.com"}]}}))),
    ("service: deleted", Drift::Deleted("services/llm")),
    ("disruption budget: deleted", Drift::Deleted("poddisruptionbudgets/llm")),
    ("autoscaler: deleted", Drift::Deleted("horizontalpodautoscalers/llm")),
];

#[test]
fn drift_of_each_object_is_named_and_repaired_alone() -> Result<()> {
    scene("drift", |stage| {
        let stage = stage.with_service(ATTRIBUTES)?;
        let mut table = Vec::new();
        for (name, drift) in DRIFTS {
            table.push(drifted(&stage, name, drift).with_context(|| (*name).to_owned())?);
        }
        assert_snapshot!("drift", table.join("\n"));
        stage.destroy()
    })
}

#[test]
fn a_service_that_was_deleted_whole_is_made_again() -> Result<()> {
    scene("deleted", |stage| {
        let stage = stage.with_service("")?;
        for object in stage.objects()? {
            stage.client().delete(&stage.target(&object)?)?;
            stage.client().wait_gone(&stage.target(&object)?, LIMIT)?;
        }
        let plan = stage.plan()?;
        assert!(plan.contains("Plan: 1 to add, 0 to change, 0 to destroy"), "{plan}");
        stage.apply()?;
        stage.destroy()
    })
}

type Edit = fn(&mut Value);

#[test]
fn what_ours_cannot_stand_beside_is_no_refusal_at_plan_and_goes_with_the_repair() -> Result<()> {
    const EDITS: &[(&str, Edit)] = &[
        ("rolled instead of made anew", |spec| spec["strategy"] = json!({"type": "RollingUpdate"})),
        ("port moved", |spec| container(spec)["ports"][0]["containerPort"] = json!(81)),
        ("variable taken from elsewhere", |spec| {
            let from = json!({"fieldRef": {"fieldPath": "metadata.name"}});
            let env = container(spec)["env"].as_array_mut();
            let home = env.and_then(|env| env.iter_mut().find(|one| one["name"] == "HOME"));
            *home.expect("the variable is ours") = json!({"name": "HOME", "valueFrom": from});
        }),
        ("volume from elsewhere", |spec| {
            let volumes = spec["template"]["spec"]["volumes"].as_array_mut();
            let cache = volumes.and_then(|volumes| volumes.iter_mut().find(|one| one["name"] == "cache"));
            *cache.expect("the volume is ours") = json!({"name": "cache", "configMap": {"name": "theirs"}});
        }),
    ];
    scene("beside", |stage| {
        // One replica and no place for a second: it is made anew with each change.
        let service = stage.service("").replace(", gpu_capacity = 4", "");
        let stage = stage.applied(&service)?;
        for (name, edit) in EDITS {
            let mut spec = stage.object("deployments/llm")?["spec"].clone();
            edit(&mut spec);
            stage.client().patch("somebody", &stage.target("deployments/llm")?, &json!({"spec": spec}))?;
            let plan = stage.plan().with_context(|| (*name).to_owned())?;
            assert!(plan.contains("drifted: ") && !plan.contains("refuse"), "{name}: {plan}");
            stage.apply_and_tell_writes().with_context(|| (*name).to_owned())?;
        }
        stage.destroy()
    })
}

fn container(spec: &mut Value) -> &mut Value {
    &mut spec["template"]["spec"]["containers"][0]
}

/// What the plan says of a drift, and which calls repair it.
pub(crate) fn drifted(stage: &Stage, name: &str, drift: &Drift) -> Result<String> {
    match drift {
        Drift::Patched(object, patch) => {
            stage.client().patch("somebody", &stage.target(object)?, &patch())?;
        }
        Drift::Deleted(object) => stage.client().delete(&stage.target(object)?)?,
    }
    // How many replicas were ready when it was read is left to chance.
    let plan = changed_lines(&stage.plan()?);
    let plan: Vec<_> = plan.lines().filter(|line| !line.contains("_replicas = ")).collect();
    let plan = plan.join("\n") + "\n";
    let writes = stage.apply_and_tell_writes()?.join(" ");
    Ok(format!("=== {name}: {writes}\n{plan}"))
}
