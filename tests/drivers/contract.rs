//! What is created is observed as it was wanted, every field that is not fixed can be changed, what is deleted is
//! gone, and deleting it again is fine.

use std::collections::{BTreeMap, BTreeSet};

use acceptance_tests::Cluster;
use converge::FaultClass;
use mlplat::{
    components::aws::{
        AutoscalingTags, Bucket, BucketEncryption, BucketLifecycle, BucketOwnershipControls, BucketPolicy,
        BucketPublicAccessBlock, BucketVersioning, IamRole, LaunchTemplate, LifecycleRule, NodeGroup, Taint,
        policy::normalize,
    },
    drivers::aws::{actions, describe_cluster},
};
use serde_json::{Value as Json, json};

use crate::world::{World, document, run, run_with_cluster, tags};

fn bucket(name: &str) -> Bucket {
    Bucket { name: name.to_owned(), empty_before_delete: false, tags: tags(&[("team", "a"), ("old", "1")]) }
}

#[test]
fn a_bucket_keeps_the_contract() {
    run(async |world| {
        let retagged = Bucket { tags: tags(&[("team", "b"), ("new", "2")]), ..bucket("contract-bucket") };
        world.holds(&[bucket("contract-bucket"), retagged]).await;
    });
}

#[test]
fn the_settings_of_a_bucket_keep_the_contract() {
    run(async |world| {
        let name = "contract-settings".to_owned();
        world.with(&bucket(&name)).await;
        let closed = BucketPublicAccessBlock {
            bucket: name.clone(),
            block_public_acls: true,
            ignore_public_acls: true,
            block_public_policy: true,
            restrict_public_buckets: true,
        };
        // A new bucket of today's S3 has this setting already; what is under test begins without it.
        let block = world.subject::<BucketPublicAccessBlock>();
        if block.observe(&document(&closed)).await.is_some() {
            block.remove(&document(&closed)).await;
        }
        world.holds(&[closed.clone(), BucketPublicAccessBlock { block_public_policy: false, ..closed }]).await;
        let owned =
            |ownership: &str| BucketOwnershipControls { bucket: name.clone(), object_ownership: ownership.to_owned() };
        let controls = world.subject::<BucketOwnershipControls>();
        if controls.observe(&document(&owned(""))).await.is_some() {
            controls.remove(&document(&owned(""))).await;
        }
        world.holds(&[owned("BucketOwnerEnforced"), owned("BucketOwnerPreferred")]).await;
    });
}

#[test]
fn settings_that_every_bucket_has_go_back_to_the_default() {
    run(async |world| {
        let name = "contract-defaults".to_owned();
        world.with(&bucket(&name)).await;
        let versioning = BucketVersioning { bucket: name.clone(), enabled: true };
        let suspended = BucketVersioning { enabled: false, ..versioning.clone() };
        world.goes_back(&[versioning], &suspended).await;
        let keyed = BucketEncryption {
            bucket: name.clone(),
            algorithm: "aws:kms".to_owned(),
            kms_key_arn: Some("arn:aws:kms:us-east-1:123456789012:key/k".to_owned()),
            bucket_key: true,
        };
        let plain = BucketEncryption { bucket: name, algorithm: "AES256".to_owned(), ..BucketEncryption::default() };
        world.goes_back(&[keyed.clone(), BucketEncryption { bucket_key: false, ..keyed }], &plain).await;
    });
}

#[test]
fn policy_and_lifecycle_of_a_bucket_keep_the_contract() {
    run(async |world| {
        let name = "contract-rules".to_owned();
        world.with(&bucket(&name)).await;
        let policy = |action: Json| BucketPolicy {
            bucket: name.clone(),
            document: normalize(json!({"Version": "2012-10-17", "Statement": [{
                "Sid": "Deny", "Effect": "Deny", "Principal": "*", "Action": action,
                "Resource": [format!("arn:aws:s3:::{name}"), format!("arn:aws:s3:::{name}/*")],
                "Condition": {"Bool": {"aws:SecureTransport": "false"}},
            }]})),
        };
        world.holds(&[policy(json!("s3:*")), policy(json!(["s3:GetObject", "s3:PutObject"]))]).await;
        let cleanup = LifecycleRule {
            id: "cleanup".to_owned(),
            enabled: true,
            expire_delete_markers: true,
            noncurrent_expire_after_days: Some(90),
            abort_incomplete_uploads_after_days: Some(7),
            ..LifecycleRule::default()
        };
        let retention = LifecycleRule {
            id: "retention".to_owned(),
            prefix: "checkpoints/".to_owned(),
            expire_after_days: Some(30),
            ..LifecycleRule { expire_delete_markers: false, ..cleanup.clone() }
        };
        let lifecycle = |rules: &[&LifecycleRule]| BucketLifecycle {
            bucket: name.clone(),
            rules: rules.iter().map(|rule| (*rule).clone()).collect(),
        };
        world.holds(&[lifecycle(&[&cleanup]), lifecycle(&[&cleanup, &retention]), lifecycle(&[&retention])]).await;
    });
}

#[test]
fn a_role_keeps_the_contract() {
    run(async |world| {
        let trust = |service: &str| {
            json!({"Version": "2012-10-17", "Statement": [{
                "Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole",
            }]})
        };
        let arn = |name: &str| format!("arn:aws:iam::aws:policy/{name}");
        let role = IamRole {
            name: "contract-role".to_owned(),
            description: "Nodes of a pool".to_owned(),
            trust_policy: trust("ec2.amazonaws.com"),
            managed_policy_arns: BTreeSet::from([arn("AmazonEKSWorkerNodePolicy"), arn("AmazonEKS_CNI_Policy")]),
            tags: tags(&[("team", "a"), ("old", "1")]),
        };
        let changed = IamRole {
            description: "Other words".to_owned(),
            trust_policy: trust("eks.amazonaws.com"),
            managed_policy_arns: BTreeSet::from([
                arn("AmazonEKS_CNI_Policy"),
                arn("AmazonEC2ContainerRegistryPullOnly"),
            ]),
            tags: tags(&[("team", "b")]),
            ..role.clone()
        };
        world.holds(&[role, changed]).await;
    });
}

fn launch_template(name: &str) -> LaunchTemplate {
    LaunchTemplate {
        name: name.to_owned(),
        device_name: "/dev/xvda".to_owned(),
        volume_size_gib: 200,
        volume_type: "gp3".to_owned(),
        volume_iops: Some(4000),
        volume_throughput_mibps: Some(250),
        metadata_http_tokens: "required".to_owned(),
        metadata_hop_limit: 2,
        instance_tags: tags(&[("team", "a")]),
        tags: tags(&[("team", "a"), ("old", "1")]),
    }
}

#[test]
fn a_launch_template_keeps_the_contract() {
    run(async |world| {
        let template = launch_template("contract-template");
        let bigger = LaunchTemplate { volume_size_gib: 500, instance_tags: tags(&[("team", "b")]), ..template.clone() };
        let other = LaunchTemplate {
            device_name: "/dev/xvdb".to_owned(),
            volume_iops: Some(5000),
            metadata_hop_limit: 1,
            tags: tags(&[("team", "b")]),
            ..bigger.clone()
        };
        world.holds(&[template, bigger, other]).await;
    });
}

async fn node_group(world: &World, cluster: &Cluster) -> NodeGroup {
    let template = world.with(&launch_template("contract-group-template")).await;
    let id = template.outputs.get("id").and_then(Json::as_str).unwrap_or_default();
    NodeGroup {
        cluster: cluster.name.clone(),
        name: "gpu".to_owned(),
        node_role_arn: cluster.node_role_arn.clone(),
        subnet_ids: cluster.subnet_ids.iter().cloned().collect(),
        instance_types: vec!["g6e.12xlarge".to_owned(), "g6e.24xlarge".to_owned()],
        ami_type: "AL2023_x86_64_NVIDIA".to_owned(),
        capacity_type: "ON_DEMAND".to_owned(),
        min: 1,
        max: 4,
        initial: 2,
        labels: BTreeMap::from([("team".to_owned(), "a".to_owned()), ("old".to_owned(), "1".to_owned())]),
        taints: BTreeSet::from([taint("nvidia.com/gpu", "present")]),
        node_repair: true,
        launch_template_id: id.to_owned(),
        launch_template_version: "1".to_owned(),
        tags: tags(&[("team", "a"), ("old", "1")]),
        ..NodeGroup::default()
    }
}

fn taint(key: &str, value: &str) -> Taint {
    Taint { key: key.to_owned(), value: value.to_owned(), effect: "NoSchedule".to_owned() }
}

#[test]
fn a_node_group_keeps_the_contract() {
    run_with_cluster(async |world, cluster| {
        let group = node_group(world, &cluster).await;
        let shifted = NodeGroup {
            min: 3,
            max: 6,
            labels: BTreeMap::from([("team".to_owned(), "b".to_owned())]),
            taints: BTreeSet::from([taint("team", "b")]),
            node_repair: false,
            tags: tags(&[("team", "b")]),
            ..group.clone()
        };
        // A change of the template's version and of the size together takes two updates.
        let bigger = LaunchTemplate { volume_size_gib: 500, ..launch_template("contract-group-template") };
        let templates = world.subject::<LaunchTemplate>();
        let before = document(&launch_template("contract-group-template"));
        templates.change(&before, &document(&bigger)).await;
        let rolled = NodeGroup { max: 8, launch_template_version: "2".to_owned(), ..shifted.clone() };
        world.holds(&[group, shifted, rolled]).await;
    });
}

#[test]
fn a_second_node_group_starts_with_the_live_size_of_the_first() {
    run_with_cluster(async |world, cluster| {
        let group = node_group(world, &cluster).await;
        let subject = world.subject::<NodeGroup>();
        let mut previous = subject.make(&document(&group), None).await;
        previous.outputs.insert("live_size".to_owned(), json!(3));
        let second = NodeGroup { slot: Some("b".to_owned()), ..group };
        let found = subject.make(&document(&second), Some(&previous)).await;
        assert_eq!(found.outputs.get("live_size"), Some(&json!(3)));
        assert_eq!(found.outputs.get("id"), Some(&json!("gpu-b")));
    });
}

#[test]
fn tags_of_a_scaling_group_keep_the_contract() {
    run_with_cluster(async |world, cluster| {
        let group = node_group(world, &cluster).await;
        let group = world.with(&group).await;
        let names = group.outputs.get("autoscaling_group_names").and_then(Json::as_array).cloned().unwrap_or_default();
        let name = names.first().and_then(Json::as_str).expect("a scaling group").to_owned();
        let label = "k8s.io/cluster-autoscaler/node-template/label/team";
        let spec = |pairs| AutoscalingTags { autoscaling_group: name.clone(), tags: tags(pairs) };
        world.holds(&[spec(&[(label, "a"), ("old", "1")]), spec(&[(label, "b")])]).await;
        let absent = AutoscalingTags { autoscaling_group: "absent".to_owned(), tags: tags(&[(label, "a")]) };
        assert!(world.subject::<AutoscalingTags>().observe(&document(&absent)).await.is_none());
    });
}

#[test]
fn a_bucket_with_data_is_deleted_only_where_that_is_allowed() {
    run(async |world| {
        let spec = bucket("contract-data");
        world.with(&spec).await;
        world.with(&BucketVersioning { bucket: spec.name.clone(), enabled: true }).await;
        let client = world.aws.s3().await.expect("a client");
        for _ in 0..2 {
            let sent = client.put_object().bucket(&spec.name).key("model").body(b"weights".to_vec().into()).send();
            sent.await.expect("an object is put");
        }
        client.delete_object().bucket(&spec.name).key("model").send().await.expect("a marker is put");
        client.create_multipart_upload().bucket(&spec.name).key("big").send().await.expect("an upload begins");

        let subject = world.subject::<Bucket>();
        let found = subject.observe(&document(&spec)).await.expect("there");
        let refused = subject.driver.delete(&world.cx, &document(&spec), &found).await.expect_err("it holds data");
        assert_eq!(refused.class, FaultClass::HoldsData);
        let counts = "2 object versions, 1 delete marker and 1 unfinished upload";
        assert!(refused.message.contains(counts), "{}", refused.message);
        assert!(refused.advice.is_some_and(|advice| advice.contains("allow_destroy_with_data")));

        subject.remove(&document(&Bucket { empty_before_delete: true, ..spec })).await;
    });
}

#[test]
fn a_cluster_is_described() {
    run_with_cluster(async |world, cluster| {
        let facts = describe_cluster(&world.aws, &cluster.name).await.expect("there");
        assert_eq!((facts.arn, facts.oidc_issuer), (cluster.arn, cluster.oidc_issuer));
        assert_eq!((facts.status.as_str(), facts.security_group_id), ("ACTIVE", cluster.security_group_id));
        let absent = describe_cluster(&world.aws, "absent").await.expect_err("absent");
        assert_eq!(absent.class, FaultClass::NotFound);
    });
}

#[test]
fn every_kind_tells_its_actions() {
    assert_eq!(actions().len(), 21);
    assert!(actions().values().all(|actions| !actions.is_empty()));
}
