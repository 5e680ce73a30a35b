//! The fault sweep: whatever call of a creation, a change or a destruction fails, however it fails, and wherever the
//! provider is killed, the next apply converges, the plan after it is empty, and destroy leaves nothing.
//!
//! `cargo test --test laws sweep -- --nocapture` prints the table.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    sync::Mutex,
};

use converge::{FaultClass, testing::When};
use serde_json::Value as Json;
use tf_provider::testing::Planned;

use crate::{
    json::config,
    subjects::{Subject, every_resource_obeys},
    world::{Held, World},
};

/// What is done while something goes wrong.
#[derive(Clone)]
enum Deed {
    Make(Json),
    Destroy,
}

/// What goes wrong.
#[derive(Clone, Copy)]
enum Mishap {
    Write(FaultClass, When),
    Read(FaultClass),
    KilledAtWrite(When),
    KilledAtRead,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// The run went through all the same.
    Absorbed,
    /// It failed, and the next one converged.
    Failed,
    /// It was killed, and the next one converged.
    Killed,
}

/// The classes by what they lead to, which `retry` and `bring` of the engine decide: whether a call is tried again, and
/// after what look. Those of a group lead to the same, so that each call meets one of each group, and the next call the
/// next of it.
const OF_WRITES: [&[FaultClass]; 8] = [
    &[FaultClass::Throttled, FaultClass::Unavailable],
    &[FaultClass::MaybeSent],
    &[FaultClass::NotYetConsistent],
    &[FaultClass::Busy],
    &[FaultClass::NotFound],
    &[FaultClass::AlreadyExists],
    &[FaultClass::Cancelled],
    &[
        FaultClass::Denied,
        FaultClass::Invalid,
        FaultClass::Quota,
        FaultClass::Capacity,
        FaultClass::Broken,
        FaultClass::TimedOut,
        FaultClass::HoldsData,
        FaultClass::Foreign,
        FaultClass::Unauthenticated,
        FaultClass::Unreachable,
        FaultClass::Bug,
    ],
];

/// The same of a call that changes nothing.
const OF_READS: [&[FaultClass]; 6] = [
    &[FaultClass::Throttled, FaultClass::MaybeSent, FaultClass::Unavailable],
    &[FaultClass::NotYetConsistent],
    &[FaultClass::Unreachable],
    &[FaultClass::Busy],
    &[FaultClass::Cancelled],
    &[FaultClass::Denied, FaultClass::NotFound, FaultClass::Invalid, FaultClass::Unauthenticated, FaultClass::TimedOut],
];

/// One row of the table: a call, and what came of each mishap there.
type Row = BTreeMap<Outcome, Vec<String>>;

/// A deed under test: what was there before, what is to be there after it.
struct Sweep {
    name: String,
    before: World,
    deed: Deed,
    /// Its plan, which a write that fails has nothing to do with.
    planned: Planned,
    /// What is there after the deed, where nothing goes wrong.
    after: World,
    writes: usize,
    reads: usize,
    /// What mishaps have led to, and what was found to end well. Most lead to the same.
    ends_well: Mutex<BTreeSet<String>>,
}

every_resource_obeys!(sweep_of_creations);

async fn sweep_of_creations(subject: &'static Subject) -> Held {
    let typical = config(subject.resource, "typical");
    Sweep::of("create", World::new(subject), Deed::Make(typical)).await?.swept().await
}

every_resource_obeys!(sweep_of_changes);

async fn sweep_of_changes(subject: &'static Subject) -> Held {
    let before = World::made(subject, &config(subject.resource, "typical")).await?;
    let full = Deed::Make(config(subject.resource, "full"));
    Sweep::of("change", before, full).await?.swept().await
}

every_resource_obeys!(sweep_of_destructions);

async fn sweep_of_destructions(subject: &'static Subject) -> Held {
    let before = World::made(subject, &config(subject.resource, "typical")).await?;
    Sweep::of("destroy", before, Deed::Destroy).await?.swept().await
}

fn one_of_each(groups: &[&[FaultClass]], k: usize) -> impl Iterator<Item = FaultClass> {
    groups.iter().filter_map(move |group| group.iter().copied().cycle().nth(k))
}

// === impl Sweep ===

impl Sweep {
    async fn of(name: &str, before: World, deed: Deed) -> Result<Self, String> {
        let planned = match &deed {
            Deed::Make(config) => before.plan(config, name).await?,
            Deed::Destroy => {
                let planned = before.core.plan_destroy(&before.address).await;
                planned.map_err(|failure| before.story(name, &failure))?
            }
        };
        let mut after = before.fork();
        after.perform(&deed).await?;
        let (writes, reads) = (after.cloud.writes(), after.cloud.reads());
        let ends_well = Mutex::default();
        Ok(Self { name: name.to_owned(), before, deed, planned, after, writes, reads, ends_well })
    }

    async fn swept(&self) -> Held {
        let calls = self.after.cloud.journal();
        let (reads, writes): (Vec<_>, Vec<_>) = calls.iter().partition(|call| call.contains(".observe "));
        let mut table = String::new();
        let mut counts: BTreeMap<Outcome, usize> = BTreeMap::new();
        for (is_write, calls, most) in [(true, &writes, self.writes), (false, &reads, self.reads)] {
            for k in 1..=most {
                let row = self.row(k, is_write).await?;
                let call = calls.get(k - 1).map_or("", |call| call.as_str());
                let _ = writeln!(table, "  {} {k} {call}", if is_write { "write" } else { "read" });
                for (outcome, mishaps) in row {
                    *counts.entry(outcome).or_default() += mishaps.len();
                    let _ = writeln!(table, "    {}: {}", outcome.word(), mishaps.join(", "));
                }
            }
        }
        let summary: Vec<_> = counts.iter().map(|(outcome, count)| format!("{count} {}", outcome.word())).collect();
        tell(&format!(
            "{} {}: {} writes, {} reads: {}\n{table}",
            self.before.subject.resource,
            self.name,
            self.writes,
            self.reads,
            summary.join(", ")
        ));
        Ok(())
    }

    async fn row(&self, k: usize, is_write: bool) -> Result<Row, String> {
        let mishaps: Vec<Mishap> = if is_write {
            let both = [When::Before, When::After];
            let faults = one_of_each(&OF_WRITES, k).flat_map(|class| both.map(|when| Mishap::Write(class, when)));
            faults.chain(both.map(Mishap::KilledAtWrite)).collect()
        } else {
            one_of_each(&OF_READS, k).map(Mishap::Read).chain([Mishap::KilledAtRead]).collect()
        };
        let mut row = Row::new();
        for mishap in mishaps {
            let outcome = self.survives(k, mishap).await?;
            row.entry(outcome).or_default().push(mishap.word());
        }
        Ok(row)
    }

    async fn survives(&self, k: usize, mishap: Mishap) -> Result<Outcome, String> {
        let what = format!("{} with {} at call {k}", self.name, mishap.word());
        let mut world = self.before.fork();
        mishap.arrange(&world, k);
        let cloud = world.cloud.clone();
        let performed = tokio::select! {
            biased;
            () = cloud.crashed() => None,
            performed = self.perform(&mut world, mishap) => Some(performed),
        };
        let outcome = match performed {
            None => Outcome::Killed,
            Some(Ok(())) => Outcome::Absorbed,
            Some(Err(story)) if story.contains("Provider produced") => return Err(format!("{what}: {story}")),
            Some(Err(_)) => Outcome::Failed,
        };
        let left = format!("{:?} {:?} {:?}", outcome, world.core.state(&world.address), world.cloud.objects());
        let is_new = self.ends_well.lock().is_ok_and(|mut seen| seen.insert(left));
        if is_new {
            self.ends_well(world.fork(), outcome, &what).await?;
        }
        Ok(outcome)
    }

    async fn perform(&self, world: &mut World, mishap: Mishap) -> Held {
        if matches!(mishap, Mishap::Read(_) | Mishap::KilledAtRead) {
            return world.perform(&self.deed).await;
        }
        let outcome = world.core.apply(self.planned.clone()).await;
        outcome.map(drop).map_err(|failure| world.story(&self.name, &failure))
    }

    async fn ends_well(&self, mut world: World, outcome: Outcome, what: &str) -> Held {
        if outcome != Outcome::Absorbed {
            world.perform(&self.deed).await.map_err(|story| format!("{what}, and once more: {story}"))?;
        }
        match &self.deed {
            Deed::Destroy => world.is_empty(what),
            Deed::Make(config) => {
                world.settled(config, what).await?;
                world.is_like(&self.after, what)?;
                world.destroyed(what).await
            }
        }
    }
}

// === impl World ===

impl World {
    async fn perform(&mut self, deed: &Deed) -> Held {
        match deed {
            Deed::Make(config) => self.run(config, "apply").await.map(drop),
            Deed::Destroy => {
                let address = self.address.clone();
                let outcome = self.core.destroy(&address).await;
                outcome.map(drop).map_err(|failure| self.story("destroy", &failure))
            }
        }
    }
}

// === impl Mishap ===

impl Mishap {
    fn arrange(self, world: &World, k: usize) {
        match self {
            Self::Write(class, when) => world.cloud.fail(k, when, class),
            Self::Read(class) => world.cloud.fail_read(k, class),
            Self::KilledAtWrite(when) => world.cloud.crash(k, when),
            Self::KilledAtRead => world.cloud.crash_at_read(k),
        }
    }

    fn word(self) -> String {
        match self {
            Self::Write(class, when) => format!("{class:?} {when:?}"),
            Self::Read(class) => format!("{class:?}"),
            Self::KilledAtWrite(when) => format!("kill {when:?}"),
            Self::KilledAtRead => "kill".to_owned(),
        }
    }
}

// === impl Outcome ===

impl Outcome {
    fn word(self) -> &'static str {
        match self {
            Self::Absorbed => "absorbed",
            Self::Failed => "failed, then converged",
            Self::Killed => "killed, then converged",
        }
    }
}

#[expect(clippy::print_stdout, reason = "the table is what the sweep is read for")]
fn tell(text: &str) {
    println!("{text}");
}
