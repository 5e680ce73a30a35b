//! One directory in which terraform runs: configuration, state, the built provider by `dev_overrides`, and an
//! environment that leads to an emulator and nowhere else.

use crate::{
    account::{self, Account},
    provider, snapshot,
    terraform::Terraform,
};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Longer than any step of a test: a hang becomes a failure.
const LIMIT: Duration = Duration::from_mins(5);
/// What every configuration begins with. The source has no host, so that either core looks in its own registry.
const VERSIONS: &str =
    "terraform {\n  required_providers {\n    mlplat = {\n      source = \"mlplat/mlplat\"\n    }\n  }\n}\n";
/// Passed on from the caller's environment, if set.
const PASSED: [&str; 8] = [
    "PATH",
    "TMPDIR",
    "TF_LOG",
    "TF_LOG_PATH",
    "TF_LOG_PROVIDER",
    "RUST_BACKTRACE",
    "SSL_CERT_FILE",
    "LD_LIBRARY_PATH",
];

/// A directory with a configuration.
#[derive(Debug)]
pub struct Workspace {
    dir: TempDir,
    terraform: Terraform,
    environment: BTreeMap<String, String>,
    /// What a snapshot shows instead of this workspace's own words.
    secrets: Vec<(String, String)>,
}

impl Workspace {
    /// A workspace with the default core and the built provider, leading to this account.
    pub fn new(account: &Account) -> Result<Self> {
        let mut workspace = Self::with(Terraform::find()?.clone(), account.proxy().url())?;
        workspace.hide(account.id(), "123456789012");
        workspace.use_provider(&provider::binary()?)?;
        Ok(workspace)
    }

    /// A workspace with this core and AWS endpoint, and no provider yet.
    pub fn with(terraform: Terraform, endpoint: &str) -> Result<Self> {
        let dir = tempfile::Builder::new().prefix("mlplat-").tempdir()?;
        let home = dir.path().to_string_lossy().into_owned();
        let mut environment = account::environment(endpoint);
        for (name, value) in [
            ("CHECKPOINT_DISABLE", "1"),
            ("TF_IN_AUTOMATION", "1"),
            ("TF_INPUT", "0"),
            ("NO_COLOR", "1"),
            ("HOME", home.as_str()),
        ] {
            environment.insert(name.to_owned(), value.to_owned());
        }
        let passed = PASSED.iter().filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)));
        environment.extend(passed);
        let secrets = vec![(home, "<dir>".to_owned()), (endpoint.to_owned(), "<endpoint>".to_owned())];
        let workspace = Self { dir, terraform, environment, secrets };
        workspace.write("versions.tf", VERSIONS)?;
        Ok(workspace)
    }

    /// Run this binary for mlplat/mlplat, whatever the registry has.
    pub fn use_provider(&mut self, binary: &Path) -> Result<()> {
        let dir = binary.parent().context("the provider has no directory")?.to_string_lossy().into_owned();
        let text = format!(
            "provider_installation {{\n  dev_overrides {{\n    \"mlplat/mlplat\" = \"{dir}\"\n  }}\n  direct {{}}\n}}\n"
        );
        self.write("terraformrc", &text)?;
        let file = self.path().join("terraformrc").to_string_lossy().into_owned();
        self.set_env("TF_CLI_CONFIG_FILE", &file);
        self.hide(&dir, "<provider dir>");
        Ok(())
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// The core that runs here.
    pub fn terraform(&self) -> &Terraform {
        &self.terraform
    }

    /// Write a file below the directory, over what was there.
    pub fn write(&self, name: &str, text: &str) -> Result<()> {
        let file = self.path().join(name);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))
    }

    /// The main configuration: write "main.tf".
    pub fn configure(&self, text: &str) -> Result<()> {
        self.write("main.tf", text)
    }

    /// Remove a file.
    pub fn remove(&self, name: &str) -> Result<()> {
        fs::remove_file(self.path().join(name)).with_context(|| format!("cannot remove {name}"))
    }

    /// Set a variable of terraform's environment.
    pub fn set_env(&mut self, name: &str, value: &str) {
        self.environment.insert(name.to_owned(), value.to_owned());
    }

    /// Take a variable out of terraform's environment.
    pub fn unset_env(&mut self, name: &str) {
        self.environment.remove(name);
    }

    /// Let snapshots show `shown` where the output has `word`: ids that differ from run to run.
    pub fn hide(&mut self, word: &str, shown: &str) {
        self.secrets.push((word.to_owned(), shown.to_owned()));
    }

    /// Run any command.
    pub fn run(&self, arguments: &[&str]) -> Result<Output> {
        self.start(arguments)?.wait()
    }

    /// Start a command that the test wants to interrupt.
    pub fn start(&self, arguments: &[&str]) -> Result<Running> {
        let (stdout, stderr) = (self.path().join(".stdout"), self.path().join(".stderr"));
        let child = Command::new(self.terraform.program())
            .args(arguments)
            .current_dir(self.path())
            .env_clear()
            .envs(&self.environment)
            .stdin(Stdio::null())
            // Files, not pipes: nothing has to be drained while it runs.
            .stdout(fs::File::create(&stdout)?)
            .stderr(fs::File::create(&stderr)?)
            .spawn()
            .with_context(|| format!("cannot start {}", self.terraform))?;
        Ok(Running { child, started: Instant::now(), files: [stdout, stderr], secrets: self.secrets.clone() })
    }

    /// `plan -detailed-exitcode`: status 0 no change, 2 changes, 1 errors.
    pub fn plan(&self) -> Result<Output> {
        self.prepared(&["plan", "-no-color", "-input=false", "-detailed-exitcode"])
    }

    /// Plan, and the plan as JSON: `resource_changes`, `resource_drift`, `output_changes`.
    pub fn plan_json(&self) -> Result<Value> {
        let plan = self.prepared(&["plan", "-no-color", "-input=false", "-out=saved.plan"])?.ok()?;
        drop(plan);
        let shown = self.run(&["show", "-json", "saved.plan"])?.ok()?;
        Ok(serde_json::from_str(&shown.stdout)?)
    }

    /// `apply -auto-approve`.
    pub fn apply(&self) -> Result<Output> {
        self.prepared(&["apply", "-no-color", "-input=false", "-auto-approve"])
    }

    /// `destroy -auto-approve`.
    pub fn destroy(&self) -> Result<Output> {
        self.prepared(&["destroy", "-no-color", "-input=false", "-auto-approve"])
    }

    /// `import address id`.
    pub fn import(&self, address: &str, id: &str) -> Result<Output> {
        self.prepared(&["import", "-no-color", "-input=false", address, id])
    }

    /// `taint address`.
    pub fn taint(&self, address: &str) -> Result<Output> {
        self.run(&["taint", address])
    }

    /// `untaint address`.
    pub fn untaint(&self, address: &str) -> Result<Output> {
        self.run(&["untaint", address])
    }

    /// The state as `show -json` has it.
    pub fn state(&self) -> Result<Value> {
        Ok(serde_json::from_str(&self.run(&["show", "-json"])?.ok()?.stdout)?)
    }

    /// The attributes of a resource of the root module, null where there is none.
    pub fn attributes(&self, address: &str) -> Result<Value> {
        let state = self.state()?;
        let resources = state["values"]["root_module"]["resources"].as_array().cloned().unwrap_or_default();
        let found = resources.into_iter().find(|resource| resource["address"] == address);
        Ok(found.map_or(Value::Null, |mut resource| resource["values"].take()))
    }

    /// Local modules must be gathered first; `init` would look for the overridden provider in a registry.
    fn prepared(&self, arguments: &[&str]) -> Result<Output> {
        let has_modules = fs::read_dir(self.path())?.flatten().any(|file| {
            file.path().extension().is_some_and(|end| end == "tf")
                && fs::read_to_string(file.path()).is_ok_and(|text| text.contains("module \""))
        });
        if has_modules {
            self.run(&["get", "-no-color"])?.ok()?;
        }
        self.run(arguments)
    }
}

/// A command that is running.
#[derive(Debug)]
pub struct Running {
    child: Child,
    started: Instant,
    files: [std::path::PathBuf; 2],
    secrets: Vec<(String, String)>,
}

impl Running {
    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What Ctrl-C does, once.
    pub fn interrupt(&self) {
        crate::command::signal(self.child.id(), "INT");
    }

    /// End it without asking.
    pub fn kill(&self) {
        crate::command::signal(self.child.id(), "KILL");
    }

    /// Wait for the end; a command that exceeds the limit is killed and is an error.
    pub fn wait(mut self) -> Result<Output> {
        let status = loop {
            match self.child.try_wait()? {
                Some(status) => break status,
                None if self.started.elapsed() > LIMIT => {
                    self.kill();
                    self.child.wait()?;
                    bail!("terraform did not end within {LIMIT:?}:\n{}", self.texts()?.join("\n"));
                }
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        let [stdout, stderr] = self.texts()?;
        // A signal has no code: -1.
        let status = status.code().unwrap_or(-1);
        Ok(Output {
            status,
            stdout,
            stderr,
            elapsed: self.started.elapsed(),
            secrets: std::mem::take(&mut self.secrets),
        })
    }

    fn texts(&self) -> Result<[String; 2]> {
        let read = |file| fs::read(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Ok([read(&self.files[0])?, read(&self.files[1])?])
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            self.kill();
            let _ = self.child.wait();
        }
    }
}

/// What a command said.
#[derive(Clone, Debug)]
pub struct Output {
    /// The exit status; -1 after a signal.
    pub status: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error: terraform's diagnostics.
    pub stderr: String,
    /// How long it ran.
    pub elapsed: Duration,
    secrets: Vec<(String, String)>,
}

impl Output {
    /// This output if the command succeeded (a plan with changes did), else an error with all it said.
    pub fn ok(self) -> Result<Self> {
        match self.status {
            0 | 2 => Ok(self),
            status => bail!("terraform ended with {status}:\n{}\n{}", self.stdout, self.stderr),
        }
    }

    /// This output if the command failed, else an error with all it said.
    pub fn failed(self) -> Result<Self> {
        match self.status {
            0 | 2 => bail!("terraform was expected to fail:\n{}", self.stdout),
            _ => Ok(self),
        }
    }

    /// This output if a plan found nothing to do, else an error with the plan.
    pub fn no_changes(self) -> Result<Self> {
        if self.status != 0 || !self.stdout.contains("No changes.") {
            bail!("the plan was expected to be empty ({}):\n{}\n{}", self.status, self.stdout, self.stderr);
        }
        Ok(self)
    }

    /// Whether either stream has this text; line breaks and box drawing of diagnostics do not hide it.
    pub fn says(&self, text: &str) -> bool {
        let flat = |text: &str| snapshot::unframed(text).split_whitespace().collect::<Vec<_>>().join(" ");
        flat(&format!("{} {}", self.stdout, self.stderr)).contains(&flat(text))
    }

    /// Both streams as a snapshot can keep them.
    pub fn snapshot(&self) -> String {
        snapshot::normalise(&format!("{}\n{}", self.stdout, self.stderr), &self.secrets)
    }
}
