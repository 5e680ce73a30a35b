//! What the resources planned in one run tell each other, so that a plan can warn of what does not fit together.
//!
//! Terraform plans a resource after those that it refers to, and others in any order, so these are hints: what was not
//! told may be there all the same. **Invariant:** warnings are made of them, and nothing else.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// A name in a cluster; no cluster stands for that of the provider's `kubernetes` block.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The EKS cluster.
    pub cluster: Option<String>,
    /// The name.
    pub name: String,
}

/// What a namespace asks of pods; what is absent it does not ask.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// The resources that its containers request although they do not ask for any.
    pub requested: BTreeSet<String>,
    /// What all its pods together may request of each resource, as amounts.
    pub quota: BTreeMap<String, String>,
    /// The most that one container may have of each resource, as amounts.
    pub most: BTreeMap<String, String>,
    /// Where images may come from, as beginnings of their names; from anywhere where there are none.
    pub registries: BTreeSet<String>,
}

/// What was told in this run. Cheap to clone; all clones are one.
#[derive(Clone, Debug, Default)]
pub struct Neighbours(Arc<Mutex<Told>>);

#[derive(Debug, Default)]
struct Told {
    pools: BTreeMap<Place, BTreeMap<String, String>>,
    namespaces: BTreeMap<Place, Rules>,
}

// === impl Neighbours ===

impl Neighbours {
    /// Tells of a pool the most that all its nodes can have of each resource, as amounts.
    pub fn tell_pool(&self, pool: Place, most: BTreeMap<String, String>) {
        self.told().pools.insert(pool, most);
    }

    /// What was told of a pool.
    pub fn pool(&self, pool: &Place) -> Option<BTreeMap<String, String>> {
        self.told().pools.get(pool).cloned()
    }

    /// Tells what a namespace asks of pods.
    pub fn tell_namespace(&self, namespace: Place, rules: Rules) {
        self.told().namespaces.insert(namespace, rules);
    }

    /// What was told of a namespace.
    pub fn namespace(&self, namespace: &Place) -> Option<Rules> {
        self.told().namespaces.get(namespace).cloned()
    }

    // A panic elsewhere does not make a hint wrong.
    fn told(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
