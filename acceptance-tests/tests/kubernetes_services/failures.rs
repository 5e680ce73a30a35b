//! Services that cannot start: the apply ends early and says the cluster's own reason.

use crate::support::{EARLY, LIMIT, SERVICE, Stage, errors, scene};
use acceptance_tests::kubernetes::Script;
use anyhow::{Result, ensure};
use insta::assert_snapshot;
use serde_json::{Value, json};

#[test]
fn an_image_that_is_not_there_ends_the_apply() -> Result<()> {
    scene("no-image", |stage| {
        stage.workspace.configure(&stage.service("").replace("v0.11.0", "missing"))?;
        let is_stuck =
            |pod: &Value| pod["status"]["containerStatuses"][0]["state"]["waiting"]["reason"] == "ImagePullBackOff";
        let output = stage.apply_and_meanwhile(is_stuck, |pod| stage.age(pod))?.failed()?;
        ensure!(output.elapsed < EARLY, "it ended after {:?}", output.elapsed);
        assert_snapshot!("image_pull", errors(&output));
        stage.destroy()
    })
}

#[test]
fn an_engine_that_is_killed_for_memory_ends_the_apply() -> Result<()> {
    scene("oom", |stage| {
        stage.cluster.play("oom", &Script::OutOfMemory)?;
        stage.workspace.configure(&stage.service(""))?;
        assert_snapshot!("out_of_memory", refused(&stage)?);
        stage.destroy()
    })
}

#[test]
fn an_engine_that_crashes_ends_the_apply_with_its_last_words_and_the_fix_is_applied() -> Result<()> {
    scene("crash", |stage| {
        let words = "ValueError: the model's max seq len (131072) is larger than the maximum number of tokens";
        stage.cluster.play("crash", &Script::Crash(words.to_owned()))?;
        stage.workspace.configure(&stage.service(""))?;
        let said = refused(&stage)?;
        assert_snapshot!("crash", said);
        stage.cluster.play("crash", &Script::Ready)?;
        stage.workspace.configure(&stage.service("").replace("v0.11.0", "v0.12.0"))?;
        stage.apply()?;
        assert_eq!(stage.workspace.attributes(SERVICE)?["pod_reasons"], json!([]));
        stage.destroy()
    })
}

#[test]
fn a_quota_that_refuses_the_pods_is_named() -> Result<()> {
    scene("quota", |stage| {
        let quota = json!({
            "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "gpus", "namespace": "quota"},
            "spec": {"hard": {"requests.nvidia.com/gpu": "0"}},
        });
        stage.client().create(&quota)?;
        let is_counted = |quota: &Value| quota["status"]["hard"].is_object();
        let path = "/api/v1/namespaces/quota/resourcequotas/gpus";
        stage.client().wait(path, LIMIT, is_counted)?;
        stage.workspace.configure(&stage.service(""))?;
        assert_snapshot!("quota", refused(&stage)?);
        stage.client().delete(path)?;
        stage.destroy()
    })
}

/// What the apply complains of, soon.
fn refused(stage: &Stage) -> Result<String> {
    let output = stage.workspace.apply()?.failed()?;
    ensure!(output.elapsed < EARLY, "it ended after {:?}", output.elapsed);
    Ok(errors(&output))
}
