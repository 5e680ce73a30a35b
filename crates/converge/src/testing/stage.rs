//! The world that a law plays in: what is there, and the record of it.

use std::sync::Mutex;

use serde_json::Value as Json;

use super::{FakeCloud, FakeObject, InstantClock, driver::place, laws::Case};
use crate::{
    Converged, Cx, Drivers, Entry, Inspection, Ledger, Plan, Run, compare::SLOT, converge, destroy, inspect, plan,
};

/// The world that a law starts from: what is there, and the record of it.
pub(super) struct Stage<'a> {
    pub(super) case: &'a Case<'a>,
    pub(super) cloud: FakeCloud,
    pub(super) drivers: Drivers,
    pub(super) cx: Cx,
    pub(super) ledger: Ledger,
}

/// Which run is made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Deed {
    Converge,
    Destroy,
}

// === impl Stage ===

impl<'a> Stage<'a> {
    /// Before the run that the law is about.
    pub(super) async fn start(case: &'a Case<'a>) -> Result<Self, String> {
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

    pub(super) async fn run(&self, deed: Deed) -> Converged {
        self.run_recording(deed, &Mutex::default()).await
    }

    pub(super) async fn run_recording(&self, deed: Deed, last: &Mutex<Option<Ledger>>) -> Converged {
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
    pub(super) async fn killed(&self, deed: Deed) -> Ledger {
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

    pub(super) async fn destroy(&mut self) -> Result<(), String> {
        self.take(Deed::Destroy, "destroy").await
    }

    pub(super) async fn take(&mut self, deed: Deed, name: &str) -> Result<(), String> {
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
        Err(self.case.story(name, &told.join("; ")))
    }

    pub(super) async fn look(&self) -> Result<Inspection, String> {
        self.inspect(Some(&self.ledger), &self.ledger).await
    }

    pub(super) async fn inspect(&self, ledger: Option<&Ledger>, known: &Ledger) -> Result<Inspection, String> {
        let outputs = known.entries.iter().map(|(key, entry)| (key.clone(), entry.outputs.clone())).collect();
        let graph = (self.case.source)(outputs);
        let inspection = inspect(&self.drivers, &self.cx, &self.case.owner, &graph, ledger).await;
        inspection.map_err(|failures| self.case.story("a look", &format!("{failures:?}")))
    }

    // The record as an import makes it: again while more outputs become known.
    pub(super) async fn rebuild(&self) -> Result<Ledger, String> {
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
    pub(super) async fn records(&self, start: &Self, recorded: Ledger) -> Result<Vec<(&'static str, Ledger)>, String> {
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

    pub(super) async fn writes_since(&self, start: &Self) -> Result<usize, String> {
        let mut stage = start.fork();
        stage.converge().await?;
        Ok(stage.cloud.writes())
    }

    /// Whether the record has the object inside another one.
    pub(super) fn is_inside(&self, object: &FakeObject) -> bool {
        let facts = |entry: &Entry| self.case.kinds.iter().find(|facts| facts.kind == entry.kind);
        let is_it = |entry: &Entry| facts(entry).is_some_and(|facts| place(facts, &entry.document).1 == object.name);
        let inside = self.ledger.entries.values().filter(|entry| entry.inside.is_some() && entry.kind == object.kind);
        inside.into_iter().any(is_it)
    }

    pub(super) fn plan(&self) -> Plan {
        plan(self.case.source, &self.ledger)
    }

    pub(super) async fn is_as_applied(&mut self, what: &str) -> Result<(), String> {
        self.cloud.settle();
        let seen = self.look().await?;
        if seen.ledger != self.ledger || !seen.write_backs.is_empty() {
            let broken = format!("a look found {:#?}\nwhere the record is {:#?}", seen, self.ledger);
            return Err(self.case.story(what, &broken));
        }
        let plan = self.plan();
        if plan.is_empty() { Ok(()) } else { Err(self.case.story(what, &told(&plan))) }
    }

    pub(super) fn is_like(&self, other: &Self, what: &str) -> Result<(), String> {
        let [here, there] = [self, other].map(|stage| {
            stage.cloud.objects().into_iter().map(|object| self.whatever_slot(object)).collect::<Vec<_>>()
        });
        if here == there {
            return Ok(());
        }
        Err(self.case.story(what, &format!("ended with {here:#?}\nand not with {there:#?}")))
    }

    // Which of the two slots is in use depends on where an earlier run died; what is in it does not. What steers the
    // driver is no part of an object, and may have changed since it was made.
    pub(super) fn whatever_slot(&self, mut object: FakeObject) -> FakeObject {
        object.waits = 0;
        if let Some(facts) = self.case.kinds.iter().find(|facts| facts.kind == object.kind) {
            object.document.retain(|field, _| !facts.local.contains(&field.as_str()));
        }
        if self.case.kinds.iter().any(|facts| facts.slots) {
            object.document.remove(SLOT);
            object.name = object.name.trim_end_matches("/b").to_owned();
            object.document.values_mut().for_each(|value| *value = without_slot(value));
        }
        object
    }

    pub(super) fn is_empty(&self, what: &str) -> Result<(), String> {
        if self.cloud.objects().is_empty() && self.ledger.is_empty() {
            return Ok(());
        }
        let broken = format!("left {:#?}\nand the record {:#?}", self.cloud.objects(), self.ledger);
        Err(self.case.story(what, &broken))
    }
}

/// A value in which the names of both slots of an object are one: which slot is used follows from its history.
pub fn without_slot(value: &Json) -> Json {
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
