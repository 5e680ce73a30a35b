//! The small core: a right provider passes, each wrong one trips over the rule it breaks.

#![cfg(feature = "testing")]

mod thing;

use std::sync::Arc;

use serde_json::json;
use tf_provider::{
    Cty,
    testing::{Action, Config, Core, Failure, Rule, with_unknown},
};
use thing::{Mistake, Things};
use value::AttributePath;

const A: &str = "test_thing.a";

fn core(things: &Things) -> Core {
    let things = things.clone();
    Core::new(move || Arc::new(things.clone()))
}

fn right() -> Core {
    core(&Things::new(Mistake::None))
}

fn config(name: &str, note: &str) -> serde_json::Value {
    json!({ "name": name, "note": note, "secret": "s", "pools": [{ "label": "gpu" }] })
}

/// Everything that can happen to a thing.
async fn life(core: &mut Core) -> Result<(), Failure> {
    core.configure(json!({})).await?;
    assert_eq!(core.run(A, config("one", "x")).await?, Action::Create);
    core.refresh(A).await?;
    assert_eq!(core.run(A, config("one", "x")).await?, Action::NoOp);
    assert_eq!(core.run(A, config("one", "y")).await?, Action::Update);
    core.restart().await?;
    assert_eq!(core.run(A, config("two", "y")).await?, Action::Replace);
    core.forget(A);
    core.import_identity(A, json!({ "name": "two" })).await?;
    assert_eq!(core.plan(A, config("two", "y")).await?.action, Action::NoOp);
    core.read_data("test_count", json!({})).await?;
    core.call("join", vec![json!("a").into(), json!("b").into()]).await?.expect("it joins");
    core.destroy(A).await?;
    assert!(core.state(A).is_none());
    Ok(())
}

#[tokio::test]
async fn a_right_provider_lives_through_everything() {
    let mut core = right();
    life(&mut core).await.expect("it is right");
    assert_eq!(core.check_schemas(), Vec::<String>::new());
}

#[tokio::test]
async fn every_mistake_trips_over_its_rule() {
    let table = [
        (Mistake::PlanOverridesConfig, Rule::Plan),
        (Mistake::PlanDefaultsWithoutComputed, Rule::Plan),
        (Mistake::PlanForgetsConfigured, Rule::Plan),
        (Mistake::PlanEchoesSecret, Rule::Plan),
        (Mistake::PlanDiffersEachTime, Rule::StablePlan),
        (Mistake::PlanKeepsARandomPrivate, Rule::StablePlan),
        (Mistake::PlanReplacesOverNothing, Rule::Plan),
        (Mistake::PlanHasAnotherType, Rule::Bug),
        (Mistake::PlanDropsAPool, Rule::Plan),
        (Mistake::PlanLosesSightOfPools, Rule::Plan),
        (Mistake::PlanInventsTimeouts, Rule::Plan),
        (Mistake::PlanChangesItsMind, Rule::FinalPlan),
        (Mistake::ApplyOverridesPlan, Rule::Result),
        (Mistake::ApplyLeavesUnknown, Rule::Object),
        (Mistake::ApplyBreaksAPromise, Rule::Result),
        (Mistake::ApplyPanics, Rule::Bug),
        (Mistake::ApplySaysNothing, Rule::Bug),
        (Mistake::ReadPanics, Rule::Bug),
        (Mistake::ImportSaysNothing, Rule::Bug),
        (Mistake::DeleteKeeps, Rule::Existence),
        (Mistake::ReadIsUnknown, Rule::Object),
        (Mistake::ReadKeepsSecret, Rule::Object),
        (Mistake::ReadHasAnotherType, Rule::Bug),
        (Mistake::IdentityIsUnknown, Rule::Identity),
        (Mistake::IdentityChanges, Rule::Identity),
        (Mistake::WarningSaysNothing, Rule::Diagnostic),
        (Mistake::DataIsUnknown, Rule::Answer),
        (Mistake::FunctionIsRandom, Rule::Answer),
    ];
    for (mistake, rule) in table {
        let Err(failure) = life(&mut core(&Things::new(mistake))).await else {
            unreachable!("{mistake:?} should break {rule:?}, and passed");
        };
        assert!(failure.breaks(rule), "{mistake:?} should break {rule:?}, but: {failure}");
        assert!(failure.to_string().starts_with("Provider produced "), "{failure}");
    }
}

#[tokio::test]
async fn a_failed_create_of_which_nothing_is_told_leaves_nothing() {
    for mistake in [Mistake::ApplyFails, Mistake::ApplyPanics, Mistake::ApplySaysNothing] {
        let mut core = core(&Things::new(mistake));
        let failure = core.run(A, config("one", "x")).await.expect_err("it fails");
        assert!(failure.diagnostics.has_errors(), "{mistake:?}: {failure}");
        assert!(core.state(A).is_none(), "{mistake:?}");
    }
}

#[tokio::test]
async fn what_a_failed_create_tells_of_is_tainted_and_replaced() {
    let things = Things::new(Mistake::ApplyFailsHalfway);
    let mut core = core(&things);
    core.run(A, config("one", "x")).await.expect_err("it fails");
    assert!(core.state(A).is_some_and(|instance| instance.tainted && instance.private == b"made"));

    let planned = core.plan(A, config("one", "x")).await.expect("it can be planned");
    assert_eq!(planned.action, Action::Replace);
    core.untaint(A);
    let planned = core.plan(A, config("one", "x")).await.expect("it can be planned");
    assert_eq!(planned.action, Action::NoOp);
}

#[tokio::test]
async fn a_failed_update_leaves_what_is_there_and_taints_nothing() {
    let good = Things::new(Mistake::None);
    let mut one = core(&good);
    one.run(A, config("one", "x")).await.expect("it is made");
    let made = one.forget(A).expect("it is there");

    for mistake in [Mistake::ApplyFails, Mistake::ApplyPanics] {
        let mut core = core(&Things { mistake, ..good.clone() });
        let json = serde_json::from_str(&made.stored).expect("it is JSON");
        core.store(A, 1, &json, made.private.clone());
        core.run(A, config("one", "y")).await.expect_err("it fails");
        let left = core.state(A).expect("it is there still");
        assert!(!left.tainted, "{mistake:?}");
        assert_eq!(left.private, made.private, "{mistake:?}");
    }
}

#[tokio::test]
async fn a_failed_delete_leaves_the_object() {
    let mut core = core(&Things::new(Mistake::DeleteFails));
    core.run(A, config("one", "x")).await.expect("it is made");
    core.destroy(A).await.expect_err("it fails");
    let left = core.state(A).expect("it is there still");
    assert_eq!((left.tainted, left.private.as_slice()), (false, b"made".as_slice()));
}

#[tokio::test]
async fn unknown_configuration_is_planned_and_known_at_apply() {
    let mut core = right();
    let known = core.config(A, config("one", "x")).expect("it fits");
    for path in [AttributePath::new("name"), AttributePath::new("note"), AttributePath::new("pools")] {
        let unknown = with_unknown(known.clone(), &path);
        let planned = core.plan(A, unknown).await.expect("unknown values are no error");
        assert!(planned.after.at(&path).is_some_and(Cty::is_unknown), "{path}");
        core.apply(planned.clone()).await.expect_err("apply wants to know");
        core.apply_with(planned, known.clone()).await.expect("now it knows");
        core.destroy(A).await.expect("it goes");
    }
}

#[tokio::test]
async fn what_vanished_is_made_again() {
    let things = Things::new(Mistake::None);
    let mut core = core(&things);
    core.run(A, config("one", "x")).await.expect("it is made");
    things.cloud.lock().expect("nobody panics").clear();

    let planned = core.plan(A, config("one", "x")).await.expect("it can be planned");
    assert_eq!((planned.action, planned.before.is_null()), (Action::Create, true));
    core.refresh(A).await.expect("it can be read");
    assert!(core.state(A).is_none());
}

#[tokio::test]
async fn an_older_state_is_brought_up_without_its_secrets() {
    let things = Things::new(Mistake::None);
    let mut core = core(&things);
    core.run("test_thing.other", json!({ "name": "one" })).await.expect("it is made");
    core.store(A, 0, &json!({ "title": "one" }), Vec::new());
    let planned = core.plan(A, json!({ "name": "one" })).await.expect("it can be planned");
    assert_eq!(planned.action, Action::NoOp);

    core.store(A, 2, &json!({}), Vec::new());
    let failure = core.plan(A, json!({ "name": "one" })).await.expect_err("it is of a newer provider");
    assert!(failure.violations.is_empty() && failure.diagnostics.has_errors(), "{failure}");
}

#[tokio::test]
async fn a_mistyped_configuration_is_a_mistake_of_the_test() {
    let core = right();
    for wrong in [json!({ "nmae": "one" }), json!({ "name": 1 })] {
        let failure = core.config(A, wrong).expect_err("it does not fit");
        assert!(failure.violations.is_empty(), "{failure}");
    }
    let whole: Config = json!({ "name": "$unknown" }).into();
    assert!(core.config(A, whole).expect("it fits").get("name").is_unknown());
}

#[tokio::test]
async fn importing_nothing_fails() {
    right().import_id(A, "nobody").await.expect_err("there is nothing");
    core(&Things::new(Mistake::ImportSaysNothing)).import_id(A, "one").await.expect_err("nothing is said");
}
