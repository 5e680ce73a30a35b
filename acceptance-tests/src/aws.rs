//! AWS calls that a test makes behind terraform's back: drift, deletions, objects in a bucket.
//!
//! They go straight to the emulator, so the proxy neither counts nor fails them. Not an SDK: requests are written
//! out by the test, signatures are a formality that names the service.

use crate::http::{self, Reply, encode};
use anyhow::{Context, Result};
use serde_json::Value;
use std::fmt::Write;

/// One account at one emulator.
#[derive(Clone, Debug)]
pub struct Aws {
    endpoint: String,
    account: String,
    region: String,
}

impl Aws {
    /// Calls as this account.
    pub fn new(endpoint: &str, account: &str, region: &str) -> Self {
        Self { endpoint: endpoint.to_owned(), account: account.to_owned(), region: region.to_owned() }
    }

    /// An S3 call; `target` is path and query, as in "/bucket?lifecycle".
    pub fn s3(&self, method: &str, target: &str, body: &str) -> Result<Reply> {
        self.send("s3", (method, target), "application/xml", body)?.ok()
    }

    /// A call in the query protocol: `ec2`, `iam`, `sts`, `autoscaling`.
    pub fn query(&self, service: &str, action: &str, parameters: &[(&str, &str)]) -> Result<Reply> {
        let version = version_of(service).with_context(|| format!("{service} does not speak the query protocol"))?;
        let mut body = format!("Action={action}&Version={version}");
        for (name, value) in parameters {
            let _ = write!(body, "&{}={}", encode(name), encode(value));
        }
        self.send(service, ("POST", "/"), "application/x-www-form-urlencoded", &body)?.ok()
    }

    /// A REST-JSON call: `eks`, `elasticfilesystem`. An empty reply is null.
    pub fn rest(&self, service: &str, method: &str, target: &str, body: &Value) -> Result<Value> {
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let reply = self.send(service, (method, target), "application/json", &text)?.ok()?;
        if reply.body.is_empty() { Ok(Value::Null) } else { reply.json() }
    }

    fn send(&self, service: &str, (method, target): (&str, &str), kind: &str, body: &str) -> Result<Reply> {
        let scope = format!("test/20260101/{}/{service}/aws4_request", self.region);
        let authorization = format!("AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature=0");
        let headers =
            [("Authorization", authorization.as_str()), ("x-moto-account-id", &self.account), ("Content-Type", kind)];
        http::send(&self.endpoint, method, target, &headers, body.as_bytes())
            .with_context(|| format!("{service} {method} {target}"))
    }
}

/// The version that each query service puts into its requests.
fn version_of(service: &str) -> Option<&'static str> {
    Some(match service {
        "autoscaling" => "2011-01-01",
        "ec2" => "2016-11-15",
        "iam" => "2010-05-08",
        "sts" => "2011-06-15",
        _ => return None,
    })
}
