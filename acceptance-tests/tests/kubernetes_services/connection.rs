//! Clusters that are reached by the provider's `kubernetes` block.

use crate::support::{Stage, errors, tenancy};
use acceptance_tests::{
    Rule,
    kubernetes::{ControlPlane, eks_token},
};
use anyhow::{Context, Result};
use base64::{Engine, engine::general_purpose::STANDARD};
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::{fs, os::unix::fs::PermissionsExt, time::Duration};

/// The least that a tenant has: its namespace.
const LEAST: &str = "  network = { isolation = \"none\" }";

#[test]
fn a_context_of_a_kubeconfig_in_the_home_directory_is_used() -> Result<()> {
    tenancy("by-context", |stage| {
        kubeconfig(&stage, "clusters.json")?;
        lives(&stage, "config_path = \"~/clusters.json\"\n    context = \"right\"")
    })
}

#[test]
fn kubeconfig_is_found_by_its_variable() -> Result<()> {
    tenancy("by-variable", |mut stage| {
        kubeconfig(&stage, "clusters.json")?;
        let path = stage.workspace.path().join("clusters.json");
        stage.workspace.set_env("KUBECONFIG", &path.to_string_lossy());
        lives(&stage, "context = \"right\"")
    })
}

#[test]
fn a_host_with_a_token_needs_no_file() -> Result<()> {
    tenancy("by-token", |stage| {
        let token = stage.cluster.admin_token();
        lives(&stage, &host(&stage, stage.api.url(), &format!("token = {token:?}")))
    })
}

#[test]
fn a_host_with_a_client_certificate_needs_no_file() -> Result<()> {
    tenancy("by-certificate", |stage| {
        let admin: Value = serde_json::from_str(&fs::read_to_string(stage.cluster.admin_kubeconfig())?)?;
        let user = &admin["users"][0]["user"];
        let pem = |name: &str| -> Result<String> {
            Ok(String::from_utf8(STANDARD.decode(user[name].as_str().context("no PEM")?)?)?)
        };
        let (certificate, key) = (pem("client-certificate-data")?, pem("client-key-data")?);
        let credentials = format!("client_certificate = {certificate:?}\n    client_key = {key:?}");
        // Past the proxy, which would end the encryption.
        lives(&stage, &host(&stage, stage.cluster.endpoint(), &credentials))
    })
}

#[test]
fn a_program_is_asked_for_credentials_and_again_when_they_are_refused() -> Result<()> {
    tenancy("by-program", |stage| {
        // The first answer is a token that has aged.
        let stale = eks_token("ml-prod", Duration::from_mins(16))?;
        let fresh = stage.cluster.admin_token();
        let text = format!(
            "#!/bin/sh\necho \"$1 $WHO\" >>calls\n[ -e asked ] && token={fresh} || token={stale}\ntouch asked\necho \
             '{{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{{\"token\":\"'$token'\"}}}}'\n"
        );
        let path = program(&stage, "login", &text)?;
        let exec = format!("exec = {{ command = {path:?}, args = [\"get-token\"], env = {{ WHO = \"me\" }} }}");
        let block = host(&stage, stage.api.url(), &exec);
        stage.workspace.configure(&configuration(&stage, &block))?;
        stage.workspace.apply()?.ok()?;
        let calls = fs::read_to_string(stage.workspace.path().join("calls"))?;
        // Twice by the process that plans, and once by the one that applies.
        assert_eq!(calls, "get-token me\n".repeat(3));
        lives(&stage, &block)
    })
}

#[test]
fn the_blocks_eks_cluster_is_that_of_resources_that_name_none() -> Result<()> {
    tenancy("by-eks", |stage| {
        lives(&stage, "eks_cluster = \"ml-prod\"")?;
        assert!(stage.account.proxy().take_journal().count("eks.DescribeCluster") > 0);
        Ok(())
    })
}

#[test]
fn each_way_not_to_reach_a_cluster_is_told_with_its_attribute() -> Result<()> {
    tenancy("unreached-block", |stage| {
        kubeconfig(&stage, "clusters.json")?;
        fs::write(stage.workspace.path().join("junk.json"), "not: [a kubeconfig")?;
        let junk = program(&stage, "junk", "#!/bin/sh\necho 'Please log in first.'\n")?;
        let failing = program(&stage, "failing", "#!/bin/sh\necho 'session expired, run: sso login' >&2\nexit 3\n")?;
        let token = format!("token = {:?}", stage.cluster.admin_token());
        let exec = |command: &str| host(&stage, stage.api.url(), &format!("exec = {{ command = {command:?} }}"));
        let other = ControlPlane::other_ca_pem()?;
        let cases = [
            ("no file", "config_path = \"~/none.json\"".to_owned()),
            ("no kubeconfig", "config_path = \"~/junk.json\"".to_owned()),
            ("no such context", "config_path = \"~/clusters.json\"\n    context = \"wrong\"".to_owned()),
            ("a context of a cluster that is down", "config_path = \"~/clusters.json\"".to_owned()),
            ("no such program", exec("/nowhere/login")),
            ("a program that prints words", exec(&junk)),
            ("a program that fails", exec(&failing)),
            (
                "another authority",
                format!("host = {:?}\n    cluster_ca_certificate = {other:?}\n    {token}", stage.api.url()),
            ),
            ("no authority", format!("host = {:?}\n    {token}", stage.api.url())),
            ("two clusters", format!("host = {:?}\n    eks_cluster = \"ml-prod\"", stage.api.url())),
            (
                "an authority that is no certificate",
                format!("host = {:?}\n    cluster_ca_certificate = \"ca.pem\"\n    {token}", stage.api.url()),
            ),
            ("a wrong token", host(&stage, stage.api.url(), "token = \"wrong\"")),
            ("nothing", String::new()),
        ];
        let mut table = Vec::new();
        for (name, block) in cases {
            stage.workspace.configure(&configuration(&stage, &block))?;
            let refused = stage.workspace.apply()?.failed().context(name)?;
            table.push(format!("=== {name}\n{}", errors(&refused)));
        }
        assert_snapshot!("refused_blocks", table.join("\n\n"));
        Ok(())
    })
}

#[test]
fn nothing_is_dialled_for_a_plan_whose_cluster_is_not_known_yet() -> Result<()> {
    tenancy("later", |stage| {
        let later = "resource \"terraform_data\" \"later\" {\n  input = \"x\"\n}\n";
        let unknown = "terraform_data.later.output";
        let token = format!("token = {:?}", stage.cluster.admin_token());
        for block in [
            format!("host = {unknown}\n    {token}"),
            format!("config_path = {unknown}"),
            host(&stage, stage.api.url(), &format!("token = {unknown}")),
            host(&stage, stage.api.url(), &format!("exec = {{ command = {unknown} }}")),
            host(&stage, stage.api.url(), &format!("exec = {{ command = \"/bin/false\", args = [{unknown}] }}")),
            host(&stage, stage.api.url(), &format!("exec = {{ command = \"/bin/false\", env = {{ A = {unknown} }} }}")),
        ] {
            stage.workspace.configure(&format!("{later}{}", configuration(&stage, &block)))?;
            let plan = stage.workspace.plan()?.ok()?;
            assert!(plan.says("Plan: 2 to add"), "{}", plan.stdout);
            assert_eq!(stage.api.take_journal().len(), 0, "{block}");
        }
        Ok(())
    })
}

#[test]
fn an_api_server_that_refuses_every_token_is_asked_twice_and_no_more() -> Result<()> {
    tenancy("refused-twice", |stage| {
        stage.workspace.configure(&stage.tenant(LEAST))?;
        stage.api.add_rule(Rule::on("apply.namespaces").error(401, "Unauthorized", "Unauthorized"));
        let refused = stage.workspace.apply()?.failed()?;
        assert!(refused.says("aws eks list-access-entries"), "{}", refused.stderr);
        assert_eq!(stage.api.journal().count("apply.namespaces"), 2);
        Ok(())
    })
}

/// A tenant is made in the block's cluster, left alone and destroyed.
fn lives(stage: &Stage, block: &str) -> Result<()> {
    stage.workspace.configure(&configuration(stage, block))?;
    stage.apply()?;
    assert_eq!(stage.client().get(&stage.own_target())?["metadata"]["labels"]["workload-type"], "tenant");
    stage.destroy_with_namespace()
}

fn configuration(stage: &Stage, block: &str) -> String {
    let tenant = stage.tenant(LEAST).replace("  cluster = \"ml-prod\"\n", "");
    let block = if block.is_empty() { String::new() } else { format!("  kubernetes = {{\n    {block}\n  }}\n") };
    format!("provider \"mlplat\" {{\n{block}}}\n{tenant}")
}

/// A host of this cluster with these credentials.
fn host(stage: &Stage, url: &str, credentials: &str) -> String {
    format!("host = {url:?}\n    cluster_ca_certificate = {:?}\n    {credentials}", stage.cluster.ca_pem())
}

/// A kubeconfig in the home directory whose current context leads nowhere; the context "right" leads to the cluster.
fn kubeconfig(stage: &Stage, name: &str) -> Result<()> {
    let path = stage.cluster.kubeconfig_for(stage.api.url())?;
    let mut config: Value = serde_json::from_str(&fs::read_to_string(path)?)?;
    config["contexts"][0]["name"] = json!("right");
    let nowhere = json!({"name": "nowhere", "cluster": {"server": "https://127.0.0.1:1"}});
    let context = json!({"name": "nowhere", "context": {"cluster": "nowhere", "user": "mlplat-test"}});
    for (list, item) in [("clusters", nowhere), ("contexts", context)] {
        config[list].as_array_mut().context("no list")?.push(item);
    }
    config["current-context"] = json!("nowhere");
    stage.workspace.write(name, &config.to_string())
}

/// A program in the workspace.
fn program(stage: &Stage, name: &str, text: &str) -> Result<String> {
    stage.workspace.write(name, text)?;
    let path = stage.workspace.path().join(name);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    Ok(path.to_string_lossy().into_owned())
}
