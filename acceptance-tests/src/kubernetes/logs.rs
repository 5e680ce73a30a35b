//! The logs of played containers: the API server fetches them from here as from the kubelet of every node.

use super::{
    certificates::Identity,
    server::{Question, Server},
};
use anyhow::Result;
use rustls::ServerConfig;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};
use tokio_rustls::TlsAcceptor;

/// What containers have written, by namespace.
#[derive(Debug)]
pub(super) struct Logs {
    server: Server,
    texts: Arc<Mutex<BTreeMap<String, String>>>,
}

impl Logs {
    pub(super) fn start(identity: &Identity) -> Result<Self> {
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![identity.certificate()], identity.key())?;
        let texts: Arc<Mutex<BTreeMap<String, String>>> = Arc::default();
        let kept = Arc::clone(&texts);
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let server = Server::start("kubelet", Some(acceptor), move |question| {
            let texts = kept.lock().unwrap_or_else(PoisonError::into_inner);
            ("text/plain", answer(&texts, question))
        })?;
        Ok(Self { server, texts })
    }

    /// The port that a node must name as its kubelet's.
    pub(super) fn port(&self) -> u16 {
        self.server.address().port()
    }

    /// What every container of a namespace has written.
    pub(super) fn set(&self, namespace: &str, text: &str) {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner).insert(namespace.to_owned(), text.to_owned());
    }
}

/// `/containerLogs/namespace/pod/container?tailLines=n`; everything else has nothing to say.
fn answer(texts: &BTreeMap<String, String>, question: &Question) -> String {
    let (path, query) = question.target.split_once('?').unwrap_or((&question.target, ""));
    let mut segments = path.split('/').skip(1);
    let text = match (segments.next(), segments.next()) {
        (Some("containerLogs"), Some(namespace)) => texts.get(namespace).map_or("", String::as_str),
        _ => "",
    };
    let lines: Vec<_> = text.lines().collect();
    let asked = query.split('&').find_map(|pair| pair.strip_prefix("tailLines=")?.parse().ok());
    let first = lines.len().saturating_sub(asked.unwrap_or(usize::MAX));
    let last = lines.get(first..).unwrap_or_default();
    last.iter().flat_map(|line| [line, "\n"]).collect()
}
