//! The proxy before a Kubernetes API server: what a request is, and TLS on both sides.
//!
//! A call is named verb.resource, with the subresource where there is one: "apply.deployments", "get.pods/log",
//! "watch.pods", "list.configmaps", "create.namespaces", "discovery.apis". A dry run is "dry_run.deployments",
//! whatever its verb, and no write. Upgraded connections (exec, attach) are not passed on.

use super::call::{Call, Protocol};
use crate::kubernetes::Identity;
use anyhow::{Context, Result};
use bytes::Bytes;
use http_body_util::Full;
use hyper::{Method, Request, Response, body::Incoming, client::conn::http1::SendRequest, http::request::Parts};
use hyper_util::rt::TokioIo;
use rustls::{
    ClientConfig, RootCertStore, ServerConfig,
    pki_types::{CertificateDer, ServerName},
};
use std::{
    fmt, io,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::net::TcpStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// An API server, with connections that are kept open between calls.
pub(super) struct ApiServer {
    address: SocketAddr,
    connector: TlsConnector,
    acceptor: TlsAcceptor,
    idle: Mutex<Vec<SendRequest<Full<Bytes>>>>,
}

impl ApiServer {
    /// The server at `https://address:port` whose certificate this authority signed; clients are shown `identity`.
    pub(super) fn new(endpoint: &str, ca: CertificateDer<'static>, identity: &Identity) -> Result<Self> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(ca)?;
        let client = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let server = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![identity.certificate()], identity.key())?;
        let address = endpoint.strip_prefix("https://").context("an API server is https://address:port")?;
        Ok(Self {
            address: address.parse().with_context(|| format!("{endpoint} is not https://address:port"))?,
            connector: TlsConnector::from(Arc::new(client)),
            acceptor: TlsAcceptor::from(Arc::new(server)),
            idle: Mutex::default(),
        })
    }

    pub(super) fn acceptor(&self) -> &TlsAcceptor {
        &self.acceptor
    }

    /// Send over a connection that is free, or a new one.
    pub(super) async fn send(&self, request: Request<Full<Bytes>>) -> io::Result<Response<Incoming>> {
        let mut sender = match self.take_idle() {
            Some(sender) => sender,
            None => self.connect().await?,
        };
        let answer = sender.send_request(request).await.map_err(io::Error::other);
        // It is free again once the answer has been read: asked for when it is next needed.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
        answer
    }

    fn take_idle(&self) -> Option<SendRequest<Full<Bytes>>> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|sender| !sender.is_closed());
        let free = idle.iter().position(SendRequest::is_ready)?;
        Some(idle.swap_remove(free))
    }

    async fn connect(&self) -> io::Result<SendRequest<Full<Bytes>>> {
        let name = ServerName::try_from("localhost").map_err(io::Error::other)?;
        let stream = TcpStream::connect(self.address).await?;
        stream.set_nodelay(true)?;
        let stream = self.connector.connect(name, stream).await?;
        let (sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
        tokio::spawn(connection);
        Ok(sender)
    }
}

impl fmt::Debug for ApiServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ApiServer").field(&self.address).finish()
    }
}

/// Recognise a request to an API server.
pub(super) fn identify(parts: &Parts, body: &Bytes) -> Call {
    let query = parts.uri.query().unwrap_or_default();
    let (verb, resource) = match Resource::of(parts.uri.path()) {
        Some(resource) if is_dry_run(query) => ("dry_run", resource.name()),
        Some(resource) => (verb(parts, query, resource.is_named), resource.name()),
        None => ("discovery", parts.uri.path().split('/').nth(1).unwrap_or_default().to_owned()),
    };
    // A review asks a question, in the form of an object.
    let reads = matches!(verb, "get" | "list" | "watch" | "dry_run" | "discovery") || resource.ends_with("reviews");
    Call {
        service: verb.to_owned(),
        operation: resource,
        protocol: Protocol::Kubernetes,
        write: !reads,
        method: parts.method.clone(),
        target: parts.uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string),
        body: String::from_utf8_lossy(body).into_owned(),
    }
}

/// Whether the answer goes on as long as the client listens.
pub(super) fn is_endless(call: &Call) -> bool {
    call.protocol == Protocol::Kubernetes
        && (call.service == "watch" || (call.operation == "pods/log" && has_flag(&call.target, "follow")))
}

fn verb(parts: &Parts, query: &str, is_named: bool) -> &'static str {
    let kind = parts.headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
    match parts.method {
        Method::GET if has_flag(query, "watch") => "watch",
        Method::GET | Method::HEAD if is_named => "get",
        Method::GET | Method::HEAD => "list",
        Method::POST => "create",
        Method::PUT => "update",
        Method::DELETE if is_named => "delete",
        Method::DELETE => "deletecollection",
        Method::PATCH if kind.starts_with("application/apply-patch") => "apply",
        _ => "patch",
    }
}

fn is_dry_run(query: &str) -> bool {
    query.split('&').any(|pair| pair.starts_with("dryRun="))
}

fn has_flag(query: &str, name: &str) -> bool {
    let value = query.split(['&', '?']).find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    value.is_some_and(|value| value == "true" || value == "1")
}

/// What a path is about.
#[derive(Debug, PartialEq, Eq)]
struct Resource<'p> {
    plural: &'p str,
    is_named: bool,
    subresource: Option<&'p str>,
}

impl<'p> Resource<'p> {
    /// None for everything that is no object: discovery, OpenAPI, version, health.
    fn of(path: &'p str) -> Option<Self> {
        let mut segments = path.split('/').filter(|segment| !segment.is_empty());
        let skipped = match segments.next()? {
            "api" => 1,
            "apis" => 2,
            _ => return None,
        };
        let rest: Vec<_> = segments.skip(skipped).collect();
        let parts = match rest.as_slice() {
            // A namespace's own subresources look like resources in it.
            ["namespaces", _, resource, ..] if !matches!(*resource, "status" | "finalize") => rest.get(2..)?,
            other => other,
        };
        let plural = *parts.first()?;
        Some(Self { plural, is_named: parts.len() > 1, subresource: parts.get(2).copied() })
    }

    fn name(&self) -> String {
        self.subresource.map_or_else(|| self.plural.to_owned(), |sub| format!("{}/{sub}", self.plural))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(method: &str, target: &str, kind: &str) -> String {
        let request = Request::builder().method(method).uri(target).header("content-type", kind);
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let call = identify(&parts, &Bytes::new());
        format!("{}{}", call.name(), if call.write { " write" } else { "" })
    }

    #[test]
    fn calls_are_named_by_verb_and_resource() {
        let deployment = "/apis/apps/v1/namespaces/a/deployments/b";
        assert_eq!(name("GET", deployment, ""), "get.deployments");
        assert_eq!(name("PATCH", deployment, "application/apply-patch+yaml"), "apply.deployments write");
        assert_eq!(
            name("PATCH", &format!("{deployment}/scale"), "application/merge-patch+json"),
            "patch.deployments/scale write"
        );
        assert_eq!(
            name("PATCH", &format!("{deployment}?dryRun=All"), "application/apply-patch+yaml"),
            "dry_run.deployments"
        );
        assert_eq!(name("GET", "/api/v1/pods?labelSelector=a", ""), "list.pods");
        assert_eq!(name("GET", "/api/v1/namespaces/a/pods?watch=true", ""), "watch.pods");
        assert_eq!(name("GET", "/api/v1/namespaces/a/pods/b/log", ""), "get.pods/log");
        assert_eq!(name("DELETE", "/api/v1/namespaces/a/pods", ""), "deletecollection.pods write");
        assert_eq!(
            name("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", ""),
            "create.selfsubjectaccessreviews"
        );
    }

    #[test]
    fn namespaces_are_objects_too() {
        assert_eq!(name("GET", "/api/v1/namespaces", ""), "list.namespaces");
        assert_eq!(name("DELETE", "/api/v1/namespaces/a", ""), "delete.namespaces write");
        assert_eq!(name("PUT", "/api/v1/namespaces/a/finalize", ""), "update.namespaces/finalize write");
    }

    #[test]
    fn what_is_no_object_is_discovery() {
        for (path, called) in [
            ("/api", "api"),
            ("/api/v1", "api"),
            ("/apis/apps/v1", "apis"),
            ("/openapi/v3", "openapi"),
            ("/version", "version"),
        ] {
            assert_eq!(name("GET", path, ""), format!("discovery.{called}"));
        }
    }
}
