//! What AWS Load Balancer Controller makes of an Ingress: by which scheme and port its load balancer is reached.
//!
//! It takes certificates from AWS Certificate Manager and reads no Secret.

use std::collections::BTreeMap;

use serde_json::Value as Json;

/// The Ingress class that the controller has where nobody calls it otherwise.
const CLASS: &str = "alb";
const PREFIX: &str = "alb.ingress.kubernetes.io/";
const CERTIFICATES: &str = "alb.ingress.kubernetes.io/certificate-arn";
const LISTENERS: &str = "alb.ingress.kubernetes.io/listen-ports";

/// The scheme of an address, and its port where it is not the scheme's own.
pub(super) type Entrance = (&'static str, Option<u64>);

/// Whether the Ingress is for that controller: an own class of it shows by its annotations.
pub(super) fn is_meant(class: Option<&String>, annotations: Option<&BTreeMap<String, String>>) -> bool {
    let is_its = |annotations: &BTreeMap<String, String>| annotations.keys().any(|key| key.starts_with(PREFIX));
    class.is_some_and(|class| class == CLASS) || annotations.is_some_and(is_its)
}

/// How clients reach its load balancer; none where the Ingress is for another controller.
pub(super) fn entrance(class: Option<&String>, annotations: Option<&BTreeMap<String, String>>) -> Option<Entrance> {
    if !is_meant(class, annotations) {
        return None;
    }
    let annotation = |name: &str| annotations.and_then(|all| all.get(name)).map(String::as_str);
    let listener = annotation(LISTENERS).and_then(first_listener);
    // Without a list it listens where its certificates let it.
    let has_certificate = annotation(CERTIFICATES).is_some_and(|arns| !arns.trim().is_empty());
    Some(listener.unwrap_or((if has_certificate { "https" } else { "http" }, None)))
}

// Of `[{"HTTP": 80}, {"HTTPS": 443}]` the one that is encrypted, or else the first.
fn first_listener(text: &str) -> Option<Entrance> {
    let listeners: Vec<BTreeMap<String, Json>> = serde_json::from_str(text).ok()?;
    let ports = |protocol: &str| listeners.iter().find_map(|listener| listener.get(protocol)?.as_u64());
    let secure = ports("HTTPS").map(|port| ("https", Some(port).filter(|port| *port != 443)));
    secure.or_else(|| ports("HTTP").map(|port| ("http", Some(port).filter(|port| *port != 80))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Class, annotations, how it is reached.
    type Case<'a> = (Option<&'a str>, &'a [(&'a str, &'a str)], Option<Entrance>);

    #[test]
    fn a_load_balancer_is_reached_where_it_listens() {
        let certificate = (CERTIFICATES, "arn:aws:acm:eu-central-1:123456789012:certificate/ab");
        let cases: &[Case<'_>] = &[
            (Some("alb"), &[], Some(("http", None))),
            (Some("alb"), &[certificate], Some(("https", None))),
            (Some("alb"), &[(LISTENERS, r#"[{"HTTP": 80}, {"HTTPS": 443}]"#)], Some(("https", None))),
            (Some("alb"), &[(LISTENERS, r#"[{"HTTPS": 8443}]"#)], Some(("https", Some(8443)))),
            (Some("alb"), &[certificate, (LISTENERS, r#"[{"HTTP": 8080}]"#)], Some(("http", Some(8080)))),
            (Some("alb"), &[certificate, (LISTENERS, "443")], Some(("https", None))),
            (Some("internal"), &[certificate], Some(("https", None))),
            (None, &[certificate], Some(("https", None))),
            (Some("nginx"), &[("nginx.ingress.kubernetes.io/ssl-redirect", "true")], None),
            (None, &[], None),
        ];
        for (class, annotations, expected) in cases {
            let class = class.map(str::to_owned);
            let all = annotations.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
            assert_eq!(entrance(class.as_ref(), Some(&all)), *expected, "{class:?} {annotations:?}");
        }
    }
}
