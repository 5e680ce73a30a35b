//! What a client says to be let in: a token of ours, renewed before it ages, or what the kubeconfig has.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use converge::Fault;
use futures::future::BoxFuture;
use tokio::sync::Mutex;

use super::{
    program::Program,
    token::{Signing, Token},
};
use crate::drivers::aws::Aws;

/// EKS accepts a token for 15 minutes. A third of that is left for a slow call and for clocks that differ.
const RENEW_AFTER: Duration = Duration::from_mins(10);

/// A token, and when it is to be renewed; never: when it is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lease {
    pub(super) token: Token,
    pub(super) until: Option<SystemTime>,
}

pub(super) type Renew = dyn Fn(SystemTime) -> BoxFuture<'static, Result<Lease, Fault>> + Send + Sync;

/// A token that is renewed before it is older than it may be.
pub(super) struct Renewed {
    renew: Box<Renew>,
    now: fn() -> SystemTime,
    /// The lease, and since when it is there.
    current: Mutex<Option<(Lease, SystemTime)>>,
}

// === impl Renewed ===

impl Renewed {
    /// Tokens for an EKS cluster.
    pub(super) fn for_eks(aws: Arc<Aws>, cluster: String) -> Self {
        let sign = move |time| -> BoxFuture<'static, _> {
            let (aws, cluster) = (Arc::clone(&aws), cluster.clone());
            Box::pin(async move {
                let credentials = aws.credentials().await?;
                let token = Signing { cluster: &cluster, region: aws.region().await?, credentials, time }.token()?;
                Ok(Lease { token, until: Some(time + RENEW_AFTER) })
            })
        };
        Self::new(Box::new(sign), wall_clock)
    }

    /// What a program prints. `first` it has printed already.
    pub(super) fn by_program(program: Arc<Program>, first: Lease) -> Self {
        let ask = move |_| -> BoxFuture<'static, _> {
            let program = Arc::clone(&program);
            Box::pin(async move { program.ask().await?.token.ok_or_else(|| program.no_token()) })
        };
        let current = Mutex::new(Some((first, wall_clock())));
        Self { current, ..Self::new(Box::new(ask), wall_clock) }
    }

    pub(super) fn new(renew: Box<Renew>, now: fn() -> SystemTime) -> Self {
        Self { renew, now, current: Mutex::new(None) }
    }

    /// A token that is young enough. `refused` is one that the server did not accept: never that one again.
    pub(super) async fn token(&self, refused: Option<&Token>) -> Result<Token, Fault> {
        let mut current = self.current.lock().await;
        let now = (self.now)();
        if let Some((lease, since)) = current.as_ref()
            && refused != Some(&lease.token)
            && *since <= now
            && lease.until.is_none_or(|until| now < until)
        {
            return Ok(lease.token.clone());
        }
        let lease = (self.renew)(now).await?;
        let token = lease.token.clone();
        *current = Some((lease, now));
        Ok(token)
    }
}

impl fmt::Debug for Renewed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Renewed").finish_non_exhaustive()
    }
}

#[expect(clippy::disallowed_methods, reason = "a signature carries the time of day, which the clock of `Cx` lacks")]
fn wall_clock() -> SystemTime {
    SystemTime::now()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    static MINUTES: AtomicU64 = AtomicU64::new(0);

    fn at_minute() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_mins(MINUTES.load(Ordering::Relaxed))
    }

    #[tokio::test]
    async fn a_token_is_renewed_before_it_ages_and_when_it_is_refused() {
        let count = AtomicU64::new(0);
        let sign = move |time| -> BoxFuture<'static, _> {
            let token = Token::new(&count.fetch_add(1, Ordering::Relaxed).to_string());
            Box::pin(async move { Ok(Lease { token, until: Some(time + RENEW_AFTER) }) })
        };
        let renewed = Renewed::new(Box::new(sign), at_minute);
        let first = renewed.token(None).await.unwrap();
        MINUTES.store(9, Ordering::Relaxed);
        assert_eq!(renewed.token(None).await.unwrap(), first, "young enough");
        MINUTES.store(10, Ordering::Relaxed);
        let second = renewed.token(None).await.unwrap();
        assert_ne!(second, first, "old");
        let third = renewed.token(Some(&second)).await.unwrap();
        assert_ne!(third, second, "refused");
        assert_eq!(renewed.token(Some(&second)).await.unwrap(), third, "renewed by another call meanwhile");
        MINUTES.store(5, Ordering::Relaxed);
        assert_ne!(renewed.token(None).await.unwrap(), third, "signed in the future by a clock that was set back");
    }
}
