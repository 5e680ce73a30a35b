//! The processes of one control plane: started with their output in files, ended together.
//!
//! They end even when this process is killed: a shell that waits for the end of its input, which only we hold, then
//! kills them and removes the directory. Go programs do not end with their standard input by themselves.

use crate::command::{signal, tail};
use anyhow::{Context, Result, bail};
use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};
use tempfile::TempDir;

/// Reads process ids, one a line; at the end of input kills them and removes the directory.
const WATCHDOG: &str = "while read -r pid; do pids=\"$pids $pid\"; done; kill -KILL $pids; rm -rf \"$1\"";

/// Processes with a directory of their own; dropping kills them and removes it.
#[derive(Debug)]
pub(super) struct Processes {
    running: Vec<Running>,
    watchdog: Child,
    dir: TempDir,
}

#[derive(Debug)]
struct Running {
    name: &'static str,
    child: Child,
    log: PathBuf,
}

impl Processes {
    /// A new directory without any process.
    pub(super) fn new() -> Result<Self> {
        let dir = tempfile::Builder::new().prefix("mlplat-kubernetes-").tempdir()?;
        let mut watchdog = Command::new("sh");
        watchdog
            .args(["-c", WATCHDOG, "watchdog"])
            .arg(dir.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .stdin(Stdio::piped());
        let watchdog = in_own_group(&mut watchdog).spawn().context("cannot start a shell")?;
        Ok(Self { running: Vec::new(), watchdog, dir })
    }

    /// The directory for files that these processes need.
    pub(super) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Write a file into the directory and return its path.
    pub(super) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> Result<String> {
        let file = self.dir().join(name);
        fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
        Ok(file.to_string_lossy().into_owned())
    }

    /// Start a process; its log has its name.
    pub(super) fn start(&mut self, name: &'static str, command: &mut Command) -> Result<()> {
        let log = self.dir().join(format!("{name}.log"));
        let file = File::create(&log)?;
        command.current_dir(self.dir.path()).stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        let child = in_own_group(command).spawn().with_context(|| format!("cannot start {name}"))?;
        let told = self.watchdog.stdin.as_mut().map(|input| writeln!(input, "{}", child.id()));
        self.running.push(Running { name, child, log });
        told.context("the watchdog has no input")?.context("the watchdog ended")
    }

    /// An error with the end of its log if one of the processes has ended.
    pub(super) fn check(&mut self) -> Result<()> {
        for process in &mut self.running {
            if let Some(status) = process.child.try_wait()? {
                bail!("{} ended with {status}:\n{}", process.name, process.tail());
            }
        }
        Ok(())
    }

    /// The ends of all logs, for an error that cannot be laid at one door.
    pub(super) fn tails(&self) -> String {
        let tails: Vec<_> = self.running.iter().map(|one| format!("--- {}\n{}", one.name, one.tail())).collect();
        tails.join("\n")
    }

    /// Their ids.
    pub(super) fn ids(&self) -> Vec<u32> {
        self.running.iter().map(|process| process.child.id()).collect()
    }

    /// What a process wrote so far.
    pub(super) fn log(&self, name: &str) -> String {
        self.running.iter().find(|process| process.name == name).map(Running::text).unwrap_or_default()
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        // The watchdog first: afterwards the ids below may be anybody's.
        let _ = self.watchdog.kill().and_then(|()| self.watchdog.wait());
        for process in &mut self.running {
            signal(process.child.id(), "KILL");
        }
        for process in &mut self.running {
            let _ = process.child.wait();
        }
    }
}

/// Ctrl-C in a terminal reaches the foreground group: whoever cleans up must live through it.
fn in_own_group(command: &mut Command) -> &mut Command {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    command
}

impl Running {
    fn text(&self) -> String {
        fs::read(&self.log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }

    fn tail(&self) -> String {
        tail(&self.text())
    }
}
