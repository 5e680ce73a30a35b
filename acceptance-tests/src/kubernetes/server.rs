//! A small HTTP server in this process, on loopback: what the API server asks of a webhook or of a kubelet.

use anyhow::Result;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{
    Request, Response,
    body::Incoming,
    header::{CONTENT_TYPE, HeaderValue},
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use std::{convert::Infallible, net::SocketAddr, sync::Arc, thread::JoinHandle};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::oneshot,
    task::JoinSet,
};
use tokio_rustls::TlsAcceptor;

/// A running server; it ends when dropped.
#[derive(Debug)]
pub(super) struct Server {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What a server is asked.
pub(super) struct Question {
    /// Path and query.
    pub(super) target: String,
    pub(super) body: Bytes,
}

/// Media type and text of an answer.
pub(super) type Answer = (&'static str, String);

/// Answers a question; shared by all connections.
type Answering = Arc<dyn Fn(&Question) -> Answer + Send + Sync>;

impl Server {
    /// Listen on a free port, with TLS where there is an acceptor.
    pub(super) fn start(
        name: &str,
        acceptor: Option<TlsAcceptor>,
        answer: impl Fn(&Question) -> Answer + Send + Sync + 'static,
    ) -> Result<Self> {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            runtime.block_on(serve(listener, acceptor, Arc::new(answer), stopped));
        })?;
        Ok(Self { address, stop: Some(stop), thread: Some(thread) })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A server that panicked has shown itself as calls that failed.
            let _ = thread.join();
        }
    }
}

async fn serve(
    listener: std::net::TcpListener,
    acceptor: Option<TlsAcceptor>,
    answer: Answering,
    mut stopped: oneshot::Receiver<()>,
) {
    let Ok(listener) = TcpListener::from_std(listener) else {
        return;
    };
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            _ = &mut stopped => return,
            accepted = listener.accept() => if let Ok((stream, _)) = accepted {
                connections.spawn(connection(stream, acceptor.clone(), Arc::clone(&answer)));
            },
        }
    }
}

async fn connection(stream: TcpStream, acceptor: Option<TlsAcceptor>, answer: Answering) {
    match acceptor {
        None => converse(stream, answer).await,
        Some(acceptor) => {
            if let Ok(stream) = acceptor.accept(stream).await {
                converse(stream, answer).await;
            }
        }
    }
}

async fn converse(stream: impl AsyncRead + AsyncWrite + Unpin, answer: Answering) {
    let service = service_fn(move |request| respond(request, Arc::clone(&answer)));
    // The API server may hang up whenever it likes.
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn respond(request: Request<Incoming>, answer: Answering) -> Result<Response<Full<Bytes>>, Infallible> {
    let (parts, body) = request.into_parts();
    let target = parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let (kind, text) = answer(&Question { target, body });
    let mut response = Response::new(Full::new(Bytes::from(text)));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    Ok(response)
}
