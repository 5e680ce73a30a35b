//! Connections as the server takes them: accepted, and through their TLS handshake if there is TLS.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{UnixListener, UnixStream},
    sync::mpsc,
    time::{sleep, timeout},
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::transport::server::Connected;

/// A host answers at once or is none.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(10);

/// Accepting fails when file descriptors are short, and at once again if asked at once.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A connection with or without TLS.
#[derive(Debug)]
pub(crate) enum Conn {
    Plain(UnixStream),
    Tls(Box<TlsStream<UnixStream>>),
}

/// Accepts connections until `end`. A client that fails its handshake keeps nobody else waiting.
pub(crate) fn accept(
    listener: UnixListener,
    tls: Option<Arc<rustls::ServerConfig>>,
    end: CancellationToken,
) -> ReceiverStream<io::Result<Conn>> {
    let (ready, connections) = mpsc::channel(8);
    let tls = tls.map(TlsAcceptor::from);
    tokio::spawn(end.run_until_cancelled_owned(async move {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => drop(tokio::spawn(admit(stream, tls.clone(), ready.clone()))),
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }));
    ReceiverStream::new(connections)
}

async fn admit(stream: UnixStream, tls: Option<TlsAcceptor>, ready: mpsc::Sender<io::Result<Conn>>) {
    let conn = match tls {
        None => Conn::Plain(stream),
        Some(tls) => match timeout(HANDSHAKE_LIMIT, tls.accept(stream)).await {
            Ok(Ok(stream)) => Conn::Tls(Box::new(stream)),
            Ok(Err(error)) => return tracing::warn!(%error, "refused a connection"),
            Err(_) => return tracing::warn!("a client did not finish its TLS handshake"),
        },
    };
    // The receiver is gone only when the server is ending.
    let _ = ready.send(Ok(conn)).await;
}

impl Connected for Conn {
    type ConnectInfo = ();

    fn connect_info(&self) {}
}

impl AsyncRead for Conn {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Conn {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, buf),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, buf),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
