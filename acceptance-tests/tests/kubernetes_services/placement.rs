//! Pods that no node has a place for: told at plan where it can be known, waited for while a node may come, and given up
//! where none will.

use crate::support::{EARLY, LIMIT, LONG_AGO, Stage, errors, scene};
use acceptance_tests::{Output, kubernetes::Node};
use anyhow::{Context, Result, ensure};
use insta::assert_snapshot;
use serde_json::{Value, json};

const LATER: &str = "2020-01-01T00:01:00Z";

#[test]
fn an_autoscaler_that_brings_no_node_ends_the_apply() -> Result<()> {
    scene("no-place", |stage| {
        stage.workspace.configure(&large(&stage))?;
        let output = stage.apply_and_meanwhile(is_unplaced, |pod| {
            let autoscaler = "cluster-autoscaler";
            let up = "pod triggered scale-up: [{gpu 1->2 (max: 2)}]";
            say(&stage, pod, LONG_AGO, (autoscaler, "TriggeredScaleUp", up))?;
            let not = "pod didn't trigger scale-up: 1 max node group size reached";
            say(&stage, pod, LATER, (autoscaler, "NotTriggerScaleUp", not))?;
            stage.age(pod)
        })?;
        ended(
            &output,
            &[
                "1 Insufficient nvidia.com/gpu",
                "cluster-autoscaler says NotTriggerScaleUp: pod didn't trigger scale-up: 1 max node group size reached",
                "Object: Deployment \"no-place/llm\"",
                "Let the autoscaler bring a node that fits",
            ],
        )?;
        // What was made is remembered and made right.
        stage.workspace.configure(&stage.service(""))?;
        stage.apply()?;
        stage.destroy()
    })
}

#[test]
fn without_a_word_of_an_autoscaler_the_apply_ends_after_some_minutes() -> Result<()> {
    scene("no-word", |stage| {
        stage.workspace.configure(&large(&stage))?;
        let output = stage.apply_and_meanwhile(is_unplaced, |pod| stage.age(pod))?;
        ended(
            &output,
            &[
                "1 Insufficient nvidia.com/gpu",
                "no autoscaler has said in 5 minutes that it brings a node",
                "Add a node",
            ],
        )?;
        stage.destroy()
    })
}

#[test]
fn a_node_that_an_autoscaler_brings_is_waited_for() -> Result<()> {
    scene("node-comes", |stage| {
        stage.workspace.configure(&large(&stage))?;
        let output = stage.apply_and_meanwhile(is_unplaced, |pod| {
            say(&stage, pod, LONG_AGO, ("karpenter", "Nominated", "Pod should schedule on: nodeclaim/gpu-x"))?;
            stage.age(pod)?;
            // It has been looked at since and found worth waiting for.
            stage.api.take_journal();
            let target = stage.pod(pod)?;
            stage.client().wait(&target, LIMIT, |_| stage.api.journal().count("list.events") > 1)?;
            stage.cluster.add_node(&Node::with_gpus("gpu-node-comes-8", 8).label("pool", stage.namespace)).map(drop)
        })?;
        output.ok()?;
        stage.settled()?;
        stage.destroy()
    })
}

#[test]
fn a_claim_that_is_not_there_ends_the_apply() -> Result<()> {
    scene("no-claim", |stage| {
        let model = "model = { source = \"pvc://weights/qwen\", size_gib = 15 }";
        stage.workspace.configure(&stage.service_with(model, ""))?;
        let output = stage.apply_and_meanwhile(is_unplaced, |pod| stage.age(pod))?;
        ended(
            &output,
            &["there is no PersistentVolumeClaim \"weights\"", "Make the claim, in the namespace of the pods"],
        )?;
        stage.destroy()
    })
}

#[test]
fn a_plan_tells_that_no_node_has_as_many_gpus() -> Result<()> {
    scene("too-few", |stage| {
        stage.workspace.configure(&large(&stage))?;
        assert_snapshot!("too_few_here", errors(&stage.workspace.plan()?.ok()?));
        // Of one machine it is certain.
        let pinned = "{ \"kubernetes.io/hostname\" = \"gpu-too-few\" }";
        let certain = large(&stage).replace("{ pool = \"too-few\" }", pinned);
        ensure!(certain.contains(pinned), "{certain}");
        stage.workspace.configure(&certain)?;
        assert_snapshot!("too_few_ever", errors(&stage.workspace.plan()?.failed()?));
        // Nothing is said of a service that has its place.
        stage.workspace.configure(&stage.service(""))?;
        let output = stage.workspace.plan()?.ok()?;
        ensure!(!output.says("No node") && !output.says("Warning: The nodes"), "{}", output.stdout);
        Ok(())
    })
}

/// A service that asks for more GPUs than the namespace's node has.
fn large(stage: &Stage) -> String {
    stage.service("").replace("per_replica = 1", "per_replica = 8").replace(", gpu_capacity = 4", "")
}

/// The apply ended early, for these reasons. What the scheduler says of other nodes differs from run to run.
fn ended(output: &Output, reasons: &[&str]) -> Result<()> {
    ensure!(output.status == 1 && output.elapsed < EARLY, "status {} after {:?}", output.status, output.elapsed);
    for reason in reasons {
        ensure!(output.says(reason), "{reason:?} is not said:\n{}", output.stderr);
    }
    Ok(())
}

fn is_unplaced(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array();
    conditions.is_some_and(|all| all.iter().any(|condition| condition["reason"] == "Unschedulable"))
}

/// An event about the pod, as an autoscaler writes it.
fn say(stage: &Stage, pod: &Value, time: &str, (component, reason, message): (&str, &str, &str)) -> Result<()> {
    let name = pod["metadata"]["name"].as_str().context("no name")?;
    let event = json!({
        "apiVersion": "v1", "kind": "Event",
        "metadata": {"name": format!("{name}.{}", reason.to_lowercase()), "namespace": stage.namespace},
        "involvedObject": {"apiVersion": "v1", "kind": "Pod", "name": name, "namespace": stage.namespace},
        "type": "Normal", "reason": reason, "message": message, "count": 1,
        "source": {"component": component}, "firstTimestamp": time, "lastTimestamp": time,
    });
    stage.client().create(&event).map(drop)
}
