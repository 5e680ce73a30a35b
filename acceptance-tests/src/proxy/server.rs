//! The proxy's connections: accept, recognise, apply the rule that fires, forward, write the journal.

use super::{
    Shared,
    call::{Call, Protocol},
    journal::Entry,
    kubernetes::is_endless,
    peer,
    reply::{self, Outgoing},
    rule::Fault,
};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{
    Request, Response,
    body::Incoming,
    header::{CONNECTION, CONTENT_LENGTH, EXPECT, HeaderValue, TRANSFER_ENCODING},
    http::request::Parts,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::Value;
use std::{
    io,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::oneshot,
    task::JoinSet,
};

/// An error ends the connection without an answer: that is how a drop is made.
type Answer = Result<Response<Outgoing>, io::Error>;

/// Accept until told to stop; connections end with the function.
pub(super) async fn serve(listener: std::net::TcpListener, shared: Arc<Shared>, mut stopped: oneshot::Receiver<()>) {
    let Ok(listener) = TcpListener::from_std(listener) else {
        return;
    };
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            _ = &mut stopped => return,
            accepted = listener.accept() => if let Ok((stream, client)) = accepted {
                connections.spawn(connection(stream, client, Arc::clone(&shared)));
            },
        }
    }
}

async fn connection(stream: TcpStream, client: SocketAddr, shared: Arc<Shared>) {
    let _ = stream.set_nodelay(true);
    match shared.upstream.acceptor() {
        None => converse(stream, client, shared).await,
        Some(acceptor) => {
            // A client that does not trust the certificate is its test's affair.
            if let Ok(stream) = acceptor.clone().accept(stream).await {
                converse(stream, client, shared).await;
            }
        }
    }
}

async fn converse(stream: impl AsyncRead + AsyncWrite + Unpin, client: SocketAddr, shared: Arc<Shared>) {
    let service = service_fn(move |request| handle(request, client, Arc::clone(&shared)));
    let server = hyper::server::conn::http1::Builder::new().timer(TokioTimer::new()).clone();
    // A connection that a rule cut is an error here and the point of the rule.
    let _ = server.serve_connection(TokioIo::new(stream), service).await;
}

async fn handle(request: Request<Incoming>, client: SocketAddr, shared: Arc<Shared>) -> Answer {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let call = shared.upstream.identify(&parts, &body);
    let arrival = arrive(&shared, &call);
    // Ended by drop as well: a client that gave up leaves its entry without a status.
    let mut ticket = Ticket { shared: Arc::clone(&shared), started: Instant::now(), arrival, status: None };
    tokio::time::sleep(ticket.arrival.latency).await;
    let fault = ticket.arrival.fault.take();
    let answer = apply(fault, Exchange { call, parts, body, client, shared: &shared }).await;
    ticket.status = answer.as_ref().ok().map(|response| response.status().as_u16());
    answer
}

/// What arriving decided.
struct Arrival {
    fault: Option<Fault>,
    latency: Duration,
    index: usize,
    generation: u64,
}

/// Enter the call into the journal and pick its fault.
fn arrive(shared: &Shared, call: &Call) -> Arrival {
    let mut state = shared.lock();
    let mut fault = None;
    for rule in &mut state.rules {
        // Every rule counts the call; the first that fires decides.
        if rule.fires(call) && fault.is_none() {
            rule.hits += 1;
            fault = Some(rule.fault.clone());
        }
    }
    state.in_flight += 1;
    state.journal.most_at_once = state.journal.most_at_once.max(state.in_flight);
    state.journal.entries.push(Entry {
        name: call.name(),
        write: call.write,
        target: format!("{} {}", call.method, call.target),
        body: call.body.clone(),
        status: None,
        fault: fault.as_ref().map(Fault::label),
        millis: 0,
    });
    let index = state.journal.entries.len() - 1;
    Arrival { fault, latency: state.latency, index, generation: state.generation }
}

/// A call in flight; dropping it completes its entry.
struct Ticket {
    shared: Arc<Shared>,
    started: Instant,
    arrival: Arrival,
    status: Option<u16>,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.in_flight -= 1;
        if state.generation != self.arrival.generation {
            return;
        }
        if let Some(entry) = state.journal.entries.get_mut(self.arrival.index) {
            entry.status = self.status;
            entry.millis = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        }
    }
}

/// A request with everything that a fault may need of it.
struct Exchange<'s> {
    call: Call,
    parts: Parts,
    body: Bytes,
    client: SocketAddr,
    shared: &'s Shared,
}

async fn apply(fault: Option<Fault>, exchange: Exchange<'_>) -> Answer {
    const SAID: &str = "injected by the fault proxy";
    let (call, client) = (exchange.call.clone(), exchange.client);
    let call = &call;
    match fault.unwrap_or(Fault::Pass) {
        Fault::Pass => pass(exchange).await,
        Fault::Internal => Ok(reply::error(call, 500, reply::internal_of(call), SAID)),
        Fault::Throttle => {
            let (status, code) = reply::throttle_of(call);
            Ok(reply::error(call, status, code, SAID))
        }
        Fault::Denied => Ok(reply::error(call, 403, reply::denied_of(call), SAID)),
        Fault::Error { status, code, message } => Ok(reply::error(call, status, &code, &message)),
        Fault::DropBefore => Err(dropped()),
        Fault::DropAfter => forward(exchange).await.and_then(|_| Err(dropped())),
        Fault::Truncate => Ok(truncated(forward(exchange).await?)),
        Fault::Hang => std::future::pending().await,
        Fault::Delay(by) => {
            tokio::time::sleep(by).await;
            pass(exchange).await
        }
        Fault::Respond { status, kind, body } => {
            let kind = if call.protocol == Protocol::Kubernetes { "application/json" } else { kind };
            Ok(reply::respond(status, &[("content-type", kind)], body))
        }
        Fault::PatchJson(patches) => Ok(patched(forward(exchange).await?, &patches)),
        Fault::KillBefore => kill(client),
        Fault::KillAfter => forward(exchange).await.and_then(|_| kill(client)),
    }
}

fn dropped() -> io::Error {
    io::Error::from(io::ErrorKind::ConnectionReset)
}

/// Kill the caller; one that is no provider only loses its connection.
fn kill(client: SocketAddr) -> Answer {
    peer::kill_provider(client);
    Err(dropped())
}

/// Send the call on and read the whole answer. An upstream that is away drops the client.
async fn forward(exchange: Exchange<'_>) -> io::Result<(Response<()>, Bytes)> {
    let (head, incoming) = send(exchange).await?.into_parts();
    let bytes = incoming.collect().await.map_err(io::Error::other)?.to_bytes();
    Ok((Response::from_parts(head, ()), bytes))
}

/// Send the call on and give back the answer, piece by piece if it has no end.
async fn pass(exchange: Exchange<'_>) -> Answer {
    if !is_endless(&exchange.call) {
        return Ok(whole(forward(exchange).await?));
    }
    let (head, incoming) = send(exchange).await?.into_parts();
    Ok(with_body(Response::from_parts(head, ()), Outgoing::live(incoming)))
}

async fn send(exchange: Exchange<'_>) -> io::Result<Response<Incoming>> {
    let Exchange { mut parts, body, shared, .. } = exchange;
    for name in [CONNECTION, EXPECT, TRANSFER_ENCODING] {
        parts.headers.remove(name);
    }
    parts.headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
    shared.upstream.send(Request::from_parts(parts, Full::new(body))).await
}

/// The answer with a body; the server sets the framing headers itself.
fn with_body(response: Response<()>, body: Outgoing) -> Response<Outgoing> {
    let (mut head, ()) = response.into_parts();
    head.headers.remove(CONNECTION);
    head.headers.remove(TRANSFER_ENCODING);
    Response::from_parts(head, body)
}

fn whole((response, body): (Response<()>, Bytes)) -> Response<Outgoing> {
    with_body(response, Outgoing::whole(body))
}

fn truncated((mut response, body): (Response<()>, Bytes)) -> Response<Outgoing> {
    response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
    with_body(response, Outgoing::half(&body))
}

/// Replace values by dotted path; a reply that is not JSON, or an error, passes as it is.
fn patched((mut response, body): (Response<()>, Bytes), patches: &[(String, Value)]) -> Response<Outgoing> {
    let document = serde_json::from_slice::<Value>(&body).ok().filter(|_| response.status().is_success());
    let Some(mut document) = document else {
        return whole((response, body));
    };
    for (path, value) in patches {
        if let Some(place) = place(&mut document, path) {
            *place = value.clone();
        }
    }
    let bytes = Bytes::from(document.to_string());
    response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(bytes.len()));
    whole((response, bytes))
}

/// The value at a dotted path, made where it is absent.
fn place<'v>(document: &'v mut Value, path: &str) -> Option<&'v mut Value> {
    path.split('.').try_fold(document, |node, key| match key.parse::<usize>() {
        Ok(index) if node.is_array() => node.get_mut(index),
        _ => Some(node.as_object_mut()?.entry(key).or_insert(Value::Null)),
    })
}
