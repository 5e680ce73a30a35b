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
    fault::{Deed, lost},
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
        let (config, renewed) = match target {
            Target::Eks(name) => {
                let facts = describe_cluster(&self.aws, name).await.map_err(|fault| no_cluster(fault, name))?;
                (config::eks(&facts).await?, Some(Renewed::for_eks(Arc::clone(&self.aws), name.clone())))
            }
            Target::Block => (self.config.load().await?, None),
        };
        let http = http(config.clone(), target.to_string()).await?;
        Ok(Arc::new(ClusterClient {
            config,
            http: RwLock::new(http),
            renewed,
            discovery: Discovery::default(),
            reader: Reader::default(),
        }))
    }
}

impl fmt::Debug for Clusters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clusters").field("config", &self.config).finish_non_exhaustive()
    }
}

// === impl ClusterClient ===

impl ClusterClient {
    /// Makes a call; a refusal is an answer too. Where the credentials are refused they are renewed and the call is
    /// made once more: nothing was done.
    pub(super) async fn ask(&self, deed: &Deed, request: &Request) -> Result<Reply, Fault> {
        let token = self.token(None).await?;
        let reply = self.send(deed, request, token.as_ref()).await?;
        if reply.http() != 401 || !self.renew_program(deed).await? && token.is_none() {
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

    // Runs the kubeconfig's program again, where it has one.
    async fn renew_program(&self, deed: &Deed) -> Result<bool, Fault> {
        let user = &self.config.auth_info;
        if user.exec.is_none() && user.auth_provider.is_none() {
            return Ok(false);
        }
        let http = http(self.config.clone(), deed.object.clone()).await?;
        *self.http.write().unwrap_or_else(PoisonError::into_inner) = http;
        Ok(true)
    }
}

impl fmt::Debug for ClusterClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterClient").field("url", &self.config.cluster_url).finish_non_exhaustive()
    }
}

// On a thread of its own: a credential program is waited for.
async fn http(config: kube::Config, object: String) -> Result<kube::Client, Fault> {
    let deed = Deed { action: String::new(), object, is_write: false };
    let made = tokio::task::spawn_blocking(move || kube::Client::try_from(config)).await;
    let made = made.map_err(|error| Fault::new(FaultClass::Bug, &deed.object, error.to_string()))?;
    made.map_err(|error| match lost(&deed, error) {
        fault if fault.class == FaultClass::Unauthenticated => fault,
        fault => Fault { class: FaultClass::Invalid, message: "the client cannot be made".to_owned(), ..fault }
            .advise("Check certificates and credentials of the provider's `kubernetes` block or kubeconfig."),
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
        let config = config.load().await.unwrap();
        let http = RwLock::new(http(config.clone(), url.to_owned()).await.unwrap());
        Arc::new(Self { config, http, renewed, discovery: Discovery::default(), reader: Reader::default() })
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        time::{Duration, SystemTime},
    };

    use futures::future::BoxFuture;
    use serde_json::json;

    use super::*;
    use crate::drivers::{aws::AwsConfig, kube::testing::Server};

    fn tokens() -> Renewed {
        let count = AtomicUsize::new(1);
        let sign = move |_| -> BoxFuture<'static, _> {
            let token = Token::new(&format!("t{}", count.fetch_add(1, Ordering::Relaxed)));
            Box::pin(async { Ok(token) })
        };
        Renewed::new(Box::new(sign), || SystemTime::UNIX_EPOCH, Duration::from_mins(10))
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
