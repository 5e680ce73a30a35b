//! Steps one after the other: what runs, how long so far, and at the end how long each took.

use std::{
    process::Command,
    sync::mpsc::{RecvTimeoutError, Sender, channel},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

/// How often a step that runs long says so. Its own output goes on between.
const PULSE: Duration = Duration::from_secs(30);

/// The steps taken so far.
pub(crate) struct Steps {
    started: Instant,
    taken: Vec<(String, Duration)>,
}

/// Says every half minute that a step is still running.
struct Pulse {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

// === impl Steps ===

impl Steps {
    pub(crate) fn start() -> Self {
        Self { started: Instant::now(), taken: Vec::new() }
    }

    /// Run a command whose output is shown as it comes.
    pub(crate) fn run(&mut self, what: &str, command: &mut Command) -> Result<()> {
        self.step(what, || {
            let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
            if !status.success() {
                bail!("{what} failed ({status})");
            }
            Ok(())
        })
    }

    /// Do something.
    pub(crate) fn step<T>(&mut self, what: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        println!("\n==> {what}");
        let begun = Instant::now();
        let pulse = Pulse::start(what);
        let result = work();
        drop(pulse);
        self.taken.push((what.to_owned(), begun.elapsed()));
        if result.is_err() {
            self.print_times();
        }
        result
    }

    /// The total, as the last thing printed.
    pub(crate) fn finish(self, verdict: &str) {
        self.print_times();
        println!("\n{verdict}");
    }

    fn print_times(&self) {
        println!("\nHow long it took:");
        for (what, took) in &self.taken {
            println!("  {:>9}  {what}", words(*took));
        }
        println!("  {:>9}  in all", words(self.started.elapsed()));
    }
}

// === impl Pulse ===

impl Pulse {
    fn start(what: &str) -> Self {
        let (what, (stop, stopped)) = (what.to_owned(), channel());
        let thread = std::thread::spawn(move || {
            let begun = Instant::now();
            while stopped.recv_timeout(PULSE) == Err(RecvTimeoutError::Timeout) {
                eprintln!("... {what}: {} so far", words(begun.elapsed()));
            }
        });
        Self { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Pulse {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A thread that only prints does not fail.
            let _ = thread.join();
        }
    }
}

/// A duration for people: "0.4 s", "12 s", "3 m 05 s".
pub(crate) fn words(duration: Duration) -> String {
    match duration.as_secs() {
        0..10 => format!("{:.1} s", duration.as_secs_f64()),
        seconds @ 10..60 => format!("{seconds} s"),
        seconds => format!("{} m {:02} s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_well() {
        let of = |millis| words(Duration::from_millis(millis));
        assert_eq!([of(420), of(12_900), of(185_000)], ["0.4 s", "12 s", "3 m 05 s"]);
    }
}
