//! Whether an API server is reached through an HTTP proxy, and through which: the kubeconfig's `proxy-url`, else what
//! the environment says for all programs. Pure.
//!
//! Decided here and not by the client library, whose NO_PROXY is about the proxy and not about the server.

use converge::{Fault, FaultClass};
use http::Uri;
use hyper_util::client::proxy::matcher::Matcher;

const OBJECT: &str = "HTTP proxy";

/// The proxy for a server. `named`: the kubeconfig's own word, which counts before the environment's.
pub(super) fn proxy(
    server: &Uri,
    named: Option<&str>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Option<Uri>, Fault> {
    if server.host().is_some_and(is_loopback) {
        return Ok(None);
    }
    if let Some(named) = named.filter(|named| !named.is_empty()) {
        return parse(named, "`proxy-url` of the kubeconfig").map(Some);
    }
    let either = |upper: &str| variable(upper).or_else(|| variable(&upper.to_lowercase()));
    let name = if server.scheme_str() == Some("http") { "HTTP_PROXY" } else { "HTTPS_PROXY" };
    let Some(text) = either(name) else { return Ok(None) };
    let exceptions = Matcher::builder().all("http://proxy").no(either("NO_PROXY").unwrap_or_default()).build();
    if exceptions.intercept(server).is_none() {
        return Ok(None);
    }
    parse(&text, name).map(Some)
}

/// Whether a host is this machine.
pub(super) fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

// What it says is not told: there may be a password in it.
fn parse(text: &str, from: &str) -> Result<Uri, Fault> {
    let text = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let uri = text.parse::<Uri>().ok().filter(|uri| {
        uri.host().is_some() && uri.scheme_str().is_some_and(|scheme| ["http", "https", "socks5"].contains(&scheme))
    });
    uri.ok_or_else(|| {
        Fault::new(FaultClass::Invalid, OBJECT, format!("{from} is no address of a proxy"))
            .advise(format!("Write it such as \"http://proxy.example.com:3128\": correct {from}."))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(server: &str, named: Option<&str>, variables: &[(&str, &str)], expected: Option<&str>) {
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let found = proxy(&server.parse().unwrap(), named, variable).unwrap();
        assert_eq!(found.map(|uri| uri.to_string()).as_deref(), expected, "{server} {named:?} {variables:?}");
    }

    #[test]
    fn the_environments_proxy_is_used_but_for_what_it_excepts() {
        let (eks, proxy) = ("https://abc.gr7.us-east-1.eks.amazonaws.com", ("HTTPS_PROXY", "http://p:3128"));
        check(eks, None, &[proxy], Some("http://p:3128/"));
        check(eks, None, &[("https_proxy", "p:3128")], Some("http://p:3128/"));
        check(eks, None, &[proxy, ("NO_PROXY", "localhost, .eks.amazonaws.com,")], None);
        check(eks, None, &[proxy, ("no_proxy", "10.0.0.0/8,p")], Some("http://p:3128/"));
        check("https://10.1.2.3:6443", None, &[proxy, ("NO_PROXY", "10.0.0.0/8")], None);
        check(eks, None, &[proxy, ("NO_PROXY", "*")], None);
        check(eks, None, &[("HTTP_PROXY", "http://p:3128")], None);
        check("http://k.test:8001", None, &[("HTTP_PROXY", "http://p:3128")], Some("http://p:3128/"));
    }

    #[test]
    fn the_kubeconfigs_proxy_comes_before_the_environments() {
        let environment = [("HTTPS_PROXY", "http://p:3128"), ("NO_PROXY", "*")];
        check("https://k.test:6443", Some("socks5://q:1080"), &environment, Some("socks5://q:1080/"));
        check("https://k.test:6443", Some(""), &environment, None);
    }

    #[test]
    fn loopback_is_not_reached_through_a_proxy() {
        for host in ["127.0.0.1", "localhost", "[::1]"] {
            check(&format!("https://{host}:6443"), Some("http://p:3128"), &[("HTTPS_PROXY", "http://p:3128")], None);
        }
        assert!(!is_loopback("10.0.0.1"));
    }

    #[test]
    fn what_is_no_proxy_is_told_without_its_password() {
        for text in ["ftp://me:s3cret@p", "http://me:s3cret@", "http:// me:s3cret@p"] {
            let fault = proxy(&"https://k.test".parse().unwrap(), Some(text), |_| None).unwrap_err();
            let told = format!("{fault:?} {:?}", fault.advice);
            assert!(fault.class == FaultClass::Invalid && !told.contains("s3cret"), "{told}");
        }
    }
}
