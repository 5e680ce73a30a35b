//! The laws every resource obeys, whatever it is made of.
//!
//! Each law runs one case on the fake cloud many times, with something else going wrong each time, and tells a
//! readable story where the law is broken. [`all`] holds a case to all of them.

use std::sync::Mutex;

use serde_json::Value as Json;

use crate::{
    Converged, Cx, Drivers, FaultClass, Inspection, KindFacts, Ledger, Owner, Plan, Run, Source, compare::SLOT,
    converge, destroy, inspect, plan,
};

use super::{FakeCloud, FakeObject, InstantClock, When, drift};

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

/// The world that a law starts from: what is there, and the record of it.
pub(super) struct Stage<'a> {
    pub(super) case: &'a Case<'a>,
    pub(super) cloud: FakeCloud,
    drivers: Drivers,
    cx: Cx,
    pub(super) ledger: Ledger,
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
        return Err(case.story("a second run with nothing to do", format!("called {call}")));
    }
    stage.is_as_applied("after it was made").await?;
    let rebuilt = stage.rebuild().await?;
    stage.ledger = rebuilt;
    let plan = stage.plan();
    if plan.is_empty() { Ok(()) } else { Err(case.story("the plan after an import", told(&plan))) }
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
                    return Err(case.story(&what, "it was not retried".to_owned()));
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
                return Err(case.story(&what, "was not refused".to_owned()));
            }
            stage.ledger = outcome.ledger;
            stage.destroy().await?;
            if stage.cloud.objects() != [theirs] {
                return Err(case.story(&what, format!("left behind {:#?}", stage.cloud.objects())));
            }
        }
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Deed {
    Converge,
    Destroy,
}

// === impl Case ===

impl Case<'_> {
    pub(super) fn story(&self, what: &str, broken: String) -> String {
        format!("{}: {what}: {broken}", self.name)
    }

    fn is_part(&self, kind: &str) -> bool {
        self.kinds.iter().any(|facts| facts.kind == kind && facts.part)
    }
}

// === impl Stage ===

impl<'a> Stage<'a> {
    /// Before the run that the law is about.
    async fn start(case: &'a Case<'a>) -> Result<Self, String> {
        let cloud = case.cloud.fork();
        let drivers = cloud.drivers(case.kinds);
        let mut stage = Self { case, cloud, drivers, cx: InstantClock::cx(), ledger: Ledger::default() };
        if let Some(before) = case.before {
            let earlier = Case { source: before, before: None, ..case.clone() };
            let made = Box::pin(Stage::made(&earlier)).await?;
            stage = Self { ledger: made.ledger, cloud: made.cloud, drivers: made.drivers, ..stage };
        }
        Ok(stage.fork())
    }

    /// After it.
    pub(super) async fn made(case: &'a Case<'a>) -> Result<Self, String> {
        let mut stage = Self::start(case).await?;
        stage.converge().await?;
        Ok(stage)
    }

    pub(super) fn fork(&self) -> Self {
        let cloud = self.cloud.fork();
        let drivers = cloud.drivers(self.case.kinds);
        Self { case: self.case, drivers, cloud, cx: InstantClock::cx(), ledger: self.ledger.clone() }
    }

    async fn run(&self, deed: Deed) -> Converged {
        self.run_recording(deed, &Mutex::default()).await
    }

    async fn run_recording(&self, deed: Deed, last: &Mutex<Option<Ledger>>) -> Converged {
        let record = |ledger: &Ledger| {
            if let Ok(mut last) = last.lock() {
                *last = Some(ledger.clone());
            }
        };
        let run = Run { drivers: &self.drivers, cx: &self.cx, owner: &self.case.owner, record: &record };
        match deed {
            Deed::Converge => converge(&run, self.case.source, self.ledger.clone()).await,
            Deed::Destroy => destroy(&run, self.ledger.clone()).await,
        }
    }

    /// A run that dies; gives the record it had handed out last.
    async fn killed(&self, deed: Deed) -> Ledger {
        let last = Mutex::new(None);
        tokio::select! {
            biased;
            () = self.cloud.crashed() => {}
            _ = self.run_recording(deed, &last) => {}
        }
        last.into_inner().ok().flatten().unwrap_or_else(|| self.ledger.clone())
    }

    pub(super) async fn converge(&mut self) -> Result<(), String> {
        self.take(Deed::Converge, "converge").await
    }

    async fn destroy(&mut self) -> Result<(), String> {
        self.take(Deed::Destroy, "destroy").await
    }

    async fn take(&mut self, deed: Deed, name: &str) -> Result<(), String> {
        let outcome = self.run(deed).await;
        self.ledger = outcome.ledger;
        if outcome.failures.is_empty() {
            return Ok(());
        }
        let told: Vec<_> = outcome
            .failures
            .iter()
            .map(|f| format!("{} ({:?}, {:?}): {}", f.key, f.during, f.fault.class, f.fault))
            .collect();
        Err(self.case.story(name, told.join("; ")))
    }

    pub(super) async fn look(&self) -> Result<Inspection, String> {
        self.inspect(Some(&self.ledger), &self.ledger).await
    }

    async fn inspect(&self, ledger: Option<&Ledger>, known: &Ledger) -> Result<Inspection, String> {
        let outputs = known.entries.iter().map(|(key, entry)| (key.clone(), entry.outputs.clone())).collect();
        let graph = (self.case.source)(outputs);
        let inspection = inspect(&self.drivers, &self.cx, &self.case.owner, &graph, ledger).await;
        inspection.map_err(|failures| self.case.story("a look", format!("{failures:?}")))
    }

    // The record as an import makes it: again while more outputs become known.
    async fn rebuild(&self) -> Result<Ledger, String> {
        let mut known = Ledger::default();
        loop {
            let ledger = self.inspect(None, &known).await?.ledger;
            if ledger == known {
                return Ok(ledger);
            }
            known = ledger;
        }
    }

    // The records with which a run may have to go on after one that died.
    async fn records(&self, start: &Self, recorded: Ledger) -> Result<Vec<(&'static str, Ledger)>, String> {
        let stage = self.fork();
        let looked = Stage { ledger: recorded.clone(), ..self.fork() }.look().await?.ledger;
        let mut records = vec![
            ("its record", recorded),
            ("its record after a look", looked),
            ("the record before", start.ledger.clone()),
        ];
        if self.case.before.is_none() {
            records.push(("a record rebuilt", stage.rebuild().await?));
        }
        Ok(records)
    }

    async fn writes_since(&self, start: &Self) -> Result<usize, String> {
        let mut stage = start.fork();
        stage.converge().await?;
        Ok(stage.cloud.writes())
    }

    pub(super) fn plan(&self) -> Plan {
        plan(self.case.source, &self.ledger)
    }

    pub(super) async fn is_as_applied(&mut self, what: &str) -> Result<(), String> {
        self.cloud.settle();
        let seen = self.look().await?;
        if seen.ledger != self.ledger || !seen.write_backs.is_empty() {
            let broken = format!("a look found {:#?}\nwhere the record is {:#?}", seen, self.ledger);
            return Err(self.case.story(what, broken));
        }
        let plan = self.plan();
        if plan.is_empty() { Ok(()) } else { Err(self.case.story(what, told(&plan))) }
    }

    pub(super) fn is_like(&self, other: &Self, what: &str) -> Result<(), String> {
        let [here, there] = [self, other].map(|stage| {
            stage.cloud.objects().into_iter().map(|object| self.whatever_slot(object)).collect::<Vec<_>>()
        });
        if here == there {
            return Ok(());
        }
        Err(self.case.story(what, format!("ended with {here:#?}\nand not with {there:#?}")))
    }

    // Which of the two slots is in use depends on where an earlier run died; what is in it does not.
    fn whatever_slot(&self, mut object: FakeObject) -> FakeObject {
        object.waits = 0;
        if self.case.kinds.iter().any(|facts| facts.slots) {
            object.document.remove(SLOT);
            object.name = object.name.trim_end_matches("/b").to_owned();
            object.document.values_mut().for_each(|value| *value = without_slot(value));
        }
        object
    }

    fn is_empty(&self, what: &str) -> Result<(), String> {
        if self.cloud.objects().is_empty() && self.ledger.is_empty() {
            return Ok(());
        }
        let broken = format!("left {:#?}\nand the record {:#?}", self.cloud.objects(), self.ledger);
        Err(self.case.story(what, broken))
    }
}

fn without_slot(value: &Json) -> Json {
    match value {
        Json::String(text) => Json::String(text.trim_end_matches("/b").to_owned()),
        Json::Array(items) => Json::Array(items.iter().map(without_slot).collect()),
        Json::Object(map) => Json::Object(map.iter().map(|(key, value)| (key.clone(), without_slot(value))).collect()),
        other => other.clone(),
    }
}

pub(super) fn told(plan: &Plan) -> String {
    let told = |(key, step): (&String, &crate::Step)| format!("{key}: {:?} {:?}", step.action, step.fields);
    let steps: Vec<_> = plan.steps.iter().map(told).collect();
    format!("planned {} {:?}", steps.join("; "), plan.replacements)
}
