//! Single plans and runs of the example resource, as a person would read them.

mod example;
#[path = "runs/inside.rs"]
mod inside;

use std::collections::BTreeMap;

use converge::{
    Converged, Cx, Difference, Document, Drivers, FaultClass, Health, Ledger, Owner, Run, Source, converge, destroy,
    inspect, plan,
    testing::{FakeCloud, InstantClock, When},
};
use example::{KINDS, Pool, cloud, owner};
use serde_json::json;
use value::{Pending, Value};

/// A pool that was made.
struct Made {
    cloud: FakeCloud,
    drivers: Drivers,
    cx: Cx,
    ledger: Ledger,
}

impl Made {
    async fn new() -> Self {
        let cloud = cloud();
        let drivers = cloud.drivers(KINDS);
        let mut made = Self { cloud, drivers, cx: InstantClock::cx(), ledger: Ledger::default() };
        let outcome = made.converge(&Pool::default()).await;
        assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
        made.ledger = outcome.ledger;
        made.cloud = made.cloud.fork();
        made.drivers = made.cloud.drivers(KINDS);
        made
    }

    /// As if this had been found at the last look.
    fn drift(&mut self, key: &str, field: &str, found: serde_json::Value) {
        let difference = Difference { field: field.to_owned(), found, want: json!(null) };
        self.ledger.entries.get_mut(key).expect("recorded").health = Health::Drifted(vec![difference]);
    }

    async fn converge(&self, pool: &Pool) -> Converged {
        let (owner, source) = (owner(), |known| pool.expand(known));
        let run = Run { drivers: &self.drivers, cx: &self.cx, owner: &owner, record: &|_| () };
        converge(&run, &source, self.ledger.clone()).await
    }

    fn writes(&self) -> Vec<String> {
        self.cloud.journal().into_iter().filter(|call| !call.contains(".observe ")).collect()
    }

    fn plan(&self, pool: &Pool) -> String {
        told(&|known| pool.expand(known), &self.ledger)
    }
}

fn told(source: Source<'_>, ledger: &Ledger) -> String {
    let plan = plan(source, ledger);
    let steps = plan.steps.iter().filter(|(_, step)| step.action != converge::Action::Keep);
    let steps = steps.map(|(key, step)| format!("{key}: {:?} {:?}", step.action, step.fields));
    let replacements = plan.replacements.iter().map(|r| {
        let origin = r.origin.as_ref().map(|path| format!(" by {path}")).unwrap_or_default();
        format!("replaced for {}.{}{origin}", r.key, r.field)
    });
    steps.chain(replacements).collect::<Vec<_>>().join("\n")
}

fn zones(zone: &str) -> Value<Vec<String>> {
    Value::known(vec![zone.to_owned()])
}

#[tokio::test]
async fn nothing_changed_plans_nothing() {
    assert_eq!(Made::new().await.plan(&Pool::default()), "");
}

#[tokio::test]
async fn a_volatile_output_is_pending_for_those_that_need_it() {
    let made = Made::new().await;
    let pool = Pool { image: "al2023-arm".into(), desired: 7, ..Pool::default() };
    insta::assert_snapshot!(made.plan(&pool), @r#"
    group: Update {"version"}
    template: Update {"image"}
    "#);
}

#[tokio::test]
async fn an_output_that_a_change_does_not_move_stays_known() {
    let mut made = Made::new().await;
    let template = made.ledger.entries.get_mut("template").expect("recorded");
    template.document.insert("disks".to_owned(), json!([50]));
    assert_eq!(made.plan(&Pool::default()), r#"template: Update {"disks"}"#);
    // Of one that is on its way to another state nothing is taken for granted.
    let template = made.ledger.entries.get_mut("template").expect("recorded");
    template.health = Health::Waiting("UPDATING".to_owned());
    assert_eq!(made.plan(&Pool::default()), "group: Update {\"version\"}\ntemplate: Update {\"disks\"}");
}

#[tokio::test]
async fn a_fixed_field_rolls_a_group_and_makes_its_tags_again() {
    let made = Made::new().await;
    insta::assert_snapshot!(made.plan(&Pool { zones: zones("c"), ..Pool::default() }), @r#"
    group: Roll {"zones"}
    tags: Replace {"of"}
    "#);
}

#[tokio::test]
async fn a_fixed_field_of_what_others_need_or_what_holds_data_replaces_the_resource() {
    let made = Made::new().await;
    let pool = Pool { role_path: "/ml/", bucket: Some("us"), ..Pool::default() };
    insta::assert_snapshot!(made.plan(&pool), @r#"
    bucket: Replace {"region"}
    group: Roll {"role"}
    role: Replace {"path"}
    tags: Replace {"of"}
    replaced for bucket.region
    replaced for role.path by role_path
    "#);
}

#[tokio::test]
async fn data_that_is_dropped_replaces_the_resource() {
    let made = Made::new().await;
    insta::assert_snapshot!(made.plan(&Pool { bucket: None, ..Pool::default() }), @r"
    bucket: Delete {}
    replaced for bucket.
    ");
}

#[tokio::test]
async fn a_pending_value_counts_as_changed() {
    let made = Made::new().await;
    let pool = Pool { max: Value::pending(Pending::Config), ..Pool::default() };
    assert_eq!(made.plan(&pool), r#"group: Update {"max"}"#);
    let pool = Pool { zones: Value::pending(Pending::Config), ..Pool::default() };
    assert_eq!(made.plan(&pool), "group: Roll {\"zones\"}\ntags: Replace {\"of\"}");
}

#[tokio::test]
async fn what_was_last_seen_is_repaired() {
    let mut made = Made::new().await;
    let health = [("role", Health::Missing), ("group", Health::Broken("x".into())), ("bucket", Health::Unmarked)];
    for (key, health) in health {
        made.ledger.entries.entry(key.to_owned()).and_modify(|entry| entry.health = health);
    }
    insta::assert_snapshot!(made.plan(&Pool::default()), @r#"
    bucket: Update {}
    group: Roll {"role"}
    role: Create {"name", "path", "tags"}
    tags: Replace {"of"}
    "#);
}

#[tokio::test]
async fn drift_that_is_wanted_by_now_is_no_change() {
    let mut made = Made::new().await;
    made.drift("group", "max", json!(9));
    made.drift("role", "tags[\"team\"]", json!("vision"));
    let taken_over = Pool { max: Value::known(9), tags: &[("team", "vision"), ("env", "prod")], ..Pool::default() };
    assert_eq!(made.plan(&taken_over), "tags: Update {\"tags\"}", "the tags are two objects, and one has drifted");
    assert_eq!(made.plan(&Pool::default()), "group: Update {\"max\"}\nrole: Update {\"tags\"}");
    let neither = Pool { max: Value::known(7), ..Pool::default() };
    assert_eq!(made.plan(&neither), "group: Update {\"max\"}\nrole: Update {\"tags\"}");
}

#[tokio::test]
async fn an_update_calls_only_what_changes() {
    let made = Made::new().await;
    let outcome = made.converge(&Pool { max: Value::known(9), ..Pool::default() }).await;
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    let calls = ["group.observe gpu", "group.update gpu", "group.observe gpu", "group.observe gpu"];
    assert_eq!(made.cloud.journal(), calls);
}

#[tokio::test]
async fn initial_and_local_fields_reach_the_record_and_nothing_else() {
    let made = Made::new().await;
    let outcome = made.converge(&Pool { desired: 5, patience: "20m", ..Pool::default() }).await;
    assert_eq!(made.writes(), [""; 0]);
    let group = outcome.ledger.entries.get("group").map(|entry| entry.document.clone()).unwrap_or_default();
    assert_eq!((group.get("desired"), group.get("patience")), (Some(&json!(5)), Some(&json!("20m"))));
}

#[tokio::test]
async fn the_old_group_goes_when_all_that_comes_after_the_new_one_is_done() {
    let made = Made::new().await;
    let outcome = made.converge(&Pool { zones: zones("c"), ..Pool::default() }).await;
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    insta::assert_snapshot!(made.writes().join("\n"), @r"
    group.create gpu/b
    tags.delete group:gpu
    tags.create group:gpu/b
    group.delete gpu
    ");
}

#[tokio::test]
async fn a_second_group_that_the_record_does_not_know_of_is_deleted_with_the_first() {
    let made = Made::new().await;
    let outcome = made.converge(&Pool { zones: zones("c"), ..Pool::default() }).await;
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    // The record from before the roll, as a run that was cut off leaves it.
    let (owner, ledger) = (owner(), made.ledger.clone());
    let run = Run { drivers: &made.drivers, cx: &made.cx, owner: &owner, record: &|_| () };
    let destroyed = destroy(&run, ledger).await;
    assert!(destroyed.failures.is_empty() && destroyed.ledger.is_empty());
    assert_eq!(made.cloud.objects(), []);
}

#[tokio::test]
async fn nothing_is_deleted_where_data_may_not_go() {
    let made = Made::new().await;
    made.cloud.keep("bucket");
    let owner = owner();
    let run = Run { drivers: &made.drivers, cx: &made.cx, owner: &owner, record: &|_| () };
    let refused = destroy(&run, made.ledger.clone()).await;
    let failures: Vec<_> = refused.failures.iter().map(|f| (f.key.as_str(), f.fault.class)).collect();
    assert_eq!(failures, [("bucket", FaultClass::HoldsData)]);
    assert_eq!((made.writes(), refused.ledger), (Vec::new(), made.ledger));
}

#[tokio::test]
async fn a_roll_that_fails_leaves_the_old_group_in_its_place() {
    let made = Made::new().await;
    made.cloud.fail(1, When::Before, FaultClass::Capacity);
    let outcome = made.converge(&Pool { zones: zones("c"), ..Pool::default() }).await;
    let failures: Vec<_> = outcome.failures.iter().map(|f| (f.key.as_str(), f.fault.class)).collect();
    assert_eq!(failures, [("group", FaultClass::Capacity)]);
    assert_eq!(outcome.ledger, made.ledger);
}

#[tokio::test]
async fn a_failure_stops_what_needs_the_object_and_nothing_else() {
    let cloud = cloud();
    let made = Made { drivers: cloud.drivers(KINDS), cloud, cx: InstantClock::cx(), ledger: Ledger::default() };
    // Written first are the alarm, the bucket, the role and the template.
    made.cloud.fail(3, When::Before, FaultClass::Denied);
    let outcome = made.converge(&Pool::default()).await;
    let failures: Vec<_> = outcome.failures.iter().map(|f| (f.key.as_str(), f.fault.class)).collect();
    assert_eq!(failures, [("role", FaultClass::Denied)]);
    assert_eq!(outcome.ledger.entries.keys().collect::<Vec<_>>(), ["alarm", "bucket", "template"]);
}

#[tokio::test]
async fn a_wait_that_ends_names_the_state() {
    let cloud = FakeCloud::new().slow(100_000);
    let cx = InstantClock::cx().within(std::time::Duration::from_mins(1));
    let made = Made { drivers: cloud.drivers(KINDS), cloud, cx, ledger: Ledger::default() };
    let outcome = made.converge(&Pool::default()).await;
    let Some(failure) = outcome.failures.first() else { unreachable!("it cannot become ready") };
    assert_eq!(failure.fault.class, FaultClass::TimedOut);
    assert!(failure.fault.message.contains("still CREATING after "), "{}", failure.fault.message);
    let health = outcome.ledger.entries.get("role").map(|entry| entry.health.clone());
    assert_eq!(health, Some(Health::Waiting("CREATING".to_owned())));
}

#[tokio::test]
async fn what_is_broken_without_a_difference_is_watched_before_it_is_called_so() {
    let mut made = Made::new().await;
    // As the look before the plan found it.
    if let Some(bucket) = made.ledger.entries.get_mut("bucket") {
        bucket.health = Health::Broken("no quota".to_owned());
    }
    let set = |reasons: Option<&str>| {
        made.cloud.alter("bucket", "gpu-data", |bucket| bucket.broken = reasons.map(str::to_owned));
    };
    set(Some("no quota"));
    let before = made.cx.clock.now();
    let broken = made.converge(&Pool::default()).await;
    let told: Vec<_> = broken.failures.iter().map(|f| (f.key.as_str(), f.fault.message.as_str())).collect();
    assert_eq!((told, made.writes()), (vec![("bucket", "no quota")], Vec::new()));
    assert!(made.cx.clock.now() - before > std::time::Duration::from_secs(20));
    // What broke it is put right outside of the run, and seen a little later.
    let seen = made.cloud.reads();
    let heal = async {
        while made.cloud.reads() < seen + 12 {
            tokio::task::yield_now().await;
        }
        set(None);
    };
    let pool = Pool::default();
    let (outcome, ()) = tokio::join!(made.converge(&pool), heal);
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
}

#[tokio::test]
async fn a_cancelled_run_begins_no_write() {
    let cloud = cloud();
    let made = Made { drivers: cloud.drivers(KINDS), cloud, cx: InstantClock::cx(), ledger: Ledger::default() };
    made.cx.cancel.cancel();
    let outcome = made.converge(&Pool::default()).await;
    assert!(outcome.failures.iter().all(|failure| failure.fault.class == FaultClass::Cancelled));
    assert_eq!(made.cloud.writes(), 0);
}

#[tokio::test]
async fn an_import_takes_over_what_is_there_and_marks_it_with_the_next_write() -> Result<(), String> {
    let mut made = Made::new().await;
    for object in made.cloud.objects() {
        made.cloud.alter(&object.kind, &object.name, |object| {
            object.owner = None;
            object.document.entry("max").and_modify(|max| *max = json!(5));
        });
    }
    let known = made.ledger.entries.iter().map(|(key, entry)| (key.clone(), entry.outputs.clone()));
    let known: BTreeMap<String, Document> = known.collect();
    let graph = Pool::default().expand(known);
    let seen = inspect(&made.drivers, &made.cx, &owner(), &graph, None).await.map_err(|f| format!("{f:?}"))?;
    let backs: Vec<_> = seen.write_backs.iter().map(|back| format!("{} = {}", back.path, back.value)).collect();
    insta::assert_snapshot!(backs.join("\n"), @r#"
    size.max = 5
    zones = ["a","b"]
    role_path = "/"
    tags = {"env":"prod","team":"ml"}
    image = "al2023"
    "#);
    made.ledger = seen.ledger;
    assert!(made.ledger.entries.iter().all(|(key, entry)| entry.imported || key == "tags"));
    let outcome = made.converge(&Pool { max: Value::known(9), ..Pool::default() }).await;
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    let owners = made.cloud.objects().into_iter().filter(|object| object.kind == "group").map(|object| object.owner);
    assert_eq!(owners.collect::<Vec<_>>(), [Some(Owner("mlplat_pool/gpu".to_owned()))]);
    assert_eq!(made.writes(), ["group.update gpu"]);
    Ok(())
}
