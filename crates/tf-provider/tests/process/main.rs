//! A provider as a process of its own: streams, signals, exit codes, and a host that disappears.
//!
//! Has no test harness: the executable is the provider too, and a harness would write to its standard output.

#[path = "../host/mod.rs"]
mod host;
mod running;
mod sample;

use host::{Address, Client, Identity, connect_plainly};
use running::{BE_A_PROVIDER, COOKIE, PATIENCE, Running, asked, next_line, provider, shut_down, signal};
use rustls::version::TLS13;
use sample::{IDENTITY, Sample};
use serde_json::Value;
use std::{future::Future, path::Path, process::ExitCode, process::Stdio};
use tf_provider::wire::{self, proto::tfplugin6::call_function};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader},
    process::Command,
    time::timeout,
};

fn main() -> ExitCode {
    if std::env::var_os(BE_A_PROVIDER).is_some() {
        return wire::serve(IDENTITY, |_| Sample);
    }
    check("run by hand it says what it is", run_by_hand());
    check("flags for humans are answered", flags());
    check("shutdown ends the process and leaves nothing behind", shutdown());
    check("Ctrl-C is the host's affair, SIGTERM is not", signals());
    check("a provider does not outlive its host", orphan());
    check("a panic is shown as a crash, unless it was caught", panics());
    check("log lines are JSON, and silent without a level", logs());
    check("in debug mode any host can come, until Ctrl-C", debug());
    ExitCode::SUCCESS
}

fn check(name: &str, body: impl Future<Output = ()>) {
    // The harness's only argument that is of use here: part of a name.
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    if filter.is_some_and(|filter| !name.contains(&filter)) {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    eprintln!("checking: {name}");
    runtime.block_on(body);
}

async fn run_by_hand() {
    let dir = tempfile::tempdir().expect("a directory");
    let output = provider(dir.path()).output().await.expect("a process");

    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    assert!(text.contains("terraform-provider-sample is a plugin") && text.contains("terraform init"), "{text}");
}

async fn flags() {
    let dir = tempfile::tempdir().expect("a directory");
    let version = provider(dir.path()).arg("--version").output().await.expect("a process");
    let wrong = provider(dir.path()).arg("serve").output().await.expect("a process");

    assert_eq!(String::from_utf8_lossy(&version.stdout), "terraform-provider-sample 1.2.3\n");
    assert!(version.status.success());
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("\"serve\""));
}

async fn shutdown() {
    let own = Identity::new();
    let running = Running::start(&[("PLUGIN_CLIENT_CERT", &own.pem())]).await;
    let client = Client { identity: Some(&own), version: &TLS13 };
    let channel = client.connect(&running.address).await.expect("a connection");

    assert!(asked(channel.clone()).await);
    shut_down(channel).await;

    assert_eq!(running.ended().await, "");
}

async fn signals() {
    let running = Running::start(&[]).await;

    running.signal("INT").await;
    assert!(asked(running.plainly().await).await);
    running.signal("TERM").await;

    running.ended().await;
}

async fn orphan() {
    let dir = tempfile::tempdir().expect("a directory");
    let provider = provider(dir.path());
    let program = provider.as_std().get_program();
    let mut host = Command::new("sh");
    host.args(["-c", "\"$0\" & wait"]).arg(program).env(BE_A_PROVIDER, "1").env("TMPDIR", dir.path());
    host.env("TF_PLUGIN_MAGIC_COOKIE", COOKIE).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut host = host.spawn().expect("a shell");
    let mut out = BufReader::new(host.stdout.take().expect("piped")).lines();
    let address = Address::parse(&next_line(&mut out).await.expect("a line"));

    host.kill().await.expect("killed");

    // The provider holds the other end of the pipe for as long as it lives.
    assert_eq!(next_line(&mut out).await, None);
    assert!(!Path::new(&address.path).exists());
}

async fn panics() {
    let running = Running::start(&[]).await;
    let mut provider = running.plainly().await.provider();
    let call = |name: &str| call_function::Request { name: name.to_owned(), arguments: Vec::new() };

    let caught = provider.call_function(call("caught")).await.expect_err("a panic");
    assert!(caught.message().contains("sample.rs"), "{caught}");
    provider.call_function(call("other")).await.expect_err("a panic");
    shut_down(running.plainly().await).await;

    let text = running.ended().await;
    let crashes: Vec<_> = text.lines().filter(|line| line.starts_with("panic: ")).collect();
    assert_eq!(crashes.len(), 1, "{text}");
    assert!(text.contains("not caught"), "{text}");
}

async fn logs() {
    let silent = Running::start(&[]).await;
    assert!(asked(silent.plainly().await).await);
    shut_down(silent.plainly().await).await;
    assert_eq!(silent.ended().await, "");

    let running = Running::start(&[("TF_LOG", "JSON")]).await;
    assert!(asked(running.plainly().await).await);
    shut_down(running.plainly().await).await;

    let text = running.ended().await;
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let lines: Vec<_> = lines.filter(|line| line["@module"] == "process.sample").collect();
    assert_eq!(lines.len(), 1, "{text}");
    assert_eq!((&lines[0]["@message"], &lines[0]["count"]), (&"asked".into(), &"1".into()));
}

async fn debug() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut child = provider(dir.path()).arg("--debug").spawn().expect("a process");
    let mut out = BufReader::new(child.stdout.take().expect("piped")).lines();
    let assignment = loop {
        let line = next_line(&mut out).await.expect("an assignment");
        if let Some((_, value)) = line.split_once("TF_REATTACH_PROVIDERS=") {
            break value.trim_matches('\'').to_owned();
        }
    };
    let assignment: Value = serde_json::from_str(&assignment).expect("JSON");
    let provider = &assignment[IDENTITY.address];
    assert_eq!(provider["Pid"].as_u64(), child.id().map(u64::from));
    let path = provider["Addr"]["String"].as_str().expect("a path");
    assert!(asked(connect_plainly(Path::new(path)).await.expect("a connection")).await);

    signal(&child, "INT").await;
    let status = timeout(PATIENCE, child.wait()).await.expect("in time");
    assert!(status.expect("a status").success());
    let mut text = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut text).await.expect("text");
    assert!(text.contains("\"@message\":\"asked\""), "{text}");
}
