//! What a run carries along: cancellation, deadline, clock, locks and progress.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    future::Future,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use futures::future::BoxFuture;
use tokio::sync::OwnedMutexGuard;
use tokio_util::sync::CancellationToken;

use crate::{Fault, FaultClass};

/// Time, injected so that tests need not wait.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Now.
    fn now(&self) -> Instant;
    /// Waits.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

/// How often a call is made again after a failure that may pass (throttling, an error inside the service, a lost
/// connection) where nobody says otherwise. Waiting until an object can be used or changed is not counted.
pub const DEFAULT_RETRIES: u32 = 8;

type Lock = Arc<tokio::sync::Mutex<()>>;

/// The context of one run. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Cx {
    /// Cancelled when Terraform asks to stop.
    pub cancel: CancellationToken,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// When waiting ends; none: never.
    pub deadline: Option<Instant>,
    /// How often a call that failed is made again; see [`DEFAULT_RETRIES`].
    pub retries: u32,
    locks: Arc<Mutex<HashMap<String, Lock>>>,
    secrets: Secrets,
}

/// Values that an object needs and that no document may hold: not in state, plan, record or log.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets(Arc<BTreeMap<&'static str, String>>);

// === impl Clock ===

#[expect(clippy::disallowed_methods, reason = "the one place where the machine's clock is read")]
impl Clock for SystemClock {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}

// === impl Cx ===

impl Default for Cx {
    fn default() -> Self {
        Self::new(Arc::new(SystemClock))
    }
}

impl Cx {
    /// A context without deadline.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            cancel: CancellationToken::new(),
            clock,
            deadline: None,
            retries: DEFAULT_RETRIES,
            locks: Arc::default(),
            secrets: Secrets::default(),
        }
    }

    /// The same context, whose waits end after `limit`.
    #[must_use]
    pub fn within(&self, limit: Duration) -> Self {
        Self { deadline: self.clock.now().checked_add(limit), ..self.clone() }
    }

    /// The same context, in which a failed call is made again at most so often.
    #[must_use]
    pub fn with_retries(&self, retries: u32) -> Self {
        Self { retries, ..self.clone() }
    }

    /// The same context, which ends when `cancel` does.
    #[must_use]
    pub fn cancelled_by(&self, cancel: CancellationToken) -> Self {
        Self { cancel, ..self.clone() }
    }

    /// The same context for one object, with the secrets it needs.
    #[must_use]
    pub fn with_secrets(&self, secrets: &Secrets) -> Self {
        Self { secrets: secrets.clone(), ..self.clone() }
    }

    /// A secret of the object that is being written; none while observing.
    pub fn secret(&self, name: &str) -> Option<&str> {
        self.secrets.0.get(name).map(String::as_str)
    }

    /// Waits, unless the run is cancelled or its deadline comes first.
    pub async fn sleep(&self, duration: Duration) -> Result<(), Fault> {
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(self.clock.now()));
        if left.is_some_and(|left| left.is_zero()) {
            return Err(Fault::new(FaultClass::TimedOut, "", "the time allowed by `timeouts` is over"));
        }
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(cancelled()),
            () = self.clock.sleep(left.map_or(duration, |left| duration.min(left))) => Ok(()),
        }
    }

    /// Runs `work` to its end, or until the run is cancelled. For reads only: a write is always waited for, or its
    /// outcome would not be known.
    pub async fn unless_cancelled<T>(&self, work: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(cancelled()),
            done = work => done,
        }
    }

    /// Waits for the lock named `key` (an EKS cluster takes one update at a time), or for the end of the run.
    pub async fn lock(&self, key: &str) -> Result<OwnedMutexGuard<()>, Fault> {
        let lock = {
            let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(locks.entry(key.to_owned()).or_default())
        };
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(cancelled()),
            guard = lock.lock_owned() => Ok(guard),
        }
    }
}

// === impl Secrets ===

impl Secrets {
    pub(crate) fn insert(&mut self, name: &'static str, secret: String) {
        Arc::make_mut(&mut self.0).insert(name, secret);
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(sensitive)")
    }
}

fn cancelled() -> Fault {
    Fault::new(FaultClass::Cancelled, "", "Terraform asked to stop")
        .advise("Run terraform apply again: it goes on from here.")
}
