//! The life of an inference service: made, changed, left alone, imported, destroyed.

use crate::support::{SERVICE, scene};
use acceptance_tests::Rule;
use anyhow::{Result, ensure};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::json;
use std::{fs, path::Path};

/// Everything that a service can have without custom resources; quantities and lists in spellings that a server
/// changes.
const EVERYTHING: &str = "  engine = { kind = \"vllm\", image = \"registry.test/vllm:v0.11.0\", args = [\"--seed=1\"]
    env = { ZED = \"1\", ALPHA = \"2\" }, image_pull_secrets = [] }
  scaling = { min = 1, max = 3, signal = \"kv_cache\", target = 0.8 }
  expose = { host = \"llm.example.com\", class = \"nginx\", tls_secret = \"tls\" }
  resources = { cpu = \"2000m\", memory = \"32768Mi\" }
  labels = { team = \"search\" }";

#[test]
fn a_service_is_made_through_eks_left_alone_and_destroyed() -> Result<()> {
    scene("life", |stage| {
        let stage = stage.with_service("")?;
        assert_eq!(stage.workspace.attributes(SERVICE)?["ready_replicas"], 1);
        assert_eq!(stage.workspace.attributes(SERVICE)?["service_url"], "http://llm.life.svc");
        assert!(stage.cluster.tokens().accepted() > 0, "the token was never seen");
        stage.settled()?;
        let reads = stage.api.take_journal();
        assert_eq!((reads.len(), reads.writes()), (4, Vec::new()), "one look at each object:\n{reads}");
        assert_eq!(
            stage.account.proxy().take_journal().counts().into_iter().collect::<Vec<_>>(),
            [("eks.DescribeCluster", 1)]
        );
        let objects: Vec<_> = stage.objects()?.into_iter().collect();
        assert_eq!(objects, ["deployments/llm", "poddisruptionbudgets/llm", "serviceaccounts/llm", "services/llm"]);
        stage.destroy()
    })
}

#[test]
fn what_the_server_fills_in_and_respells_is_no_change() -> Result<()> {
    scene("respelled", |stage| {
        let stage = stage.with_service(EVERYTHING)?;
        let pod = &stage.object("deployments/llm")?["spec"]["template"]["spec"];
        let limits = &pod["containers"][0]["resources"]["limits"];
        assert_eq!((&limits["cpu"], &limits["memory"]), (&json!("2"), &json!("32Gi")), "{limits}");
        // The controller and kubectl write into every Deployment.
        let target = stage.target("deployments/llm")?;
        let restarted = json!({"metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "x"}}});
        stage.client().patch("kubectl", &target, &restarted)?;
        stage.settled()?;
        stage.destroy()
    })
}

#[test]
fn an_import_by_id_gives_the_attributes_back() -> Result<()> {
    scene("imported", |stage| {
        let stage = stage.with_service(EVERYTHING)?;
        let before = stage.workspace.attributes(SERVICE)?;
        stage.workspace.run(&["state", "rm", SERVICE])?.ok()?;
        stage.workspace.import(SERVICE, "ml-prod/imported/llm")?.ok()?;
        stage.settled()?;
        let mut after = stage.workspace.attributes(SERVICE)?;
        after["adopt"] = before["adopt"].clone();
        assert_eq!(after, before);
        stage.destroy()
    })
}

#[test]
fn a_token_is_in_its_secret_and_nowhere_else() -> Result<()> {
    const FIRST: &str = "hf_first0123456789";
    const SECOND: &str = "hf_second0123456789";
    scene("token", |mut stage| {
        let model = |version: u8| {
            format!(
                "model = {{ source = \"hf://Qwen/Qwen2.5-7B-Instruct\", parameters_billion = 7.6, max_context = 8192, \
                 token_wo = var.token, token_wo_version = {version} }}"
            )
        };
        let text = |stage: &crate::support::Stage, version| {
            let variable = "variable \"token\" {\n  type      = string\n  ephemeral = true\n}\n";
            format!("{variable}{}", stage.service_with(&model(version), ""))
        };
        stage.workspace.set_env("TF_VAR_token", FIRST);
        stage.workspace.set_env("TF_LOG", "TRACE");
        let log = stage.workspace.path().join("trace.log");
        stage.workspace.set_env("TF_LOG_PATH", &log.to_string_lossy());
        stage.workspace.configure(&text(&stage, 1))?;
        let plan = stage.workspace.plan_json()?.to_string();
        stage.apply()?;
        let secret = |stage: &crate::support::Stage| -> Result<String> {
            let data = stage.object("secrets/llm-hf-token")?["data"]["token"].as_str().unwrap_or_default().to_owned();
            Ok(String::from_utf8(STANDARD.decode(data)?)?)
        };
        assert_eq!(secret(&stage)?, FIRST);
        // Another token alone is not seen; its version is.
        stage.workspace.set_env("TF_VAR_token", SECOND);
        stage.settled()?;
        stage.workspace.configure(&text(&stage, 2))?;
        let second_plan = stage.workspace.plan_json()?.to_string();
        stage.apply()?;
        assert_eq!(secret(&stage)?, SECOND);
        for (place, text) in [("plan", &plan), ("plan", &second_plan)] {
            ensure!(!text.contains(FIRST) && !text.contains(SECOND), "the {place} has the token");
        }
        assert_files_lack(stage.workspace.path(), &[FIRST, SECOND, &STANDARD.encode(FIRST), &STANDARD.encode(SECOND)])?;
        stage.destroy()
    })
}

/// No file below this directory has any of these words: state, its backup, logs.
fn assert_files_lack(dir: &Path, words: &[&str]) -> Result<()> {
    let mut seen = 0;
    for entry in fs::read_dir(dir)?.flatten().filter(|entry| entry.path().is_file()) {
        let text = String::from_utf8_lossy(&fs::read(entry.path())?).into_owned();
        seen += 1;
        for word in words {
            ensure!(!text.contains(word), "{} has the token", entry.path().display());
        }
    }
    ensure!(seen > 3, "the state and the log were looked for in the wrong place");
    Ok(())
}

#[test]
fn a_token_that_ages_in_an_apply_is_renewed() -> Result<()> {
    scene("renewed", |stage| {
        stage.workspace.configure(&stage.service(""))?;
        stage.api.add_rule(Rule::on("apply.deployments").nth(1).error(401, "Unauthorized", "Unauthorized"));
        stage.apply()?;
        assert_eq!(stage.api.hits(), 1);
        assert_eq!(stage.api.journal().count("apply.deployments"), 2);
        stage.destroy()
    })
}

#[test]
fn a_cluster_outside_eks_is_reached_by_its_kubeconfig() -> Result<()> {
    scene("kubeconfig", |stage| {
        let path = stage.cluster.kubeconfig_for(stage.api.url())?;
        let block = format!("provider \"mlplat\" {{\n  kubernetes = {{ config_path = {path:?} }}\n}}\n");
        let service = stage.service("").replace("  cluster   = \"ml-prod\"\n", "");
        let stage = stage.applied(&format!("{block}{service}"))?;
        stage.workspace.run(&["state", "rm", SERVICE])?.ok()?;
        stage.workspace.import(SERVICE, "-/kubeconfig/llm")?.ok()?;
        stage.settled()?;
        stage.destroy()?;
        assert_eq!(stage.account.proxy().take_journal().count("eks.*"), 0);
        Ok(())
    })
}
