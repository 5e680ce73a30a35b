//! The fault proxy: between the provider and what it calls, it names, counts, delays, fails and stubs calls.
//!
//! In-process, on loopback. It knows the protocols of AWS and Kubernetes and nothing of the provider. Before AWS it
//! belongs to one account of the emulator: it adds the header that picks the account. Before Kubernetes it ends TLS
//! with a certificate of its own, so that only bearer tokens prove who the caller is.

mod call;
mod journal;
mod kubernetes;
mod peer;
mod reply;
mod routes;
mod rule;
mod server;
mod upstream;

pub use self::{
    call::{Call, Protocol},
    journal::{Entry, Journal},
    rule::Rule,
};

use self::upstream::Upstream;
use anyhow::{Context, Result};
use std::{
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
    upstream: Upstream,
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
        let address = address.parse().with_context(|| format!("{upstream} is not http://address:port"))?;
        Self::before(Upstream::Aws { address, account: account.map(str::to_owned) }, "http")
    }

    /// A proxy before a Kubernetes API server whose certificate `ca` signed; clients are shown `identity`.
    pub(crate) fn before_kubernetes(
        endpoint: &str,
        ca: rustls::pki_types::CertificateDer<'static>,
        identity: &crate::kubernetes::Identity,
    ) -> Result<Self> {
        Self::before(Upstream::Kubernetes(kubernetes::ApiServer::new(endpoint, ca, identity)?), "https")
    }

    fn before(upstream: Upstream, scheme: &str) -> Result<Self> {
        let shared = Arc::new(Shared { upstream, state: Mutex::default() });
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let url = format!("{scheme}://{}", listener.local_addr()?);
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let serving = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("fault-proxy".to_owned()).spawn(move || {
            runtime.block_on(server::serve(listener, serving, stopped));
        })?;
        Ok(Self { url, shared, stop: Some(stop), thread: Some(thread) })
    }

    /// `http://127.0.0.1:port`; `https://` before Kubernetes.
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
