//! What a tenant's objects do in a real cluster: pods that keep the rules get in, the others do not.

use crate::support::{LIMIT, Stage, errors, tenancy};
use acceptance_tests::{http::Reply, kubernetes::poll};
use anyhow::{Context, Result, ensure};
use insta::assert_snapshot;
use serde_json::{Value, json};

const RULES: &str = "  quota = { gpus = 2, cpu = \"8\", memory = \"64Gi\", pods = 3 }
  container = { default = { cpu = \"1\", memory = \"2Gi\" }, max = { cpu = \"4\", memory = \"32Gi\" } }
  trusted_registries = [\"ghcr.io/acme/\", \"registry.test:5000\"]";

/// A change of a pod that is fine.
type Flaw = fn(&mut Value);

const REFUSED: &[(&str, Flaw)] = &[
    ("another registry", |pod| pod["spec"]["containers"][0]["image"] = json!("quay.io/acme/vllm:1")),
    ("a host that begins alike", |pod| pod["spec"]["containers"][0]["image"] = json!("ghcr.io.evil.com/acme/vllm:1")),
    ("an owner that begins alike", |pod| pod["spec"]["containers"][0]["image"] = json!("ghcr.io/acme-evil/vllm:1")),
    ("a host without its port", |pod| pod["spec"]["containers"][0]["image"] = json!("registry.test/vllm:1")),
    ("docker hub by its short name", |pod| pod["spec"]["containers"][0]["image"] = json!("nginx")),
    ("an init container", |pod| {
        pod["spec"]["initContainers"] = json!([{
            "name": "init", "image": "docker.io/evil/init", "securityContext": pod["spec"]["containers"][0]["securityContext"],
        }]);
    }),
    ("privileges", |pod| pod["spec"]["containers"][0]["securityContext"] = json!({"privileged": true})),
    ("more GPUs than the quota", |pod| gpus(pod, 3)),
    ("more CPUs than a container may have", |pod| {
        pod["spec"]["containers"][0]["resources"] = json!({"limits": {"cpu": "5"}});
    }),
];

#[test]
fn pods_that_break_the_tenants_rules_are_refused_with_the_rule() -> Result<()> {
    tenancy("ruled", |stage| {
        let stage = stage.with_tenant(RULES)?;
        let quota = stage.target("resourcequotas/mlplat")?;
        stage.client().wait(&quota, LIMIT, |quota| quota["status"]["hard"].is_object())?;
        // A policy that is new is in force a moment later.
        let stranger = pod("first", REFUSED[0].1);
        poll(LIMIT, || Ok((made(&stage, &stranger, true)?.status != 201).then_some(())))?
            .context("the policy is never in force")?;
        let mut table = Vec::new();
        for (name, flaw) in REFUSED {
            let reply = made(&stage, &pod("flawed", *flaw), true)?;
            ensure!(reply.status >= 400, "{name}: let in");
            table.push(format!("{name}: {} {}", reply.status, reply.json()?["message"].as_str().unwrap_or_default()));
        }
        assert_snapshot!("refused_pods", table.join("\n\n"));
        stage.destroy_with_namespace()
    })
}

#[test]
fn pods_that_keep_the_tenants_rules_get_its_defaults() -> Result<()> {
    tenancy("kept", |stage| {
        let stage = stage.with_tenant(RULES)?;
        stage.add_gpus()?;
        let account = format!("{}/serviceaccounts/default", stage.own_target());
        stage.client().wait(&account, LIMIT, |_| true)?;
        let quota = stage.target("resourcequotas/mlplat")?;
        stage.client().wait(&quota, LIMIT, |quota| quota["status"]["hard"].is_object())?;
        let fine = pod("fine", |_| ());
        let pods = format!("{}/pods", stage.own_target());
        let reply = made(&stage, &fine, false)?.ok()?.json()?;
        assert_eq!(
            reply["spec"]["containers"][0]["resources"],
            json!({"limits": {"cpu": "1", "memory": "2Gi"}, "requests": {"cpu": "1", "memory": "2Gi"}})
        );
        let used = stage.client().wait(&quota, LIMIT, |quota| quota["status"]["used"]["pods"] == "1")?;
        assert_eq!(used["status"]["used"]["requests.cpu"], "1");
        // A pod that runs is no way in: a debugging container is an image like any other.
        let debug = |image: &str| -> Result<Reply> {
            let container = json!({"name": "debug", "image": image, "securityContext": hardened()});
            let patch = json!({"spec": {"ephemeralContainers": [container]}});
            let target = format!("{pods}/fine/ephemeralcontainers?dryRun=All");
            let body = patch.to_string();
            stage.client().send("PATCH", &target, "application/strategic-merge-patch+json", body.as_bytes())
        };
        let refused =
            poll(LIMIT, || Ok(Some(debug("docker.io/library/busybox")?).filter(|reply| reply.status != 200)))?
                .context("a debugging container from anywhere is let in")?;
        assert!(refused.body.contains("docker.io/library/busybox"), "{}", refused.body);
        assert_eq!(debug("ghcr.io/acme/busybox")?.status, 200);
        // What was there before the rule can still be labelled.
        stage.client().patch("somebody", &format!("{pods}/fine"), &json!({"metadata": {"labels": {"a": "b"}}}))?;
        stage.destroy_with_namespace()
    })
}

#[test]
fn pods_that_a_stricter_standard_would_refuse_are_told_of_at_plan() -> Result<()> {
    const NONE: &str = "  network = { isolation = \"none\" }";
    tenancy("stricter", |stage| {
        let stage = stage.with_tenant(&format!("{NONE}\n  pod_security = \"privileged\""))?;
        let account = format!("{}/serviceaccounts/default", stage.own_target());
        stage.client().wait(&account, LIMIT, |_| true)?;
        let privileged = |pod: &mut Value| {
            pod["spec"]["containers"][0]["securityContext"] = json!({"privileged": true});
        };
        made(&stage, &pod("old", privileged), false)?.ok()?;
        stage.workspace.configure(&stage.tenant(&format!("{NONE}\n  pod_security = \"baseline\"")))?;
        assert_snapshot!("stricter", errors(&stage.workspace.plan()?.ok()?));
        stage.destroy_with_namespace()
    })
}

#[test]
fn members_may_do_what_their_role_says_and_only_in_the_namespace() -> Result<()> {
    const MEMBERS: &str =
        "  members = [{ group = \"researchers\", role = \"edit\" }, { user = \"Ann@acme.com\", role = \"view\" }]";
    tenancy("members", |stage| {
        let stage = stage.with_tenant(MEMBERS)?;
        let config = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "members"},
        })
        .to_string();
        for (user, group, read, write) in [
            ("bob", Some("researchers"), 200, 201),
            ("Ann@acme.com", None, 200, 403),
            ("eve", Some("others"), 403, 403),
        ] {
            let client = stage.cluster.client_as(user, group)?;
            let place = |namespace: &str| format!("/api/v1/namespaces/{namespace}/configmaps");
            // Roles reach the authoriser a moment after they are written.
            let reads = || Ok((client.send("GET", &place("members"), "", b"")?.status == read).then_some(()));
            poll(LIMIT, reads)?.with_context(|| format!("{user} may not read as they should"))?;
            let target = format!("{}?dryRun=All", place("members"));
            assert_eq!(client.send("POST", &target, "application/json", config.as_bytes())?.status, write, "{user}");
            assert_eq!(client.send("GET", &place("default"), "", b"")?.status, 403, "{user}");
            let quota = stage.target("resourcequotas/none")?;
            assert_eq!(client.send("DELETE", &quota, "", b"")?.status, 403, "{user} may lift the quota");
        }
        stage.destroy_with_namespace()
    })
}

/// A pod that keeps all rules, but for one.
fn pod(name: &str, flaw: Flaw) -> Value {
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {
            "tolerations": [{"operator": "Exists"}],
            "containers": [{"name": "main", "image": "ghcr.io/acme/vllm:1", "securityContext": hardened()}],
        },
    });
    flaw(&mut pod);
    pod
}

fn gpus(pod: &mut Value, count: u32) {
    pod["spec"]["containers"][0]["resources"] = json!({"limits": {"nvidia.com/gpu": count}});
}

fn hardened() -> Value {
    json!({
        "allowPrivilegeEscalation": false, "runAsNonRoot": true, "runAsUser": 1000,
        "capabilities": {"drop": ["ALL"]}, "seccompProfile": {"type": "RuntimeDefault"},
    })
}

fn made(stage: &Stage, pod: &Value, is_dry: bool) -> Result<Reply> {
    let target = format!("{}/pods{}", stage.own_target(), if is_dry { "?dryRun=All" } else { "" });
    stage.client().send("POST", &target, "application/json", pod.to_string().as_bytes())
}
