//! What a client says to be let in: a token of ours, renewed before it ages, or what the kubeconfig has.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use converge::Fault;
use futures::future::BoxFuture;
use tokio::sync::Mutex;

use super::token::{Signing, Token};
use crate::drivers::aws::Aws;

/// EKS accepts a token for 15 minutes. A third of that is left for a slow call and for clocks that differ.
const RENEW_AFTER: Duration = Duration::from_mins(10);

pub(super) type Sign = dyn Fn(SystemTime) -> BoxFuture<'static, Result<Token, Fault>> + Send + Sync;

/// A token that is signed again when it is older than it may be.
pub(super) struct Renewed {
    sign: Box<Sign>,
    now: fn() -> SystemTime,
    renew_after: Duration,
    current: Mutex<Option<(Token, SystemTime)>>,
}

// === impl Renewed ===

impl Renewed {
    /// Tokens for an EKS cluster.
    pub(super) fn for_eks(aws: Arc<Aws>, cluster: String) -> Self {
        let sign = move |time| -> BoxFuture<'static, _> {
            let (aws, cluster) = (Arc::clone(&aws), cluster.clone());
            Box::pin(async move {
                let credentials = aws.credentials().await?;
                Signing { cluster: &cluster, region: aws.region().await?, credentials, time }.token()
            })
        };
        Self::new(Box::new(sign), wall_clock, RENEW_AFTER)
    }

    pub(super) fn new(sign: Box<Sign>, now: fn() -> SystemTime, renew_after: Duration) -> Self {
        Self { sign, now, renew_after, current: Mutex::new(None) }
    }

    /// A token that is young enough. `refused` is one that the server did not accept: never that one again.
    pub(super) async fn token(&self, refused: Option<&Token>) -> Result<Token, Fault> {
        let mut current = self.current.lock().await;
        let now = (self.now)();
        if let Some((token, signed)) = current.as_ref()
            && refused != Some(token)
            && now.duration_since(*signed).is_ok_and(|age| age < self.renew_after)
        {
            return Ok(token.clone());
        }
        let token = (self.sign)(now).await?;
        *current = Some((token.clone(), now));
        Ok(token)
    }
}

impl fmt::Debug for Renewed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Renewed").field("renew_after", &self.renew_after).finish_non_exhaustive()
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
        let sign = move |_| -> BoxFuture<'static, _> {
            let token = Token::new(&count.fetch_add(1, Ordering::Relaxed).to_string());
            Box::pin(async { Ok(token) })
        };
        let renewed = Renewed::new(Box::new(sign), at_minute, RENEW_AFTER);
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
