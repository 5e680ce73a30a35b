//! Lines on standard error that say what a long step is and how long it has run. Silent for steps under a second.

use std::{
    io::{IsTerminal, Write, stderr},
    sync::mpsc::{RecvTimeoutError, Sender, channel},
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// A step that is running; dropping it ends its line.
#[derive(Debug)]
pub struct Progress {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Start telling about a step, as in "Installing the AWS emulator".
    pub fn start(what: impl Into<String>) -> Self {
        let (what, (stop, stopped)) = (what.into(), channel());
        let thread = std::thread::spawn(move || {
            let (started, terminal) = (Instant::now(), stderr().is_terminal());
            // A log wants few lines, a terminal a line that moves.
            let pause = Duration::from_secs(if terminal { 1 } else { 10 });
            let mut wait = Duration::from_secs(1);
            let mut shown = false;
            while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                show(&what, started, terminal, "…");
                (shown, wait) = (true, pause);
            }
            if shown {
                show(&what, started, terminal, "done in");
                if terminal {
                    write(format_args!("\n"));
                }
            }
        });
        Self { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A thread that only prints does not fail.
            let _ = thread.join();
        }
    }
}

fn show(what: &str, started: Instant, terminal: bool, how: &str) {
    let seconds = started.elapsed().as_secs();
    if terminal {
        write(format_args!("\r\x1b[K{what} {how} {seconds} s"));
    } else {
        write(format_args!("{what} {how} {seconds} s\n"));
    }
}

/// Written past the test harness's capture: a wait of minutes must be seen while it lasts.
fn write(text: std::fmt::Arguments<'_>) {
    let mut out = stderr().lock();
    let _ = out.write_fmt(text).and_then(|()| out.flush());
}
