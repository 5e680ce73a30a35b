//! Where a cluster is and how to be let in: from the provider's `kubernetes` block, from the environment where the
//! block names nothing, or from EKS.

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use converge::{Fault, FaultClass};
use kube::config::{Config, KubeConfigOptions, Kubeconfig, KubeconfigError, NamedContext};
use serde_json::{Value as Json, json};

use super::proxy::proxy;
use crate::drivers::aws::ClusterFacts;

/// What the provider's `kubernetes` block says. All of it may be absent.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct KubernetesConfig {
    /// Path of a kubeconfig file; `~` is the home directory.
    pub config_path: Option<String>,
    /// Context of the kubeconfig.
    pub context: Option<String>,
    /// An EKS cluster.
    pub eks_cluster: Option<String>,
    /// URL of the API server.
    pub host: Option<String>,
    /// Its certificate authority, in PEM.
    pub cluster_ca_certificate: Option<String>,
    /// Bearer token.
    pub token: Option<String>,
    /// Client certificate, in PEM.
    pub client_certificate: Option<String>,
    /// Key of the client certificate, in PEM.
    pub client_key: Option<String>,
    /// A program that prints credentials.
    pub exec: Option<ExecConfig>,
}

/// A program that prints credentials.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecConfig {
    /// Program.
    pub command: String,
    /// Arguments.
    pub args: Vec<String>,
    /// Environment variables added.
    pub env: BTreeMap<String, String>,
}

/// The cluster that is meant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Target {
    /// An EKS cluster by its name.
    Eks(String),
    /// What the `kubernetes` block or the environment says.
    Block,
}

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
// An API server answers an ordinary call within a minute or says that it timed out.
const READ_TIMEOUT: Duration = Duration::from_secs(70);
/// What a fault of the configuration is about.
pub(super) const BLOCK: &str = "Kubernetes configuration";

// === impl KubernetesConfig ===

impl KubernetesConfig {
    /// The cluster of a resource that names `cluster`.
    pub(super) fn target(&self, cluster: Option<&str>) -> Target {
        match (cluster, &self.eks_cluster) {
            (Some(name), _) => Target::Eks(name.to_owned()),
            (None, Some(name)) if self.host.is_none() && self.config_path.is_none() => Target::Eks(name.clone()),
            _ => Target::Block,
        }
    }

    /// Where the block's cluster is. Reads files; dials nothing.
    pub(super) async fn load(&self) -> Result<Config, Fault> {
        let kubeconfig = match &self.host {
            Some(host) => self.explicit(host)?,
            None => self.files()?,
        };
        let context = self.context.clone().filter(|_| self.host.is_none());
        let options = KubeConfigOptions { context, ..KubeConfigOptions::default() };
        ready(kubeconfig, &options).await
    }

    /// Where the credential program is named, if there is one.
    pub(super) fn place_of_program(&self) -> &'static str {
        if self.host.is_some() { "`kubernetes.exec.command` of the provider" } else { "the kubeconfig" }
    }

    fn files(&self) -> Result<Kubeconfig, Fault> {
        let path = self.config_path.as_deref().map(expand_home).or_else(|| variable("KUBE_CONFIG_PATH"));
        let read = match path {
            Some(path) => Kubeconfig::read_from(path),
            None if variable("KUBECONFIG").is_some() || self.context.is_some() => Kubeconfig::read(),
            None => return Err(unset()),
        };
        read.map_err(|error| unusable(&error))
    }

    fn explicit(&self, host: &str) -> Result<Kubeconfig, Fault> {
        let mut cluster = json!({ "server": host });
        if let Some(pem) = &self.cluster_ca_certificate {
            set(&mut cluster, "certificate-authority-data", json!(STANDARD.encode(pem)));
        }
        let mut user = json!({});
        for (name, pem) in
            [("client-certificate-data", &self.client_certificate), ("client-key-data", &self.client_key)]
        {
            if let Some(pem) = pem {
                set(&mut user, name, json!(STANDARD.encode(pem)));
            }
        }
        if let Some(token) = &self.token {
            set(&mut user, "token", json!(token));
        }
        if let Some(exec) = &self.exec {
            set(&mut user, "exec", exec.document());
        }
        kubeconfig(&cluster, &user)
    }
}

// The block may hold a token or a key.
impl fmt::Debug for KubernetesConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KubernetesConfig")
            .field("config_path", &self.config_path)
            .field("context", &self.context)
            .field("eks_cluster", &self.eks_cluster)
            .field("host", &self.host)
            .finish_non_exhaustive()
    }
}

// === impl ExecConfig ===

impl ExecConfig {
    fn document(&self) -> Json {
        let env: Vec<_> = self.env.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
        json!({
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": self.command,
            "args": self.args,
            "env": env,
            "interactiveMode": "Never",
        })
    }
}

// === impl Target ===

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Eks(name) => write!(f, "EKS cluster {name:?}"),
            Self::Block => f.write_str("Kubernetes cluster of the provider's `kubernetes` block"),
        }
    }
}

/// Where an EKS cluster is; without credentials, which are signed for each moment.
pub(super) async fn eks(cluster: &ClusterFacts) -> Result<Config, Fault> {
    let object = format!("EKS cluster {:?}", cluster.name);
    if cluster.endpoint.is_empty() {
        let message = format!("{object} has no API server yet: its status is {}", cluster.status);
        return Err(Fault::new(FaultClass::NotYetConsistent, object, message)
            .advise("Run terraform apply again when the cluster is ACTIVE."));
    }
    let place = json!({
        "server": cluster.endpoint,
        "certificate-authority-data": cluster.certificate_authority,
    });
    ready(kubeconfig(&place, &json!({}))?, &KubeConfigOptions::default()).await
}

async fn ready(kubeconfig: Kubeconfig, options: &KubeConfigOptions) -> Result<Config, Fault> {
    let contexts = kubeconfig.contexts.clone();
    let named = named_proxy(&kubeconfig, options);
    let loaded = Config::from_custom_kubeconfig(kubeconfig, options).await;
    let mut config = loaded.map_err(|error| match error {
        KubeconfigError::LoadContext(name) => no_context(&name, &contexts),
        error => unusable(&error),
    })?;
    // The engine repeats what failed, after a look at what a write did.
    config.default_retry = false;
    config.connect_timeout = Some(CONNECT_TIMEOUT);
    config.read_timeout = Some(READ_TIMEOUT);
    config.reset_reader_on_write = true;
    config.proxy_url = proxy(&config.cluster_url, named.as_deref(), |name| {
        variable(name).map(|value| value.to_string_lossy().into_owned())
    })?;
    Ok(config)
}

// The proxy that the kubeconfig names for the cluster of its context.
fn named_proxy(kubeconfig: &Kubeconfig, options: &KubeConfigOptions) -> Option<String> {
    let context = options.context.as_ref().or(kubeconfig.current_context.as_ref())?;
    let context = kubeconfig.contexts.iter().find(|known| known.name == *context)?.context.as_ref()?;
    let cluster = kubeconfig.clusters.iter().find(|known| known.name == context.cluster)?;
    cluster.cluster.as_ref()?.proxy_url.clone()
}

fn kubeconfig(cluster: &Json, user: &Json) -> Result<Kubeconfig, Fault> {
    let document = json!({
        "clusters": [{ "name": "c", "cluster": cluster }],
        "users": [{ "name": "u", "user": user }],
        "contexts": [{ "name": "x", "context": { "cluster": "c", "user": "u" } }],
        "current-context": "x",
    });
    // Nothing of it is shown: it may hold a token or a key.
    serde_json::from_value(document).map_err(|_| {
        Fault::new(FaultClass::Invalid, BLOCK, "it makes no kubeconfig")
            .advise("Check the provider's `kubernetes` block.")
    })
}

fn set(map: &mut Json, name: &str, value: Json) {
    if let Some(map) = map.as_object_mut() {
        map.insert(name.to_owned(), value);
    }
}

fn expand_home(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), variable("HOME")) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => Path::new(path).to_owned(),
    }
}

#[expect(clippy::disallowed_methods, reason = "the one file that knows what the environment says of clusters")]
fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn unset() -> Fault {
    Fault::new(FaultClass::Invalid, BLOCK, "no Kubernetes cluster is named").advise(
        "Set `cluster` of the resource to the name of an EKS cluster, or the provider's `kubernetes` block \
         (`config_path`, `host` or `eks_cluster`), or KUBECONFIG.",
    )
}

fn no_context(name: &str, contexts: &[NamedContext]) -> Fault {
    let names: Vec<_> = contexts.iter().map(|context| format!("{:?}", context.name)).collect();
    let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    Fault::new(FaultClass::Invalid, BLOCK, format!("the kubeconfig has no context {name:?}; it has {known}"))
        .advise("Set `kubernetes.context` of the provider to one of them, or leave it out for the current context.")
}

fn unusable(error: &KubeconfigError) -> Fault {
    let fault = |message: String| Fault::new(FaultClass::Invalid, BLOCK, message);
    match error {
        KubeconfigError::ReadConfig(error, path) => {
            fault(format!("kubeconfig \"{}\" cannot be read: {error}", path.display()))
                .advise("Check `kubernetes.config_path` of the provider, or KUBECONFIG.")
        }
        // Only where it fails: what stands there may be a token.
        KubeconfigError::Parse(error) => {
            let place = error.location().map(|at| format!(" beginning with line {}", at.line())).unwrap_or_default();
            fault(format!("the kubeconfig is not understood{place}"))
                .advise("Correct the file that `kubernetes.config_path` of the provider, or KUBECONFIG, names.")
        }
        KubeconfigError::ParseClusterUrl(_) | KubeconfigError::MissingClusterUrl => fault(format!("{error}"))
            .advise("Set `kubernetes.host` of the provider, or `server` in the kubeconfig, to an https:// URL."),
        _ => fault(format!("the kubeconfig cannot be used: {error}"))
            .advise("Correct it, or name another in `kubernetes.config_path` of the provider."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resources_cluster_comes_before_the_providers() {
        let config = KubernetesConfig { eks_cluster: Some("dflt".into()), ..KubernetesConfig::default() };
        assert_eq!(config.target(Some("ml")), Target::Eks("ml".into()));
        assert_eq!(config.target(None), Target::Eks("dflt".into()));
        let config = KubernetesConfig { host: Some("https://k".into()), ..config };
        assert_eq!(config.target(None), Target::Block);
    }

    #[tokio::test]
    async fn an_explicit_host_needs_no_file() {
        let config = KubernetesConfig {
            host: Some("https://127.0.0.1:6443".into()),
            token: Some("t0ken".into()),
            context: Some("of no file".into()),
            ..KubernetesConfig::default()
        };
        let loaded = config.load().await.unwrap();
        assert_eq!(loaded.cluster_url.to_string(), "https://127.0.0.1:6443/");
        assert!(loaded.auth_info.token.is_some() && !loaded.default_retry);
        assert!(!format!("{config:?}").contains("t0ken"));
    }

    #[tokio::test]
    async fn a_cluster_that_is_being_made_has_no_address_yet() {
        let cluster = ClusterFacts { name: "ml".into(), status: "CREATING".into(), ..ClusterFacts::default() };
        let fault = eks(&cluster).await.unwrap_err();
        assert_eq!(fault.class, FaultClass::NotYetConsistent);
        assert!(fault.message.contains("CREATING"));
    }

    #[tokio::test]
    async fn a_token_in_a_broken_kubeconfig_is_not_shown() {
        let file = std::env::temp_dir().join(format!("mlplat-broken-{}.yaml", std::process::id()));
        for text in ["users:\n- user: {token: s3cret\n", "users: s3cret\n", "clusters: [{name: a, cluster: s3cret}]\n"]
        {
            std::fs::write(&file, text).unwrap();
            let path = file.to_string_lossy().into_owned();
            let config = KubernetesConfig { config_path: Some(path), ..KubernetesConfig::default() };
            let fault = config.load().await.unwrap_err();
            assert!(!format!("{fault:?}").contains("s3cret"), "{fault:?}");
            assert!(fault.message.contains("not understood"), "{}", fault.message);
        }
        std::fs::remove_file(file).unwrap();
    }

    #[tokio::test]
    async fn a_server_is_reached_through_the_proxy_that_the_kubeconfig_names() {
        let proxy = crate::drivers::kube::testing::Server::start(|_| (502, json!({}))).await;
        let cluster = json!({ "server": "https://k.test:6443", "proxy-url": proxy.url });
        let kubeconfig = kubeconfig(&cluster, &json!({})).unwrap();
        let client = kube::Client::try_from(ready(kubeconfig, &KubeConfigOptions::default()).await.unwrap()).unwrap();
        let request = http::Request::get("/version").body(Vec::new()).unwrap();
        assert!(client.request_text(request).await.is_err(), "this proxy lets nobody through");
        assert_eq!(proxy.lines(), ["CONNECT k.test:6443"]);
    }

    #[test]
    fn a_program_is_never_asked_to_interact() {
        let exec = ExecConfig { command: "aws".into(), args: vec!["eks".into()], ..ExecConfig::default() };
        assert_eq!(exec.document()["interactiveMode"], "Never");
    }
}
