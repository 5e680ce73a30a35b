//! The contract for an EFS file system and all that belongs to it.

use std::collections::{BTreeMap, BTreeSet};

use converge::{Action, Document, FaultClass, Found, Ownership, Readiness, Step};
use mlplat::components::aws::{
    AccessPoint, BackupPolicy, FileSystem, FileSystemLifecycle, FileSystemPolicy, IngressRule, MountTargets,
    SecurityGroup, TO_IA, TO_PRIMARY,
};
use serde_json::{Value as Json, json};

use crate::world::{Subject, World, document, run, tags};

fn file_system(token: &str) -> FileSystem {
    FileSystem {
        creation_token: token.to_owned(),
        encrypted: true,
        throughput_mode: "elastic".to_owned(),
        tags: tags(&[("team", "a"), ("old", "1")]),
        ..FileSystem::default()
    }
}

async fn made(world: &World, token: &str) -> String {
    id(&world.with(&file_system(token)).await)
}

fn id(found: &Found) -> String {
    found.outputs.get("id").and_then(Json::as_str).expect("an id").to_owned()
}

/// A subnet in each zone of the account's network, by zone, and a second one in the first zone.
async fn subnets(world: &World) -> (BTreeMap<String, String>, String) {
    let client = world.aws.ec2().await.expect("a client");
    let found = client.describe_subnets().send().await.expect("subnets").subnets.unwrap_or_default();
    let by_zone: BTreeMap<_, _> =
        found.iter().filter_map(|s| Some((s.availability_zone.clone()?, s.subnet_id.clone()?))).collect();
    let network = found.first().and_then(|subnet| subnet.vpc_id.clone()).expect("a network");
    let zone = by_zone.keys().next().expect("a zone");
    let request = client.create_subnet().vpc_id(network).availability_zone(zone).cidr_block("172.31.128.0/20");
    let second = request.send().await.expect("a subnet").subnet.and_then(|subnet| subnet.subnet_id);
    (by_zone, second.expect("an id"))
}

async fn group(world: &World, name: &str, clients: &[&str], subnets: &[&String]) -> (SecurityGroup, String) {
    let rule = |client: &&str| IngressRule {
        source: (*client).to_owned(),
        protocol: "tcp".to_owned(),
        from_port: Some(2049),
        to_port: Some(2049),
    };
    let spec = SecurityGroup {
        name: name.to_owned(),
        description: "NFS".to_owned(),
        subnet_ids: subnets.iter().map(|id| (*id).clone()).collect(),
        ingress: clients.iter().map(rule).collect(),
        tags: tags(&[("team", "a"), ("old", "1")]),
    };
    let found = world.subject::<SecurityGroup>().make(&document(&spec), None).await;
    (spec, id(&found))
}

#[test]
fn a_file_system_keeps_the_contract() {
    run(async |world| {
        let provisioned = FileSystem {
            throughput_mode: "provisioned".to_owned(),
            provisioned_mibps: Some(64),
            tags: tags(&[("team", "b"), ("new", "a/b c")]),
            ..file_system("contract-files")
        };
        let more = FileSystem { provisioned_mibps: Some(128), ..provisioned.clone() };
        world.holds(&[file_system("contract-files"), provisioned, more, file_system("contract-files")]).await;
    });
}

#[test]
fn a_file_system_tells_what_clients_mount() {
    run(async |world| {
        let found = world.with(&file_system("contract-outputs")).await;
        let id = id(&found);
        let text = |name: &str| found.outputs.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
        assert_eq!(text("dns_name"), format!("{id}.efs.us-east-1.amazonaws.com"));
        assert!(text("arn").ends_with(&format!(":file-system/{id}")), "{}", text("arn"));
    });
}

#[test]
fn a_file_system_is_found_by_its_id_and_tells_its_token() {
    run(async |world| {
        let id = made(world, "contract-by-id").await;
        let by_id = FileSystem { creation_token: id, ..FileSystem::default() };
        let found = world.subject::<FileSystem>().observe(&document(&by_id)).await.expect("there");
        assert_eq!(found.document["creation_token"], "contract-by-id");
    });
}

#[test]
fn a_file_system_with_data_goes_only_where_that_is_allowed() {
    run(async |world| {
        let spec = file_system("contract-data");
        let mut found = world.with(&spec).await;
        let driver = world.subject::<FileSystem>().driver;
        found.outputs.insert("size_bytes".to_owned(), json!(6144));
        driver.may_delete(&document(&spec), &found).expect("an empty one may go");
        found.outputs.insert("size_bytes".to_owned(), json!(894_i64 << 30));
        let refused = driver.may_delete(&document(&spec), &found).expect_err("it holds data");
        assert_eq!(refused.class, FaultClass::HoldsData);
        assert!(refused.message.ends_with("holds 894.0 GiB of data"), "{}", refused.message);
        assert!(refused.advice.as_ref().is_some_and(|advice| advice.contains("allow_destroy_with_data")));
        let late = driver.delete(&world.cx, &document(&spec), &found).await.expect_err("nor is it deleted");
        assert_eq!(late.class, FaultClass::HoldsData);
        let allowed = FileSystem { delete_with_data: true, ..spec };
        driver.may_delete(&document(&allowed), &found).expect("it may go with its data");
    });
}

#[test]
fn settings_that_every_file_system_has_go_back_to_the_default() {
    run(async |world| {
        let id = made(world, "contract-settings").await;
        let lifecycle = |pairs| FileSystemLifecycle { file_system_id: id.clone(), transitions: tags(pairs) };
        let both = lifecycle(&[(TO_IA, "AFTER_30_DAYS"), (TO_PRIMARY, "AFTER_1_ACCESS")]);
        world.goes_back(&[both, lifecycle(&[(TO_IA, "AFTER_7_DAYS")])], &lifecycle(&[])).await;
        let backup = |enabled| BackupPolicy { file_system_id: id.clone(), enabled };
        world.goes_back(&[backup(true)], &backup(false)).await;
    });
}

#[test]
fn a_file_system_policy_keeps_the_contract() {
    run(async |world| {
        let id = made(world, "contract-policy").await;
        let policy = |actions: Json| FileSystemPolicy {
            file_system_id: id.clone(),
            document: json!({ "Version": "2012-10-17", "Statement": [{
                "Sid": "AllowMounts", "Effect": "Allow", "Principal": { "AWS": "*" }, "Action": actions,
                "Resource": format!("arn:aws:elasticfilesystem:us-east-1:123456789012:file-system/{id}"),
                "Condition": { "Bool": { "elasticfilesystem:AccessedViaMountTarget": "true" } },
            }] }),
        };
        let two = json!(["elasticfilesystem:ClientMount", "elasticfilesystem:ClientWrite"]);
        world.holds(&[policy(two), policy(json!("elasticfilesystem:ClientMount"))]).await;
    });
}

#[test]
fn an_access_point_keeps_the_contract() {
    run(async |world| {
        let spec = AccessPoint {
            file_system_id: made(world, "contract-access").await,
            name: "ml/weights".to_owned(),
            path: "/models".to_owned(),
            uid: 1000,
            gid: 1000,
            permissions: "0755".to_owned(),
            tags: tags(&[("team", "a"), ("old", "1")]),
        };
        let other = AccessPoint { name: "ml/root".to_owned(), path: "/".to_owned(), ..spec.clone() };
        world.with(&other).await;
        world.holds(&[spec.clone(), AccessPoint { tags: tags(&[("team", "b")]), ..spec }]).await;
    });
}

#[test]
fn a_security_group_keeps_the_contract() {
    run(async |world| {
        let (zones, second) = subnets(world).await;
        let all: Vec<_> = zones.values().chain([&second]).collect();
        let (_, nodes) = group(world, "contract-nodes", &[], &all).await;
        let (_, jobs) = group(world, "contract-jobs", &[], &all).await;
        let (spec, _) = group(world, "contract-group", &[&nodes], &all).await;
        world.subject::<SecurityGroup>().remove(&document(&spec)).await;
        let mut rules = spec.ingress.clone();
        rules.insert(IngressRule {
            source: jobs,
            protocol: "tcp".to_owned(),
            from_port: Some(2049),
            to_port: Some(2049),
        });
        let wider = SecurityGroup { ingress: rules, tags: tags(&[("team", "b")]), ..spec.clone() };
        let closed = SecurityGroup { ingress: BTreeSet::new(), ..wider.clone() };
        world.holds(&[spec, wider, closed]).await;
    });
}

#[test]
fn a_rule_that_somebody_added_is_taken_away() {
    run(async |world| {
        let (zones, second) = subnets(world).await;
        let all: Vec<_> = zones.values().chain([&second]).collect();
        let (_, nodes) = group(world, "contract-nodes", &[], &all).await;
        let (spec, id) = group(world, "contract-open", &[&nodes], &all).await;
        let client = world.aws.ec2().await.expect("a client");
        let request = client.authorize_security_group_ingress().group_id(&id).ip_protocol("-1").cidr_ip("0.0.0.0/0");
        request.send().await.expect("the group is open");
        let subject = world.subject::<SecurityGroup>();
        let found = subject.observe(&document(&spec)).await.expect("there");
        assert_eq!(found.document["ingress"].as_array().map(Vec::len), Some(2));
        subject.change(&document(&spec), &document(&spec)).await;
    });
}

fn served(found: &Found) -> Vec<(String, String)> {
    let zones = found.outputs.get("zones").and_then(Json::as_object).expect("zones");
    zones
        .iter()
        .map(|(zone, target)| (zone.clone(), target["subnet_id"].as_str().unwrap_or_default().to_owned()))
        .collect()
}

async fn settled(subject: &Subject<'_>, spec: &Document) -> Found {
    let found = subject.observe(spec).await.expect("there");
    assert_eq!((&found.readiness, &found.ownership), (&Readiness::Ready, &Ownership::Inherited));
    subject.is_as(spec, &found);
    found
}

// hashicorp/terraform-provider-aws#2525, magma/magma#4609.
#[test]
fn each_zone_gets_one_mount_target_however_many_subnets_it_has() {
    run(async |world| {
        let (zones, second) = subnets(world).await;
        let zones: Vec<(String, String)> = zones.into_iter().collect();
        let [(a, a1), (b, b1), (c, c1), ..] = zones.as_slice() else { panic!("three zones") };
        let all = [a1, b1, &second];
        let (_, one) = group(world, "contract-one", &[], &all).await;
        let (_, other) = group(world, "contract-other", &[], &all).await;
        let file_system_id = made(world, "contract-targets").await;
        let spec = |subnets: &[&String], group: &String| {
            document(&MountTargets {
                file_system_id: file_system_id.clone(),
                subnet_ids: subnets.iter().map(|id| (*id).clone()).collect(),
                security_group_ids: BTreeSet::from([group.clone()]),
            })
        };
        let subject = world.subject::<MountTargets>();
        let at = |zone: &String, subnet: &String| (zone.clone(), subnet.clone());

        let three = spec(&[a1, &second, b1], &one);
        assert!(subject.observe(&three).await.is_none());
        subject.make(&three, None).await;
        let first = a1.min(&second);
        assert_eq!(served(&settled(&subject, &three).await), [at(a, first), at(b, b1)]);

        // What is there stays, whichever subnet comes first now.
        let last = a1.max(&second);
        let wider = spec(&[a1, &second, b1, c1], &other);
        subject.change(&three, &wider).await;
        assert_eq!(served(&settled(&subject, &wider).await), [at(a, first), at(b, b1), at(c, c1)]);

        let fewer = spec(&[first, c1], &other);
        subject.change(&wider, &fewer).await;
        assert_eq!(served(&settled(&subject, &fewer).await), [at(a, first), at(c, c1)]);

        let found = subject.observe(&fewer).await.expect("there");
        let moved = spec(&[last, c1], &other);
        let busy = subject.update_once(&moved, &found, "subnet_ids").await.expect_err("the old one is still there");
        assert_eq!(busy.class, FaultClass::Busy);
        subject.change(&fewer, &moved).await;
        assert_eq!(served(&settled(&subject, &moved).await), [at(a, last), at(c, c1)]);
        subject.remove(&moved).await;
    });
}

#[test]
fn subnets_that_are_not_there_are_found_before() {
    run(async |world| {
        let (zones, _) = subnets(world).await;
        let subnet = zones.values().next().expect("a subnet").clone();
        let absent = "subnet-0123456789abcdef0".to_owned();
        let spec = MountTargets { subnet_ids: BTreeSet::from([subnet, absent.clone()]), ..MountTargets::default() };
        let driver = world.subject::<MountTargets>().driver;
        let step = Step { action: Action::Create, fields: BTreeSet::new() };
        let findings = driver.preflight(&world.cx, &document(&spec), &step).await;
        let told: Vec<_> = findings.iter().map(|finding| (&*finding.at.field, finding.summary.clone())).collect();
        assert_eq!(told, [("subnet_ids", format!("The subnet {absent:?} is not there"))]);
    });
}
