//! A clock whose pauses end at once and move its time on.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use futures::future::BoxFuture;

use crate::{Clock, Cx, SystemClock};

/// Time that passes only by being waited for.
#[derive(Clone, Debug)]
pub struct InstantClock {
    now: Arc<Mutex<Instant>>,
}

impl InstantClock {
    /// A context with this clock and a deadline far away, so that nothing waits for ever.
    pub fn cx() -> Cx {
        Cx::new(Arc::new(Self::default())).within(Duration::from_hours(6))
    }
}

impl Default for InstantClock {
    fn default() -> Self {
        Self { now: Arc::new(Mutex::new(SystemClock.now())) }
    }
}

impl Clock for InstantClock {
    fn now(&self) -> Instant {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let now = Arc::clone(&self.now);
        Box::pin(async move {
            {
                let mut now = now.lock().unwrap_or_else(PoisonError::into_inner);
                *now = now.checked_add(duration).unwrap_or(*now);
            }
            // Others get their turn, as they would while time passes.
            tokio::task::yield_now().await;
        })
    }
}
