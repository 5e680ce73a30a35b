//! An emulated account with the drivers that work in it, and the contract that every driver keeps.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use acceptance_tests::{Account, Cluster, Emulator, REGION};
use aws_credential_types::{Credentials, provider::SharedCredentialsProvider};
use converge::{
    AnyChanges, AnyCreation, AnyDriver, Component, Cx, Document, Drivers, Fault, FaultClass, Found, KindFacts, Owner,
    Ownership, Readiness,
};
use mlplat::{
    components::aws::Tags,
    drivers::aws::{Aws, AwsConfig, register},
};
use serde_json::Value as Json;

/// One account, with the drivers that work in it.
pub(crate) struct World {
    pub(crate) account: Account,
    pub(crate) aws: Arc<Aws>,
    pub(crate) drivers: Drivers,
    pub(crate) cx: Cx,
    pub(crate) owner: Owner,
}

/// A component of which the driver is asked for one object.
pub(crate) struct Subject<'a> {
    world: &'a World,
    pub(crate) driver: Arc<dyn AnyDriver>,
    facts: KindFacts,
}

// === impl World ===

impl World {
    fn new() -> Self {
        let account = Emulator::shared().and_then(Emulator::account).expect("the emulator starts");
        let aws = Arc::new(aws_at(account.proxy().url()));
        let mut drivers = Drivers::default();
        register(&mut drivers, &aws);
        let cx = Cx::default().within(Duration::from_mins(1));
        Self { account, aws, drivers, cx, owner: Owner("mlplat_test/one".to_owned()) }
    }

    pub(crate) fn subject<C: Component>(&self) -> Subject<'_> {
        let driver = Arc::clone(self.drivers.get(C::FACTS.kind).expect("registered"));
        Subject { world: self, driver, facts: C::FACTS }
    }

    /// Makes an object that others need.
    pub(crate) async fn with<C: Component>(&self, spec: &C) -> Found {
        self.subject::<C>().make(&document(spec), None).await
    }

    /// The whole contract for one object: made as the first spec, changed to each of the others in turn, deleted.
    pub(crate) async fn holds<C: Component>(&self, specs: &[C]) {
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

    /// The contract of a setting that is never absent: made, changed, and after its deletion as `default`.
    pub(crate) async fn goes_back<C: Component>(&self, specs: &[C], default: &C) {
        let subject = self.subject::<C>();
        let mut found = subject.settled(&document(default)).await;
        subject.is_as(&document(default), &found);
        for spec in specs.iter().map(document) {
            subject.change(&spec, &spec).await;
            found = subject.settled(&spec).await;
        }
        subject.driver.delete(&self.cx, &document(default), &found).await.expect("the setting goes back");
        subject.is_as(&document(default), &subject.settled(&document(default)).await);
    }

    async fn driver_deletes_twice(&self, subject: &Subject<'_>, spec: &Document, found: &Found) {
        subject.driver.delete(&self.cx, spec, found).await.expect("deleting what is gone succeeds");
    }
}

// === impl Subject ===

impl Subject<'_> {
    pub(crate) async fn observe(&self, spec: &Document) -> Option<Found> {
        self.driver.observe(&self.world.cx, spec).await.unwrap_or_else(|fault| panic!("{}: {fault}", self.facts.kind))
    }

    pub(crate) async fn make(&self, spec: &Document, previous: Option<&Found>) -> Found {
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
                Readiness::Broken { reasons, .. } => panic!("{}: {reasons}", self.facts.kind),
            }
        }
    }

    // As the engine does: until nothing differs.
    pub(crate) async fn change(&self, before: &Document, wanted: &Document) {
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
            let changes = AnyChanges { owner, fields, removed_keys, owner_missing: false, applied: None };
            let outcome = self.driver.update(&self.world.cx, wanted, &changes, &found).await;
            outcome.unwrap_or_else(|fault| panic!("{}: {fault} ({:?})", self.facts.kind, fault.class));
        }
        self.is_as(wanted, &self.settled(wanted).await);
    }

    /// One update of one field, with its fault.
    pub(crate) async fn update_once(&self, wanted: &Document, found: &Found, field: &str) -> Result<(), Fault> {
        let changes = AnyChanges {
            owner: self.world.owner.clone(),
            fields: BTreeSet::from([field.to_owned()]),
            removed_keys: BTreeMap::new(),
            owner_missing: false,
            applied: None,
        };
        self.driver.update(&self.world.cx, wanted, &changes, found).await
    }

    pub(crate) async fn remove(&self, spec: &Document) {
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

    pub(crate) fn is_ours(&self, found: &Found) {
        let expected = if self.facts.part { Ownership::Inherited } else { Ownership::Marked(self.world.owner.clone()) };
        assert_eq!(found.ownership, expected, "{}", self.facts.kind);
    }

    pub(crate) fn is_as(&self, wanted: &Document, found: &Found) {
        if let Some(field) = self.differing(wanted, found).first() {
            panic!("{}.{field}: wanted {}, found {:?}", self.facts.kind, wanted[field], found.document.get(field));
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

/// Clients of whatever listens at `url`.
pub(crate) fn aws_at(url: &str) -> Aws {
    let config = AwsConfig {
        region: Some(REGION.to_owned()),
        endpoints: BTreeMap::from([("all".to_owned(), url.to_owned())]),
        ..AwsConfig::default()
    };
    let credentials = Credentials::new("AKIDEXAMPLE", "secret", None, None, "test");
    Aws::with_credentials(config, SharedCredentialsProvider::new(credentials))
}

pub(crate) fn document<C: Component>(spec: &C) -> Document {
    let json = serde_json::to_value(spec).expect("a spec is JSON");
    let map = json.as_object().expect("a spec is an object");
    map.iter().filter(|(_, value)| !value.is_null()).map(|(field, value)| (field.clone(), value.clone())).collect()
}

pub(crate) fn tags(pairs: &[(&str, &str)]) -> Tags {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// Runs `test` in an account of its own.
pub(crate) fn run(test: impl AsyncFnOnce(&World)) {
    block_on(test(&World::new()));
}

/// Runs `test` in an account of its own that has a cluster.
pub(crate) fn run_with_cluster(test: impl AsyncFnOnce(&World, Cluster)) {
    let mut world = World::new();
    let cluster = world.account.seed_cluster().expect("a cluster");
    block_on(test(&world, cluster));
}

pub(crate) fn block_on(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(test);
}
