//! From what went wrong with a child object to what the user reads: what failed, why and where, what to do.

use converge::{Failure, Fault, FaultClass, Health, Ledger, Owner};
use tf_provider::{Diagnostic, Diagnostics};
use value::AttributePath;

/// The failures of a run, each a diagnostic.
pub(super) fn diagnostics(noun: &str, owner: &Owner, failures: &[Failure]) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    // Objects fail in whatever order their calls end; the same failures are told in the same order.
    let mut failures: Vec<&Failure> = failures.iter().collect();
    failures.sort_by(|left, right| left.key.cmp(&right.key));
    for (at, failure) in failures.iter().enumerate() {
        let (before, after) = (&failures[..at], &failures[at + 1..]);
        if before.iter().any(|other| is_one_cause(failure, other)) {
            continue;
        }
        let others: Vec<_> =
            after.iter().filter(|other| is_one_cause(failure, other)).map(|other| other.key.as_str()).collect();
        diagnostics.push(diagnostic(noun, owner, failure, &others));
    }
    diagnostics
}

/// What keeps every call from being made is told once, not for each object.
fn is_one_cause(failure: &Failure, other: &Failure) -> bool {
    let class = failure.fault.class;
    let is_common = matches!(class, FaultClass::Unreachable | FaultClass::Unauthenticated | FaultClass::Cancelled);
    // Two components that ran into one wall: a kubeconfig or a cluster that is not there.
    let is_same = failure.fault.object == other.fault.object && failure.fault.message == other.fault.message;
    (is_common || is_same) && class == other.fault.class && failure.during == other.during
}

fn diagnostic(noun: &str, owner: &Owner, failure: &Failure, others: &[&str]) -> Diagnostic {
    use converge::During;
    let verb = match failure.during {
        During::Observe => "read",
        During::Create => "create",
        During::Update => "change",
        During::Delete => "delete",
        During::Wait => "finish",
    };
    let id = owner.0.split_once('/').map_or(owner.0.as_str(), |(_, id)| id);
    let path = failure.origin.clone().unwrap_or_default();
    let summary = format!("Cannot {verb} the {} of {noun} {id:?}", failure.noun);
    told(&path, summary, &failure.fault, Some(&failure.key), others)
}

/// A fault of a call that is no component's.
pub(crate) fn fault_diagnostic(path: &AttributePath, summary: String, fault: &Fault) -> Diagnostic {
    told(path, summary, fault, None, &[])
}

fn told(path: &AttributePath, summary: String, fault: &Fault, component: Option<&str>, others: &[&str]) -> Diagnostic {
    let mut lines = vec![fault.to_string()];
    lines.extend(fault.request_id.as_ref().map(|id| format!("Request id: {id}")));
    lines.extend((!fault.object.is_empty()).then(|| format!("Object: {}", fault.object)));
    lines.extend(component.map(|key| format!("Component: {key}")));
    lines.extend((!others.is_empty()).then(|| format!("The same holds for: {}", others.join(", "))));
    let advice = fault.advice.clone().unwrap_or_else(|| advice(fault.class, &fault.action));
    Diagnostic::error(path, summary, lines.join("\n")).advise(&advice)
}

/// What to do about a class of fault. The action is the API's, such as `eks:CreateNodegroup`.
fn advice(class: FaultClass, action: &str) -> String {
    match class {
        FaultClass::Throttled => "Run terraform apply again later, or with a lower -parallelism: the API limits how many calls it takes.".into(),
        FaultClass::Unavailable => "Run terraform apply again; if it persists look at the status of the service.".into(),
        FaultClass::MaybeSent => "Run terraform apply again: it looks at what is there and goes on from it.".into(),
        FaultClass::NotYetConsistent => "Run terraform apply again: something made moments ago was not visible everywhere yet.".into(),
        FaultClass::Unreachable => "Check the network and the provider's `endpoints` and `region`.".into(),
        FaultClass::NotFound => "Check that the object named above exists in this account and region; run terraform plan to see what is left.".into(),
        FaultClass::AlreadyExists | FaultClass::Foreign => "Choose another name, or import the object if it is to be managed here.".into(),
        FaultClass::Busy => "Wait until the other change is done, then run terraform apply again.".into(),
        FaultClass::HoldsData => "Move the data away, or allow its deletion in the configuration and apply that first.".into(),
        FaultClass::Denied if action.is_empty() => "Give the credentials the permission named above.".into(),
        FaultClass::Denied => format!("Allow the action {action} for the credentials that Terraform uses."),
        FaultClass::Unauthenticated => "Check the credentials: the provider's `profile` and `assume_role`, the AWS_* variables, or the single sign-on session.".into(),
        FaultClass::Invalid => "Correct the value; the API's reason is above.".into(),
        FaultClass::Quota => "Ask AWS to raise the quota named above, or ask for less.".into(),
        FaultClass::Capacity => "Add instance types of the same shape or subnets in other zones, reserve capacity, or try again later.".into(),
        FaultClass::Broken => "Correct the cause named above, then run terraform apply again: the broken object is made anew.".into(),
        FaultClass::TimedOut => "Run terraform again to go on waiting, or allow more time in the `timeouts` block.".into(),
        FaultClass::Cancelled => "Run terraform apply again: it goes on from here.".into(),
        FaultClass::Bug => "Report this with the text above; it is always a problem with the provider.".into(),
    }
}

/// What a failed creation left, and how to go on without making it all again.
pub(super) fn partly_created(resource_type: &str, noun: &str, ledger: &Ledger) -> Diagnostic {
    let exists = ledger.entries.iter().filter(|(_, entry)| entry.health != Health::Missing);
    let mut lines: Vec<String> = exists.map(|(key, entry)| format!("  {key}: {}", entry.health)).collect();
    lines.sort();
    Diagnostic::warning(
        &AttributePath::root(),
        format!("The {noun} was created in part"),
        format!(
            "Nothing was rolled back. These components exist and are recorded in the state:\n{}\nTerraform marks a \
             resource whose creation failed as tainted: the next apply would delete these objects and make them again.",
            lines.join("\n")
        ),
    )
    .advise(&format!(
        "To go on from here instead, run `terraform untaint {resource_type}.<name>` and then `terraform apply`."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use FaultClass::*;

    #[test]
    fn every_class_of_fault_has_advice_that_is_a_sentence() {
        let classes = [
            Throttled,
            Unavailable,
            MaybeSent,
            NotYetConsistent,
            Unreachable,
            NotFound,
            AlreadyExists,
            Foreign,
            Busy,
            HoldsData,
            Denied,
            Unauthenticated,
            Invalid,
            Quota,
            Capacity,
            Broken,
            TimedOut,
            Cancelled,
            Bug,
        ];
        let table: Vec<String> =
            classes.iter().map(|class| format!("{class:?}: {}", advice(*class, "eks:CreateNodegroup"))).collect();
        for line in &table {
            assert!(line.ends_with('.'), "{line}");
        }
        insta::assert_snapshot!(table.join("\n"));
    }

    #[test]
    fn what_keeps_every_call_from_being_made_is_told_once() {
        let failure = |noun: &'static str, class| Failure {
            key: noun.to_owned(),
            noun,
            during: converge::During::Observe,
            fault: Fault::new(class, noun, "no answer"),
            origin: None,
        };
        let owner = Owner("mlplat_model_bucket/acme".to_owned());
        let failures = [failure("versioning", Unreachable), failure("policy", Denied), failure("bucket", Unreachable)];
        let told: Vec<_> = diagnostics("model bucket", &owner, &failures).into_iter().collect();
        assert_eq!(told.len(), 2);
        assert!(told[0].detail.contains("The same holds for: versioning"), "{}", told[0].detail);
        let missing = |key: &str| Failure {
            key: key.to_owned(),
            fault: Fault::new(NotFound, "EKS cluster \"nope\"", "no cluster found"),
            ..failure("bucket", NotFound)
        };
        let told: Vec<_> = diagnostics("tenant", &owner, &[missing("a"), missing("b")]).into_iter().collect();
        assert_eq!(told.len(), 1);
    }
}
