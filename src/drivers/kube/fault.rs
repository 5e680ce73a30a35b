//! What an API server's refusal and a lost connection mean. Decides by `Status.reason`, by the reasons of its causes
//! and by how far the request got; never by the text of a message.

use std::{error::Error, io};

use converge::{Fault, FaultClass};
use kube::core::{Status, response::StatusCause};

/// What a call was to do, for messages and for what its failure means.
#[derive(Clone, Debug, Default)]
pub(super) struct Deed {
    /// As `kubernetes:patch deployments`.
    pub(super) action: String,
    /// The object in words.
    pub(super) object: String,
    /// Whether it changes something.
    pub(super) is_write: bool,
}

/// The reason of a cause that names a field somebody else manages.
const CONFLICT: &str = "FieldManagerConflict";

/// A field that somebody else manages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Conflict {
    /// As `.spec.replicas`.
    pub(super) field: String,
    /// The server's sentence, which names the other manager.
    pub(super) sentence: String,
}

/// The fault of an answer that is no success.
pub(super) fn refused(deed: &Deed, http: u16, status: &Status) -> Fault {
    let reason = (!status.reason.is_empty()).then(|| status.reason.clone());
    let mut message = status.message.clone();
    if message.is_empty() {
        message = format!("the API server answered HTTP {http} without a reason");
    }
    let class = class(deed, http, status);
    let fault = Fault { action: deed.action.clone(), code: reason, ..Fault::new(class, &deed.object, message) };
    match class {
        FaultClass::NotFound if is_about_namespace(status) => fault.advise(
            "Make the namespace first. Where it is made in the same configuration, take `namespace` from that \
             resource's attribute, so that Terraform knows the order.",
        ),
        FaultClass::Invalid if is_about_selector(status) => fault.advise(SELECTOR),
        FaultClass::Unauthenticated => fault.advise(UNAUTHENTICATED),
        FaultClass::Denied => fault.advise(format!(
            "Allow it with a Role or ClusterRole and a binding; on EKS also see the cluster's access entries. \
             `kubectl auth can-i` answers for {}.",
            deed.action.trim_start_matches("kubernetes:")
        )),
        _ => fault,
    }
}

// Of an object in a namespace that is not there, the answer names the namespace.
fn is_about_namespace(status: &Status) -> bool {
    status.details.as_ref().is_some_and(|details| details.kind == "namespaces")
}

/// Which pods a Deployment has is fixed when it is made. One that is taken over has another selector.
pub(super) fn is_about_selector(status: &Status) -> bool {
    let is_deployment = status.details.as_ref().is_some_and(|details| details.kind == "Deployment");
    is_deployment && causes(status).any(|cause| cause.field == "spec.selector")
}

/// What to do about it.
pub(super) const SELECTOR: &str = "A Deployment's selector cannot be changed, so one that was made otherwise cannot be \
    taken over. Delete it, with its pods, or choose another name.";

const UNAUTHENTICATED: &str = "Check that the credentials belong to the cluster: AWS's where it is an EKS cluster, whose \
    role or user needs an access entry (`aws eks list-access-entries --cluster-name NAME`), else those of the \
    provider's `kubernetes` block or of the kubeconfig.";

/// The fault of a call without an answer.
pub(super) fn lost(deed: &Deed, error: kube::Error) -> Fault {
    let (text, is_untrusted) = (chain(&error), is_untrusted(&error));
    let class = match () {
        () if is_credentials(&error) => FaultClass::Unauthenticated,
        () if is_unconnected(&error) => FaultClass::Unreachable,
        // Of a read nothing is left behind.
        () if deed.is_write => FaultClass::MaybeSent,
        () => FaultClass::Unavailable,
    };
    let fault = Fault {
        action: deed.action.clone(),
        source: Some(Box::new(error)),
        ..Fault::new(class, &deed.object, format!("no answer from the API server: {text}"))
    };
    match class {
        FaultClass::Unreachable if is_untrusted => fault.advise(
            "The API server's certificate is not one that the cluster's authority signed. Check \
             `kubernetes.cluster_ca_certificate` of the provider or the kubeconfig, and whether a proxy answers in the \
             API server's place.",
        ),
        FaultClass::Unreachable => fault.advise(
            "Check that the API server's address can be reached from here: its endpoint may be private, or the cluster \
             not be there yet.",
        ),
        FaultClass::Unauthenticated => fault.advise("Check the credentials of the kubeconfig."),
        _ => fault,
    }
}

/// The fields that others manage, where an answer is about those.
pub(super) fn conflicts(status: &Status) -> Vec<Conflict> {
    causes(status)
        .filter(|cause| cause.reason == CONFLICT)
        .map(|cause| Conflict { field: cause.field.clone(), sentence: cause.message.clone() })
        .collect()
}

/// Whether a 404 is about the path: the server does not know the kind. An object that is absent is named.
pub(super) fn is_unknown_kind(http: u16, status: &Status) -> bool {
    http == 404 && status.details.as_ref().is_none_or(|details| details.name.is_empty())
}

/// Whether the namespace is going away. It refuses what is new in it, and makes room when it is gone.
pub(super) fn is_terminating(status: &Status) -> bool {
    causes(status).any(|cause| cause.reason == "NamespaceTerminating")
}

fn class(deed: &Deed, http: u16, status: &Status) -> FaultClass {
    use FaultClass::{
        AlreadyExists, Busy, Denied, Invalid, MaybeSent, NotFound, Throttled, Unauthenticated, Unavailable,
    };
    if is_terminating(status) {
        return Busy;
    }
    let failed = if deed.is_write { MaybeSent } else { Unavailable };
    match status.reason.as_str() {
        "AlreadyExists" => AlreadyExists,
        "BadRequest"
        | "Invalid"
        | "MethodNotAllowed"
        | "NotAcceptable"
        | "RequestEntityTooLarge"
        | "UnsupportedMediaType" => Invalid,
        "Conflict" => Busy,
        "Forbidden" => Denied,
        // Deleted between two looks.
        "Gone" | "NotFound" => NotFound,
        "InternalError" | "Timeout" => failed,
        "ServerTimeout" | "ServiceUnavailable" => Unavailable,
        "TooManyRequests" => Throttled,
        "Unauthorized" => Unauthenticated,
        // No reason: what answered may be a proxy.
        _ => by_http(http, failed),
    }
}

fn by_http(http: u16, failed: FaultClass) -> FaultClass {
    match http {
        401 => FaultClass::Unauthenticated,
        403 => FaultClass::Denied,
        404 | 410 => FaultClass::NotFound,
        409 => FaultClass::Busy,
        429 => FaultClass::Throttled,
        503 => FaultClass::Unavailable,
        500.. => failed,
        _ => FaultClass::Invalid,
    }
}

fn causes(status: &Status) -> impl Iterator<Item = &StatusCause> {
    status.details.iter().flat_map(|details| &details.causes)
}

fn is_credentials(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Auth(_)) || errors(error).any(<dyn Error>::is::<kube::client::AuthError>)
}

// Nothing was sent: no address, no connection, no agreement on encryption.
fn is_unconnected(error: &kube::Error) -> bool {
    use hyper_util::client::legacy::Error as ClientError;
    errors(error).any(|beneath| {
        beneath.downcast_ref::<ClientError>().is_some_and(ClientError::is_connect)
            || beneath.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
    })
}

// The server showed a certificate that we do not trust.
fn is_untrusted(error: &kube::Error) -> bool {
    errors(error).any(is_certificate)
}

// What an I/O error is made from is not its source.
fn is_certificate(error: &(dyn Error + 'static)) -> bool {
    match error.downcast_ref::<io::Error>() {
        Some(outer) => outer.get_ref().is_some_and(|inner| is_certificate(inner)),
        None => matches!(error.downcast_ref(), Some(rustls::Error::InvalidCertificate(_))),
    }
}

fn errors(error: &kube::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    let outermost: &(dyn Error + 'static) = error;
    std::iter::successors(Some(outermost), |error| (*error).source())
}

/// The texts of the errors beneath, the outermost of which only names its kind.
pub(super) fn chain(error: &kube::Error) -> String {
    let mut texts: Vec<String> = Vec::new();
    for text in errors(error).skip(1).map(ToString::to_string) {
        if !texts.iter().any(|said| said.contains(&text)) {
            texts.push(text);
        }
    }
    if texts.is_empty() { error.to_string() } else { texts.join(": ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(reason: &str, causes: &[(&str, &str)]) -> Status {
        let causes: Vec<_> =
            causes.iter().map(|(reason, field)| serde_json::json!({ "reason": reason, "field": field })).collect();
        serde_json::from_value(serde_json::json!({
            "status": "Failure", "reason": reason, "message": "so it is", "details": { "name": "x", "causes": causes },
        }))
        .unwrap()
    }

    fn write() -> Deed {
        Deed { action: "kubernetes:patch deployments".into(), object: "Deployment \"x\"".into(), is_write: true }
    }

    #[test]
    fn a_refusal_is_classified_by_its_reason() {
        let read = Deed { is_write: false, ..write() };
        for (reason, http, written, only_read) in [
            ("Conflict", 409, FaultClass::Busy, FaultClass::Busy),
            ("AlreadyExists", 409, FaultClass::AlreadyExists, FaultClass::AlreadyExists),
            ("NotFound", 404, FaultClass::NotFound, FaultClass::NotFound),
            ("Forbidden", 403, FaultClass::Denied, FaultClass::Denied),
            ("Unauthorized", 401, FaultClass::Unauthenticated, FaultClass::Unauthenticated),
            ("Invalid", 422, FaultClass::Invalid, FaultClass::Invalid),
            ("NotAcceptable", 406, FaultClass::Invalid, FaultClass::Invalid),
            ("TooManyRequests", 429, FaultClass::Throttled, FaultClass::Throttled),
            ("ServerTimeout", 500, FaultClass::Unavailable, FaultClass::Unavailable),
            ("InternalError", 500, FaultClass::MaybeSent, FaultClass::Unavailable),
            ("Timeout", 504, FaultClass::MaybeSent, FaultClass::Unavailable),
            ("", 502, FaultClass::MaybeSent, FaultClass::Unavailable),
            ("", 503, FaultClass::Unavailable, FaultClass::Unavailable),
            ("", 418, FaultClass::Invalid, FaultClass::Invalid),
        ] {
            assert_eq!(refused(&write(), http, &status(reason, &[])).class, written, "{reason} {http}");
            assert_eq!(refused(&read, http, &status(reason, &[])).class, only_read, "{reason} {http}");
        }
    }

    #[test]
    fn a_refusal_keeps_the_servers_words() {
        let fault = refused(&write(), 403, &status("Forbidden", &[]));
        assert_eq!(fault.to_string(), "kubernetes:patch deployments: Forbidden: so it is");
        assert!(fault.advice.unwrap().contains("can-i` answers for patch deployments"));
        let silent = refused(&write(), 502, &Status::default());
        assert_eq!(silent.message, "the API server answered HTTP 502 without a reason");
    }

    #[test]
    fn a_deployment_that_selects_other_pods_cannot_be_taken_over() {
        let mut status = status("Invalid", &[("FieldValueInvalid", "spec.selector")]);
        assert!(refused(&write(), 422, &status).advice.is_none());
        status.details.as_mut().unwrap().kind = "Deployment".to_owned();
        assert_eq!(refused(&write(), 422, &status).advice.as_deref(), Some(SELECTOR));
    }

    #[test]
    fn a_namespace_that_is_not_there_is_to_be_made_first() {
        let mut status = status("NotFound", &[]);
        assert!(refused(&write(), 404, &status).advice.is_none());
        status.details.as_mut().unwrap().kind = "namespaces".to_owned();
        assert!(refused(&write(), 404, &status).advice.unwrap().contains("Make the namespace first"));
    }

    #[test]
    fn a_namespace_that_goes_away_is_waited_for() {
        let fault = refused(&write(), 403, &status("Forbidden", &[("NamespaceTerminating", "metadata.namespace")]));
        assert_eq!(fault.class, FaultClass::Busy);
    }

    #[test]
    fn conflicts_are_read_from_the_causes() {
        let found = conflicts(&status("Conflict", &[(CONFLICT, ".spec.replicas"), ("Other", ".spec.paused")]));
        assert_eq!(found.iter().map(|conflict| conflict.field.as_str()).collect::<Vec<_>>(), [".spec.replicas"]);
    }

    #[test]
    fn an_absent_object_is_told_from_an_unknown_kind() {
        assert!(!is_unknown_kind(404, &status("NotFound", &[])));
        assert!(is_unknown_kind(404, &Status::default()));
        assert!(!is_unknown_kind(403, &Status::default()));
    }

    #[test]
    fn a_certificate_that_is_not_trusted_is_told_from_a_server_that_is_down() {
        let untrusted = rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
        let wrapped = io::Error::other(io::Error::new(io::ErrorKind::InvalidData, untrusted));
        assert!(is_untrusted(&kube::Error::Service(Box::new(wrapped))));
        assert!(!is_untrusted(&kube::Error::Service(Box::new(io::Error::from(io::ErrorKind::ConnectionRefused)))));
    }

    #[test]
    fn a_connection_that_was_not_made_sent_nothing() {
        let unconnected = kube::Error::Service(Box::new(io::Error::from(io::ErrorKind::ConnectionRefused)));
        assert_eq!(lost(&write(), unconnected).class, FaultClass::Unreachable);
        let broken = || kube::Error::Service(Box::new(io::Error::from(io::ErrorKind::ConnectionReset)));
        assert_eq!(lost(&write(), broken()).class, FaultClass::MaybeSent);
        assert_eq!(lost(&Deed { is_write: false, ..write() }, broken()).class, FaultClass::Unavailable);
    }
}
