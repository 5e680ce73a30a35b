//! How the process ends: the causes, who is told, and how long running calls may take to finish.

use std::{os::unix::process::parent_id, sync::Arc, sync::OnceLock, time::Duration};
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    time::{interval, sleep},
};
use tokio_util::sync::CancellationToken;

/// How often a provider looks whether its host is still there.
const PARENT_PERIOD: Duration = Duration::from_secs(1);

/// Why the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The host called `GRPCController.Shutdown`. It kills after two seconds.
    Shutdown,
    /// SIGTERM or SIGHUP; in debug mode SIGINT too.
    Signalled,
    /// The host died without a word.
    Orphaned,
}

impl Cause {
    /// How long running calls may take. After a signal they should record what they have done.
    fn grace(self) -> Duration {
        match self {
            Self::Shutdown => Duration::from_secs(1),
            Self::Signalled | Self::Orphaned => Duration::from_secs(10),
        }
    }
}

/// The one end of a process. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Ending {
    token: CancellationToken,
    cause: Arc<OnceLock<Cause>>,
}

/// What a provider gets to know of the end of its process: running work should come to a stop that can be resumed.
///
/// A call of StopProvider does *not* raise it: that cancels running work, but the process goes on serving.
#[derive(Debug, Clone)]
pub struct StopSignal(CancellationToken);

impl StopSignal {
    /// A token that is cancelled when the process ends. Cancelling it has no effect on the process.
    pub fn token(&self) -> CancellationToken {
        self.0.child_token()
    }
}

impl Ending {
    /// Starts the end. The first cause stays.
    pub fn end(&self, cause: Cause) {
        let _ = self.cause.set(cause);
        self.token.cancel();
    }

    /// The provider's view of the end.
    pub fn signal(&self) -> StopSignal {
        StopSignal(self.token.clone())
    }

    /// Why the process ends, if it does.
    pub fn cause(&self) -> Option<Cause> {
        self.cause.get().copied()
    }

    pub(crate) fn token(&self) -> &CancellationToken {
        &self.token
    }

    /// Returns when running calls have had their time.
    pub(crate) async fn overdue(&self) {
        self.token.cancelled().await;
        sleep(self.cause().map_or(Duration::ZERO, Cause::grace)).await;
    }
}

/// The signals this process handles. From here on none of them kills it.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    pub(crate) fn install() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Ends the process on a signal that says so.
    ///
    /// Ctrl-C reaches every process of a terminal. A host turns it into StopProvider, so under a host it is
    /// passed over. It is handled, not ignored by the kernel: child processes would inherit that.
    pub(crate) async fn watch(mut self, ending: Ending, interrupt_ends: bool) {
        loop {
            tokio::select! {
                _ = self.interrupt.recv() => if !interrupt_ends { continue },
                _ = self.terminate.recv() => {}
                _ = self.hangup.recv() => {}
            }
            ending.end(Cause::Signalled);
        }
    }
}

/// Ends the process when the host is gone. A killed host tells nobody.
///
/// Who the parent is, is asked at once and not by the returned future: the host may die before that first runs.
pub(crate) fn watch_parent(ending: Ending) -> impl Future<Output = ()> {
    let parent = parent_id();
    async move {
        let mut ticks = interval(PARENT_PERIOD);
        while parent_id() == parent {
            ticks.tick().await;
        }
        ending.end(Cause::Orphaned);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_cause_stays() {
        let ending = Ending::default();
        ending.end(Cause::Shutdown);
        ending.end(Cause::Orphaned);

        assert_eq!(ending.cause(), Some(Cause::Shutdown));
    }

    #[test]
    fn a_provider_hears_of_the_end_but_cannot_start_it() {
        let ending = Ending::default();
        let token = ending.signal().token();
        ending.signal().token().cancel();
        assert!(!token.is_cancelled());

        ending.end(Cause::Signalled);
        assert!(token.is_cancelled());
    }

    #[test]
    fn a_host_that_shuts_down_does_not_wait_until_it_kills() {
        assert!(Cause::Shutdown.grace() < Duration::from_secs(2));
    }
}
