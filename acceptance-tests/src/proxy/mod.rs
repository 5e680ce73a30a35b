//! The fault proxy: between the provider and an emulator, it names, counts, delays, fails and stubs AWS calls.
//!
//! In-process, on loopback, without TLS. It knows AWS's protocols and nothing of the provider. One proxy belongs to
//! one account of the emulator: it adds the header that picks the account.

mod call;
mod journal;
mod peer;
mod reply;
mod routes;
mod rule;
mod server;

pub use self::{
    call::{Call, Protocol},
    journal::{Entry, Journal},
    rule::Rule,
};

use anyhow::{Context, Result};
use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
    time::Duration,
};
use tokio::sync::oneshot;

/// A running proxy; it ends when dropped.
#[derive(Debug)]
pub struct Proxy {
    url: String,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What the handle and the connections share.
#[derive(Debug)]
struct Shared {
    upstream: SocketAddr,
    account: Option<String>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    rules: Vec<Rule>,
    journal: Journal,
    in_flight: usize,
    latency: Duration,
    /// Raised when a journal is taken, so that late answers do not write into the next one.
    generation: u64,
}

impl Shared {
    /// A panic elsewhere does not make the state wrong.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Proxy {
    /// A proxy before `http://host:port`, for one account of moto or for whatever the upstream decides.
    pub fn start(upstream: &str, account: Option<&str>) -> Result<Self> {
        let address = upstream.strip_prefix("http://").unwrap_or(upstream).trim_end_matches('/');
        let shared = Arc::new(Shared {
            upstream: address.parse().with_context(|| format!("{upstream} is not http://address:port"))?,
            account: account.map(str::to_owned),
            state: Mutex::default(),
        });
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let url = format!("http://{}", listener.local_addr()?);
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let serving = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("fault-proxy".to_owned()).spawn(move || {
            runtime.block_on(server::serve(listener, serving, stopped));
        })?;
        Ok(Self { url, shared, stop: Some(stop), thread: Some(thread) })
    }

    /// `http://127.0.0.1:port`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Add a rule; of several that fire, the first added wins.
    pub fn add_rule(&self, rule: Rule) {
        self.shared.lock().rules.push(rule);
    }

    /// Remove all rules.
    pub fn clear_rules(&self) {
        self.shared.lock().rules.clear();
    }

    /// How often the rules have fired since they were added.
    pub fn hits(&self) -> u64 {
        self.shared.lock().rules.iter().map(|rule| rule.hits).sum()
    }

    /// Let every call take this much longer.
    pub fn set_latency(&self, latency: Duration) {
        self.shared.lock().latency = latency;
    }

    /// The calls so far.
    pub fn journal(&self) -> Journal {
        self.shared.lock().journal.clone()
    }

    /// The calls so far, and begin anew.
    pub fn take_journal(&self) -> Journal {
        let mut state = self.shared.lock();
        state.generation += 1;
        std::mem::take(&mut state.journal)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A proxy that panicked has already shown itself in the test.
            let _ = thread.join();
        }
    }
}
