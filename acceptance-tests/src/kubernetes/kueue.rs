//! Kueue's real controller beside the control plane: its webhooks, its conversion, its certificates.
//!
//! The API server reaches it through a Service of type ExternalName, which it follows for webhooks as for conversion,
//! so that upstream's client configuration holds unchanged. What a kubelet would mount is copied.

use super::{
    client::{Client, documents},
    control_plane::{ControlPlane, MANAGER, await_ready},
    crds::{self, Crds},
    flags::free_port,
    programs,
};
use anyhow::{Context, Result};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use std::{fs, path::Path, process::Command, time::Duration};

const NAMESPACE: &str = "kueue-system";
const SERVICE: &str = "kueue-webhook-service";
const SECRET: &str = "kueue-webhook-server-cert";
/// Module with version, and the folder of its webhook configurations.
pub(super) const WEBHOOKS: (&str, &str) = ("sigs.k8s.io/kueue@v0.17.0", "config/components/webhook");
/// Kinds whose stored versions are converted by webhook.
const CONVERTED: [&str; 5] = ["localqueues", "clusterqueues", "workloads", "cohorts", "multikueueclusters"];
/// The webhooks of kinds that exist here; the others belong to frameworks that are not installed.
const KEPT: [&str; 7] = ["clusterqueue", "cohort", "resourceflavor", "workload", "job", "pod", "deployment"];
const LIMIT: Duration = Duration::from_mins(1);

/// Install and start it, and wait until it answers.
pub(super) fn start(cluster: &ControlPlane) -> Result<()> {
    let program = programs::kueue()?;
    let (client, port) = (cluster.client(), free_port()?);
    crds::install(client, &[Crds::Kueue])?;
    for plural in CONVERTED {
        let target = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{plural}.kueue.x-k8s.io");
        client.patch(MANAGER, &target, &conversion(port))?;
    }
    cluster.namespace(NAMESPACE)?;
    for object in [secret(), service(port)] {
        client.apply(MANAGER, &object)?;
    }
    for object in webhooks(port)? {
        client.create(&object)?;
    }
    let certificates = cluster.dir().join("kueue-certificates");
    fs::create_dir_all(&certificates)?;
    let config = cluster.processes().write("kueue.json", config(port, free_port()?, &certificates).to_string())?;
    let mut command = Command::new(program);
    command.args(["--config", &config]).env("KUBECONFIG", cluster.admin_kubeconfig());
    cluster.processes().start("kueue", &mut command)?;
    mount_certificates(client, &certificates).with_context(|| cluster.log("kueue"))?;
    await_ready(&mut cluster.processes(), || answers(client))
}

/// The controller's configuration; what would listen beyond loopback is off.
fn config(port: u16, health: u16, certificates: &Path) -> Value {
    json!({
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "namespace": NAMESPACE,
        "health": {"healthProbeBindAddress": format!("127.0.0.1:{health}")},
        "metrics": {"bindAddress": "0"},
        "webhook": {"host": "127.0.0.1", "port": port, "certDir": certificates},
        "leaderElection": {"leaderElect": false},
        "internalCertManagement": {"enable": true},
        "integrations": {"frameworks": ["batch/job", "pod", "deployment"]},
        "featureGates": {"VisibilityOnDemand": false},
    })
}

fn conversion(port: u16) -> Value {
    json!({"spec": {"conversion": {
        "strategy": "Webhook",
        "webhook": {
            "clientConfig": {"service": {"namespace": NAMESPACE, "name": SERVICE, "path": "/convert", "port": port}},
            "conversionReviewVersions": ["v1"],
        },
    }}})
}

/// Empty: the controller fills it.
fn secret() -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": SECRET, "namespace": NAMESPACE}})
}

fn service(port: u16) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": SERVICE, "namespace": NAMESPACE},
        "spec": {"type": "ExternalName", "externalName": "localhost", "ports": [{"port": port}]},
    })
}

/// Upstream's webhook configurations, reduced to what exists here.
fn webhooks(port: u16) -> Result<Vec<Value>> {
    let folder = crds::copied(WEBHOOKS.0, WEBHOOKS.1)?;
    let mut configurations = documents(&fs::read_to_string(folder.join("manifests.yaml"))?)?;
    for configuration in &mut configurations {
        let name = configuration["metadata"]["name"].as_str().context("a webhook configuration without a name")?;
        configuration["metadata"]["name"] = json!(format!("kueue-{name}"));
        let all = configuration["webhooks"].as_array_mut().context("a configuration without webhooks")?;
        all.retain(|webhook| subject(webhook).is_some_and(|subject| KEPT.contains(&subject)));
        for webhook in all {
            webhook["clientConfig"]["service"]["namespace"] = json!(NAMESPACE);
            webhook["clientConfig"]["service"]["name"] = json!(SERVICE);
            webhook["clientConfig"]["service"]["port"] = json!(port);
            if matches!(subject(webhook), Some("pod" | "deployment")) {
                let system = json!({
                    "key": "kubernetes.io/metadata.name",
                    "operator": "NotIn",
                    "values": ["kube-system", NAMESPACE],
                });
                webhook["namespaceSelector"] = json!({"matchExpressions": [system]});
            }
        }
    }
    Ok(configurations)
}

/// "mclusterqueue.kb.io" is about cluster queues: the first letter says mutating or validating.
fn subject(webhook: &Value) -> Option<&str> {
    webhook["name"].as_str()?.strip_suffix(".kb.io")?.get(1..)
}

/// Copy the certificates that the controller makes, as a kubelet would mount them.
fn mount_certificates(client: &Client, dir: &Path) -> Result<()> {
    let target = format!("/api/v1/namespaces/{NAMESPACE}/secrets/{SECRET}");
    let secret = client.wait(&target, LIMIT, |secret| secret["data"]["tls.crt"].is_string())?;
    for (name, value) in secret["data"].as_object().into_iter().flatten() {
        let bytes = STANDARD.decode(value.as_str().unwrap_or_default())?;
        fs::write(dir.join(name), bytes)?;
    }
    Ok(())
}

/// Whether a queue passes the webhooks and an old version is converted.
fn answers(client: &Client) -> Result<bool> {
    let queue = json!({
        "apiVersion": "kueue.x-k8s.io/v1beta1",
        "kind": "ClusterQueue",
        "metadata": {"name": "mlplat-test-probe"},
        "spec": {},
    });
    let target = "/apis/kueue.x-k8s.io/v1beta1/clusterqueues?dryRun=All";
    let reply = client.send("POST", target, "application/json", queue.to_string().as_bytes())?;
    Ok(reply.status == 201)
}
