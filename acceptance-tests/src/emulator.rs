//! The emulated AWS: moto with our additions, one process for all tests of a binary, one account for each test.
//!
//! The process ends with this one, because its standard input does. Nothing here knows the provider.

use crate::{
    account::Account,
    command::{signal, tail},
    proxy::Proxy,
    python::Python,
};
use anyhow::{Context, Result};
use std::{
    collections::VecDeque,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStderr, Command, Stdio},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    time::Duration,
};

const REQUIREMENTS: &str = include_str!("../emulator/requirements.txt");
/// What the emulator's first useful line begins with; the address follows.
const READY: &str = "mlplat_emulator listening on ";
/// A start takes a second; on a machine that builds at the same time, many.
const START_LIMIT: Duration = Duration::from_mins(3);
const LOG_LINES: usize = 200;

/// The running emulator.
#[derive(Debug)]
pub struct Emulator {
    child: Child,
    url: String,
    log: Log,
    accounts: AtomicU64,
}

/// The last lines that a child wrote.
type Log = Arc<Mutex<VecDeque<String>>>;

impl Emulator {
    /// The emulator that all tests of this process share, started on first use.
    pub fn shared() -> Result<&'static Self> {
        static SHARED: OnceLock<Result<Emulator, String>> = OnceLock::new();
        let started = SHARED.get_or_init(|| Self::start().map_err(|error| format!("{error:#}")));
        started.as_ref().map_err(|reason| anyhow::anyhow!("the AWS emulator does not start: {reason}"))
    }

    /// Install the emulator if it is absent, and start one on a free port of loopback.
    pub fn start() -> Result<Self> {
        let mut child = Command::new(python()?)
            .args(["-m", "mlplat_emulator", "-H", "127.0.0.1", "-p", "0"])
            .current_dir(source_dir())
            .env("PYTHONUNBUFFERED", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot start the emulator's interpreter")?;
        let stderr = child.stderr.take().context("the emulator has no standard error")?;
        let log = Log::default();
        let url = match await_ready(stderr, &log) {
            Ok(url) => url,
            Err(error) => {
                end(&mut child);
                return Err(error);
            }
        };
        Ok(Self { child, url, log, accounts: AtomicU64::new(100_000_000_001) })
    }

    /// `http://127.0.0.1:port` of the emulator itself, past every proxy.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A new, empty account behind a proxy of its own.
    pub fn account(&self) -> Result<Account> {
        let id = self.accounts.fetch_add(1, Ordering::Relaxed).to_string();
        self.account_named(&id)
    }

    /// The account with this id, new or used before.
    pub fn account_named(&self, id: &str) -> Result<Account> {
        let proxy = Proxy::start(&self.url, Some(id))?;
        Ok(Account::new(id, &self.url, proxy))
    }

    /// The last lines of the emulator's log: what it could not do, tracebacks included.
    pub fn log(&self) -> String {
        let lines = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().cloned().collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// The interpreter with the emulator's requirements installed.
pub fn python() -> Result<PathBuf> {
    Python::find((3, 10))?.environment("emulator", "Installing the AWS emulator", REQUIREMENTS)
}

/// Where the emulator's own modules lie.
pub fn source_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("emulator")
}

/// Close the child's input, which ends it; make sure that it does.
fn end(child: &mut Child) {
    drop(child.stdin.take());
    signal(child.id(), "KILL");
    let _ = child.wait();
}

/// Read the log until the address comes, and go on reading it in a thread: a full pipe would stop the emulator.
fn await_ready(stderr: ChildStderr, log: &Log) -> Result<String> {
    let (found, address) = mpsc::channel();
    let kept = Arc::clone(log);
    std::thread::Builder::new().name("emulator-log".to_owned()).spawn(move || {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            if let Some(url) = line.strip_prefix(READY) {
                let _ = found.send(url.trim().to_owned());
            }
            let mut lines = kept.lock().unwrap_or_else(PoisonError::into_inner);
            if lines.len() == LOG_LINES {
                lines.pop_front();
            }
            lines.push_back(line);
        }
    })?;
    address.recv_timeout(START_LIMIT).map_err(|_| {
        let lines = log.lock().unwrap_or_else(PoisonError::into_inner);
        let text = lines.iter().cloned().collect::<Vec<_>>().join("\n");
        anyhow::anyhow!("the emulator did not begin to listen:\n{}", tail(&text))
    })
}
