//! Which resources were found to be there in this run of the provider, by their marks.
//!
//! Terraform plans a tainted resource as if it were not there, without its state and its record; that it is there is
//! known only from the look before.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use converge::Owner;

/// What was found. Cheap to clone; all clones are one.
#[derive(Clone, Debug, Default)]
pub struct Existing(Arc<Mutex<BTreeSet<String>>>);

// === impl Existing ===

impl Existing {
    pub(super) fn note(&self, owner: &Owner, is_there: bool) {
        if is_there {
            self.marks().insert(owner.0.clone());
        } else {
            self.marks().remove(&owner.0);
        }
    }

    pub(super) fn has(&self, owner: &Owner) -> bool {
        self.marks().contains(&owner.0)
    }

    // A set is whole after every call on it.
    fn marks(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
