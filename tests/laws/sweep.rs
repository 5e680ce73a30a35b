//! The fault sweep: whatever call of a creation, a change or a destruction fails, however it fails, and wherever the
//! provider is killed, the next apply converges, with or without a look before it and after an import of what was left;
//! the plan after it is empty, and destroy leaves nothing, at once or later.
//!
//! `cargo test --test laws sweep -- --nocapture` prints the table.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::Value as Json;
use tf_provider::testing::Planned;

use crate::{
    json::config,
    mishap::Mishap,
    subjects::{Subject, every_resource_obeys},
    world::{Held, World},
};

/// What is done while something goes wrong.
#[derive(Clone)]
enum Deed {
    Make(Json),
    Destroy,
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

/// One row of the table: a call, and what came of each mishap there.
type Row = BTreeMap<Outcome, Vec<String>>;

/// How a run that nothing killed went through.
enum Went {
    /// To its end.
    Through,
    /// Up to the plan that is made where nothing goes wrong. What follows is swept from there.
    AsPlanned,
}

/// A deed under test: what was there before, what is to be there after it.
struct Sweep {
    name: String,
    before: World,
    deed: Deed,
    /// What is there when the plan is made, and the plan, which what goes wrong later has nothing to do with.
    looked: World,
    planned: Planned,
    /// What is there after the deed, where nothing goes wrong.
    after: World,
    writes: usize,
    /// Observations, and how many of them come before the plan.
    reads: usize,
    looks: usize,
    /// What mishaps have led to, and what was found to end well. Most lead to the same.
    ends_well: Mutex<BTreeSet<String>>,
    /// How often what a killed creation left could be imported.
    imports: AtomicUsize,
}

// What the typical one does not have is created in the changes that grow.
every_resource_obeys!(sweep_of_creations);

async fn sweep_of_creations(subject: &'static Subject) -> Held {
    let deed = Deed::Make(config(subject.resource, "typical"));
    let sweep = Sweep::of("create", World::new(subject), deed).await?;
    sweep.swept().await?;
    if sweep.imports.load(Ordering::Relaxed) == 0 {
        return Err(sweep.after.told(&sweep.name, "nothing of what was left was imported"));
    }
    Ok(())
}

every_resource_obeys!(sweep_of_changes_that_grow);

async fn sweep_of_changes_that_grow(subject: &'static Subject) -> Held {
    let of = |name| config(subject.resource, name);
    changes(subject, "grow", &of("typical"), of("full")).await
}

every_resource_obeys!(sweep_of_changes_that_shrink);

async fn sweep_of_changes_that_shrink(subject: &'static Subject) -> Held {
    let of = |name| config(subject.resource, name);
    changes(subject, "shrink", &of("full"), of("small")).await
}

every_resource_obeys!(sweep_of_single_changes_there_and_back);

async fn sweep_of_single_changes_there_and_back(subject: &'static Subject) -> Held {
    for change in (subject.changes)().iter().filter(|change| change.is_swept) {
        let (before, after) = change.both(subject);
        changes(subject, change.attribute, &before, after.clone()).await?;
        changes(subject, &format!("{} back", change.attribute), &after, before).await?;
    }
    Ok(())
}

async fn changes(subject: &'static Subject, name: &str, before: &Json, after: Json) -> Held {
    Sweep::of(name, World::made(subject, before).await?, Deed::Make(after)).await?.swept().await
}

every_resource_obeys!(sweep_of_destructions);

async fn sweep_of_destructions(subject: &'static Subject) -> Held {
    for name in ["typical", "full"] {
        let before = World::made(subject, &config(subject.resource, name)).await?;
        Sweep::of(&format!("destroy {name}"), before, Deed::Destroy).await?.swept().await?;
    }
    Ok(())
}

// === impl Sweep ===

impl Sweep {
    async fn of(name: &str, before: World, deed: Deed) -> Result<Self, String> {
        let looked = before.fork();
        let planned = looked.planned(&deed, name).await?;
        let looks = looked.cloud.reads();
        let planned = looked.core.finalized(planned).await.map_err(|failure| before.story(name, &failure))?;
        let mut after = looked.fork();
        after.applied(planned.clone(), name).await?;
        let (writes, reads) = (after.cloud.writes(), looks + after.cloud.reads());
        let (ends_well, imports) = (Mutex::default(), AtomicUsize::default());
        let name = name.to_owned();
        Ok(Self { name, before, deed, looked, planned, after, writes, reads, looks, ends_well, imports })
    }

    async fn swept(&self) -> Held {
        let calls = [self.looked.cloud.journal(), self.after.cloud.journal()].concat();
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
        let mishaps = if is_write { Mishap::at_write(k) } else { Mishap::at_read(k) };
        let mut row = Row::new();
        for mishap in mishaps {
            let outcome = self.survives(k, mishap).await?;
            row.entry(outcome).or_default().push(mishap.word());
        }
        Ok(row)
    }

    async fn survives(&self, k: usize, mishap: Mishap) -> Result<Outcome, String> {
        let what = format!("{} with {} at call {k}", self.name, mishap.word());
        let is_look = mishap.is_read() && k <= self.looks;
        let mut world = if is_look { self.before.fork() } else { self.looked.fork() };
        mishap.arrange(&world, if mishap.is_read() && !is_look { k - self.looks } else { k });
        let cloud = world.cloud.clone();
        let performed = tokio::select! {
            biased;
            () = cloud.crashed() => None,
            performed = self.perform(&mut world, is_look) => Some(performed),
        };
        let outcome = match performed {
            None => Outcome::Killed,
            Some(Ok(Went::AsPlanned)) => return Ok(Outcome::Absorbed),
            Some(Ok(Went::Through)) => Outcome::Absorbed,
            Some(Err(story)) if story.contains("Provider produced") => return Err(format!("{what}: {story}")),
            Some(Err(story)) if mishap.is_retried() => return Err(format!("{what} was not tried again: {story}")),
            Some(Err(_)) => Outcome::Failed,
        };
        let is_new = self.ends_well.lock().is_ok_and(|mut seen| seen.insert(left(&world, outcome)));
        if is_new {
            self.ends_well(&world, outcome, &what).await?;
        }
        Ok(outcome)
    }

    async fn perform(&self, world: &mut World, is_look: bool) -> Result<Went, String> {
        if !is_look {
            return world.applied(self.planned.clone(), &self.name).await.map(|()| Went::Through);
        }
        let planned = world.planned(&self.deed, &self.name).await?;
        if (planned.action, &planned.after) == (self.planned.action, &self.planned.after) {
            return Ok(Went::AsPlanned);
        }
        world.applied(planned, &self.name).await.map(|()| Went::Through)
    }

    async fn ends_well(&self, world: &World, outcome: Outcome, what: &str) -> Held {
        if outcome == Outcome::Absorbed {
            return self.is_done(world, what).await;
        }
        let again = self.again(world.fork(), &format!("{what}, and once more")).await?;
        if matches!(self.deed, Deed::Make(_)) {
            again.destroyed(what).await?;
        }
        // Of what a run has done that was killed, Terraform knows nothing.
        if outcome == Outcome::Failed {
            world.fork().destroyed(&format!("{what}, and destroyed at once")).await?;
        }
        let mut blind = world.fork();
        blind.core.set_refreshes(false);
        self.again(blind, &format!("{what}, and once more without a refresh")).await?;
        if matches!(self.deed, Deed::Make(_)) && world.core.state(&world.address).is_none() {
            self.imported(world.fork(), &format!("{what}, and imported")).await?;
        }
        Ok(())
    }

    async fn again(&self, mut world: World, what: &str) -> Result<World, String> {
        let planned = world.planned(&self.deed, what).await?;
        world.applied(planned, what).await?;
        world.core.set_refreshes(true);
        self.is_done(&world, what).await?;
        Ok(world)
    }

    async fn is_done(&self, world: &World, what: &str) -> Held {
        match &self.deed {
            Deed::Destroy => world.is_empty(what),
            Deed::Make(config) => {
                world.settled(config, what).await?;
                world.is_like(&self.after, what)
            }
        }
    }

    /// What a creation that was killed has left can be imported, unless there is too little of it yet.
    async fn imported(&self, mut world: World, what: &str) -> Held {
        let id = self.after.attribute("id").as_str().unwrap_or_default().to_owned();
        let address = world.address.clone();
        if world.core.import_id(&address, &id).await.is_ok() {
            self.imports.fetch_add(1, Ordering::Relaxed);
            self.again(world, what).await?;
        }
        Ok(())
    }
}

/// What a mishap has left, in words.
fn left(world: &World, outcome: Outcome) -> String {
    let state = world.core.state(&world.address);
    let state = state.map(|state| (&state.stored, String::from_utf8_lossy(&state.private), state.tainted));
    format!("{outcome:?} {state:?} {:?}", world.cloud.objects())
}

// === impl World ===

impl World {
    async fn planned(&self, deed: &Deed, what: &str) -> Result<Planned, String> {
        match deed {
            Deed::Make(config) => self.plan(config, what).await,
            Deed::Destroy => {
                let planned = self.core.plan_destroy(&self.address).await;
                planned.map_err(|failure| self.story(what, &failure))
            }
        }
    }

    async fn applied(&mut self, planned: Planned, what: &str) -> Held {
        let outcome = self.core.apply(planned).await;
        outcome.map(drop).map_err(|failure| self.story(what, &failure))
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
