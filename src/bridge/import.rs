//! Import: from an id or an identity to the stub that the Read which follows fills.

use tf_provider::{Cty, Diagnostic, Diagnostics, ImportRequest, StateResponse};
use value::AttributePath;

use super::{identity_of, schema};
use crate::composite::Composite;

pub(super) fn import<C: Composite>(request: &ImportRequest) -> StateResponse {
    let parts = match request {
        ImportRequest::Id(id) => parts::<C>(id),
        ImportRequest::Identity(identity) => Ok(C::IDENTITY.iter().map(|name| identity.get(name).clone()).collect()),
    };
    match parts {
        Err(complaint) => {
            StateResponse { state: Cty::Null, private: Vec::new(), identity: Cty::Null, diagnostics: complaint.into() }
        }
        Ok(parts) => {
            let mut state = schema::schema::<C>().block.null_object();
            for (name, value) in C::IDENTITY.iter().zip(parts) {
                // `-` stands for the provider's `kubernetes` block.
                state.set(name, if value.as_str() == Some("-") { Cty::Null } else { value });
            }
            let identity = identity_of::<C>(&state);
            StateResponse { state, private: Vec::new(), identity, diagnostics: Diagnostics::new() }
        }
    }
}

// As "a tenant" and "an inference service".
fn with_article(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
    format!("{article} {noun}")
}

/// The stub of the object that a resource of another provider stands for; none where it stands for none of ours. What
/// the other wrote is not looked at but for the name: the Read that follows sees how the object is.
pub(super) fn take_over<C: Composite>(from: &tf_provider::Source) -> Option<StateResponse> {
    let is_provider = |known: &str| from.provider.strip_suffix(known).is_some_and(|host| host.ends_with('/'));
    let source = C::SOURCES.iter().find(|one| one.type_name == from.type_name && is_provider(one.provider))?;
    let parts: Option<Vec<&str>> = source.id.iter().map(|pointer| from.state.pointer(pointer)?.as_str()).collect();
    Some(import::<C>(&ImportRequest::Id(parts.unwrap_or_default().join("/"))))
}

fn parts<C: Composite>(id: &str) -> Result<Vec<Cty>, Diagnostic> {
    let parts: Vec<&str> = id.split('/').collect();
    if parts.len() == C::IDENTITY.len() && parts.iter().all(|part| !part.is_empty()) {
        return Ok(parts.into_iter().map(Cty::from).collect());
    }
    let form = C::IDENTITY.iter().map(|name| format!("<{name}>")).collect::<Vec<_>>().join("/");
    Err(Diagnostic::error(
        &AttributePath::root(),
        format!("{id:?} is not the import id of {}", with_article(C::NOUN)),
        format!("The import id has the form {form}."),
    )
    .advise(&format!("Import it with `terraform import {}.<name> {form}`.", C::TYPE)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_noun_has_its_article() {
        assert_eq!(
            (with_article("tenant"), with_article("inference service")),
            ("a tenant".into(), "an inference service".into())
        );
    }
}
