//! What the cluster will not take, told by the plan on the attribute that it is about.

use crate::support::{LIMIT, Stage, errors, scene, tenancy};
use acceptance_tests::kubernetes::poll;
use anyhow::{Context, Result, ensure};
use insta::assert_snapshot;
use serde_json::{Value, json};

/// What this provider leaves to the API server to judge: attributes, each with a value that it refuses.
const REFUSED: &[(&str, &str)] = &[
    ("the image", "  engine = {\n    kind = \"vllm\"\n    image = \"registry.test/vllm \"\n  }"),
    (
        "a variable",
        "  engine = {\n    kind = \"vllm\"\n    image = \"registry.test/vllm\"\n    env = {\n      A = \"1\"\n      \
         \"B=\" = \"2\"\n    }\n  }",
    ),
    (
        "the user",
        "  engine = {\n    kind = \"vllm\"\n    image = \"registry.test/vllm\"\n    run_as_user = 3000000000\n  }",
    ),
    (
        "an annotation",
        "  expose = {\n    host = \"qwen.example.com\"\n    annotations = {\n      \"no key\" = \"a\"\n    }\n  }",
    ),
];

#[test]
fn what_the_server_refuses_is_told_at_plan_on_its_attribute() -> Result<()> {
    scene("refused", |stage| {
        let mut table = Vec::new();
        for (name, attributes) in REFUSED {
            stage.workspace.configure(&stage.service(attributes))?;
            table.push(format!("=== {name}\n{}", errors(&stage.workspace.plan()?.failed()?)));
        }
        assert_snapshot!("refused_attributes", table.join("\n\n"));
        Ok(())
    })
}

#[test]
fn pods_that_the_namespace_refuses_are_told_of_at_plan() -> Result<()> {
    scene("refusing", |stage| {
        stage.workspace.configure(&stage.service(""))?;
        let quiet = stage.workspace.plan()?.ok()?;
        ensure!(!quiet.says("would be refused"), "{}", quiet.stdout);
        let mut table = Vec::new();
        for (name, rule) in rules(&stage) {
            stage.client().create(&rule)?;
            let told = poll(LIMIT, || {
                let output = stage.workspace.plan()?.ok()?;
                Ok(output.says("would be refused").then_some(output))
            })?;
            let told = errors(&told.with_context(|| format!("{name}: nothing is told"))?);
            let told = told.split("Warning: ").find(|told| told.starts_with("Pods of")).context("no such")?;
            table.push(format!("=== {name}\n{}", told.trim_end()));
            stage.client().delete(&place(&rule))?;
        }
        assert_snapshot!("refused_pods_at_plan", table.join("\n\n"));
        Ok(())
    })
}

/// Rules of a namespace that pods of the service break.
fn rules(stage: &Stage) -> Vec<(&'static str, Value)> {
    let metadata = json!({"name": "rule", "namespace": stage.namespace});
    vec![
        (
            "quota",
            json!({
                "apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata,
                "spec": {"hard": {"requests.nvidia.com/gpu": "0"}},
            }),
        ),
        (
            "limits",
            json!({
                "apiVersion": "v1", "kind": "LimitRange", "metadata": metadata,
                "spec": {"limits": [{"type": "Container", "max": {"memory": "1Gi"}}]},
            }),
        ),
    ]
}

fn place(rule: &Value) -> String {
    let plural = if rule["kind"] == "LimitRange" { "limitranges" } else { "resourcequotas" };
    let (namespace, name) = (&rule["metadata"]["namespace"], &rule["metadata"]["name"]);
    format!("/api/v1/namespaces/{}/{plural}/{}", namespace.as_str().unwrap_or(""), name.as_str().unwrap_or(""))
}

#[test]
fn an_image_that_a_tenant_does_not_trust_is_told_of_at_plan() -> Result<()> {
    tenancy("distrust", |stage| {
        const TRUST: &str = "  network = { isolation = \"none\" }\n  trusted_registries = [\"ghcr.io/acme/\"]";
        let stage = stage.with_tenant(TRUST)?;
        let tenant = stage.tenant(TRUST);
        stage.add_gpus()?;
        stage.workspace.configure(&format!("{tenant}{}", stage.service("")))?;
        let told = poll(LIMIT, || {
            let output = stage.workspace.plan()?.ok()?;
            Ok(output.says("trusted registry").then_some(output))
        })?;
        assert_snapshot!("distrusted_image", errors(&told.context("nothing is told")?));
        stage.workspace.configure(&tenant)?;
        stage.destroy_with_namespace()
    })
}

#[test]
fn a_storage_class_that_is_not_there_is_told_at_plan() -> Result<()> {
    scene("classless", |stage| {
        let model = "model = {\n    source = \"hf://Qwen/Qwen2.5-7B-Instruct\"\n    size_gib = 15\n    \
                     cache_storage_class = \"gp9\"\n  }";
        stage.workspace.configure(&stage.service_with(model, ""))?;
        assert_snapshot!("no_storage_class", errors(&stage.workspace.plan()?.ok()?));
        Ok(())
    })
}
