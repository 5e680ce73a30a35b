//! Answers that the proxy gives by itself: errors in the shape of each service, stubs, and bodies cut short.

use super::call::{Call, Protocol};
use bytes::Bytes;
use hyper::{
    Method, Response, StatusCode,
    body::{Body, Frame, Incoming, SizeHint},
};
use serde_json::json;
use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

/// A body that arrives whole, or breaks off after its bytes although more were announced.
#[derive(Debug)]
pub(super) struct Outgoing {
    bytes: Option<Bytes>,
    cut: bool,
    live: Option<Incoming>,
}

impl Outgoing {
    pub(super) fn whole(bytes: Bytes) -> Self {
        Self { bytes: Some(bytes), cut: false, live: None }
    }

    /// The first half; the caller announces the whole length.
    pub(super) fn half(bytes: &Bytes) -> Self {
        Self { bytes: Some(bytes.slice(..bytes.len() / 2)), cut: true, live: None }
    }

    /// As it comes: an answer that has no end.
    pub(super) fn live(body: Incoming) -> Self {
        Self { bytes: None, cut: false, live: Some(body) }
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let this = self.get_mut();
        if let Some(live) = &mut this.live {
            return Pin::new(live).poll_frame(cx).map_err(io::Error::other);
        }
        Poll::Ready(match this.bytes.take() {
            Some(bytes) => Some(Ok(Frame::data(bytes))),
            None if this.cut => Some(Err(io::Error::from(io::ErrorKind::ConnectionReset))),
            None => None,
        })
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none() && !self.cut && self.live.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match &self.bytes {
            Some(bytes) if !self.cut => SizeHint::with_exact(bytes.len() as u64),
            None if !self.cut && self.live.is_none() => SizeHint::with_exact(0),
            _ => SizeHint::default(),
        }
    }
}

/// An error as the call's service writes it.
pub(super) fn error(call: &Call, status: u16, code: &str, message: &str) -> Response<Outgoing> {
    let (kind, body) = match call.protocol {
        Protocol::Kubernetes => return kubernetes(status, code, message),
        Protocol::S3 => ("application/xml", s3(code, message)),
        Protocol::Ec2 => ("text/xml", ec2(code, message)),
        Protocol::Query => ("text/xml", query(status, code, message)),
        Protocol::Json => ("application/x-amz-json-1.1", json!({"__type": code, "message": message}).to_string()),
        Protocol::RestJson => ("application/json", json!({"message": message}).to_string()),
    };
    // A HEAD is answered without a body; its code is then the status alone, as with AWS.
    let body = if call.method == Method::HEAD { String::new() } else { body };
    respond(status, &[("content-type", kind), ("x-amzn-errortype", code), ("x-amzn-requestid", REQUEST_ID)], body)
}

const REQUEST_ID: &str = "00000000-0000-4000-8000-000000000000";

/// A Status, with the pause that the API server asks for when it is busy.
fn kubernetes(status: u16, reason: &str, message: &str) -> Response<Outgoing> {
    let busy = status == 429;
    let details = if busy { json!({"retryAfterSeconds": 1}) } else { json!({}) };
    let body = json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "details": details,
        "code": status,
    });
    let mut response = respond(status, &[("content-type", "application/json")], body.to_string());
    if busy {
        response.headers_mut().insert(hyper::header::RETRY_AFTER, hyper::header::HeaderValue::from_static("1"));
    }
    response
}

fn s3(code: &str, message: &str) -> String {
    format!("<Error>{}<RequestId>{REQUEST_ID}</RequestId></Error>", inner(code, message))
}

fn ec2(code: &str, message: &str) -> String {
    let error = format!("<Errors><Error>{}</Error></Errors>", inner(code, message));
    format!("<Response>{error}<RequestID>{REQUEST_ID}</RequestID></Response>")
}

fn query(status: u16, code: &str, message: &str) -> String {
    let kind = if status >= 500 { "Receiver" } else { "Sender" };
    let error = format!("<Error><Type>{kind}</Type>{}</Error>", inner(code, message));
    format!("<ErrorResponse>{error}<RequestId>{REQUEST_ID}</RequestId></ErrorResponse>")
}

fn inner(code: &str, message: &str) -> String {
    let escape = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!("<Code>{}</Code><Message>{}</Message>", escape(code), escape(message))
}

/// Status and code by which a service says "slow down".
pub(super) fn throttle_of(call: &Call) -> (u16, &'static str) {
    match (call.protocol, call.service.as_str()) {
        (Protocol::S3, _) => (503, "SlowDown"),
        (Protocol::Kubernetes, _) => (429, "TooManyRequests"),
        (Protocol::Ec2, _) => (503, "RequestLimitExceeded"),
        (Protocol::RestJson, _) => (429, "TooManyRequestsException"),
        (Protocol::Json, _) => (400, "ThrottlingException"),
        (Protocol::Query, _) => (400, "Throttling"),
    }
}

/// The code by which a service says "not allowed".
pub(super) fn denied_of(call: &Call) -> &'static str {
    match call.protocol {
        Protocol::Ec2 => "UnauthorizedOperation",
        Protocol::Kubernetes => "Forbidden",
        Protocol::Json | Protocol::RestJson => "AccessDeniedException",
        Protocol::S3 | Protocol::Query => "AccessDenied",
    }
}

/// The code by which a service says that it failed itself.
pub(super) fn internal_of(call: &Call) -> &'static str {
    match call.protocol {
        Protocol::S3 | Protocol::Ec2 | Protocol::Kubernetes => "InternalError",
        Protocol::Query => "InternalFailure",
        Protocol::Json => "InternalServerError",
        Protocol::RestJson if call.service == "efs" => "InternalServerError",
        Protocol::RestJson => "ServerException",
    }
}

/// An answer with a body of the proxy's own.
pub(super) fn respond(status: u16, headers: &[(&str, &str)], body: String) -> Response<Outgoing> {
    let mut response = Response::new(Outgoing::whole(Bytes::from(body)));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in headers {
        let name = hyper::header::HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, hyper::header::HeaderValue::from_str(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}
