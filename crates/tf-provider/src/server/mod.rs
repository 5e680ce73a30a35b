//! The provider protocol over an author's [`Provider`]: translate a request, call, translate the answer back.
//!
//! Not where anything is decided about a resource: what is in here holds for every provider.
//! **Invariant:** a call answers with diagnostics, never with a status of gRPC, which would throw the answer away;
//! no value of a configuration or a state is logged.

mod absent;
mod answer;
mod catalog;
mod conform;
mod data_source;
mod diagnostics;
mod function;
mod import;
mod metadata;
mod paths;
mod provider;
mod required;
mod resource;
mod schema;
mod search;
mod service;
mod translate;
mod upgrade;
mod validate;
mod write_only;

use std::{
    fmt,
    process::ExitCode,
    sync::{Arc, Mutex, OnceLock, PoisonError, RwLock},
};

use tokio_util::sync::CancellationToken;

use crate::{Provider, RequestCx, wire};
use catalog::Catalog;

#[cfg(feature = "testing")]
pub(crate) use {
    catalog::ResourceEntry,
    conform::BUG,
    translate::{decode, encode},
};

/// A provider as Terraform calls it.
pub struct Server {
    provider: Arc<dyn Provider>,
    catalog: OnceLock<Catalog>,
    /// Cancelled when the process ends.
    end: CancellationToken,
    /// Cancelled by StopProvider, and then another: the calls after it go on undisturbed.
    running: Mutex<CancellationToken>,
    terraform_version: RwLock<String>,
}

/// Runs a provider's process: call this from `main` and return what it returns.
pub fn serve(identity: wire::Identity, provider: impl Provider) -> ExitCode {
    wire::serve(identity, |stop| Server::new(provider).ending_with(stop.token()))
}

// === impl Server ===

impl Server {
    /// A server of `provider`, whose schemas are asked for when the first call needs them.
    pub fn new(provider: impl Provider) -> Self {
        Self::shared(Arc::new(provider))
    }

    /// As [`Server::new`], for a provider that others hold too.
    pub fn shared(provider: Arc<dyn Provider>) -> Self {
        let end = CancellationToken::new();
        Self {
            provider,
            catalog: OnceLock::new(),
            running: Mutex::new(end.child_token()),
            end,
            terraform_version: RwLock::default(),
        }
    }

    /// The same; running calls are cancelled with `end`, too.
    #[must_use]
    pub fn ending_with(self, end: CancellationToken) -> Self {
        Self { running: Mutex::new(end.child_token()), end, ..self }
    }

    /// What there is. Computed once.
    pub(crate) fn catalog(&self) -> &Catalog {
        self.catalog.get_or_init(|| Catalog::of(self.provider.as_ref()))
    }

    /// The context of one call that begins now.
    fn cx(&self) -> RequestCx {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let version = self.terraform_version.read().unwrap_or_else(PoisonError::into_inner);
        RequestCx { cancel: running.child_token(), terraform_version: version.clone() }
    }

    /// Cancels the calls that run now, and none that comes later.
    fn stop(&self) {
        let next = self.end.child_token();
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *running, next).cancel();
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").finish_non_exhaustive()
    }
}
