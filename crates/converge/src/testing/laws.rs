//! The laws every resource obeys, whatever it is made of.
//!
//! Each law runs one case on the fake cloud many times, with something else going wrong each time, and tells a
//! readable story where the law is broken. [`all`] holds a case to all of them.

use crate::{FaultClass, KindFacts, Owner, Source};

use super::{
    FakeCloud, FakeObject, When, drift,
    stage::{Deed, Stage, told},
};

/// What a law is held against: one resource with one configuration.
#[derive(Clone)]
pub struct Case<'a> {
    /// For the story.
    pub name: &'a str,
    /// The wanted graph.
    pub source: Source<'a>,
    /// The resource as it was before, where the case is a change; none where it is made.
    pub before: Option<Source<'a>>,
    /// Its mark.
    pub owner: Owner,
    /// The kinds it is made of.
    pub kinds: &'a [KindFacts],
    /// The cloud it is made in: empty, with outputs and defaults set.
    pub cloud: &'a FakeCloud,
}

/// Holds the case to every law.
pub async fn all(case: &Case<'_>) -> Result<(), String> {
    settles(case).await?;
    leaves_nothing(case).await?;
    survives_crashes(case).await?;
    survives_faults(case).await?;
    spares_strangers(case).await?;
    drift::repairs(case).await
}

/// A second run writes nothing and asks nothing; a look finds everything as it was applied, and the plan is empty.
pub async fn settles(case: &Case<'_>) -> Result<(), String> {
    let mut stage = Stage::made(case).await?;
    let calls = stage.cloud.journal().len();
    stage.converge().await?;
    let journal = stage.cloud.journal();
    if let Some(call) = journal.get(calls) {
        return Err(case.story("a second run with nothing to do", &format!("called {call}")));
    }
    stage.is_as_applied("after it was made").await?;
    let rebuilt = stage.rebuild().await?;
    stage.ledger = rebuilt;
    let plan = stage.plan();
    if plan.is_empty() { Ok(()) } else { Err(case.story("the plan after an import", &told(&plan))) }
}

/// After destroy nothing is left, neither there nor in the record.
pub async fn leaves_nothing(case: &Case<'_>) -> Result<(), String> {
    let mut stage = Stage::made(case).await?;
    stage.destroy().await?;
    stage.is_empty("destroy")?;
    let made = Stage::made(case).await?;
    for nth in 1..=stage.cloud.writes() {
        for when in [When::Before, When::After] {
            let mut stage = made.fork();
            stage.cloud.crash(nth, when);
            stage.ledger = stage.killed(Deed::Destroy).await;
            let mut stage = stage.fork();
            stage.destroy().await.map_err(|story| format!("{story}, after dying {when:?} write {nth} of destroy"))?;
            stage.is_empty(&format!("dying {when:?} write {nth} of destroy, and destroy"))?;
        }
    }
    Ok(())
}

/// A run that dies before or after any write is finished by the next one, whichever record survives, and ends the
/// same. What a dead run made can also be destroyed.
pub async fn survives_crashes(case: &Case<'_>) -> Result<(), String> {
    let start = Stage::start(case).await?;
    let made = Stage::made(case).await?;
    for nth in 1..=made.writes_since(&start).await? {
        for when in [When::Before, When::After] {
            let crashed = start.fork();
            crashed.cloud.crash(nth, when);
            let recorded = crashed.killed(Deed::Converge).await;
            for (record, ledger) in crashed.records(&start, recorded.clone()).await? {
                let what = format!("dying {when:?} write {nth} and going on with {record}");
                let mut stage = Stage { ledger, ..crashed.fork() };
                stage.converge().await.map_err(|story| format!("{story}, after {what}"))?;
                stage.is_like(&made, &what)?;
                stage.is_as_applied(&what).await?;
                stage.destroy().await?;
                stage.is_empty(&format!("{what}, and destroy"))?;
            }
            let mut stage = Stage { ledger: recorded, ..crashed.fork() };
            stage.destroy().await?;
            stage.is_empty(&format!("dying {when:?} write {nth}, and destroy"))?;
        }
    }
    Ok(())
}

/// One fault of any class at any write: the run may fail, the next one ends the same.
pub async fn survives_faults(case: &Case<'_>) -> Result<(), String> {
    use FaultClass::{
        AlreadyExists, Broken, Busy, Capacity, Denied, Invalid, MaybeSent, NotFound, NotYetConsistent, Quota,
        Throttled, Unavailable, Unreachable,
    };
    let before = [
        Throttled,
        Unavailable,
        MaybeSent,
        NotYetConsistent,
        Unreachable,
        NotFound,
        AlreadyExists,
        Busy,
        Denied,
        Invalid,
        Quota,
        Capacity,
    ];
    let after = [MaybeSent, Broken, Invalid];
    let faults = before.map(|class| (When::Before, class)).into_iter().chain(after.map(|class| (When::After, class)));
    let start = Stage::start(case).await?;
    let made = Stage::made(case).await?;
    let writes = made.writes_since(&start).await?;
    for (when, class) in faults {
        for nth in 1..=writes {
            for with_look in [false, true] {
                let what = format!("{class:?} {when:?} write {nth} (looked between: {with_look})");
                let mut stage = start.fork();
                stage.cloud.fail(nth, when, class);
                let failed = stage.converge().await.is_err();
                if failed && class.is_transient() && class != FaultClass::NotYetConsistent {
                    return Err(case.story(&what, "it was not retried"));
                }
                if with_look {
                    stage.ledger = stage.look().await?.ledger;
                }
                stage.converge().await.map_err(|story| format!("{story}, after {what}"))?;
                stage.is_like(&made, &what)?;
            }
        }
    }
    Ok(())
}

/// An object of that name which carries no mark, or another's, is neither changed nor deleted.
pub async fn spares_strangers(case: &Case<'_>) -> Result<(), String> {
    if case.before.is_some() {
        return Ok(());
    }
    let made = Stage::made(case).await?;
    for object in made.cloud.objects().into_iter().filter(|object| !case.is_part(&object.kind)) {
        for owner in [None, Some(Owner("somebody/else".to_owned()))] {
            let theirs = FakeObject { owner, ..object.clone() };
            let mut stage = Stage::start(case).await?;
            stage.cloud.put(theirs.clone());
            let what = format!("a {} {:?} of {:?} being there", theirs.kind, theirs.name, theirs.owner);
            let outcome = stage.run(Deed::Converge).await;
            if !outcome.failures.iter().any(|failure| failure.fault.class == FaultClass::Foreign) {
                return Err(case.story(&what, "was not refused"));
            }
            stage.ledger = outcome.ledger;
            stage.destroy().await?;
            // Of what lies in an object of ours it is known that it goes with it.
            let left = if made.is_inside(&object) { Vec::new() } else { vec![theirs] };
            if stage.cloud.objects() != left {
                return Err(case.story(&what, &format!("left behind {:#?}", stage.cloud.objects())));
            }
        }
    }
    Ok(())
}

// === impl Case ===

impl Case<'_> {
    pub(super) fn story(&self, what: &str, broken: &str) -> String {
        format!("{}: {what}: {broken}", self.name)
    }

    fn is_part(&self, kind: &str) -> bool {
        self.kinds.iter().any(|facts| facts.kind == kind && facts.part)
    }
}
