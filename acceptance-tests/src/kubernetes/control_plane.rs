//! Starting and ending a control plane on loopback, and what a test asks of it.

use super::{
    certificates::{Authority, Identity, signing_key},
    client::{Client, Credential, poll},
    crds::Crds,
    flags::{self, Files, Ports},
    kubeconfig,
    logs::Logs,
    nodes::Node,
    processes::Processes,
    programs::Programs,
    stages,
    tokens::{EKS_LIFETIME, TokenRules},
};
use crate::{Proxy, progress::Progress};
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::{
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

/// Longer than a start on a busy machine.
const START_LIMIT: Duration = Duration::from_mins(3);
/// A port was free when it was chosen and taken when it was used: choose again.
const TRIES: usize = 3;
/// The user that every kubeconfig with a token stands for.
const ADMIN_TOKEN: &str = "mlplat-test-admin";
/// The field manager of what the tests themselves need.
pub(super) const MANAGER: &str = "mlplat-test";

/// What a control plane is to be like.
#[derive(Clone, Debug)]
pub struct Options {
    /// The cluster's name, which tokens must be signed for.
    pub cluster: String,
    /// How old a token may be.
    pub token_lifetime: Duration,
    /// The custom resources that it knows from the start.
    pub crds: Vec<Crds>,
    /// Further flags of the API server.
    pub apiserver_flags: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            cluster: "ml-prod".to_owned(),
            token_lifetime: EKS_LIFETIME,
            crds: Vec::new(),
            apiserver_flags: Vec::new(),
        }
    }
}

/// A running control plane; it ends when dropped, and when this process ends in any way.
#[derive(Debug)]
pub struct ControlPlane {
    // Declared first, dropped first: the webhook outlives the server that asks it.
    processes: Mutex<Processes>,
    tokens: TokenRules,
    logs: Logs,
    authority: Authority,
    endpoint: String,
    admin: Client,
    kubeconfig: PathBuf,
    dir: PathBuf,
    has_kueue: Mutex<bool>,
}

impl ControlPlane {
    /// The control plane that all tests of this process share, started on first use; take namespaces of your own.
    pub fn shared() -> Result<&'static Self> {
        static SHARED: OnceLock<Result<ControlPlane, String>> = OnceLock::new();
        let started = SHARED.get_or_init(|| Self::start(&Options::default()).map_err(|error| format!("{error:#}")));
        started.as_ref().map_err(|reason| anyhow::anyhow!("no Kubernetes: {reason}"))
    }

    /// Build what is missing and start; an error says what this machine lacks or ends with the logs.
    pub fn start(options: &Options) -> Result<Self> {
        let programs = Programs::find()?;
        let _progress = Progress::start("Starting Kubernetes");
        for _ in 1..TRIES {
            match Self::attempt(&programs, options) {
                Err(error) if format!("{error:#}").contains("address already in use") => {}
                done => return done,
            }
        }
        Self::attempt(&programs, options)
    }

    fn attempt(programs: &Programs, options: &Options) -> Result<Self> {
        let authority = Authority::new()?;
        let tokens = TokenRules::start(&options.cluster, options.token_lifetime)?;
        let logs = Logs::start(&authority.server()?)?;
        let mut processes = Processes::new()?;
        let ports = Ports::free()?;
        let endpoint = format!("https://127.0.0.1:{}", ports.apiserver);
        let files = write_files(&processes, &authority, &endpoint, &tokens)?;
        processes.start("etcd", &mut flags::etcd(&programs.etcd, &ports))?;
        let mut apiserver = flags::apiserver(&programs.apiserver, &ports, &files);
        processes.start("kube-apiserver", apiserver.args(&options.apiserver_flags))?;
        let identity = authority.client("mlplat-test", Some("system:masters"))?;
        let admin = Client::new(&endpoint, authority.certificate(), &Credential::Certificate(&identity))?;
        await_ready(&mut processes, || Ok(is_ready(&admin)))?;
        processes.start(
            "kube-controller-manager",
            &mut flags::controller_manager(&programs.controller_manager, &ports, &files),
        )?;
        processes.start("kube-scheduler", &mut flags::scheduler(&programs.scheduler, &ports, &files))?;
        processes.start("kwok", &mut flags::kwok(&programs.kwok, &ports, &files))?;
        super::crds::install(&admin, &options.crds)?;
        stages::install_namespace_scripts(&admin)?;
        // A pod needs the namespace's service account as well: the last thing that a fresh cluster gets.
        admin.create(&stages::probe())?;
        await_ready(&mut processes, || stages::are_handed_on(&admin))?;
        admin.delete(&format!("/api/v1/namespaces/{}", stages::PROBE))?;
        let (kubeconfig, dir) = (files.admin.into(), processes.dir().to_owned());
        Ok(Self {
            processes: Mutex::new(processes),
            tokens,
            logs,
            authority,
            endpoint,
            admin,
            kubeconfig,
            dir,
            has_kueue: Mutex::default(),
        })
    }

    /// `https://127.0.0.1:port` of the API server itself, past every proxy.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// The authority that signed the API server's certificate and every proxy's.
    pub fn ca_pem(&self) -> String {
        self.authority.pem()
    }

    /// An authority that signed nothing here.
    pub fn other_ca_pem() -> Result<String> {
        Authority::new().map(|authority| authority.pem())
    }

    /// A kubeconfig of the administrator at the API server itself.
    pub fn admin_kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// A bearer token of the administrator that never ages and that the webhook does not see.
    pub fn admin_token(&self) -> &'static str {
        ADMIN_TOKEN
    }

    /// A kubeconfig of the administrator at another endpoint, as in a proxy's; written below this control plane.
    pub fn kubeconfig_for(&self, endpoint: &str) -> Result<PathBuf> {
        let port = endpoint.rsplit(':').next().unwrap_or_default();
        let name = format!("admin-{port}.kubeconfig");
        let text = kubeconfig::with_token(endpoint, &self.ca_pem(), ADMIN_TOKEN);
        self.processes().write(&name, text).map(PathBuf::from)
    }

    /// Which EKS tokens are accepted.
    pub fn tokens(&self) -> &TokenRules {
        &self.tokens
    }

    /// The administrator's calls, past every proxy.
    pub fn client(&self) -> &Client {
        &self.admin
    }

    /// Another user's calls, past every proxy; what they may do is up to RBAC.
    pub fn client_as(&self, user: &str, group: Option<&str>) -> Result<Client> {
        let identity = self.authority.client(user, group)?;
        Client::new(&self.endpoint, self.authority.certificate(), &Credential::Certificate(&identity))
    }

    /// The administrator's calls to a proxy, or to any other endpoint of this cluster.
    pub fn client_at(&self, endpoint: &str) -> Result<Client> {
        Client::new(endpoint, self.authority.certificate(), &Credential::Token(ADMIN_TOKEN))
    }

    /// Calls with a bearer token.
    pub fn client_with_token(&self, token: &str) -> Result<Client> {
        Client::new(&self.endpoint, self.authority.certificate(), &Credential::Token(token))
    }

    /// A fault proxy before the API server, with a certificate that the cluster's authority signed.
    pub fn proxy(&self) -> Result<Proxy> {
        let identity = self.authority.server()?;
        Proxy::before_kubernetes(&self.endpoint, self.authority.certificate(), &identity)
    }

    /// Add a node and wait until pods can be put on it.
    pub fn add_node(&self, node: &Node) -> Result<Value> {
        let (object, limit) = (node.object(self.logs.port()), Duration::from_secs(30));
        self.admin.create(&object)?;
        self.admin.wait(&format!("/api/v1/nodes/{}", node.name()), limit, Node::is_usable)
    }

    /// Define custom resources and wait until they are served; those that are there stay.
    pub fn install(&self, crds: &[Crds]) -> Result<()> {
        super::crds::install(&self.admin, crds)
    }

    /// Build Kueue's controller if it is not there, and start it with its custom resources; once is enough.
    pub fn start_kueue(&self) -> Result<()> {
        let mut has_kueue = self.has_kueue.lock().unwrap_or_else(PoisonError::into_inner);
        if !*has_kueue {
            let _progress = Progress::start("Starting Kueue");
            super::kueue::start(self)?;
            *has_kueue = true;
        }
        Ok(())
    }

    /// A new namespace, with its service account, so that pods can be made at once.
    pub fn namespace(&self, name: &str) -> Result<()> {
        let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        self.admin.apply(MANAGER, &object)?;
        let account = format!("/api/v1/namespaces/{name}/serviceaccounts/default");
        self.admin.wait(&account, Duration::from_secs(30), |_| true).map(drop)
    }

    /// Let every pod that is made in a namespace from now on behave like this; see [`super::stages`].
    pub fn play(&self, namespace: &str, script: &super::Script) -> Result<()> {
        if let super::Script::Crash(words) = script {
            self.logs.set(namespace, words);
        }
        let patch = json!({"metadata": {"annotations": script.annotations()}});
        self.admin.patch(MANAGER, &format!("/api/v1/namespaces/{namespace}"), &patch).map(drop)
    }

    /// What every container of a namespace is said to have written; see [`super::Script::Crash`] for last words.
    pub fn set_container_log(&self, namespace: &str, text: &str) {
        self.logs.set(namespace, text);
    }

    /// What one of the processes wrote: "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "etcd".
    pub fn log(&self, process: &str) -> String {
        self.processes().log(process)
    }

    /// The ids of the processes.
    pub fn process_ids(&self) -> Vec<u32> {
        self.processes().ids()
    }

    /// A directory that is removed with this control plane.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(super) fn processes(&self) -> MutexGuard<'_, Processes> {
        self.processes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Look until it is so; an error as soon as a process has ended, or with all logs when the time is over.
pub(super) fn await_ready(processes: &mut Processes, mut is_so: impl FnMut() -> Result<bool>) -> Result<()> {
    let done = poll(START_LIMIT, || {
        processes.check()?;
        Ok(is_so()?.then_some(()))
    })?;
    match done {
        Some(()) => Ok(()),
        None => bail!("not ready within {START_LIMIT:?}:\n{}", processes.tails()),
    }
}

/// Nobody listens at first; then some checks still fail.
fn is_ready(client: &Client) -> bool {
    client.send("GET", "/readyz", "", b"").is_ok_and(|reply| reply.status == 200)
}

/// Certificates, keys and kubeconfigs.
fn write_files(processes: &Processes, authority: &Authority, endpoint: &str, tokens: &TokenRules) -> Result<Files> {
    let (private, public) = signing_key()?;
    let (server, ca) = (authority.server()?, authority.pem());
    let user = |name: &str, group| -> Result<String> {
        let identity: Identity = authority.client(name, group)?;
        processes.write(
            &format!("{}.kubeconfig", name.replace(':', "-")),
            kubeconfig::with_identity(endpoint, &ca, &identity),
        )
    };
    Ok(Files {
        admin: user("admin", Some("system:masters"))?,
        controller_manager: user("system:kube-controller-manager", None)?,
        scheduler: user("system:kube-scheduler", None)?,
        kwok: user("kwok", Some("system:masters"))?,
        ca: processes.write("ca.crt", &ca)?,
        server_certificate: processes.write("server.crt", server.certificate_pem())?,
        server_key: processes.write("server.key", server.key_pem())?,
        accounts_private: processes.write("accounts.key", private)?,
        accounts_public: processes.write("accounts.pub", public)?,
        webhook: processes.write("webhook.kubeconfig", kubeconfig::of_webhook(&tokens.url()))?,
        tokens: processes.write("tokens.csv", format!("{ADMIN_TOKEN},admin,admin,system:masters\n"))?,
        stages: stages::write(processes).context("cannot write the stages")?,
    })
}
