//! Which address a call went to that failed on its way: the SDK's own errors do not say it.

use std::{error::Error, fmt};

use aws_smithy_runtime_api::client::{
    http::{
        HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient, SharedHttpConnector,
    },
    orchestrator::HttpRequest,
    result::ConnectorError,
    runtime_components::RuntimeComponents,
};

/// The same client, whose connection errors have an [`Unanswered`] beneath them.
pub(in crate::drivers::aws) fn telling_addresses(client: SharedHttpClient) -> SharedHttpClient {
    SharedHttpClient::new(Client(client))
}

/// A request that got no answer.
#[derive(Debug)]
pub(in crate::drivers::aws) struct Unanswered {
    address: String,
    source: ConnectorError,
}

#[derive(Debug)]
struct Client(SharedHttpClient);

#[derive(Debug)]
struct Connector(SharedHttpConnector);

// === impl Unanswered ===

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no answer from {}", self.address)
    }
}

impl Error for Unanswered {
    // Without the SDK's own layer, which says no more than "io error".
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.source()
    }
}

// === impl Client ===

impl HttpClient for Client {
    fn http_connector(&self, settings: &HttpConnectorSettings, components: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(Connector(self.0.http_connector(settings, components)))
    }
}

// === impl Connector ===

impl HttpConnector for Connector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let address = address(request.uri());
        let sent = self.0.call(request);
        HttpConnectorFuture::new(async move { sent.await.map_err(|error| unanswered(address, error)) })
    }
}

// Scheme, host and port: what an endpoint is configured by.
fn address(uri: &str) -> String {
    let from_host = uri.find("://").map_or(0, |at| at + 3);
    let end = uri[from_host..].find(['/', '?']).map_or(uri.len(), |at| from_host + at);
    uri[..end].to_owned()
}

// Of the same kind as before, for the SDK decides by it.
fn unanswered(address: String, error: ConnectorError) -> ConnectorError {
    let kind = (error.is_timeout(), error.is_user(), error.is_io());
    let other = error.as_other();
    let source = Box::new(Unanswered { address, source: error });
    match kind {
        (true, ..) => ConnectorError::timeout(source),
        (_, true, _) => ConnectorError::user(source),
        (.., true) => ConnectorError::io(source),
        _ => ConnectorError::other(source, other),
    }
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn an_address_ends_before_the_path() {
        assert_eq!(address("http://127.0.0.1:1/acme?tagging"), "http://127.0.0.1:1");
        assert_eq!(address("https://iam.amazonaws.com"), "https://iam.amazonaws.com");
        assert_eq!(address("https://iam.amazonaws.com?x=/"), "https://iam.amazonaws.com");
    }
}
