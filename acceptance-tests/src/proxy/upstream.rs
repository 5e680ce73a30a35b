//! What a proxy stands in front of, and how calls get there.

use super::{call::Call, kubernetes::ApiServer};
use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Request, Response,
    body::Incoming,
    header::{HeaderName, HeaderValue},
    http::request::Parts,
};
use hyper_util::rt::TokioIo;
use std::{io, net::SocketAddr};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

/// An AWS emulator, or a Kubernetes API server.
#[derive(Debug)]
pub(super) enum Upstream {
    /// Plain HTTP; the account is what moto is told, none where the upstream knows by itself.
    Aws { address: SocketAddr, account: Option<String> },
    /// TLS on both sides.
    Kubernetes(ApiServer),
}

impl Upstream {
    /// How clients' connections are decrypted; none where they are plain.
    pub(super) fn acceptor(&self) -> Option<&TlsAcceptor> {
        match self {
            Self::Aws { .. } => None,
            Self::Kubernetes(server) => Some(server.acceptor()),
        }
    }

    /// Recognise a request.
    pub(super) fn identify(&self, parts: &Parts, body: &Bytes) -> Call {
        match self {
            Self::Aws { .. } => Call::identify(parts, body),
            Self::Kubernetes(_) => super::kubernetes::identify(parts, body),
        }
    }

    /// Send a request on. An upstream that is away is an error.
    pub(super) async fn send(&self, request: Request<Full<Bytes>>) -> io::Result<Response<Incoming>> {
        match self {
            Self::Aws { address, account } => send_to_aws(*address, account.as_deref(), request).await,
            Self::Kubernetes(server) => server.send(request).await,
        }
    }
}

async fn send_to_aws(
    address: SocketAddr,
    account: Option<&str>,
    mut request: Request<Full<Bytes>>,
) -> io::Result<Response<Incoming>> {
    if let Some(account) = account.and_then(|account| HeaderValue::from_str(account).ok()) {
        request.headers_mut().insert(HeaderName::from_static("x-moto-account-id"), account);
    }
    let stream = TcpStream::connect(address).await?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    // Ends by itself: when the answer is read and the sender dropped, or when the proxy's runtime ends.
    tokio::spawn(connection);
    sender.send_request(request).await.map_err(io::Error::other)
}
