//! What a request is: service, operation, wire protocol, read or write. Decided from the request alone.

use super::routes::{Route, SUBRESOURCES, routes_of};
use bytes::Bytes;
use hyper::{Method, http::request::Parts};

/// How a service writes requests and errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// S3's XML.
    S3,
    /// EC2's variant of the query protocol.
    Ec2,
    /// Forms in, XML out: IAM, STS, Auto Scaling.
    Query,
    /// JSON with the operation in a header: SSM, Service Quotas, Pricing.
    Json,
    /// JSON with the operation in method and path: EKS, EFS.
    RestJson,
    /// Objects of a Kubernetes API server; here the service is the verb and the operation the resource.
    Kubernetes,
}

/// A recognised request.
#[derive(Clone, Debug)]
pub struct Call {
    /// The service as the journal names it: "s3", "eks", "efs", "service-quotas".
    pub service: String,
    /// The operation, or method and path where it is not known.
    pub operation: String,
    /// The wire protocol.
    pub protocol: Protocol,
    /// Whether it changes something.
    pub write: bool,
    /// The HTTP method.
    pub method: Method,
    /// Path and query as sent.
    pub target: String,
    /// The body as text.
    pub body: String,
}

impl Call {
    /// Recognise a request.
    pub fn identify(parts: &Parts, body: &Bytes) -> Self {
        let header = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok());
        let signed = header("authorization").and_then(signing_name).unwrap_or("unknown");
        let text = String::from_utf8_lossy(body).into_owned();
        let (service, operation, protocol) = if let Some(target) = header("x-amz-target") {
            let (prefix, operation) = target.split_once('.').unwrap_or(("", target));
            (target_service(prefix).unwrap_or(signed).to_owned(), operation.to_owned(), Protocol::Json)
        } else if let Some(action) = form_field(&text, "Action") {
            // Unsigned calls (web identity) are told apart by their version.
            let service = if signed == "unknown" { version_service(&text).unwrap_or(signed) } else { signed };
            let protocol = if service == "ec2" { Protocol::Ec2 } else { Protocol::Query };
            (service.to_owned(), action.to_owned(), protocol)
        } else {
            rest(signed, parts)
        };
        Self {
            write: !is_read(&service, &operation),
            service: journal_name(&service).to_owned(),
            operation,
            protocol,
            method: parts.method.clone(),
            target: parts.uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string),
            body: text,
        }
    }

    /// "service.Operation".
    pub fn name(&self) -> String {
        format!("{}.{}", self.service, self.operation)
    }
}

/// The service in "AWS4-HMAC-SHA256 Credential=key/date/region/service/aws4_request, …".
fn signing_name(authorization: &str) -> Option<&str> {
    let (_, scope) = authorization.split_once("Credential=")?;
    let name = scope.split(',').next()?.split('/').rev().nth(1)?;
    Some(if name == "s3express" { "s3" } else { name })
}

fn journal_name(service: &str) -> &str {
    match service {
        "elasticfilesystem" => "efs",
        "monitoring" => "cloudwatch",
        "servicequotas" => "service-quotas",
        other => other,
    }
}

fn target_service(prefix: &str) -> Option<&'static str> {
    Some(match prefix {
        "AmazonSSM" => "ssm",
        "ServiceQuotasV20190624" => "servicequotas",
        "AWSPriceListService" => "pricing",
        "TrentService" => "kms",
        "AmazonSQS" => "sqs",
        "AWSEvents" => "events",
        _ => return None,
    })
}

fn version_service(form: &str) -> Option<&'static str> {
    Some(match form_field(form, "Version")? {
        "2011-06-15" => "sts",
        "2010-05-08" => "iam",
        "2016-11-15" => "ec2",
        "2011-01-01" => "autoscaling",
        _ => return None,
    })
}

fn form_field<'a>(form: &'a str, name: &str) -> Option<&'a str> {
    form.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

/// The operation of a REST call.
fn rest(service: &str, parts: &Parts) -> (String, String, Protocol) {
    let (method, path) = (parts.method.as_str(), parts.uri.path());
    let query: Vec<_> = parts.uri.query().unwrap_or_default().split('&').collect();
    let operation = subresource(service, method, path, &query).or_else(|| routed(service, method, path, &query));
    let protocol = if service == "s3" { Protocol::S3 } else { Protocol::RestJson };
    (service.to_owned(), operation.unwrap_or_else(|| format!("{method} {path}")), protocol)
}

/// Bucket sub-resources follow one rule: verb and name.
fn subresource(service: &str, method: &str, path: &str, query: &[&str]) -> Option<String> {
    if service != "s3" || !fits("/{}", path) {
        return None;
    }
    let (_, name, deleted) = SUBRESOURCES.iter().find(|(key, ..)| has(query, key))?;
    Some(match method {
        "GET" => format!("Get{name}"),
        "PUT" => format!("Put{name}"),
        "DELETE" => format!("Delete{deleted}"),
        _ => return None,
    })
}

fn routed(service: &str, method: &str, path: &str, query: &[&str]) -> Option<String> {
    let matching = routes_of(service).iter().filter(|(verb, pattern, needs, _): &&Route| {
        *verb == method && fits(pattern, path) && needs.iter().all(|need| has(query, need))
    });
    matching.max_by_key(|(_, _, needs, _)| needs.len()).map(|(.., operation)| (*operation).to_owned())
}

/// Whether the query has a key, or a key with a value.
fn has(query: &[&str], need: &str) -> bool {
    query.iter().any(|pair| *pair == need || (!need.contains('=') && pair.split('=').next() == Some(need)))
}

/// Whether a path has the shape of a pattern; a trailing slash does not count.
fn fits(pattern: &str, path: &str) -> bool {
    let (mut wanted, mut given) = (segments(pattern), segments(path));
    loop {
        match (wanted.next(), given.next()) {
            (Some("{+}"), Some(_)) | (None, None) => return true,
            (Some("{}"), Some(_)) => {}
            (Some(want), Some(got)) if want == got => {}
            _ => return false,
        }
    }
}

fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|segment| !segment.is_empty())
}

/// AWS names what only looks by a handful of verbs; all of STS only looks.
fn is_read(service: &str, operation: &str) -> bool {
    const VERBS: [&str; 8] = ["Get", "List", "Describe", "Head", "Search", "Simulate", "Select", "Lookup"];
    service == "sts" || VERBS.iter().any(|verb| operation.starts_with(verb))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::Request;

    fn identify(service: &str, method: &str, target: &str, body: &'static str) -> Call {
        let authorization = format!("AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/{service}/aws4_request, x");
        let request = Request::builder().method(method).uri(target).header("authorization", authorization);
        let (parts, ()) = request.body(()).unwrap().into_parts();
        Call::identify(&parts, &Bytes::from_static(body.as_bytes()))
    }

    #[test]
    fn rest_calls_are_named_by_method_path_and_query() {
        let name = |service, method, target| identify(service, method, target, "").name();
        assert_eq!(name("s3", "GET", "/b?versioning"), "s3.GetBucketVersioning");
        assert_eq!(name("s3", "GET", "/b/?versioning="), "s3.GetBucketVersioning");
        assert_eq!(name("s3", "DELETE", "/b?lifecycle"), "s3.DeleteBucketLifecycle");
        assert_eq!(name("s3", "PUT", "/b"), "s3.CreateBucket");
        assert_eq!(name("s3", "GET", "/b?versions&max-keys=1"), "s3.ListObjectVersions");
        assert_eq!(name("s3", "GET", "/b?list-type=2&prefix=a"), "s3.ListObjectsV2");
        assert_eq!(name("s3", "PUT", "/b/a/k?partNumber=1&uploadId=u"), "s3.UploadPart");
        assert_eq!(name("s3", "GET", "/b/policy"), "s3.GetObject");
        assert_eq!(name("eks", "GET", "/clusters/c/node-groups/n"), "eks.DescribeNodegroup");
        assert_eq!(name("eks", "DELETE", "/tags/arn%3Aaws%3Aeks?tagKeys=a&tagKeys=b"), "eks.UntagResource");
        assert_eq!(name("elasticfilesystem", "PUT", "/2015-02-01/file-systems/fs-1/policy"), "efs.PutFileSystemPolicy");
        assert_eq!(name("eks", "GET", "/new/thing"), "eks.GET /new/thing");
    }

    #[test]
    fn form_calls_are_named_by_their_action() {
        let call = identify("ec2", "POST", "/", "Action=CreateLaunchTemplate&Version=2016-11-15");
        assert_eq!((call.name().as_str(), call.protocol), ("ec2.CreateLaunchTemplate", Protocol::Ec2));
        let (parts, ()) = Request::builder().method("POST").uri("/").body(()).unwrap().into_parts();
        let body = Bytes::from_static(b"Action=AssumeRoleWithWebIdentity&Version=2011-06-15");
        assert_eq!(Call::identify(&parts, &body).name(), "sts.AssumeRoleWithWebIdentity");
    }

    #[test]
    fn reads_and_writes_are_told_apart() {
        assert!(!identify("s3", "GET", "/b?policy", "").write);
        assert!(!identify("s3", "HEAD", "/b", "").write);
        assert!(identify("s3", "PUT", "/b?policy", "").write);
        assert!(identify("iam", "POST", "/", "Action=AttachRolePolicy&Version=2010-05-08").write);
        assert!(!identify("sts", "POST", "/", "Action=AssumeRole&Version=2011-06-15").write);
    }
}
