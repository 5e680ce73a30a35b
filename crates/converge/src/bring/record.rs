//! What a run writes into the record of one object, before and after every call.
//!
//! **Invariant:** an object is never in the world without a record of the slot it stands in.

use super::Bring;
use crate::{
    Document, Entry, Found, Health, Readiness,
    decide::stranger,
    look::Sight,
    object::{in_slot, other_slot, slot_of},
};

impl Bring<'_> {
    // The record of the slot in sight.
    pub(super) fn recorded(&self, sight: &Sight) -> Option<Entry> {
        let ledger = self.object.work.ledger();
        let known = [&ledger.entries, &ledger.retired];
        let entry =
            known.into_iter().filter_map(|map| map.get(&self.object.key)).find(|e| slot_of(&e.document) == sight.slot);
        entry.cloned()
    }

    // Whatever a failed creation left behind is recorded, and nothing else.
    pub(super) async fn after_failed_creation(&self, sight: &Sight, spec: &Document) {
        match self.object.observe(spec).await {
            Ok(Some(found)) if stranger(self.object.work.run.owner, false, &found.ownership).is_none() => {
                self.note(&found);
            }
            Ok(_) => self.object.work.change(|ledger| {
                let key = &self.object.key;
                let previous = sight.other.as_ref().and_then(|_| ledger.retired.remove(key));
                match previous.or_else(|| self.before.0.clone().map(|e| Entry { health: Health::Missing, ..e })) {
                    Some(entry) => ledger.entries.insert(key.clone(), entry),
                    None => ledger.entries.remove(key),
                };
            }),
            // Not even a look is possible: the record stays.
            Err(_) => {}
        }
    }

    // Records that a write begins: in which slot, and what it may leave behind.
    pub(super) fn begin(&self, sight: &Sight, spec: &Document) {
        self.take_up(sight, spec);
        self.change(|entry| {
            if sight.found.is_none() {
                entry.document.clone_from(spec);
                entry.outputs = Document::new();
                entry.imported = false;
            }
            entry.after.extend(self.node.after.iter().cloned());
            entry.inside.clone_from(&self.node.inside);
            entry.health = Health::Begun;
        });
    }

    // Makes the record speak of the slot in sight; what of ours is in the other one is retired.
    pub(super) fn take_up(&self, sight: &Sight, spec: &Document) {
        let key = &self.object.key;
        let other = in_slot(&self.identity(), other_slot(sight.slot.as_deref()).as_deref());
        self.object.work.change(|ledger| {
            let known = [ledger.entries.remove(key), ledger.retired.remove(key)];
            let [mut this, mut that] = [None, None];
            for entry in known.into_iter().flatten() {
                let is_here = slot_of(&entry.document) == sight.slot;
                *(if is_here { &mut this } else { &mut that }) = Some(entry);
            }
            let fresh = |document: &Document| Entry {
                kind: self.object.facts.kind.to_owned(),
                document: document.clone(),
                after: self.node.after.clone(),
                inside: self.node.inside.clone(),
                holds_data: self.object.facts.holds_data,
                health: Health::Begun,
                ..Entry::default()
            };
            ledger.entries.insert(key.clone(), this.unwrap_or_else(|| fresh(spec)));
            if sight.other.is_some() {
                ledger.retired.insert(key.clone(), that.unwrap_or_else(|| fresh(&other)));
            }
        });
    }

    pub(super) fn note(&self, found: &Found) {
        let health = match &found.readiness {
            // Usable, but not yet compared once more: only `settle` calls it ready.
            Readiness::Ready => Health::Begun,
            Readiness::Waiting(state) => Health::Waiting(state.clone()),
            Readiness::Broken { reasons, .. } => Health::Broken(reasons.clone()),
        };
        let is_known =
            self.object.entry().is_some_and(|entry| entry.outputs == found.outputs && entry.health == health);
        if !is_known {
            self.change(|entry| {
                entry.outputs.clone_from(&found.outputs);
                entry.health = health;
            });
        }
    }

    pub(super) fn note_health(&self, health: Health) {
        if self.object.entry().is_some() {
            self.change(|entry| entry.health = health);
        }
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut Entry)) {
        self.object.work.change(|ledger| change(ledger.entries.entry(self.object.key.clone()).or_default()));
    }

    fn identity(&self) -> Document {
        let is_identity = |field: &str| self.object.facts.identity.contains(&field);
        self.wanted.iter().filter(|(field, _)| is_identity(field)).map(|(k, v)| (k.clone(), v.clone())).collect()
    }
}

// A creation that was begun and never seen proves nothing: another may have made an object of that name since.
pub(super) fn is_seen(entry: &Entry) -> bool {
    entry.health != Health::Begun || entry.imported || !entry.outputs.is_empty()
}
