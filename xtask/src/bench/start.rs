//! From exec to the handshake line, as Terraform starts a provider: cookie, versions, its certificate.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use acceptance_tests::command;
use anyhow::{Context, Result, ensure};

use super::{Figure, Subject};

const RUNS: usize = 20;
/// A certificate like the one that Terraform makes for itself: self-signed, P-521. Its key is not kept.
const HOST_CERTIFICATE: &str = include_str!("host.pem");
const COOKIE: &str = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";

pub(super) fn measure(subject: &Subject) -> Result<Vec<Figure>> {
    // The first run reads the file from disk.
    once(&subject.provider)?;
    let mut times = (0..RUNS).map(|_| once(&subject.provider)).collect::<Result<Vec<_>>>()?;
    times.sort();
    let median = times.get(RUNS / 2).copied().unwrap_or_default();
    Ok(vec![Figure::at_most(format!("exec to handshake, median of {RUNS}"), median.as_secs_f64() * 1e3, "ms", 5.0)])
}

fn once(provider: &Path) -> Result<Duration> {
    let begun = Instant::now();
    let mut child = Command::new(provider)
        .env("TF_PLUGIN_MAGIC_COOKIE", COOKIE)
        .env("PLUGIN_PROTOCOL_VERSIONS", "5,6")
        .env("PLUGIN_CLIENT_CERT", HOST_CERTIFICATE)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut line = String::new();
    let read = BufReader::new(child.stdout.take().context("no standard output")?).read_line(&mut line);
    let took = begun.elapsed();
    command::signal(child.id(), "TERM");
    child.wait()?;
    read?;
    ensure!(line.starts_with("1|6|unix|"), "not a handshake: {line:?}");
    Ok(took)
}
