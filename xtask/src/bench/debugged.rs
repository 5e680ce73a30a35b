//! A provider that runs by itself and that terraform is told of, so that its memory and CPU can be read.

use std::{
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

use acceptance_tests::{Sandbox, Terraform, Workspace, account, command};
use anyhow::{Context, Result};

use super::{Figure, Subject, proc_status};

/// The kernel's clock ticks a second, the same on every Linux that Rust runs on.
const TICKS: f64 = 100.0;

/// A running provider; it ends when dropped.
pub(super) struct Debugged {
    child: Child,
    reattach: String,
    /// Kept open: the provider may still write to it.
    stdout: BufReader<ChildStdout>,
}

// === impl Debugged ===

impl Debugged {
    pub(super) fn start(provider: &Path, endpoint: &str) -> Result<Self> {
        let mut child = Command::new(provider)
            .arg("--debug")
            .envs(account::environment(endpoint))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let stdout = child.stdout.take().context("no standard output")?;
        let mut debugged = Self { child, reattach: String::new(), stdout: BufReader::new(stdout) };
        let mut lines = debugged.stdout.by_ref().lines().map_while(Result::ok);
        let assignment = lines.find_map(|line| Some(line.split_once("TF_REATTACH_PROVIDERS='")?.1.to_owned()));
        let quoted = assignment.context("the provider does not say how to reach it")?;
        quoted.trim_end().trim_end_matches('\'').clone_into(&mut debugged.reattach);
        Ok(debugged)
    }

    /// Lets terraform use this process in the workspace.
    pub(super) fn attach(&self, workspace: &mut Workspace) {
        // OpenTofu fills in its own registry where a source names none.
        let registry = if workspace.terraform().is_tofu() { "registry.opentofu.org" } else { "registry.terraform.io" };
        let reattach = self.reattach.replace("registry.terraform.io", registry);
        workspace.set_env("TF_REATTACH_PROVIDERS", &reattach);
    }

    /// The most memory it has had, in MiB.
    pub(super) fn peak_memory(&self) -> Result<f64> {
        Ok(proc_status(self.child.id(), "VmHWM")? / 1024.0)
    }

    /// The CPU seconds it has used.
    pub(super) fn cpu_seconds(&self) -> Result<f64> {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The name in parentheses may hold spaces; the fields after it are numbered from 3.
        let fields: Vec<&str> = text.rsplit_once(')').context("no name")?.1.split_whitespace().collect();
        let ticks = |field: usize| fields.get(field - 3).and_then(|text| text.parse::<f64>().ok());
        Ok((ticks(14).context("no user time")? + ticks(15).context("no system time")?) / TICKS)
    }
}

impl Drop for Debugged {
    fn drop(&mut self) {
        command::signal(self.child.id(), "TERM");
        // It may have ended by itself.
        let _ = self.child.wait();
    }
}

pub(super) fn memory(subject: &Subject) -> Result<Vec<Figure>> {
    let sandbox = Sandbox::start()?;
    let endpoint = sandbox.account().proxy().url();
    let debugged = Debugged::start(&subject.provider, endpoint)?;
    let mut workspace = Workspace::with(Terraform::find()?.clone(), endpoint)?;
    workspace.configure("provider \"mlplat\" {}\n")?;
    debugged.attach(&mut workspace);
    workspace.run(&["providers", "schema", "-json"])?.ok()?;
    Ok(vec![Figure::at_most("memory after GetProviderSchema", debugged.peak_memory()?, "MiB", 20.0)])
}
