//! Panics: caught ones become values, the others a line on standard error that hosts know as a crash.

use std::{
    any::Any,
    backtrace::Backtrace,
    cell::RefCell,
    fmt,
    io::{self, Write as _},
    panic::{self, AssertUnwindSafe, PanicHookInfo, catch_unwind},
    pin::pin,
    task::Poll,
};

/// A panic that was caught.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Panic {
    /// What it said.
    pub message: String,
    /// File, line and column, where known.
    pub location: String,
}

impl fmt::Display for Panic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ({})", self.message, self.location)
    }
}

#[derive(Default)]
struct Watch {
    depth: usize,
    caught: Option<Panic>,
}

thread_local! {
    /// Whether a panic on this thread would be caught right now: then the hook keeps it instead of printing it.
    static WATCH: RefCell<Watch> = RefCell::default();
}

/// Runs a future; if it panics, says so instead of unwinding further.
///
/// *Assumption*: what the future shares with others is not left half changed by a panic (a lock it
/// held is poisoned or guards something idempotent).
pub async fn catch_panic<F: Future>(future: F) -> Result<F::Output, Panic> {
    let mut future = pin!(future);
    std::future::poll_fn(|cx| {
        WATCH.with_borrow_mut(|watch| watch.depth += 1);
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx)));
        let caught = WATCH.with_borrow_mut(|watch| {
            watch.depth -= 1;
            watch.caught.take()
        });
        match polled {
            Ok(polled) => polled.map(Ok),
            Err(payload) => Poll::Ready(Err(caught.unwrap_or_else(|| unwatched(payload.as_ref())))),
        }
    })
    .await
}

/// Installs the hook. Panics nobody catches print a line that begins with `panic: `, which hosts show to the user.
pub(crate) fn install_hook() {
    panic::set_hook(Box::new(|info| {
        let kept = WATCH.try_with(|watch| keep(watch, info)).unwrap_or(false);
        if !kept {
            report(info);
        }
    }));
}

fn keep(watch: &RefCell<Watch>, info: &PanicHookInfo<'_>) -> bool {
    let Ok(mut watch) = watch.try_borrow_mut() else {
        return false;
    };
    if watch.depth > 0 {
        watch.caught = Some(describe(info));
    }
    watch.depth > 0
}

fn report(info: &PanicHookInfo<'_>) {
    let Panic { message, location } = describe(info);
    let backtrace = Backtrace::capture();
    // Nothing is left to be done if this fails.
    let _ = writeln!(io::stderr().lock(), "panic: {message}\n\n{location}\n{backtrace}");
}

fn describe(info: &PanicHookInfo<'_>) -> Panic {
    Panic { message: message(info.payload()), location: info.location().map_or_else(nowhere, ToString::to_string) }
}

fn unwatched(payload: &(dyn Any + Send)) -> Panic {
    Panic { message: message(payload), location: nowhere() }
}

fn nowhere() -> String {
    "unknown place".to_owned()
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a value that is no text").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_becomes_a_value() {
        let caught = catch_panic(async {
            tokio::task::yield_now().await;
            panic!("boom {}", 1)
        });

        let caught: Result<(), Panic> = caught.await;
        assert_eq!(caught.expect_err("it panicked").message, "boom 1");
    }

    #[tokio::test]
    async fn a_future_that_does_not_panic_passes_through() {
        assert_eq!(catch_panic(async { 7 }).await, Ok(7));
    }
}
