//! The control plane's own tests: real API server, scheduler and controllers, played nodes. None needs the provider.

use acceptance_tests::{
    Emulator, Proxy, Rule,
    kubernetes::{ControlPlane, Crds, Node, Options, Script, eks_token},
};
use anyhow::{Context, Result};
use base64::Engine;
use serde_json::{Value, json};
use std::time::Duration;

const LIMIT: Duration = Duration::from_mins(1);
const MANAGER: &str = "kubernetes-tests";

#[test]
fn two_replicas_on_one_gpu_leave_one_pending_with_the_schedulers_reason() -> Result<()> {
    let cluster = ControlPlane::shared()?;
    cluster.namespace("gpu")?;
    cluster.add_node(&Node::with_gpus("gpu-1", 1).label("pool", "one-gpu"))?;
    cluster.client().apply(MANAGER, &deployment("gpu", "llm", 2, Some("one-gpu")))?;
    let ready = |deployment: &Value| deployment["status"]["readyReplicas"] == 1;
    let seen = cluster.client().wait("/apis/apps/v1/namespaces/gpu/deployments/llm", LIMIT, ready)?;
    assert_eq!(seen["status"]["unavailableReplicas"], 1);
    let pending =
        |pods: &Value| pods["items"].as_array().is_some_and(|pods| pods.iter().any(|pod| reason(pod).is_some()));
    let pods = cluster.client().wait("/api/v1/namespaces/gpu/pods", LIMIT, pending)?;
    let reasons: Vec<_> = pods["items"].as_array().into_iter().flatten().filter_map(reason).collect();
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    assert!(reasons[0].contains("Insufficient nvidia.com/gpu"), "{reasons:?}");
    Ok(())
}

#[test]
fn an_eks_token_is_good_for_its_own_cluster_and_while_it_is_young() -> Result<()> {
    let cluster = ControlPlane::shared()?;
    let status = |token: &str| -> Result<u16> {
        Ok(cluster.client_with_token(token)?.send("GET", "/api/v1/namespaces", "", b"")?.status)
    };
    assert_eq!(status(&eks_token("ml-prod", Duration::ZERO)?)?, 200);
    assert_eq!(status(&eks_token("ml-test", Duration::ZERO)?)?, 401);
    assert_eq!(status(&eks_token("ml-prod", Duration::from_mins(16))?)?, 401);
    assert_eq!(status("k8s-aws-v1.bm8")?, 401);
    assert_eq!(status(cluster.admin_token())?, 200);
    let refusals = cluster.tokens().refusals();
    assert!(refusals.iter().any(|reason| reason.contains("signature")), "{refusals:?}");
    assert!(refusals.iter().any(|reason| reason.contains("960 s ago")), "{refusals:?}");
    assert!(cluster.tokens().accepted() >= 1);
    Ok(())
}

#[test]
fn a_model_that_loads_is_running_long_before_it_is_ready() -> Result<()> {
    let pod = first_pod("slow", &Script::ReadyAfter(Duration::from_secs(4)), |pod| phase(pod) == "Running")?;
    assert!(!is_ready(&pod), "{pod:#}");
    let client = ControlPlane::shared()?.client();
    client.wait("/apis/apps/v1/namespaces/slow/deployments/llm", LIMIT, |deployment| {
        deployment["status"]["readyReplicas"] == 1
    })?;
    let pod = client.list("/api/v1/namespaces/slow/pods")?.into_iter().next().context("no pod")?;
    let seconds = |kind: &str| -> Option<String> {
        let conditions = pod["status"]["conditions"].as_array()?;
        let found = conditions.iter().find(|condition| condition["type"] == kind)?;
        found["lastTransitionTime"].as_str().map(str::to_owned)
    };
    assert_ne!(seconds("Initialized"), seconds("Ready"), "{pod:#}");
    Ok(())
}

#[test]
fn an_image_that_is_not_there_is_waited_for_and_told_in_an_event() -> Result<()> {
    let waiting = |pod: &Value| waiting_for(pod) == "ImagePullBackOff";
    let pod = first_pod("no-image", &Script::ImagePullFailure, waiting)?;
    assert_eq!(phase(&pod), "Pending");
    let failed =
        |events: &Value| events["items"].as_array().is_some_and(|all| all.iter().any(|one| one["reason"] == "Failed"));
    ControlPlane::shared()?.client().wait("/api/v1/namespaces/no-image/events", LIMIT, failed).map(drop)
}

#[test]
fn a_container_without_memory_is_killed_again_and_again() -> Result<()> {
    let restarted =
        |pod: &Value| waiting_for(pod) == "CrashLoopBackOff" && container(pod)["restartCount"].as_u64() > Some(1);
    let pod = first_pod("oom", &Script::OutOfMemory, restarted)?;
    let last = &container(&pod)["lastState"]["terminated"];
    assert_eq!((&last["reason"], &last["exitCode"]), (&json!("OOMKilled"), &json!(137)), "{pod:#}");
    Ok(())
}

#[test]
fn a_container_that_crashes_leaves_its_last_words() -> Result<()> {
    let words = "ValueError: the model's max seq len (131072) is larger than the maximum number of tokens";
    let waiting = |pod: &Value| waiting_for(pod) == "CrashLoopBackOff";
    let pod = first_pod("crash", &Script::Crash(words.to_owned()), waiting)?;
    assert_eq!(container(&pod)["lastState"]["terminated"]["message"], words);
    let name = pod["metadata"]["name"].as_str().context("no name")?;
    let target = format!("/api/v1/namespaces/crash/pods/{name}/log?tailLines=1");
    let log = ControlPlane::shared()?.client().send("GET", &target, "", b"")?.ok()?;
    assert_eq!(log.body.trim_end(), words);
    Ok(())
}

#[test]
fn two_field_managers_own_what_they_wrote() -> Result<()> {
    let cluster = ControlPlane::shared()?;
    cluster.namespace("managers")?;
    let client = cluster.client();
    let config = |value: &str| {
        let metadata = json!({"name": "shared", "namespace": "managers"});
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"key": value}})
    };
    client.apply("first", &config("one"))?;
    client.patch("second", "/api/v1/namespaces/managers/configmaps/shared", &json!({"data": {"key": "two"}}))?;
    let target = client.target(&config("one"))?;
    let unforced = client.send(
        "PATCH",
        &format!("{target}?fieldManager=first"),
        "application/apply-patch+yaml",
        config("one").to_string().as_bytes(),
    )?;
    assert_eq!(unforced.status, 409);
    assert!(unforced.body.contains("second"), "{}", unforced.body);
    client.delete(&target)?;
    client.wait_gone(&target, LIMIT)
}

#[test]
fn yaml_is_applied_document_by_document() -> Result<()> {
    let cluster = ControlPlane::shared()?;
    let text = "apiVersion: v1\nkind: Namespace\nmetadata: {name: from-yaml}\n---\napiVersion: v1\nkind: ConfigMap\n\
                metadata: {name: a, namespace: from-yaml}\ndata: {b: c}\n";
    assert_eq!(cluster.client().apply_yaml(MANAGER, text)?.len(), 2);
    assert_eq!(cluster.client().get("/api/v1/namespaces/from-yaml/configmaps/a")?["data"]["b"], "c");
    Ok(())
}

#[test]
fn the_proxy_counts_and_fails_calls_in_the_form_of_the_api() -> Result<()> {
    let cluster = ControlPlane::shared()?;
    let proxy = cluster.proxy()?;
    let status = |target: &str| through(cluster, &proxy, "GET", target);
    assert_eq!(status("/api/v1/namespaces")?.0, 200);
    proxy.add_rule(Rule::on("get.namespaces").nth(1).throttle());
    proxy.add_rule(Rule::on("get.namespaces").nth(2).access_denied());
    proxy.add_rule(Rule::on("get.namespaces").nth(3).error(409, "Conflict", "somebody was faster"));
    for (code, reason) in [(429, "TooManyRequests"), (403, "Forbidden"), (409, "Conflict")] {
        let (status, body) = status("/api/v1/namespaces/default")?;
        assert_eq!((status, &body["reason"], &body["kind"]), (code, &json!(reason), &json!("Status")));
    }
    proxy.add_rule(Rule::on("delete.configmaps").drop_before());
    assert!(through(cluster, &proxy, "DELETE", "/api/v1/namespaces/default/configmaps/none").is_err());
    let journal = proxy.take_journal();
    assert_eq!(journal.count("get.namespaces"), 3);
    assert_eq!(journal.writes(), ["delete.configmaps"]);
    assert_eq!(status("/api/v1/namespaces/default")?.0, 200);
    Ok(())
}

#[test]
fn what_a_dropped_answer_had_done_is_done() -> Result<()> {
    let cluster = ControlPlane::shared()?;
    let proxy = cluster.proxy()?;
    cluster.namespace("dropped")?;
    proxy.add_rule(Rule::writes().drop_after());
    assert!(through(cluster, &proxy, "DELETE", "/api/v1/namespaces/dropped").is_err());
    cluster.client().wait_gone("/api/v1/namespaces/dropped", LIMIT)
}

#[test]
fn a_watch_goes_through_the_proxy_as_it_comes() -> Result<()> {
    let cluster = ControlPlane::shared()?;
    let proxy = cluster.proxy()?;
    let (status, body) =
        through(cluster, &proxy, "GET", "/api/v1/namespaces/default/serviceaccounts?watch=1&timeoutSeconds=1")?;
    assert_eq!((status, &body["type"]), (200, &json!("ADDED")));
    assert_eq!(proxy.journal().reads(), ["watch.serviceaccounts"]);
    Ok(())
}

#[test]
fn custom_resources_are_served_once_they_are_installed() -> Result<()> {
    let cluster = ControlPlane::shared()?;
    cluster.install(&Crds::ALL)?;
    for target in [
        "/apis/kueue.x-k8s.io/v1beta2/admissionchecks",
        "/apis/keda.sh/v1alpha1/scaledobjects",
        "/apis/external-secrets.io/v1/externalsecrets",
        "/apis/karpenter.sh/v1/nodepools",
        "/apis/karpenter.k8s.aws/v1/ec2nodeclasses",
        "/apis/monitoring.coreos.com/v1/podmonitors",
    ] {
        assert!(cluster.client().list(target)?.is_empty());
    }
    Ok(())
}

#[test]
fn the_emulated_eks_cluster_leads_to_this_api_server() -> Result<()> {
    let cluster = ControlPlane::shared()?;
    let mut account = Emulator::shared()?.account()?;
    account.seed_cluster()?;
    account.lead_to_kubernetes(cluster.endpoint(), &cluster.ca_pem())?;
    let described = account.aws().rest("eks", "GET", "/clusters/ml-prod", &Value::Null)?;
    assert_eq!(described["cluster"]["endpoint"], cluster.endpoint());
    let ca = described["cluster"]["certificateAuthority"]["data"].as_str().context("no CA")?;
    assert_eq!(base64::engine::general_purpose::STANDARD.decode(ca)?, cluster.ca_pem().as_bytes());
    Ok(())
}

#[test]
fn a_control_plane_leaves_no_process_and_no_file() -> Result<()> {
    let cluster = ControlPlane::start(&Options { cluster: "short".to_owned(), ..Options::default() })?;
    let dir = cluster.admin_kubeconfig().parent().context("a file without a directory")?.to_owned();
    let processes = cluster.process_ids();
    assert!(dir.exists() && processes.len() == 5);
    drop(cluster);
    assert!(!dir.exists());
    #[cfg(target_os = "linux")]
    assert!(processes.iter().all(|id| !std::path::Path::new(&format!("/proc/{id}")).exists()));
    Ok(())
}

/// The first pod of a deployment in a namespace with this script, once it is as wanted.
fn first_pod(namespace: &str, script: &Script, wanted: impl Fn(&Value) -> bool) -> Result<Value> {
    let cluster = ControlPlane::shared()?;
    cluster.namespace(namespace)?;
    cluster.play(namespace, script)?;
    cluster.add_node(&Node::new(&format!("node-{namespace}")).label("pool", namespace))?;
    let mut object = deployment(namespace, "llm", 1, Some(namespace));
    object["spec"]["template"]["spec"]["containers"][0]["resources"] = json!({});
    cluster.client().apply(MANAGER, &object)?;
    let found = |pods: &Value| pods["items"].get(0).is_some_and(&wanted);
    let pods = cluster.client().wait(&format!("/api/v1/namespaces/{namespace}/pods"), LIMIT, found)?;
    Ok(pods["items"][0].clone())
}

/// A deployment of pods that want one GPU each.
fn deployment(namespace: &str, name: &str, replicas: u32, pool: Option<&str>) -> Value {
    let labels = json!({"app": name});
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "nodeSelector": {"pool": pool},
                    "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
                    "containers": [{
                        "name": "engine",
                        "image": "registry.test/vllm:v0.11.0",
                        "resources": {"limits": {"nvidia.com/gpu": 1}},
                    }],
                },
            },
        },
    })
}

/// A call of the administrator through a proxy: status and body, the first line of it where there are several.
fn through(cluster: &ControlPlane, proxy: &Proxy, method: &str, target: &str) -> Result<(u16, Value)> {
    let client = cluster.client_at(proxy.url())?;
    let reply = client.send(method, target, "", b"")?;
    let first = reply.body.lines().next().unwrap_or_default();
    Ok((reply.status, serde_json::from_str(first)?))
}

fn phase(pod: &Value) -> &str {
    pod["status"]["phase"].as_str().unwrap_or_default()
}

fn container(pod: &Value) -> &Value {
    &pod["status"]["containerStatuses"][0]
}

fn waiting_for(pod: &Value) -> &str {
    container(pod)["state"]["waiting"]["reason"].as_str().unwrap_or_default()
}

fn is_ready(pod: &Value) -> bool {
    has_condition(pod, "Ready")
}

fn has_condition(object: &Value, kind: &str) -> bool {
    let conditions = object["status"]["conditions"].as_array();
    conditions.is_some_and(|all| all.iter().any(|one| one["type"] == kind && one["status"] == "True"))
}

/// Why the scheduler found no node.
fn reason(pod: &Value) -> Option<String> {
    let conditions = pod["status"]["conditions"].as_array()?;
    let found = conditions.iter().find(|one| one["type"] == "PodScheduled" && one["status"] == "False")?;
    found["message"].as_str().map(str::to_owned)
}
