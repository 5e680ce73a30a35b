//! A shared file system with volumes: access points in an emulated EFS, persistent volumes and claims in a real
//! cluster, whose controllers bind them.

use crate::support::{LIMIT, Stage, errors, scene};
use acceptance_tests::printed::changed_lines;
use anyhow::{Context, Result, ensure};
use insta::assert_snapshot;
use regex::Regex;
use serde_json::{Value, json};

pub(crate) const FILES: &str = "mlplat_shared_filesystem.shared";
const VOLUMES: &str = "/api/v1/persistentvolumes";
pub(crate) const CODE: &str = "{ name = \"code\", path = \"/code\", size_gib = 5 }";
pub(crate) const WEIGHTS: &str = "{ name = \"weights\", path = \"/models\", size_gib = 50, read_only = true }";

/// A file system whose name is the namespace's, with these volumes in it, and further attributes.
pub(crate) fn configuration(stage: &Stage, volumes: &[&str], attributes: &str) -> String {
    let namespace = stage.namespace;
    let (subnets, clients) = (&stage.network.subnet_ids, &stage.network.security_group_id);
    let volumes: Vec<_> =
        volumes.iter().map(|volume| volume.replacen('{', &format!("{{ namespace = {namespace:?},"), 1)).collect();
    format!(
        "resource \"mlplat_shared_filesystem\" \"shared\" {{\n  cluster = \"ml-prod\"\n  name = {namespace:?}\n  \
         subnet_ids = {subnets:?}\n  client_security_group_ids = [{clients:?}]\n  volumes = [{}]\n{attributes}\n}}\n",
        volumes.join(", ")
    )
}

pub(crate) fn with_volumes(stage: Stage, volumes: &[&str]) -> Result<Stage> {
    let configuration = configuration(&stage, volumes, "");
    stage.applied(&configuration)
}

/// Where a volume is, whose name ends with its access point's id.
pub(crate) fn volume(stage: &Stage, name: &str) -> Result<String> {
    let prefix = format!("mlplat.{0}.{0}.{name}.", stage.namespace);
    let volumes = stage.client().list(VOLUMES)?;
    let mut names = volumes.iter().filter_map(|volume| volume["metadata"]["name"].as_str());
    let found = names.find(|found| found.starts_with(&prefix)).with_context(|| format!("no {prefix}… is there"))?;
    Ok(format!("{VOLUMES}/{found}"))
}

/// Ids are others in every run.
pub(crate) fn without_ids(text: &str) -> String {
    let ids = Regex::new(r"\b(fs|fsap|fsmt|sg|subnet)-[0-9a-f]{8,}\b").expect("a constant");
    ids.replace_all(text, "$1-<id>").into_owned()
}

/// The calls that changed something, in the account and in the cluster.
pub(crate) fn all_writes(stage: &Stage) -> String {
    let journal = stage.account.proxy().take_journal();
    let mut writes: Vec<_> = journal.writes().into_iter().map(str::to_owned).collect();
    writes.extend(stage.writes());
    writes.sort();
    writes.join(" ")
}

/// Destroy, which must leave neither an object in the account nor a volume in the cluster.
pub(crate) fn destroyed(stage: &Stage) -> Result<()> {
    stage.destroy()?;
    let names = stage.client().list(VOLUMES)?;
    let prefix = format!("mlplat.{}.", stage.namespace);
    let left: Vec<_> = names.iter().filter_map(|volume| volume["metadata"]["name"].as_str()).collect();
    ensure!(!left.iter().any(|name| name.starts_with(&prefix)), "left over in the cluster: {left:?}");
    Ok(())
}

// One call of EFS's own, past the proxy.
pub(crate) fn efs(stage: &Stage, method: &str, target: &str, body: &Value) -> Result<Value> {
    stage.account.aws().rest("elasticfilesystem", method, &format!("/2015-02-01{target}"), body)
}

pub(crate) fn text(value: &Value, pointer: &str) -> Result<String> {
    let found = value.pointer(pointer).and_then(Value::as_str);
    Ok(found.with_context(|| format!("no {pointer} in {value}"))?.to_owned())
}

/// A pod that mounts a claim.
fn pod(stage: &Stage, claim: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "reader", "namespace": stage.namespace },
        "spec": {
            "nodeSelector": { "pool": stage.namespace },
            "tolerations": [{ "operator": "Exists" }],
            "securityContext": { "runAsNonRoot": true, "runAsUser": 1000, "seccompProfile": { "type": "RuntimeDefault" } },
            "containers": [{
                "name": "main", "image": "registry.test/reader",
                "securityContext": { "allowPrivilegeEscalation": false, "capabilities": { "drop": ["ALL"] } },
                "volumeMounts": [{ "name": "files", "mountPath": "/files" }],
            }],
            "volumes": [{ "name": "files", "persistentVolumeClaim": { "claimName": claim } }],
        },
    })
}

#[test]
fn volumes_are_bound_to_their_access_points_and_then_there_is_nothing_to_do() -> Result<()> {
    scene("files", |stage| {
        let stage = with_volumes(stage, &[CODE, WEIGHTS])?;
        stage.settled()?;
        assert_eq!(all_writes(&stage), "");
        let attributes = stage.workspace.attributes(FILES)?;
        let (files, point) =
            (text(&attributes, "/file_system_id")?, text(&attributes["access_points"], "/files~1weights")?);
        let weights = stage.client().get(&volume(&stage, "weights")?)?;
        assert_eq!(weights["spec"]["csi"]["volumeHandle"], format!("{files}::{point}"));
        assert_eq!(weights["spec"]["accessModes"], json!(["ReadOnlyMany"]));
        assert_eq!(weights["spec"]["csi"]["readOnly"], true);
        for claim in ["code", "weights"] {
            let claim = stage.object(&format!("persistentvolumeclaims/{claim}"))?;
            assert_eq!(claim["status"]["phase"], "Bound");
        }
        destroyed(&stage)
    })
}

#[test]
fn a_volume_comes_grows_and_goes_alone() -> Result<()> {
    scene("files-change", |stage| {
        let stage = with_volumes(stage, &[CODE])?;
        let grown = CODE.replace("5 }", "8 }");
        let mut table = Vec::new();
        for (what, volumes) in
            [("added", vec![CODE, WEIGHTS]), ("grown", vec![&grown, WEIGHTS]), ("removed", vec![WEIGHTS])]
        {
            stage.workspace.configure(&configuration(&stage, &volumes, ""))?;
            let plan = changed_lines(&stage.plan()?);
            stage.apply()?;
            table.push(format!("=== {what}: {}\n{}", all_writes(&stage), without_ids(&plan)));
        }
        assert_snapshot!("filesystem_volumes", table.join("\n"));
        destroyed(&stage)
    })
}

#[test]
fn a_claim_that_a_pod_uses_is_named_with_the_pod_and_goes_when_the_pod_is_gone() -> Result<()> {
    scene("files-used", |stage| {
        let stage = with_volumes(stage, &[CODE])?;
        let hasty = configuration(&stage, &[CODE], "  timeouts { delete = \"10s\" }");
        stage.workspace.configure(&hasty)?;
        stage.apply()?;
        stage.client().create(&pod(&stage, "code"))?;
        stage.client().wait(&reader(&stage), LIMIT, |pod| pod["status"]["phase"] == "Running")?;
        all_writes(&stage);
        let refused = stage.workspace.destroy()?.failed()?;
        assert_snapshot!("filesystem_in_use", without_ids(&errors(&refused)));
        // The file system with its data is there until nobody uses it.
        assert!(!all_writes(&stage).contains("DeleteFileSystem"));
        stage.client().delete(&reader(&stage))?;
        destroyed(&stage)
    })
}

fn reader(stage: &Stage) -> String {
    format!("/api/v1/namespaces/{}/pods/reader", stage.namespace)
}

#[test]
fn volumes_are_imported_by_name_and_by_id_with_nothing_to_do() -> Result<()> {
    scene("files-import", |stage| {
        let stage = with_volumes(stage, &[CODE, WEIGHTS])?;
        let before = stage.workspace.attributes(FILES)?;
        for id in ["files-import".to_owned(), text(&before, "/file_system_id")?] {
            stage.workspace.run(&["state", "rm", FILES])?.ok()?;
            stage.workspace.import(FILES, &id)?.ok()?;
            assert_eq!(all_writes(&stage), "");
            stage.settled()?;
        }
        assert_eq!(stage.workspace.attributes(FILES)?["volumes"].as_array().map(Vec::len), Some(2));
        destroyed(&stage)
    })
}

#[test]
fn a_file_system_is_planned_without_its_cluster_and_made_as_far_as_it_goes() -> Result<()> {
    scene("files-early", |stage| {
        stage.workspace.configure(&configuration(&stage, &[CODE], ""))?;
        stage.account.lead_to_kubernetes("https://127.0.0.1:1", &stage.cluster.ca_pem())?;
        let plan = stage.plan()?;
        assert!(plan.contains("Plan: 1 to add"), "{plan}");
        let refused = stage.workspace.apply()?.failed()?;
        assert!(refused.says("no answer from the API server"), "{}", refused.stderr);
        stage.account.lead_to_kubernetes(stage.api.url(), &stage.cluster.ca_pem())?;
        stage.workspace.untaint(FILES)?.ok()?;
        stage.apply()?;
        destroyed(&stage)
    })
}

#[test]
fn weights_that_load_slowly_from_efs_come_with_the_estimate() -> Result<()> {
    scene("files-slow", |stage| {
        let large = WEIGHTS.replace("size_gib = 50", "size_gib = 894");
        stage.workspace.configure(&configuration(&stage, &[&large], ""))?;
        let output = stage.workspace.plan()?.ok()?;
        assert!(output.says("Reading 894 GiB from EFS takes about 43 minutes"), "{}", output.stdout);
        assert!(output.says("mlplat_model_bucket"), "{}", output.stdout);
        Ok(())
    })
}
