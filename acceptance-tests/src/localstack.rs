//! LocalStack, a second opinion on S3, IAM, STS and EC2: in Docker where an engine answers, else from its package.
//!
//! Never required: [`LocalStack::start`] says why it cannot run, and the test prints that and passes.

use crate::{
    command::{on_path, run, signal},
    http,
    progress::Progress,
    python::Python,
};
use anyhow::{Context, Result, bail};
use std::{
    net::TcpListener,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// The last image that runs without an account; another one by `MLPLAT_LOCALSTACK_IMAGE`.
const IMAGE: &str = "localstack/localstack:4.9.2";
const REQUIREMENTS: &str = include_str!("../emulator/localstack-requirements.txt");
const START_LIMIT: Duration = Duration::from_mins(1);
/// Runs LocalStack and ends with our standard input, which LocalStack by itself does not.
const LAUNCHER: &str = "import os, runpy, sys, threading
threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(0)), daemon=True).start()
runpy.run_module('localstack.runtime.main', run_name='__main__')
";

/// A running LocalStack; it ends when dropped.
#[derive(Debug)]
pub struct LocalStack {
    url: String,
    running: Running,
}

#[derive(Debug)]
enum Running {
    Container(String),
    Process { child: Child, _files: TempDir },
}

impl LocalStack {
    /// Start it, or say why not.
    pub fn start() -> Result<Self, String> {
        let docker = match on_path("docker") {
            Some(_) if run(Command::new("docker").arg("info")).is_ok() => match Self::in_docker() {
                Ok(started) => return Ok(started),
                Err(error) => format!("in Docker: {error:#}"),
            },
            Some(_) => "Docker is installed but no engine answers".to_owned(),
            None => "no Docker".to_owned(),
        };
        Self::on_host().map_err(|error| format!("{docker}; from its package: {error:#}"))
    }

    /// `http://127.0.0.1:port`.
    pub fn url(&self) -> &str {
        &self.url
    }

    fn in_docker() -> Result<Self> {
        let image = std::env::var("MLPLAT_LOCALSTACK_IMAGE").unwrap_or_else(|_| IMAGE.to_owned());
        let _progress = Progress::start(format!("Starting {image}"));
        let made = run(Command::new("docker").args([
            "run",
            "--detach",
            "--rm",
            "-p",
            "127.0.0.1::4566",
            "-e",
            "DISABLE_EVENTS=1",
            &image,
        ]))?;
        let id = made.trim().to_owned();
        let mut started = Self { url: String::new(), running: Running::Container(id.clone()) };
        let published = run(Command::new("docker").args(["port", &id, "4566/tcp"]))?;
        let address = published.lines().next().context("Docker published no port")?;
        started.url = format!("http://{}", address.trim());
        started.await_health()?;
        Ok(started)
    }

    fn on_host() -> Result<Self> {
        let python = Python::find((3, 12))?.environment("localstack", "Installing LocalStack", REQUIREMENTS)?;
        let files = tempfile::tempdir()?;
        // It takes no port 0: ask the system for a free one and hand it on.
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let child = Command::new(python)
            .args(["-c", LAUNCHER])
            // The default server ignores the host and would listen on every interface, and so would its DNS.
            .envs([("GATEWAY_SERVER", "hypercorn"), ("DNS_ADDRESS", "0")])
            .env("GATEWAY_LISTEN", format!("127.0.0.1:{port}"))
            .envs([("SKIP_SSL_CERT_DOWNLOAD", "1"), ("DISABLE_EVENTS", "1")])
            .env("FILESYSTEM_ROOT", files.path())
            .env("TMPDIR", files.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let url = format!("http://127.0.0.1:{port}");
        let mut started = Self { url, running: Running::Process { child, _files: files } };
        started.await_health()?;
        Ok(started)
    }

    fn await_health(&mut self) -> Result<()> {
        let (_progress, started) = (Progress::start("Starting LocalStack"), Instant::now());
        while started.elapsed() < START_LIMIT {
            if http::send(&self.url, "GET", "/_localstack/health", &[], b"").is_ok_and(|reply| reply.status == 200) {
                return Ok(());
            }
            if let Running::Process { child, .. } = &mut self.running
                && let Some(status) = child.try_wait()?
            {
                bail!("it ended with {status}");
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        bail!("it did not answer within {START_LIMIT:?}")
    }
}

impl Drop for LocalStack {
    fn drop(&mut self) {
        match &mut self.running {
            Running::Container(id) => {
                let _ = run(Command::new("docker").args(["rm", "--force", id]));
            }
            Running::Process { child, .. } => {
                // It hangs on a polite signal more often than not.
                signal(child.id(), "KILL");
                let _ = child.wait();
            }
        }
    }
}
