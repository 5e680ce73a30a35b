//! The contract of each AWS driver, against the emulated AWS: what is created is observed as it was wanted, every
//! field that is not fixed can be changed, what is deleted is gone, and deleting it again is fine.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use acceptance_tests::{Account, Cluster, Emulator, REGION};
use aws_credential_types::{Credentials, provider::SharedCredentialsProvider};
use converge::{
    AnyChanges, AnyCreation, AnyDriver, Component, Cx, Document, Drivers, FaultClass, Found, KindFacts, Owner,
    Ownership, Readiness,
};
use mlplat::{
    components::aws::{
        AutoscalingTags, Bucket, BucketEncryption, BucketLifecycle, BucketOwnershipControls, BucketPolicy,
        BucketPublicAccessBlock, BucketVersioning, IamRole, LaunchTemplate, LifecycleRule, NodeGroup, Tags, Taint,
        policy::normalize,
    },
    drivers::aws::{Aws, AwsConfig, actions, describe_cluster, register},
};
use serde_json::{Value as Json, json};

/// One account, with the drivers that work in it.
struct World {
    account: Account,
    aws: Arc<Aws>,
    drivers: Drivers,
    cx: Cx,
    owner: Owner,
}

/// A component of which the driver is asked for one object.
struct Subject<'a> {
    world: &'a World,
    driver: Arc<dyn AnyDriver>,
    facts: KindFacts,
}

// === impl World ===

impl World {
    fn new() -> Self {
        let account = Emulator::shared().and_then(Emulator::account).expect("the emulator starts");
        let config = AwsConfig {
            region: Some(REGION.to_owned()),
            endpoints: BTreeMap::from([("all".to_owned(), account.proxy().url().to_owned())]),
            ..AwsConfig::default()
        };
        let credentials = Credentials::new("AKIDEXAMPLE", "secret", None, None, "test");
        let aws = Arc::new(Aws::with_credentials(config, SharedCredentialsProvider::new(credentials)));
        let mut drivers = Drivers::default();
        register(&mut drivers, &aws);
        let cx = Cx::default().within(Duration::from_secs(60));
        Self { account, aws, drivers, cx, owner: Owner("mlplat_test/one".to_owned()) }
    }

    fn subject<C: Component>(&self) -> Subject<'_> {
        let driver = Arc::clone(self.drivers.get(C::FACTS.kind).expect("registered"));
        Subject { world: self, driver, facts: C::FACTS }
    }

    /// Makes an object that others need.
    async fn with<C: Component>(&self, spec: &C) -> Found {
        self.subject::<C>().make(&document(spec), None).await
    }

    /// The whole contract for one object: made as the first spec, changed to each of the others in turn, deleted.
    async fn holds<C: Component>(&self, specs: &[C]) {
        let subject = self.subject::<C>();
        let specs: Vec<_> = specs.iter().map(document).collect();
        let (first, others) = specs.split_first().expect("at least one spec");
        assert!(subject.observe(first).await.is_none(), "{}: there before it was made", subject.facts.kind);
        let found = subject.make(first, None).await;
        subject.is_as(first, &found);
        subject.is_ours(&found);
        subject.second_creation_does_no_harm(first).await;
        let mut before = first.clone();
        for wanted in others {
            subject.change(&before, wanted).await;
            before.clone_from(wanted);
        }
        subject.remove(&before).await;
        self.driver_deletes_twice(&subject, &before, &found).await;
    }

    async fn driver_deletes_twice(&self, subject: &Subject<'_>, spec: &Document, found: &Found) {
        subject.driver.delete(&self.cx, spec, found).await.expect("deleting what is gone succeeds");
    }
}

// === impl Subject ===

impl Subject<'_> {
    async fn observe(&self, spec: &Document) -> Option<Found> {
        self.driver.observe(&self.world.cx, spec).await.unwrap_or_else(|fault| panic!("{}: {fault}", self.facts.kind))
    }

    async fn make(&self, spec: &Document, previous: Option<&Found>) -> Found {
        let creation = AnyCreation { owner: &self.world.owner, token: "0".repeat(64), previous };
        let made = self.driver.create(&self.world.cx, spec, creation).await;
        made.unwrap_or_else(|fault| panic!("{}: {fault} ({:?})", self.facts.kind, fault.class));
        self.settled(spec).await
    }

    async fn settled(&self, spec: &Document) -> Found {
        loop {
            let found = self.observe(spec).await.unwrap_or_else(|| panic!("{} is absent", self.facts.kind));
            match &found.readiness {
                Readiness::Ready => return found,
                Readiness::Waiting(_) => tokio::task::yield_now().await,
                Readiness::Broken(reasons) => panic!("{}: {reasons}", self.facts.kind),
            }
        }
    }

    // As the engine does: until nothing differs.
    async fn change(&self, before: &Document, wanted: &Document) {
        for _ in 0..3 {
            let found = self.settled(wanted).await;
            let fields = self.differing(wanted, &found);
            let removed_keys = self.removed(before, wanted, &found);
            if fields.is_empty() && removed_keys.is_empty() {
                return;
            }
            for field in &fields {
                assert!(!self.facts.fixed.contains(&field.as_str()), "{}.{field} is fixed", self.facts.kind);
            }
            let owner = self.world.owner.clone();
            let fields = fields.into_iter().chain(removed_keys.keys().cloned()).collect();
            let changes = AnyChanges { owner, fields, removed_keys, owner_missing: false };
            let changed = self.driver.update(&self.world.cx, wanted, &changes, &found).await;
            changed.unwrap_or_else(|fault| panic!("{}: {fault} ({:?})", self.facts.kind, fault.class));
        }
        self.is_as(wanted, &self.settled(wanted).await);
    }

    async fn remove(&self, spec: &Document) {
        let found = self.observe(spec).await.expect("there");
        let deleted = self.driver.delete(&self.world.cx, spec, &found).await;
        deleted.unwrap_or_else(|fault| panic!("{}: {fault} ({:?})", self.facts.kind, fault.class));
        while self.observe(spec).await.is_some() {
            tokio::task::yield_now().await;
        }
    }

    async fn second_creation_does_no_harm(&self, spec: &Document) {
        let creation = AnyCreation { owner: &self.world.owner, token: "0".repeat(64), previous: None };
        if let Err(fault) = self.driver.create(&self.world.cx, spec, creation).await {
            assert_eq!(fault.class, FaultClass::AlreadyExists, "{}: {fault}", self.facts.kind);
        }
        self.is_as(spec, &self.settled(spec).await);
    }

    fn is_ours(&self, found: &Found) {
        let expected = if self.facts.part { Ownership::Inherited } else { Ownership::Marked(self.world.owner.clone()) };
        assert_eq!(found.ownership, expected, "{}", self.facts.kind);
    }

    fn is_as(&self, wanted: &Document, found: &Found) {
        for field in self.differing(wanted, found) {
            panic!("{}.{field}: wanted {}, found {:?}", self.facts.kind, wanted[&field], found.document.get(&field));
        }
    }

    fn differing(&self, wanted: &Document, found: &Found) -> BTreeSet<String> {
        let is_compared = |field: &str| !self.facts.initial.contains(&field) && !self.facts.local.contains(&field);
        let differs = |(field, value): &(&String, &Json)| {
            let there = found.document.get(*field);
            match (value.as_object(), self.facts.merged.contains(&field.as_str())) {
                (Some(ours), true) => ours.iter().any(|(key, value)| there.and_then(|map| map.get(key)) != Some(value)),
                _ => there != Some(*value),
            }
        };
        let fields = wanted.iter().filter(|(field, _)| is_compared(field)).filter(differs);
        fields.map(|(field, _)| field.clone()).collect()
    }

    fn removed(&self, before: &Document, wanted: &Document, found: &Found) -> BTreeMap<String, BTreeSet<String>> {
        let keys = |document: &Document, field: &str| -> BTreeSet<String> {
            let map = document.get(field).and_then(Json::as_object);
            map.map(|map| map.keys().cloned().collect()).unwrap_or_default()
        };
        let of = |field: &&str| {
            let gone: BTreeSet<_> = keys(before, field).difference(&keys(wanted, field)).cloned().collect();
            let gone: BTreeSet<_> = gone.intersection(&keys(&found.document, field)).cloned().collect();
            (!gone.is_empty()).then(|| ((*field).to_owned(), gone))
        };
        self.facts.merged.iter().filter_map(of).collect()
    }
}

fn document<C: Component>(spec: &C) -> Document {
    let json = serde_json::to_value(spec).expect("a spec is JSON");
    let map = json.as_object().expect("a spec is an object");
    map.iter().filter(|(_, value)| !value.is_null()).map(|(field, value)| (field.clone(), value.clone())).collect()
}

fn tags(pairs: &[(&str, &str)]) -> Tags {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// Runs `test` in an account of its own.
fn run(test: impl AsyncFnOnce(&World)) {
    block_on(test(&World::new()));
}

/// Runs `test` in an account of its own that has a cluster.
fn run_with_cluster(test: impl AsyncFnOnce(&World, Cluster)) {
    let mut world = World::new();
    let cluster = world.account.seed_cluster().expect("a cluster");
    block_on(test(&world, cluster));
}

fn block_on(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(test);
}

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
        let versioning = BucketVersioning { bucket: name.clone(), enabled: true };
        world.holds(std::slice::from_ref(&versioning)).await;
        let encryption = BucketEncryption {
            bucket: name.clone(),
            algorithm: "aws:kms".to_owned(),
            kms_key_arn: Some("arn:aws:kms:us-east-1:123456789012:key/k".to_owned()),
            bucket_key: true,
        };
        world.holds(&[encryption.clone(), BucketEncryption { bucket_key: false, ..encryption }]).await;
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
    assert_eq!(actions().len(), 11);
    assert!(actions().values().all(|actions| !actions.is_empty()));
}
