//! Starting providers, talking to them and waiting for their end.

use crate::host::{self, Address, Channel, connect_plainly};
use std::{path::Path, process::Stdio, time::Duration};
use tf_provider::wire::proto::{
    plugin::{self, grpc_controller_client::GrpcControllerClient},
    tfplugin6::get_metadata,
};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader, Lines},
    process::{Child, ChildStdout, Command},
    time::timeout,
};

/// Tells the executable to be the provider. Nothing of the wire layer reads it.
pub(crate) const BE_A_PROVIDER: &str = "TEST_IS_A_PROVIDER";
pub(crate) const COOKIE: &str = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";
/// Longer than any step takes; a step that reaches it has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A provider that has shaken hands.
pub(crate) struct Running {
    child: Child,
    out: Lines<BufReader<ChildStdout>>,
    pub(crate) address: Address,
    dir: tempfile::TempDir,
}

pub(crate) fn provider(dir: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    command.env_clear().env(BE_A_PROVIDER, "1").env("TMPDIR", dir);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.kill_on_drop(true);
    command
}

impl Running {
    pub(crate) async fn start(variables: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let mut command = provider(dir.path());
        command.env("TF_PLUGIN_MAGIC_COOKIE", COOKIE).env("PLUGIN_PROTOCOL_VERSIONS", "5,6");
        command.envs(variables.iter().copied());
        let mut child = command.spawn().expect("a process");
        let mut out = BufReader::new(child.stdout.take().expect("piped")).lines();
        let address = Address::parse(&next_line(&mut out).await.expect("a line"));
        Self { child, out, address, dir }
    }

    pub(crate) async fn plainly(&self) -> Channel {
        connect_plainly(Path::new(&self.address.path)).await.expect("a connection")
    }

    pub(crate) async fn signal(&self, name: &str) {
        signal(&self.child, name).await;
    }

    /// Waits for a good end, and returns what was written to standard error.
    pub(crate) async fn ended(mut self) -> String {
        assert_eq!(next_line(&mut self.out).await, None, "standard output carries one line");
        let output = timeout(PATIENCE, self.child.wait_with_output()).await;
        let output = output.expect("in time").expect("a status");
        assert!(output.status.success(), "{:?}", output.status);
        let left = std::fs::read_dir(self.dir.path()).expect("a listing");
        assert_eq!(left.count(), 0, "the socket is still there");
        String::from_utf8(output.stderr).expect("text")
    }
}

pub(crate) async fn next_line(lines: &mut Lines<BufReader<ChildStdout>>) -> Option<String> {
    timeout(PATIENCE, lines.next_line()).await.expect("in time").expect("text")
}

pub(crate) async fn asked(channel: Channel) -> bool {
    channel.provider().get_metadata(get_metadata::Request {}).await.is_ok()
}

pub(crate) async fn shut_down(channel: Channel) {
    let mut controller = GrpcControllerClient::with_origin(channel, host::origin());
    controller.shutdown(plugin::Empty {}).await.expect("an answer");
}

/// Sends a signal by name.
pub(crate) async fn signal(child: &Child, name: &str) {
    let pid = child.id().expect("it runs");
    let mut shell = Command::new("sh");
    let sent = shell.args(["-c", &format!("kill -s {name} {pid}")]).status().await;
    assert!(sent.expect("a shell").success());
}
