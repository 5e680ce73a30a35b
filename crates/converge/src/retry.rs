//! When a failed call is made again, decided by the class of its fault alone.
//!
//! Holds no calls of its own but [`read`]; a write is repeated by whoever knows how to look at what it did.

use std::{
    future::Future,
    time::{Duration, Instant},
};

use rand::Rng;

use crate::{Cx, Fault, FaultClass};

const BASE: Duration = Duration::from_millis(200);
const CAP: Duration = Duration::from_secs(20);
const BUSY_CAP: Duration = Duration::from_secs(10);
const UNREACHABLE_RETRIES: u32 = 2;
/// Surprises are no failures of a service, but a world that does not come to rest has to end somewhere.
const SURPRISES: u32 = 8;

/// How long after a write another service may not have heard of it.
pub(crate) const SETTLING: Duration = Duration::from_mins(2);

/// The tries of one call, or of one object's calls until one succeeds.
#[derive(Debug)]
pub(crate) struct Retry<'a> {
    cx: &'a Cx,
    /// Failures that count against the limit.
    failed: u32,
    /// Answers that say "not yet", of which any number may come.
    waits: u32,
    /// Until when "not yet consistent" is believed.
    fresh_until: Option<Instant>,
}

impl<'a> Retry<'a> {
    pub(crate) fn new(cx: &'a Cx, fresh_until: Option<Instant>) -> Self {
        Self { cx, failed: 0, waits: 0, fresh_until }
    }

    /// Pauses before the next try of a call that failed, or gives the fault back as final.
    pub(crate) async fn after(&mut self, fault: Fault) -> Result<(), Fault> {
        use FaultClass::{Busy, MaybeSent, NotYetConsistent, Throttled, Unavailable};
        let is_fresh = self.fresh_until.is_some_and(|until| self.cx.clock.now() < until);
        match fault.class {
            Throttled | Unavailable | MaybeSent => self.again(fault, self.cx.retries).await,
            NotYetConsistent if is_fresh => self.wait(fault).await,
            Busy => self.wait(fault).await,
            _ => Err(fault),
        }
    }

    /// As [`Retry::after`], for a call that changes nothing.
    pub(crate) async fn after_read(&mut self, fault: Fault) -> Result<(), Fault> {
        if fault.class == FaultClass::Unreachable {
            return self.again(fault, UNREACHABLE_RETRIES.min(self.cx.retries)).await;
        }
        self.after(fault).await
    }

    /// As [`Retry::after`], for a write whose fault says that the world is not as it was last seen.
    pub(crate) async fn after_surprise(&mut self, fault: Fault) -> Result<(), Fault> {
        self.again(fault, SURPRISES).await
    }

    /// Forgets earlier failures: a call has succeeded, made at `now`.
    pub(crate) fn succeeded(&mut self, now: Instant) {
        (self.failed, self.waits) = (0, 0);
        self.fresh_until = now.checked_add(SETTLING);
    }

    async fn again(&mut self, fault: Fault, retries: u32) -> Result<(), Fault> {
        if self.failed >= retries {
            return Err(fault);
        }
        self.failed = self.failed.saturating_add(1);
        self.pause(fault, backoff(self.failed, CAP)).await
    }

    async fn wait(&mut self, fault: Fault) -> Result<(), Fault> {
        self.waits = self.waits.saturating_add(1);
        self.pause(fault, backoff(self.waits, BUSY_CAP)).await
    }

    async fn pause(&self, fault: Fault, pause: Duration) -> Result<(), Fault> {
        match self.cx.sleep(pause).await {
            Err(end) if end.class == FaultClass::TimedOut => {
                let message = format!("{}; it was still so when {}", fault.message, end.message);
                Err(Fault { message, ..fault })
            }
            slept => slept,
        }
    }
}

/// Makes a call that changes nothing until it succeeds or its fault is final.
pub async fn read<T, F>(cx: &Cx, fresh_until: Option<Instant>, mut call: impl FnMut() -> F) -> Result<T, Fault>
where
    F: Future<Output = Result<T, Fault>>,
{
    let mut retry = Retry::new(cx, fresh_until);
    loop {
        match cx.unless_cancelled(call()).await {
            Ok(value) => return Ok(value),
            Err(fault) => retry.after_read(fault).await?,
        }
    }
}

/// The pauses between observations while waiting: short at first, for most things are ready at once.
#[derive(Debug)]
pub(crate) struct Poll {
    next: Duration,
    longest: Duration,
}

impl Poll {
    pub(crate) fn new(longest: Duration) -> Self {
        Self { next: Duration::from_millis(50).min(longest), longest }
    }

    pub(crate) fn pause(&mut self) -> Duration {
        let pause = self.next.mul_f64(rand::rng().random_range(0.8..=1.0));
        self.next = self.next.mul_f64(1.6).min(self.longest);
        pause
    }
}

// "Full jitter": anything up to the bound, so that many that were throttled together do not come back together.
fn backoff(failed: u32, cap: Duration) -> Duration {
    let bound = BASE.saturating_mul(2_u32.saturating_pow(failed.saturating_sub(1))).min(cap);
    bound.mul_f64(rand::rng().random_range(0.0..=1.0))
}
