//! Objects that are there already, and fields that somebody else manages.

use crate::support::{Stage, errors, scene};
use anyhow::Result;
use insta::assert_snapshot;
use serde_json::{Value, json};

#[test]
fn an_object_that_is_there_already_is_taken_over_only_on_request() -> Result<()> {
    scene("adopted", |stage| {
        stage.client().create(&theirs(&stage, &json!({})))?;
        stage.workspace.configure(&stage.service(""))?;
        assert_snapshot!("adopt_never", errors(&stage.workspace.plan()?.failed()?));
        stage.workspace.configure(&stage.service("  adopt = \"if_unmanaged\"\n"))?;
        stage.apply()?;
        assert_eq!(stage.object("services/llm")?["spec"]["ports"][0]["port"], 80);
        stage.destroy()
    })
}

#[test]
fn an_object_of_helm_is_taken_over_only_where_always_is_said() -> Result<()> {
    scene("helm", |stage| {
        let release = json!({"meta.helm.sh/release-name": "llm", "meta.helm.sh/release-namespace": "helm"});
        stage.client().create(&theirs(&stage, &release))?;
        stage.workspace.configure(&stage.service("  adopt = \"if_unmanaged\"\n"))?;
        assert_snapshot!("adopt_if_unmanaged", errors(&stage.workspace.plan()?.failed()?));
        // Without a look before, the apply stops at it.
        let unasked = format!(
            "provider \"mlplat\" {{\n  preflight = \"off\"\n}}\n{}",
            stage.service("  adopt = \"if_unmanaged\"\n")
        );
        stage.workspace.configure(&unasked)?;
        assert_snapshot!("adopt_unasked", errors(&stage.workspace.apply()?.failed()?));
        stage.workspace.configure(&stage.service("  adopt = \"always\"\n"))?;
        stage.apply()?;
        stage.destroy()
    })
}

#[test]
fn a_field_of_another_manager_is_a_conflict_that_names_both() -> Result<()> {
    scene("managed", |stage| {
        let stage = stage.with_service("")?;
        let theirs = json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "llm", "namespace": "managed", "labels": {"team": "ranking"}},
        });
        stage.client().apply("kustomize-controller", &theirs)?;
        stage.workspace.configure(&stage.service("  labels = { team = \"search\" }\n"))?;
        assert_snapshot!("conflict", errors(&stage.workspace.apply()?.failed()?));
        assert_eq!(stage.object("deployments/llm")?["metadata"]["labels"]["team"], "ranking");
        stage.workspace.configure(&stage.service("  labels = { team = \"search\" }\n  adopt = \"always\"\n"))?;
        stage.apply()?;
        assert_eq!(stage.object("deployments/llm")?["metadata"]["labels"]["team"], "search");
        stage.destroy()
    })
}

/// A Service of somebody else under the service's name.
fn theirs(stage: &Stage, annotations: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "llm", "namespace": stage.namespace, "annotations": annotations},
        "spec": {"ports": [{"name": "http", "port": 80}]},
    })
}
