//! What was called, in order of arrival.

use super::rule::glob;
use std::{collections::BTreeMap, fmt};

/// One call.
#[derive(Clone, Debug)]
pub struct Entry {
    /// "service.Operation".
    pub name: String,
    /// Whether it changes something.
    pub write: bool,
    /// Method, path and query.
    pub target: String,
    /// The body as text.
    pub body: String,
    /// The status that the client got; none where it got no answer.
    pub status: Option<u16>,
    /// What the proxy did to it, as in "throttle".
    pub fault: Option<&'static str>,
    /// How long it took, in milliseconds.
    pub millis: u64,
}

/// Calls in order of arrival.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    pub(super) entries: Vec<Entry>,
    pub(super) most_at_once: usize,
}

impl Journal {
    /// All calls.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// How many calls there were.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there were none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many calls have a name like this; `*` stands for anything.
    pub fn count(&self, pattern: &str) -> usize {
        self.entries.iter().filter(|entry| glob(pattern, &entry.name)).count()
    }

    /// The calls with a name like this.
    pub fn named(&self, pattern: &str) -> Vec<&Entry> {
        self.entries.iter().filter(|entry| glob(pattern, &entry.name)).collect()
    }

    /// The names of all calls that change something, in order.
    pub fn writes(&self) -> Vec<&str> {
        self.names(true)
    }

    /// The names of all calls that only look, in order.
    pub fn reads(&self) -> Vec<&str> {
        self.names(false)
    }

    /// How often each operation was called.
    pub fn counts(&self) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        for entry in &self.entries {
            *counts.entry(entry.name.as_str()).or_default() += 1;
        }
        counts
    }

    /// How many calls were in flight together at most.
    pub fn most_at_once(&self) -> usize {
        self.most_at_once
    }

    fn names(&self, write: bool) -> Vec<&str> {
        self.entries.iter().filter(|entry| entry.write == write).map(|entry| entry.name.as_str()).collect()
    }
}

impl fmt::Display for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, entry) in self.entries.iter().enumerate() {
            let status = entry.status.map_or_else(|| "-".to_owned(), |status| status.to_string());
            let kind = if entry.write { "write" } else { "read" };
            writeln!(f, "{:>3} {kind:<5} {status:>3} {:<40} {}", index + 1, entry.name, entry.fault.unwrap_or(""))?;
        }
        Ok(())
    }
}
