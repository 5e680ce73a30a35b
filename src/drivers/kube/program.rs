//! A program that prints credentials, run as `kubectl` runs it: the `exec` of the provider's block or of a kubeconfig.
//!
//! **Invariant:** what it prints is never shown. It may be a credential, whole or in part.

use std::{
    process::{Output, Stdio},
    time::{Duration, SystemTime},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use converge::{Fault, FaultClass};
use kube::config::{AuthInfo, ExecConfig};
use serde::Deserialize;
use serde_json::json;
use tokio::process::Command;

use super::{call::seconds, credentials::Lease, token::Token};

/// A program that prints credentials.
#[derive(Debug)]
pub(super) struct Program {
    exec: ExecConfig,
    /// Where it is named, in words.
    place: &'static str,
}

/// What it printed.
pub(super) struct Credential {
    /// A bearer token.
    pub(super) token: Option<Lease>,
    identity: Option<(String, String)>,
}

/// The document that a program prints. Of its versions, all have these.
#[derive(Deserialize)]
struct Document {
    status: Option<Status>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
    expiration_timestamp: Option<String>,
}

/// One that asks a person in a browser takes its time; one that waits for a terminal waits for ever.
const PATIENCE: Duration = Duration::from_mins(2);
/// How long before its end a token is renewed.
const MARGIN: Duration = Duration::from_secs(30);
/// How much of its complaints is shown.
const WORDS: usize = 1000;

// === impl Program ===

impl Program {
    pub(super) fn new(exec: ExecConfig, place: &'static str) -> Self {
        Self { exec, place }
    }

    /// Runs it.
    pub(super) async fn ask(&self) -> Result<Credential, Fault> {
        let running = self.command()?.output();
        let Ok(ended) = tokio::time::timeout(PATIENCE, running).await else {
            return Err(self.fault(format!("it did not end within {} seconds", PATIENCE.as_secs())));
        };
        let output = ended.map_err(|error| self.unstarted(&error))?;
        if !output.status.success() {
            return Err(self.fault(complaint(&output)));
        }
        self.read(&output.stdout)
    }

    fn command(&self) -> Result<Command, Fault> {
        let name = self.exec.command.as_deref().filter(|name| !name.is_empty());
        let mut command = Command::new(name.ok_or_else(|| self.fault("no command is given".to_owned()))?);
        command.args(self.exec.args.iter().flatten());
        let variables = self.exec.env.iter().flatten();
        command.envs(variables.filter_map(|variable| variable.get("name").zip(variable.get("value"))));
        let spec = json!({ "interactive": false, "cluster": self.exec.cluster });
        let version = self.exec.api_version.as_deref().unwrap_or("client.authentication.k8s.io/v1");
        let info = json!({ "apiVersion": version, "kind": "ExecCredential", "spec": spec });
        command.env("KUBERNETES_EXEC_INFO", info.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        Ok(command)
    }

    fn read(&self, printed: &[u8]) -> Result<Credential, Fault> {
        // Some print YAML; JSON is YAML.
        let read = serde_saphyr::from_slice::<Document>(printed);
        let document = read.map_err(|_| self.fault("what it printed is no ExecCredential".to_owned()))?;
        let status = document.status.unwrap_or_default();
        let end = status.expiration_timestamp.as_deref().and_then(seconds).and_then(|end| u64::try_from(end).ok());
        let until = end.map(|end| SystemTime::UNIX_EPOCH + Duration::from_secs(end).saturating_sub(MARGIN));
        let token = status.token.filter(|token| !token.is_empty());
        let token = token.map(|token| Lease { token: Token::new(&token), until });
        let identity = status.client_certificate_data.zip(status.client_key_data);
        if token.is_none() && identity.is_none() {
            return Err(self.fault("the ExecCredential that it printed has neither token nor certificate".to_owned()));
        }
        Ok(Credential { token, identity })
    }

    /// It printed a token before and does no more.
    pub(super) fn no_token(&self) -> Fault {
        self.fault("the ExecCredential that it printed has no token any more".to_owned())
    }

    fn unstarted(&self, error: &std::io::Error) -> Fault {
        let fault = self.fault(format!("it cannot be started: {error}"));
        match &self.exec.install_hint {
            Some(hint) => fault.advise(hint.clone()),
            None => fault.advise("Install it, or give its full path."),
        }
    }

    fn fault(&self, message: String) -> Fault {
        let object = format!("program {:?} of {}", self.exec.command.as_deref().unwrap_or_default(), self.place);
        Fault::new(FaultClass::Unauthenticated, object, message)
            .advise("Run it by hand and see what it says; it has to print an ExecCredential.")
    }
}

// === impl Credential ===

impl Credential {
    /// Puts the certificate into what a client is made from.
    pub(super) fn identify(&self, user: &mut AuthInfo) {
        let Some((certificate, key)) = &self.identity else { return };
        let encoded = json!({
            "client-certificate-data": STANDARD.encode(certificate), "client-key-data": STANDARD.encode(key),
        });
        if let Ok(identity) = serde_json::from_value::<AuthInfo>(encoded) {
            user.client_certificate_data = identity.client_certificate_data;
            user.client_key_data = identity.client_key_data;
        }
    }
}

// What it says to people, which is not where credentials go.
fn complaint(output: &Output) -> String {
    let words = String::from_utf8_lossy(&output.stderr);
    let words: String = words.trim().chars().take(WORDS).collect();
    if words.is_empty() {
        format!("it ended with {}", output.status)
    } else {
        format!("it ended with {}: {words}", output.status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(command: &str, args: &[&str]) -> Program {
        let args: Vec<_> = args.iter().map(|arg| (*arg).to_owned()).collect();
        let exec = serde_json::from_value(json!({ "command": command, "args": args, "env": [
            { "name": "SECRET", "value": "t0ken" },
        ] }));
        Program::new(exec.unwrap(), "a test")
    }

    fn shell(script: &str) -> Program {
        program("/bin/sh", &["-c", script])
    }

    async fn refusal(program: Program) -> Fault {
        program.ask().await.err().unwrap()
    }

    #[tokio::test]
    async fn a_token_is_good_until_it_ends() {
        let printed =
            r#"echo "kind: ExecCredential\nstatus: {token: $SECRET, expirationTimestamp: '1970-01-01T01:00:30Z'}""#;
        let lease = shell(printed).ask().await.unwrap().token.unwrap();
        assert_eq!(lease.token.reveal(), "t0ken");
        assert_eq!(lease.until, Some(SystemTime::UNIX_EPOCH + Duration::from_hours(1)));
    }

    #[tokio::test]
    async fn a_certificate_is_put_into_the_client() {
        let printed = r#"echo '{"status": {"clientCertificateData": "cert", "clientKeyData": "key"}}'"#;
        let credential = shell(printed).ask().await.unwrap();
        let mut user = AuthInfo::default();
        credential.identify(&mut user);
        assert!(credential.token.is_none());
        assert_eq!(user.client_certificate_data, Some(STANDARD.encode("cert")));
    }

    #[tokio::test]
    async fn what_goes_wrong_is_told_without_what_was_printed() {
        for (program, told) in [
            (program("/nowhere/login", &[]), "it cannot be started"),
            (shell("echo $SECRET; echo session expired >&2; exit 3"), "exit status: 3: session expired"),
            (shell("echo $SECRET"), "no ExecCredential"),
            (shell("echo '{\"status\": {\"token\": '$SECRET"), "no ExecCredential"),
            (shell("echo '{\"status\": {}}'"), "neither token nor certificate"),
            (program("", &[]), "no command is given"),
        ] {
            let fault = refusal(program).await;
            assert!(fault.message.contains(told), "{}", fault.message);
            assert!(!format!("{fault:?}").contains("t0ken"), "{fault:?}");
            assert_eq!(fault.class, FaultClass::Unauthenticated);
        }
    }
}
