//! Tests of `mlplat_shared_filesystem`.

use std::collections::BTreeMap;

use converge::{Document, Ledger};
use serde_json::{Value as Json, json};
use tf_provider::Diagnostics;

use super::{SharedFilesystem, check::load_minutes};
use crate::{
    composite::Composite,
    resources::testing::{complaints, decoded, drifted, expanded, imported, text},
};

fn least() -> Json {
    json!({
        "name": "ml-shared",
        "subnet_ids": ["subnet-a1", "subnet-b1"],
        "client_security_group_ids": ["sg-nodes"],
    })
}

fn whole() -> Json {
    let mut config = least();
    config["throughput"] = json!({ "mode": "provisioned", "mibps": 256 });
    config["transition_to_ia_after_days"] = json!(30);
    config["kms_key_arn"] = json!("arn:aws:kms:us-east-1:123456789012:key/0a1b");
    config["backup"] = json!(true);
    config["cluster"] = json!("ml-prod");
    config["volumes"] = json!([
        { "namespace": "ml", "name": "weights", "path": "/models", "size_gib": 50, "read_only": true },
        { "namespace": "ml", "name": "code", "path": "/code", "size_gib": 5, "uid": 0, "gid": 0 },
    ]);
    config["adopt"] = json!("if_unmanaged");
    config["allow_destroy_with_data"] = json!(true);
    config["tags"] = json!({ "data": "internal" });
    config
}

fn with(change: &Json) -> Json {
    let mut config = least();
    if let (Some(config), Json::Object(change)) = (config.as_object_mut(), change) {
        config.extend(change.clone());
    }
    config
}

#[expect(clippy::needless_pass_by_value, reason = "reads better with literals")]
fn check(change: Json, expected: &[&str]) {
    assert_eq!(complaints::<SharedFilesystem>(&with(&change)), expected);
}

#[test]
fn the_least_configuration_gives_an_encrypted_file_system_in_every_zone() {
    let (filesystem, graph) = expanded::<SharedFilesystem>(&least(), BTreeMap::new());
    insta::assert_snapshot!(text(&graph));
    assert!(filesystem.arn.is_pending() && filesystem.dns_name.is_pending() && filesystem.mount_targets.is_pending());
    assert_eq!(filesystem.access_points.get(), Some(&BTreeMap::new()));
}

#[test]
fn every_attribute_reaches_its_object() {
    let (_, graph) = expanded::<SharedFilesystem>(&whole(), outputs());
    insta::assert_snapshot!(text(&graph));
}

fn outputs() -> BTreeMap<String, Document> {
    let known = json!({
        "file_system": { "id": "fs-1", "arn": "arn:aws:elasticfilesystem:us-east-1:1:file-system/fs-1" },
        "security_group": { "id": "sg-1" },
        "access_point_ml_weights": { "id": "fsap-1" },
    });
    let known = known.as_object().into_iter().flatten();
    known.map(|(key, outputs)| (key.clone(), outputs.as_object().cloned().unwrap_or_default())).collect()
}

#[test]
fn every_client_is_known_to_encrypt_in_transit() {
    let (_, graph) = expanded::<SharedFilesystem>(&least(), outputs());
    let policy = graph.nodes()["policy"].document();
    let denied = policy["document"]["Statement"].as_array().expect("statements").iter().find(|s| s["Effect"] == "Deny");
    let denied = denied.expect("something is denied");
    assert_eq!(denied["Condition"], json!({ "Bool": { "aws:SecureTransport": "false" } }));
    assert_eq!(denied["Action"], "*");
}

#[test]
fn three_subnets_are_one_object_whatever_zones_they_are_in() {
    let config = with(&json!({ "subnet_ids": ["subnet-a1", "subnet-a2", "subnet-b1"] }));
    let (_, graph) = expanded::<SharedFilesystem>(&config, BTreeMap::new());
    let targets = graph.nodes()["mount_targets"].document();
    assert_eq!(targets["subnet_ids"], json!(["subnet-a1", "subnet-a2", "subnet-b1"]));
    assert!(graph.unshaped().is_none(), "the plan knows its objects before any zone is known");
}

#[test]
fn a_volume_and_its_claim_do_not_wait_for_each_other() {
    let (_, graph) = expanded::<SharedFilesystem>(&whole(), BTreeMap::new());
    let needed = |key: &str| graph.nodes()[key].after.iter().cloned().collect::<Vec<_>>();
    assert_eq!(needed("claim_ml_weights"), ["access_point_ml_weights"]);
    assert_eq!(needed("volume_ml_weights"), ["access_point_ml_weights", "file_system"]);
}

#[test]
fn with_another_access_point_a_volume_and_its_claim_are_others() {
    let named = |id: &str| {
        let mut outputs = outputs();
        outputs
            .insert("access_point_ml_weights".to_owned(), json!({ "id": id }).as_object().cloned().unwrap_or_default());
        let (_, graph) = expanded::<SharedFilesystem>(&whole(), outputs);
        let document = |key: &str| Json::Object(graph.nodes()[key].document());
        (
            document("volume_ml_weights")["name"].clone(),
            document("claim_ml_weights")["manifest"]["spec"]["volumeName"].clone(),
        )
    };
    let (volume, claimed) = named("fsap-7");
    assert_eq!((&volume, &claimed), (&json!("mlplat.ml-shared.ml.weights.fsap-7"), &volume));
    assert_ne!(named("fsap-8").0, volume);
}

#[test]
fn a_mark_that_somebody_turned_into_nonsense_says_nothing() {
    for (tag, attribute) in [("mlplat:adopt", "adopt"), ("mlplat:kms-key-arn", "kms_key_arn")] {
        let (_, graph) = expanded::<SharedFilesystem>(&whole(), outputs());
        let tags = &graph.nodes()["file_system"].fields["tags"];
        let mirror = tags.mirrors.iter().find(|mirror| mirror.path.to_string() == attribute).expect("a mirror");
        assert_eq!(mirror.back(&json!({ tag: "nonsense" })), value::Back::Unsaid);
    }
}

#[test]
fn volumes_that_are_not_known_leave_the_shape_open() {
    let (_, graph) = expanded::<SharedFilesystem>(&with(&json!({ "volumes": "(unknown)" })), BTreeMap::new());
    assert_eq!(graph.unshaped().map(ToString::to_string).as_deref(), Some("volumes"));
}

#[test]
fn a_good_configuration_causes_no_complaint() {
    check(json!({}), &[]);
    assert_eq!(complaints::<SharedFilesystem>(&whole()), [""; 0]);
}

#[test]
fn names_and_ids_that_aws_would_refuse_are_refused() {
    check(json!({ "name": "ML_Shared" }), &["error at name: The file system's name \"ML_Shared\" cannot be used"]);
    check(
        json!({ "name": "x".repeat(41) }),
        &[&format!("error at name: The file system's name {:?} cannot be used", "x".repeat(41))],
    );
    check(json!({ "name": "fs-0a1b" }), &["error at name: The file system's name \"fs-0a1b\" cannot be used"]);
    check(json!({ "subnet_ids": ["vpc-1"] }), &["error at subnet_ids: \"vpc-1\" is not the id of a subnet"]);
    check(json!({ "subnet_ids": [] }), &["error at subnet_ids: The file system has no subnet"]);
    check(
        json!({ "client_security_group_ids": ["default"] }),
        &["error at client_security_group_ids: \"default\" is not the id of a security group"],
    );
    check(
        json!({ "client_security_group_ids": [] }),
        &["warning at client_security_group_ids: Nobody may mount the file system"],
    );
    check(
        json!({ "kms_key_arn": "arn:aws:kms:us-east-1:123456789012:alias/x" }),
        &["error at kms_key_arn: The KMS key is not given by its ARN"],
    );
}

#[test]
fn throughput_and_days_that_efs_does_not_have_are_refused() {
    check(
        json!({ "throughput": { "mode": "provisioned" } }),
        &["error at throughput.mode: Provisioned throughput has no amount"],
    );
    check(
        json!({ "throughput": { "mibps": 64 } }),
        &["error at throughput.mibps: An amount of throughput has no effect in this mode"],
    );
    check(
        json!({ "throughput": { "mode": "provisioned", "mibps": 9000 } }),
        &["error at throughput.mibps: EFS does not provision 9000 MiB a second"],
    );
    check(
        json!({ "transition_to_ia_after_days": 45 }),
        &["error at transition_to_ia_after_days: Files cannot move to Infrequent Access after 45 days"],
    );
}

fn volume(change: &Json) -> Json {
    let mut volume = json!({ "namespace": "ml", "name": "weights", "path": "/models", "size_gib": 10 });
    if let (Some(volume), Json::Object(change)) = (volume.as_object_mut(), change) {
        volume.extend(change.clone());
    }
    volume
}

fn complaints_of_volume(change: &Json) -> Vec<String> {
    let told = complaints::<SharedFilesystem>(&with(&json!({ "volumes": [volume(change)] })));
    told.iter().map(|told| told.split_once(": ").map_or(told.clone(), |(_, summary)| summary.to_owned())).collect()
}

#[test]
fn volumes_that_cannot_be_made_are_refused() {
    for (change, expected) in [
        (json!({ "path": "models" }), "The path \"models\" cannot be used"),
        (json!({ "path": "/a/b/c/d/e" }), "The path \"/a/b/c/d/e\" cannot be used"),
        (json!({ "path": "/a//b" }), "The path \"/a//b\" cannot be used"),
        (json!({ "path": "/a b" }), "The path \"/a b\" cannot be used"),
        (json!({ "namespace": "ML" }), "The namespace name \"ML\" cannot be used"),
        (json!({ "name": "-x" }), "The claim name \"-x\" cannot be used"),
        (json!({ "name": "x".repeat(120) }), "The names of a volume are too long"),
        (json!({ "size_gib": 0 }), "The volume has no size"),
    ] {
        assert_eq!(complaints_of_volume(&change), [expected]);
    }
    assert_eq!(complaints_of_volume(&json!({ "path": "/" })), [""; 0]);
    let twice = json!({ "volumes": [volume(&json!({})), volume(&json!({ "path": "/other" }))] });
    check(twice, &["error at volumes: There are two volumes \"ml/weights\""]);
    let many: Vec<_> = (0..41).map(|number| volume(&json!({ "name": format!("v{number}") }))).collect();
    check(json!({ "volumes": many }), &["error at volumes: Too many volumes: 41"]);
}

// modelplaneai/modelplane#204: 894 GiB took about 43 minutes at each start of a pod.
#[test]
fn a_volume_of_large_weights_comes_with_the_time_it_takes_to_load() {
    assert_eq!(complaints_of_volume(&json!({ "size_gib": 894 })), ["Reading 894 GiB from EFS takes about 43 minutes"]);
    assert_eq!(complaints_of_volume(&json!({ "size_gib": 500 })), ["Reading 500 GiB from EFS takes about 24 minutes"]);
    assert_eq!(complaints_of_volume(&json!({ "size_gib": 100 })), [""; 0]);
}

#[test]
fn less_provisioned_throughput_takes_longer_and_more_does_not_take_less() {
    assert!((load_minutes(100, Some(3.0 * 10.0)) - 56.9).abs() < 0.1);
    assert!((load_minutes(894, Some(9000.0)) - 43.0).abs() < 0.1);
}

#[tokio::test]
async fn an_import_by_name_finds_every_attribute() {
    let mut config = whole();
    // Defaults are remembered as they are in force.
    config["volumes"] = json!([
        { "namespace": "ml", "name": "code", "path": "/code", "size_gib": 5, "read_only": false, "uid": 0, "gid": 0 },
        { "namespace": "ml", "name": "weights", "path": "/models", "size_gib": 50, "read_only": true, "uid": 1000, "gid": 1000 },
    ]);
    let said = imported::<SharedFilesystem>(&config, &json!({ "name": "ml-shared" })).await;
    for (attribute, value) in config.as_object().into_iter().flatten().filter(|(name, _)| *name != "throughput") {
        assert_eq!(said.get(attribute), Some(value), "{attribute}");
    }
    assert_eq!(said.get("throughput.mode"), Some(&json!("provisioned")));
    assert_eq!(said.get("throughput.mibps"), Some(&json!(256)));
}

#[tokio::test]
async fn what_somebody_changed_is_told_of_the_attribute() {
    let of = async |kind, name, field, found| drifted::<SharedFilesystem>(&whole(), (kind, name), field, found).await;
    assert_eq!(
        of("aws_efs_file_system", "ml-shared", "throughput_mode", json!("elastic")).await,
        "throughput.mode = \"elastic\""
    );
    let everybody = json!([{ "source": "0.0.0.0/0", "protocol": "tcp", "from_port": 2049, "to_port": 2049 }]);
    assert_eq!(
        of("aws_security_group", "mlplat-efs-ml-shared", "ingress", everybody).await,
        "client_security_group_ids = []"
    );
}

fn planned(before: &Json, after: &Json) -> Vec<String> {
    let ledger = {
        let (_, graph) = expanded::<SharedFilesystem>(before, all_outputs());
        let entry = |(key, node): (&String, &converge::Node)| {
            let entry = converge::Entry {
                kind: node.facts.kind.to_owned(),
                document: node.document(),
                outputs: all_outputs().remove(key).unwrap_or_default(),
                after: node.after.clone(),
                health: converge::Health::Ready,
                ..converge::Entry::default()
            };
            (key.clone(), entry)
        };
        Ledger { entries: graph.nodes().iter().map(entry).collect(), ..Ledger::default() }
    };
    let plan = converge::plan(&|outputs| expanded::<SharedFilesystem>(after, outputs).1, &ledger);
    let resource: SharedFilesystem = decoded(after);
    let mut told = Diagnostics::new();
    resource.explain(&plan, &ledger, &mut told);
    told.iter().map(|told| format!("{}: {}", told.path, told.detail.split("\n\n").next().unwrap_or_default())).collect()
}

fn all_outputs() -> BTreeMap<String, Document> {
    let mut outputs = outputs();
    let id = |id: &str| json!({ "id": id }).as_object().cloned().unwrap_or_default();
    outputs.insert("access_point_ml_code".to_owned(), id("fsap-2"));
    outputs.insert("mount_targets".to_owned(), id("fsmt-1"));
    for key in ["backup", "lifecycle", "policy"] {
        outputs.insert(key.to_owned(), Document::new());
    }
    for (key, name) in
        [("volume_ml_code", "v"), ("claim_ml_code", "c"), ("volume_ml_weights", "v"), ("claim_ml_weights", "c")]
    {
        outputs.insert(key.to_owned(), id(name));
    }
    outputs
}

#[test]
fn a_volume_that_would_have_to_be_replaced_is_refused_and_not_the_file_system_replaced() {
    let mut moved = whole();
    moved["volumes"][0]["path"] = json!("/elsewhere");
    moved["volumes"][0]["read_only"] = json!(false);
    let told = planned(&whole(), &moved);
    let expected = "volumes: Neither EFS nor Kubernetes changes `path`, `read_only` of what is there, and pods may have it mounted.";
    assert_eq!(told, [expected]);
}

#[test]
fn a_volume_may_grow_and_go() {
    let mut grown = whole();
    grown["volumes"][0]["size_gib"] = json!(80);
    assert_eq!(planned(&whole(), &grown), [""; 0]);
    let mut gone = whole();
    gone["volumes"] = json!([]);
    assert_eq!(planned(&whole(), &gone), [""; 0]);
}
