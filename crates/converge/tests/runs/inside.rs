//! Objects that are inside another one: a warehouse with shelves that somebody is responsible for, and a fence around it.

use std::collections::BTreeMap;

use crate::example::{ARN, Alarm, AlarmDraft, Group, GroupDraft, KINDS, Role, RoleDraft, TemplateDraft, owner};
use converge::{
    Component, Converged, Document, Drivers, FaultClass, Graph, Ledger, Owner, Run, converge, destroy,
    testing::{
        FakeCloud, InstantClock, When,
        laws::{self, Case},
    },
};
use value::Value;

/// A warehouse takes along what is called like it.
fn cloud() -> FakeCloud {
    FakeCloud::new().with_contents(Role::FACTS.kind, "name", [Alarm::FACTS.kind, Group::FACTS.kind]).slow(1)
}

fn expand(known: BTreeMap<String, Document>) -> Graph {
    let mut graph = Graph::new(known);
    let fence = graph.add("fence", AlarmDraft { name: "fence".into(), above: Value::known(1) });
    let keeper = graph.add("keeper", TemplateDraft { name: "keeper".into(), ..TemplateDraft::default() });
    let warehouse = graph.add("warehouse", RoleDraft { name: "ml".into(), ..RoleDraft::default() });
    graph.after(&warehouse, &fence);
    let alarm = graph.add("alarm", AlarmDraft { name: "ml".into(), above: Value::known(90) });
    graph.inside(&alarm, &warehouse);
    let shelves =
        graph.add("shelves", GroupDraft { name: "ml".into(), role: warehouse.output(ARN), ..GroupDraft::default() });
    graph.inside(&shelves, &warehouse);
    graph.after(&shelves, &keeper);
    graph
}

struct Made {
    cloud: FakeCloud,
    drivers: Drivers,
    ledger: Ledger,
}

impl Made {
    async fn new() -> Self {
        let cloud = cloud();
        let made = Self { drivers: cloud.drivers(KINDS), cloud, ledger: Ledger::default() };
        let (owner, cx) = (owner(), InstantClock::cx());
        let run = Run { drivers: &made.drivers, cx: &cx, owner: &owner, record: &|_| () };
        let Converged { ledger, failures } = converge(&run, &expand, Ledger::default()).await;
        assert!(failures.is_empty(), "{failures:?}");
        let cloud = made.cloud.fork();
        Self { drivers: cloud.drivers(KINDS), cloud, ledger }
    }

    async fn destroy(&self) -> Converged {
        let (owner, cx) = (owner(), InstantClock::cx());
        destroy(&Run { drivers: &self.drivers, cx: &cx, owner: &owner, record: &|_| () }, self.ledger.clone()).await
    }

    fn deleted(&self) -> Vec<String> {
        self.cloud.journal().into_iter().filter(|call| call.contains(".delete ")).collect()
    }
}

#[tokio::test]
async fn what_is_inside_an_object_obeys_the_laws() -> Result<(), String> {
    let cloud = cloud();
    let case = Case { name: "warehouse", source: &expand, before: None, owner: owner(), kinds: KINDS, cloud: &cloud };
    laws::all(&case).await
}

#[tokio::test]
async fn what_is_inside_goes_with_its_whole_and_what_either_needs_goes_after() {
    let made = Made::new().await;
    let destroyed = made.destroy().await;
    assert!(destroyed.failures.is_empty() && destroyed.ledger.is_empty(), "{destroyed:?}");
    assert_eq!(made.deleted(), ["role.delete ml", "alarm.delete fence", "template.delete keeper"]);
    let looked_at = |kind: &str, name: &str| made.cloud.journal().contains(&format!("{kind}.observe {name}"));
    assert!(!looked_at("group", "ml") && !looked_at("alarm", "ml"), "{:?}", made.cloud.journal());
    assert_eq!(made.cloud.objects(), []);
}

#[tokio::test]
async fn a_whole_that_cannot_go_keeps_what_is_inside_and_around_it() {
    let made = Made::new().await;
    made.cloud.fail(1, When::Before, FaultClass::Denied);
    let refused = made.destroy().await;
    assert_eq!(refused.failures.iter().map(|failure| failure.key.as_str()).collect::<Vec<_>>(), ["warehouse"]);
    assert!(refused.ledger.entries.keys().eq(made.ledger.entries.keys()), "{refused:?}");
    assert_eq!(made.cloud.objects().len(), 5);
}

#[tokio::test]
async fn what_is_inside_somebody_elses_is_deleted_by_itself() {
    let made = Made::new().await;
    made.cloud.alter("role", "ml", |warehouse| warehouse.owner = Some(Owner("somebody/else".to_owned())));
    let destroyed = made.destroy().await;
    assert!(destroyed.failures.is_empty() && destroyed.ledger.is_empty(), "{destroyed:?}");
    let left: Vec<_> = made.cloud.objects().into_iter().map(|object| (object.kind, object.name)).collect();
    assert_eq!(left, [("role".to_owned(), "ml".to_owned())]);
}

#[tokio::test]
async fn what_is_no_longer_wanted_inside_leaves_its_whole_alone() {
    let made = Made::new().await;
    let without_alarm = |known| {
        let mut graph = Graph::new(known);
        let fence = graph.add("fence", AlarmDraft { name: "fence".into(), above: Value::known(1) });
        let warehouse = graph.add("warehouse", RoleDraft { name: "ml".into(), ..RoleDraft::default() });
        graph.after(&warehouse, &fence);
        graph
    };
    let (owner, cx) = (owner(), InstantClock::cx());
    let run = Run { drivers: &made.drivers, cx: &cx, owner: &owner, record: &|_| () };
    let Converged { ledger, failures } = converge(&run, &without_alarm, made.ledger.clone()).await;
    assert!(failures.is_empty(), "{failures:?}");
    assert!(ledger.entries.keys().eq(["fence", "warehouse"]), "{ledger:?}");
    assert_eq!(made.cloud.objects().len(), 2);
}

#[test]
fn a_record_tells_what_is_inside() {
    let entry = converge::Entry { inside: Some("warehouse".to_owned()), ..converge::Entry::default() };
    let ledger = Ledger { entries: [("alarm".to_owned(), entry)].into(), ..Ledger::default() };
    assert_eq!(Ledger::decode(&ledger.encode()), Ok(Some(ledger)));
    let old = br#"{ "version": 1, "entries": { "alarm": { "kind": "alarm", "after": ["warehouse"] } } }"#;
    let read = Ledger::decode(old).expect("a record without it is fine").expect("it is a record");
    assert_eq!(read.entries["alarm"].inside, None);
}
