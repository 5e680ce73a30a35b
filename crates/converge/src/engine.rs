//! The run: makes the difference between what is wanted and what is there go away.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use futures::{StreamExt, stream::FuturesUnordered};
use value::{AttributePath, is_pending};

use crate::{
    Action, Cx, Document, Drivers, Entry, Fault, FaultClass, Graph, Health, Key, Ledger, Node, Owner,
    bring::Bring,
    destroy::{Doomed, refusals, remove},
    object::{Object, Stop, in_slot, slot_of},
    plan::{is_disposable, step},
    work::Work,
};

/// Builds the graph, given the outputs known so far.
pub type Source<'a> = &'a (dyn Fn(BTreeMap<Key, Document>) -> Graph + Sync);

/// What a run works with.
#[derive(Clone)]
pub struct Run<'a> {
    /// The drivers.
    pub drivers: &'a Drivers,
    /// Cancellation, clock, deadline, locks.
    pub cx: &'a Cx,
    /// The mark of the resource.
    pub owner: &'a Owner,
    /// Told the record after every call, so that it outlives a run that is cut off.
    pub record: &'a (dyn Fn(&Ledger) + Sync),
}

/// How a run ended.
#[derive(Debug)]
pub struct Converged {
    /// The record. Valid whether or not there were failures.
    pub ledger: Ledger,
    /// What failed; empty on success. Objects that needed a failed one were not touched.
    pub failures: Vec<Failure>,
}

/// One object that could not be brought to what is wanted.
#[derive(Debug)]
pub struct Failure {
    /// The object's key.
    pub key: Key,
    /// Its kind in words.
    pub noun: &'static str,
    /// What was being done.
    pub during: During,
    /// Why it failed.
    pub fault: Fault,
    /// The attribute behind it, where one field of it is to blame.
    pub origin: Option<AttributePath>,
}

/// What was being done with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum During {
    /// Looking at it.
    Observe,
    /// Making it.
    Create,
    /// Changing it.
    Update,
    /// Deleting it.
    Delete,
    /// Waiting for it to be usable, or gone.
    Wait,
}

/// As many objects are worked on at once.
pub(crate) const AT_ONCE: usize = 8;

/// Brings the world to what `source` wants, from whatever is there now.
///
/// # Guarantees
/// - An object is begun when all that it needs is done; its document is complete then.
/// - An object that the record has as wanted and ready costs no call.
/// - Objects no longer wanted are deleted last, each after all that needed it.
/// - A failure stops what needs the failed object, and nothing else.
pub async fn converge(run: &Run<'_>, source: Source<'_>, ledger: Ledger) -> Converged {
    let work = Work::new(run, ledger);
    let mut progress = Progress::new(source);
    let mut running = FuturesUnordered::new();
    loop {
        while running.len() < AT_ONCE
            && let Some(key) = progress.next()
        {
            let begun = work.not_cancelled();
            let Some(node) = progress.start(&key) else { break };
            let graph = Arc::clone(&progress.graph);
            let work = &work;
            running.push(async move {
                let outcome = match begun {
                    Ok(()) => bring(work, &graph, &key, &node).await,
                    Err(fault) => Err(Stop::during(During::Observe)(fault)),
                };
                (key, node, outcome)
            });
        }
        match running.next().await {
            Some((key, _, Ok(outputs))) => progress.done(key, outputs),
            Some((key, node, Err(stop))) => progress.failed(key, &node, stop),
            None => break,
        }
    }
    drop(running);
    let mut failures = progress.finish();
    failures.extend(remove(&work, &unwanted(&work, &progress)).await);
    Converged { ledger: work.into_ledger(), failures }
}

/// Brings the world to nothing: deletes what the record holds, in reverse over its edges.
///
/// # Guarantees
/// - Nothing is deleted where something that holds data may not go.
/// - What carries somebody else's mark is left alone and forgotten.
/// - What is part of another object that is deleted too, or inside it, goes with it, without a call. What it needs
///   outlasts both.
/// - What could not be deleted stays in the record.
pub async fn destroy(run: &Run<'_>, ledger: Ledger) -> Converged {
    let work = Work::new(run, ledger);
    let doomed = Doomed::all(&work.ledger());
    let mut failures = refusals(&work, &doomed).await;
    if failures.is_empty() {
        failures = remove(&work, &doomed).await;
    }
    Converged { ledger: work.into_ledger(), failures }
}

/// How far a run has come.
struct Progress<'a> {
    source: Source<'a>,
    graph: Arc<Graph>,
    outputs: BTreeMap<Key, Document>,
    started: BTreeSet<Key>,
    failures: Vec<Failure>,
}

// === impl Progress ===

impl<'a> Progress<'a> {
    fn new(source: Source<'a>) -> Self {
        let graph = Arc::new(source(BTreeMap::new()));
        Self { source, graph, outputs: BTreeMap::new(), started: BTreeSet::new(), failures: Vec::new() }
    }

    // An object that is not started and whose needs are done.
    fn next(&self) -> Option<Key> {
        let nodes = self.graph.nodes();
        let is_done = |needed: &Key| self.outputs.contains_key(needed) || !nodes.contains_key(needed);
        let is_next = |key: &Key, node: &Node| !self.started.contains(key) && node.after.iter().all(is_done);
        nodes.iter().find(|(key, node)| is_next(key, node)).map(|(key, _)| key.clone())
    }

    fn start(&mut self, key: &Key) -> Option<Node> {
        self.started.insert(key.clone());
        self.graph.nodes().get(key).cloned()
    }

    // What an object has told changes the graph only where something is made from it.
    fn done(&mut self, key: Key, outputs: Document) {
        let nodes = self.graph.nodes();
        let is_made_from = |node: &Node| node.fields.values().any(|field| field.sources.contains(&key));
        let is_awaited = self.graph.unshaped().is_some() || nodes.values().any(is_made_from);
        self.outputs.insert(key, outputs);
        if is_awaited {
            self.graph = Arc::new((self.source)(self.outputs.clone()));
        }
    }

    fn failed(&mut self, key: Key, node: &Node, stop: Stop) {
        let origin = stop.fault.at.as_ref().and_then(|place| node.origin_at(place)).cloned();
        self.failures.push(Failure { origin, ..stop.failure(key, node.facts.noun) });
    }

    // Whether everything the graph has is done, and the graph is whole.
    fn is_whole(&self) -> bool {
        self.graph.unshaped().is_none() && self.graph.nodes().keys().all(|key| self.outputs.contains_key(key))
    }

    // Objects that could not even start though nothing failed need each other, or an output that never comes.
    fn finish(&mut self) -> Vec<Failure> {
        let failures = std::mem::take(&mut self.failures);
        if failures.is_empty() && !self.is_whole() {
            let nodes = self.graph.nodes();
            let left: Vec<_> = nodes.iter().filter(|(key, _)| !self.outputs.contains_key(*key)).collect();
            let names: Vec<_> = left.iter().map(|(key, _)| key.as_str()).collect();
            let fault = bug("", format!("objects need each other or are never known: {}", names.join(", ")));
            let (key, noun) = left.first().map_or((Key::new(), ""), |(key, node)| ((*key).clone(), node.facts.noun));
            let origin = self.graph.unshaped().cloned();
            return vec![Failure { origin, ..Stop::during(During::Observe)(fault).failure(key, noun) }];
        }
        failures
    }
}

async fn bring(work: &Work<'_>, graph: &Graph, key: &str, node: &Node) -> Result<Document, Stop> {
    if let Some((field, _)) = node.fields.iter().find(|(_, field)| is_pending(&field.document)) {
        let fault = bug(node.facts.noun, format!("{field:?} of {key} is not known though all that it needs is done"));
        return Err(Stop::during(During::Observe)(Fault { at: Some((*field).into()), ..fault }));
    }
    if let Some(outputs) = keep(work, graph, key, node) {
        return Ok(outputs);
    }
    let object =
        Object::new(work, key, node.facts.kind, upstream(graph, key)).map_err(Stop::during(During::Observe))?;
    let is_disposable = is_disposable(key, &node.facts, graph, &work.ledger());
    Bring::new(&object, node, is_disposable).run().await
}

// An object that stays as it is costs no call; the record takes over what is never compared.
fn keep(work: &Work<'_>, graph: &Graph, key: &str, node: &Node) -> Option<Document> {
    let recorded = {
        let ledger = work.ledger();
        let (step, _) = step(key, node, graph, &ledger);
        ledger.entries.get(key).filter(|_| step.action == Action::Keep).cloned()
    }?;
    let document = in_slot(&node.document(), slot_of(&recorded.document).as_deref());
    let edges = (&node.after, &node.inside);
    if document != recorded.document || edges != (&recorded.after, &recorded.inside) || recorded.health != Health::Ready
    {
        let (after, inside) = (node.after.clone(), node.inside.clone());
        // Drift that is kept is what is wanted by now.
        let entry = Entry { document, after, inside, health: Health::Ready, ..recorded.clone() };
        work.change(|ledger| ledger.entries.insert(key.to_owned(), entry));
    }
    Some(recorded.outputs)
}

fn upstream(graph: &Graph, key: &str) -> BTreeSet<Key> {
    let mut upstream = BTreeSet::new();
    let mut next = vec![key.to_owned()];
    while let Some(key) = next.pop() {
        if let Some(node) = graph.nodes().get(&key) {
            next.extend(node.after.iter().filter(|needed| !upstream.contains(*needed)).cloned());
        }
        upstream.insert(key);
    }
    upstream
}

// What is to be deleted at the end: nothing that something unfinished may still need.
fn unwanted(work: &Work<'_>, progress: &Progress<'_>) -> BTreeSet<Doomed> {
    let nodes = progress.graph.nodes();
    let ledger = work.ledger();
    let unfinished: BTreeSet<Key> = nodes.keys().filter(|key| !progress.outputs.contains_key(*key)).cloned().collect();
    let needed: BTreeSet<Key> = unfinished.iter().flat_map(|key| upstream(&progress.graph, key)).collect();
    let held: BTreeSet<&Key> =
        ledger.entries.iter().filter(|(key, _)| nodes.contains_key(*key)).flat_map(|(_, entry)| &entry.after).collect();
    let is_shaped = progress.graph.unshaped().is_none();
    let dropped = ledger.entries.keys().filter(|key| is_shaped && !nodes.contains_key(*key) && !held.contains(key));
    let retired = ledger.retired.keys().filter(|key| is_shaped && !needed.contains(*key));
    dropped.map(|key| Doomed::entry(key)).chain(retired.map(|key| Doomed::retired(key))).collect()
}

fn bug(object: &str, message: String) -> Fault {
    Fault::new(FaultClass::Bug, object, message)
        .advise("Report this with the text above; it is always a problem with the provider.")
}
