//! How each program is called. Everything listens on loopback; what is not needed to be real is left out.

use anyhow::Result;
use std::{net::TcpListener, path::Path, process::Command};

/// The port of every server.
#[derive(Debug)]
pub(super) struct Ports {
    pub(super) etcd: u16,
    pub(super) etcd_peers: u16,
    pub(super) apiserver: u16,
    pub(super) controller_manager: u16,
    pub(super) scheduler: u16,
    pub(super) kwok: u16,
}

/// The path of every file that a program is given.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) admin: String,
    pub(super) controller_manager: String,
    pub(super) scheduler: String,
    pub(super) kwok: String,
    pub(super) ca: String,
    pub(super) server_certificate: String,
    pub(super) server_key: String,
    pub(super) accounts_private: String,
    pub(super) accounts_public: String,
    pub(super) webhook: String,
    pub(super) tokens: String,
    pub(super) stages: String,
}

impl Ports {
    /// Ports that nobody listens on. They are all held until the last is found, so that they differ.
    pub(super) fn free() -> Result<Self> {
        let bind = || TcpListener::bind(("127.0.0.1", 0));
        let held = [bind()?, bind()?, bind()?, bind()?, bind()?, bind()?];
        let [etcd, etcd_peers, apiserver, controller_manager, scheduler, kwok] =
            held.each_ref().map(|listener| listener.local_addr().map(|address| address.port()));
        Ok(Self {
            etcd: etcd?,
            etcd_peers: etcd_peers?,
            apiserver: apiserver?,
            controller_manager: controller_manager?,
            scheduler: scheduler?,
            kwok: kwok?,
        })
    }
}

/// A free port.
pub(super) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

pub(super) fn etcd(program: &Path, ports: &Ports) -> Command {
    let (clients, peers) =
        (format!("http://127.0.0.1:{}", ports.etcd), format!("http://127.0.0.1:{}", ports.etcd_peers));
    let mut command = Command::new(program);
    command
        .args(["--data-dir", "etcd", "--log-level", "error"])
        .args(["--listen-client-urls", &clients, "--advertise-client-urls", &clients])
        .args(["--listen-peer-urls", &peers, "--initial-advertise-peer-urls", &peers])
        .args(["--initial-cluster", &format!("default={peers}")])
        // Nothing here outlives the process: a disk's pace would only slow the tests down.
        .arg("--unsafe-no-fsync");
    command
}

pub(super) fn apiserver(program: &Path, ports: &Ports, files: &Files) -> Command {
    let mut command = Command::new(program);
    command
        .args(["--etcd-servers", &format!("http://127.0.0.1:{}", ports.etcd)])
        .args(["--bind-address", "127.0.0.1", "--advertise-address", "127.0.0.1"])
        .args(["--endpoint-reconciler-type", "none", "--secure-port", &ports.apiserver.to_string()])
        .args(["--service-cluster-ip-range", "10.0.0.0/24", "--authorization-mode", "RBAC", "--allow-privileged"])
        .args(["--tls-cert-file", &files.server_certificate, "--tls-private-key-file", &files.server_key])
        .args(["--client-ca-file", &files.ca, "--token-auth-file", &files.tokens])
        .args(["--service-account-issuer", "https://kubernetes.default.svc"])
        .args(["--service-account-key-file", &files.accounts_public])
        .args(["--service-account-signing-key-file", &files.accounts_private])
        .args(["--requestheader-client-ca-file", &files.ca, "--requestheader-allowed-names", "front-proxy"])
        .args(["--requestheader-username-headers", "X-Remote-User"])
        .args(["--requestheader-group-headers", "X-Remote-Group"])
        .args(["--requestheader-extra-headers-prefix", "X-Remote-Extra-"])
        .args(["--kubelet-preferred-address-types", "InternalIP"])
        .args(["--authentication-token-webhook-config-file", &files.webhook])
        .args(["--authentication-token-webhook-version", "v1"])
        .args(["--authentication-token-webhook-cache-ttl", "1s"]);
    command
}

pub(super) fn controller_manager(program: &Path, ports: &Ports, files: &Files) -> Command {
    let mut command = controller(program, &files.controller_manager, ports.controller_manager);
    command
        // Without identities of their own the controllers are refused by RBAC.
        .arg("--use-service-account-credentials=true")
        .args(["--service-account-private-key-file", &files.accounts_private, "--root-ca-file", &files.ca]);
    command
}

pub(super) fn scheduler(program: &Path, ports: &Ports, files: &Files) -> Command {
    controller(program, &files.scheduler, ports.scheduler)
}

fn controller(program: &Path, kubeconfig: &str, port: u16) -> Command {
    let mut command = Command::new(program);
    command
        .args(["--kubeconfig", kubeconfig])
        .args(["--authentication-kubeconfig", kubeconfig, "--authorization-kubeconfig", kubeconfig])
        .args(["--bind-address", "127.0.0.1", "--secure-port", &port.to_string(), "--leader-elect=false"]);
    command
}

pub(super) fn kwok(program: &Path, ports: &Ports, files: &Files) -> Command {
    let mut command = Command::new(program);
    command
        .args(["--kubeconfig", &files.kwok, "--manage-all-nodes"])
        // Without leases every node is taken for lost after some 50 seconds.
        .args(["--node-lease-duration-seconds", "40", "--server-address", &format!("127.0.0.1:{}", ports.kwok)])
        .args(["--config", &files.stages]);
    command
}
