//! One HTTP call to an API server, and its answer.

use aws_smithy_types::{DateTime, date_time::Format};
use converge::Fault;
use http::{HeaderMap, HeaderValue, Method, header};
use kube::{client::Body, core::Status};
use serde_json::Value as Json;

use super::{
    fault::{Deed, refused},
    token::Token,
};

/// A whole object, as JSON.
pub(super) const JSON: &str = "application/json";
/// What an object says of itself, without its content.
pub(super) const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
/// As [`METADATA`], of a list.
pub(super) const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
/// A server-side apply. JSON is YAML.
pub(super) const APPLY: &str = "application/apply-patch+yaml";
/// A list of operations.
pub(super) const JSON_PATCH: &str = "application/json-patch+json";

/// One call.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) method: Method,
    /// Path and query, beginning with a slash.
    pub(super) path: String,
    pub(super) accept: &'static str,
    /// Content type and content.
    pub(super) body: Option<(&'static str, Json)>,
}

/// What came back.
#[derive(Clone, Debug)]
pub(super) enum Reply {
    Done(Answer),
    Refused { http: u16, status: Box<Status> },
}

/// A success.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) http: u16,
    /// The document; text where the answer is no JSON.
    pub(super) body: Json,
    /// The server's time, in seconds since 1970.
    pub(super) time: Option<i64>,
    /// What the server warns of.
    pub(super) warnings: Vec<String>,
}

// === impl Request ===

impl Request {
    /// A call without content that answers a whole object.
    pub(super) fn new(method: Method, path: impl Into<String>) -> Self {
        Self { method, path: path.into(), accept: JSON, body: None }
    }

    pub(super) fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path)
    }

    pub(super) fn with(self, content_type: &'static str, body: Json) -> Self {
        Self { body: Some((content_type, body)), ..self }
    }

    pub(super) fn accepting(self, accept: &'static str) -> Self {
        Self { accept, ..self }
    }

    pub(super) fn build(&self, token: Option<&Token>) -> Result<http::Request<Body>, kube::Error> {
        let mut request = http::Request::builder()
            .method(&self.method)
            .uri(&self.path)
            .header(header::ACCEPT, self.accept)
            .header(header::USER_AGENT, concat!("terraform-provider-mlplat/", env!("CARGO_PKG_VERSION")));
        if let Some(token) = token {
            let mut value = HeaderValue::try_from(format!("Bearer {}", token.reveal()))
                .map_err(|error| http_error(error.into()))?;
            value.set_sensitive(true);
            request = request.header(header::AUTHORIZATION, value);
        }
        let body = match &self.body {
            Some((content_type, body)) => {
                request = request.header(header::CONTENT_TYPE, *content_type);
                Body::from(body.to_string().into_bytes())
            }
            None => Body::empty(),
        };
        request.body(body).map_err(http_error)
    }
}

// === impl Reply ===

impl Reply {
    pub(super) async fn read(response: http::Response<Body>) -> Result<Self, kube::Error> {
        let (head, body) = response.into_parts();
        let bytes = body.collect_bytes().await?;
        let body =
            serde_json::from_slice(&bytes).unwrap_or_else(|_| Json::from(String::from_utf8_lossy(&bytes).into_owned()));
        let http = head.status.as_u16();
        if head.status.is_success() {
            let (time, warnings) = (time(&head.headers), warnings(&head.headers));
            return Ok(Self::Done(Answer { http, body, time, warnings }));
        }
        // What is no Status comes from a proxy, or is about a path that the server does not know.
        let status = serde_json::from_value(body).unwrap_or_default();
        Ok(Self::Refused { http, status: Box::new(status) })
    }

    pub(super) fn http(&self) -> u16 {
        match self {
            Self::Done(answer) => answer.http,
            Self::Refused { http, .. } => *http,
        }
    }

    /// The answer, or the fault of the refusal.
    pub(super) fn done(self, deed: &Deed) -> Result<Answer, Fault> {
        match self {
            Self::Done(answer) => Ok(answer),
            Self::Refused { http, status } => Err(refused(deed, http, &status)),
        }
    }
}

/// A time as the API writes it, in seconds since 1970.
pub(super) fn seconds(timestamp: &str) -> Option<i64> {
    DateTime::from_str(timestamp, Format::DateTime).ok().map(|time| time.secs())
}

fn time(headers: &HeaderMap) -> Option<i64> {
    let date = headers.get(header::DATE)?.to_str().ok()?;
    DateTime::from_str(date, Format::HttpDate).ok().map(|time| time.secs())
}

// `299 - "text"`, with quotes and backslashes escaped in the text (RFC 7234, section 5.5).
fn warnings(headers: &HeaderMap) -> Vec<String> {
    let values = headers.get_all(header::WARNING).iter().filter_map(|value| value.to_str().ok());
    values
        .filter_map(|value| value.split_once('"')?.1.rsplit_once('"'))
        .map(|(text, _)| text.replace("\\\"", "\"").replace("\\\\", "\\"))
        .collect()
}

fn http_error(error: http::Error) -> kube::Error {
    kube::Error::HttpError(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_time_and_warnings_are_read_from_the_head() {
        let mut headers = HeaderMap::new();
        headers.insert(header::DATE, HeaderValue::from_static("Tue, 14 Nov 2023 22:13:20 GMT"));
        headers.append(header::WARNING, HeaderValue::from_static(r#"299 - "would violate \"restricted\"""#));
        headers.append(header::WARNING, HeaderValue::from_static("no quotes"));
        assert_eq!(time(&headers), Some(1_700_000_000));
        assert_eq!(seconds("2023-11-14T22:13:20Z"), Some(1_700_000_000));
        assert_eq!(warnings(&headers), [r#"would violate "restricted""#]);
    }

    #[test]
    fn a_token_is_never_printed() {
        let request = Request::get("/api").build(Some(&Token::new("s3cret"))).unwrap();
        assert_eq!(request.headers()["authorization"].to_str().unwrap(), "Bearer s3cret");
        assert!(!format!("{request:?}").contains("s3cret"));
    }

    #[tokio::test]
    async fn an_answer_that_is_no_json_is_text_or_an_empty_status() {
        let response =
            |code: u16| http::Response::builder().status(code).body(Body::from(b"404 page".to_vec())).unwrap();
        let Ok(Reply::Done(answer)) = Reply::read(response(200)).await else { panic!("a success") };
        assert_eq!(answer.body, Json::from("404 page"));
        let Ok(Reply::Refused { http: 404, status }) = Reply::read(response(404)).await else { panic!("a refusal") };
        assert_eq!(*status, Status::default());
    }
}
