//! What all objects of one run share: the record, and when each object was last written.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use crate::{Fault, FaultClass, Key, Ledger, Run, retry::SETTLING};

/// The shared part of one run.
pub(crate) struct Work<'a> {
    pub(crate) run: &'a Run<'a>,
    ledger: Mutex<Ledger>,
    writes: Mutex<BTreeMap<Key, Instant>>,
}

impl<'a> Work<'a> {
    pub(crate) fn new(run: &'a Run<'a>, ledger: Ledger) -> Self {
        Self { run, ledger: Mutex::new(ledger), writes: Mutex::default() }
    }

    /// The record, to read. Never held across an await.
    pub(crate) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the record and hands it out, so that it outlives a run that is cut off.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut Ledger) -> T) -> T {
        let mut ledger = self.ledger();
        let value = change(&mut ledger);
        (self.run.record)(&ledger);
        value
    }

    pub(crate) fn into_ledger(self) -> Ledger {
        self.ledger.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn wrote(&self, key: &str) {
        let now = self.run.cx.clock.now();
        self.writes.lock().unwrap_or_else(PoisonError::into_inner).insert(key.to_owned(), now);
    }

    /// Until when a service may not have heard of the last write to one of `keys`.
    pub(crate) fn fresh_until(&self, keys: &BTreeSet<Key>) -> Option<Instant> {
        let writes = self.writes.lock().unwrap_or_else(PoisonError::into_inner);
        keys.iter().filter_map(|key| writes.get(key)).max().and_then(|last| last.checked_add(SETTLING))
    }

    pub(crate) fn not_cancelled(&self) -> Result<(), Fault> {
        if self.run.cx.cancel.is_cancelled() {
            return Err(Fault::new(FaultClass::Cancelled, "", "Terraform asked to stop")
                .advise("Run terraform apply again: it goes on from here."));
        }
        Ok(())
    }
}
