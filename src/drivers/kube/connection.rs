//! The clusters of one provider configuration: each connected when first needed, then shared.
//!
//! **Invariant:** nothing is read or dialled before the first call to a cluster.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use converge::{Fault, FaultClass};
use tokio::sync::OnceCell;

use super::{
    call::{Answer, Reply, Request},
    config::{self, KubernetesConfig, Target},
    credentials::Renewed,
    discovery::Discovery,
    fault::{Deed, chain, lost},
    program::Program,
    reader::Reader,
    token::Token,
};
use crate::drivers::aws::{Aws, describe_cluster};

/// The clusters that resources name. Share it in an `Arc`.
pub struct Clusters {
    config: KubernetesConfig,
    aws: Arc<Aws>,
    known: Mutex<HashMap<Target, Arc<OnceCell<Arc<ClusterClient>>>>>,
}

/// The client of one cluster.
pub struct ClusterClient {
    config: kube::Config,
    // Made anew where the server no longer accepts what a credential program printed.
    http: RwLock<kube::Client>,
    renewed: Option<Renewed>,
    // Where it prints certificates.
    program: Option<Arc<Program>>,
    pub(super) discovery: Discovery,
    pub(super) reader: Reader,
}

// === impl Clusters ===

impl Clusters {
    /// Clusters as the provider's `kubernetes` block has them, and EKS clusters by name. Does nothing yet.
    pub fn new(config: KubernetesConfig, aws: Arc<Aws>) -> Self {
        Self { config, aws, known: Mutex::default() }
    }

    /// The client of the cluster that a resource names; none: of the provider's.
    pub async fn client(&self, cluster: Option<&str>) -> Result<Arc<ClusterClient>, Fault> {
        let target = self.config.target(cluster);
        let cell = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(known.entry(target.clone()).or_default())
        };
        // A failure is not remembered: the cluster may be there the next time.
        cell.get_or_try_init(|| self.connect(&target)).await.cloned()
    }

    async fn connect(&self, target: &Target) -> Result<Arc<ClusterClient>, Fault> {
        match target {
            Target::Eks(name) => {
                let facts = describe_cluster(&self.aws, name).await.map_err(|fault| no_cluster(fault, name))?;
                let renewed = Renewed::for_eks(Arc::clone(&self.aws), name.clone());
                ClusterClient::new(config::eks(&facts).await?, Some(renewed), None).await
            }
            Target::Block => self.connect_block().await,
        }
    }

    async fn connect_block(&self) -> Result<Arc<ClusterClient>, Fault> {
        let mut config = self.config.load().await?;
        let Some(exec) = config.auth_info.exec.take() else { return ClusterClient::new(config, None, None).await };
        let program = Arc::new(Program::new(exec, self.config.place_of_program()));
        let credential = program.ask().await?;
        credential.identify(&mut config.auth_info);
        match credential.token {
            Some(first) => ClusterClient::new(config, Some(Renewed::by_program(program, first)), None).await,
            None => ClusterClient::new(config, None, Some(program)).await,
        }
    }
}

impl fmt::Debug for Clusters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clusters").field("config", &self.config).finish_non_exhaustive()
    }
}

// === impl ClusterClient ===

impl ClusterClient {
    async fn new(
        config: kube::Config,
        renewed: Option<Renewed>,
        program: Option<Arc<Program>>,
    ) -> Result<Arc<Self>, Fault> {
        let http = RwLock::new(http(config.clone()).await?);
        let (discovery, reader) = (Discovery::default(), Reader::default());
        Ok(Arc::new(Self { config, http, renewed, program, discovery, reader }))
    }

    /// Makes a call; a refusal is an answer too. Where the credentials are refused they are renewed and the call is
    /// made once more: nothing was done.
    pub(super) async fn ask(&self, deed: &Deed, request: &Request) -> Result<Reply, Fault> {
        let token = self.token(None).await?;
        let reply = self.send(deed, request, token.as_ref()).await?;
        if reply.http() != 401 || token.is_none() && !self.renew_client().await? {
            return Ok(reply);
        }
        let token = self.token(token.as_ref()).await?;
        self.send(deed, request, token.as_ref()).await
    }

    /// Makes a call that must succeed.
    pub(super) async fn done(&self, deed: &Deed, request: &Request) -> Result<Answer, Fault> {
        self.ask(deed, request).await?.done(deed)
    }

    async fn token(&self, refused: Option<&Token>) -> Result<Option<Token>, Fault> {
        match &self.renewed {
            Some(renewed) => renewed.token(refused).await.map(Some),
            None => Ok(None),
        }
    }

    async fn send(&self, deed: &Deed, request: &Request, token: Option<&Token>) -> Result<Reply, Fault> {
        let http = self.http.read().unwrap_or_else(PoisonError::into_inner).clone();
        let sent = async {
            let response = http.send(request.build(token)?).await?;
            Reply::read(response).await
        };
        let reply = sent.await.map_err(|error| lost(deed, error))?;
        tracing::debug!(action = deed.action, object = deed.object, http = reply.http(), "called the API server");
        Ok(reply)
    }

    // Makes the client anew, where what it has comes from elsewhere.
    async fn renew_client(&self) -> Result<bool, Fault> {
        let mut config = self.config.clone();
        match &self.program {
            Some(program) => program.ask().await?.identify(&mut config.auth_info),
            None if config.auth_info.auth_provider.is_none() => return Ok(false),
            None => {}
        }
        let http = http(config).await?;
        *self.http.write().unwrap_or_else(PoisonError::into_inner) = http;
        Ok(true)
    }
}

impl fmt::Debug for ClusterClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterClient").field("url", &self.config.cluster_url).finish_non_exhaustive()
    }
}

// On a thread of its own: files are read, and a kubeconfig's `auth-provider` is waited for.
async fn http(config: kube::Config) -> Result<kube::Client, Fault> {
    let made = tokio::task::spawn_blocking(move || kube::Client::try_from(config)).await;
    let made = made.map_err(|error| Fault::new(FaultClass::Bug, config::BLOCK, error.to_string()))?;
    made.map_err(|error| {
        let message = format!("its certificates or credentials cannot be used: {}", chain(&error));
        Fault::new(FaultClass::Invalid, config::BLOCK, message).advise(
            "Check `cluster_ca_certificate`, `client_certificate`, `client_key` and `token` of the provider's \
             `kubernetes` block, or what stands for them in the kubeconfig.",
        )
    })
}

// "Not found" is about the cluster: of the object asked for nothing may be concluded.
fn no_cluster(fault: Fault, name: &str) -> Fault {
    if fault.class != FaultClass::NotFound {
        return fault;
    }
    Fault { class: FaultClass::Invalid, ..fault }.advise(format!(
        "Check that EKS cluster {name:?} is in the provider's region and account. If it was deleted, its objects went \
         with it: remove the resource from the state with `terraform state rm`."
    ))
}

#[cfg(test)]
impl ClusterClient {
    /// A client of a server of [`super::testing`].
    pub(super) async fn of(url: &str, renewed: Option<Renewed>) -> Arc<Self> {
        let config = KubernetesConfig { host: Some(url.to_owned()), ..KubernetesConfig::default() };
        Self::new(config.load().await.unwrap(), renewed, None).await.unwrap()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        time::SystemTime,
    };

    use futures::future::BoxFuture;
    use serde_json::json;

    use super::*;
    use crate::drivers::{
        aws::AwsConfig,
        kube::{credentials::Lease, testing::Server},
    };

    fn tokens() -> Renewed {
        let count = AtomicUsize::new(1);
        let sign = move |_| -> BoxFuture<'static, _> {
            let token = Token::new(&format!("t{}", count.fetch_add(1, Ordering::Relaxed)));
            Box::pin(async { Ok(Lease { token, until: None }) })
        };
        Renewed::new(Box::new(sign), || SystemTime::UNIX_EPOCH)
    }

    async fn calls(accepted: &'static str) -> (u16, Vec<String>) {
        let server = Server::start(move |asked| {
            if asked.authorization == format!("Bearer {accepted}") { (200, json!({})) } else { (401, json!({})) }
        })
        .await;
        let client = ClusterClient::of(&server.url, Some(tokens())).await;
        let reply = client.ask(&Deed::default(), &Request::get("/api")).await.unwrap();
        (reply.http(), server.asked().into_iter().map(|asked| asked.authorization).collect())
    }

    #[tokio::test]
    async fn a_refused_token_is_renewed_and_the_call_made_once_more() {
        assert_eq!(calls("t1").await, (200, vec!["Bearer t1".to_owned()]));
        assert_eq!(calls("t2").await, (200, vec!["Bearer t1".to_owned(), "Bearer t2".to_owned()]));
        assert_eq!(calls("t3").await.0, 401, "once, not for ever");
    }

    #[tokio::test]
    async fn a_cluster_is_connected_once_and_only_when_it_is_needed() {
        let config = KubernetesConfig { host: Some("http://127.0.0.1:1".into()), ..KubernetesConfig::default() };
        let clusters = Clusters::new(config, Arc::new(Aws::new(AwsConfig::default())));
        let (one, two) = tokio::join!(clusters.client(None), clusters.client(None));
        assert!(Arc::ptr_eq(&one.unwrap(), &two.unwrap()));
    }

    #[test]
    fn a_cluster_that_is_gone_is_not_taken_for_an_absent_object() {
        let fault = no_cluster(Fault::new(FaultClass::NotFound, "EKS cluster \"ml\"", "no such cluster"), "ml");
        assert_eq!(fault.class, FaultClass::Invalid);
    }
}
