//! ImportResourceState: what exists already comes under Terraform's care, by id or by identity.

use crate::{
    Cty, Diagnostic, Diagnostics, ImportRequest, StateResponse,
    server::{Server, answer::Outcome, catalog::ResourceEntry, conform::BUG, resource::failed},
    wire::proto::tfplugin6::{
        ResourceIdentityData,
        import_resource_state::{self, ImportedResource},
    },
};
use value::AttributePath;

pub(super) async fn import(
    server: &Server,
    request: import_resource_state::Request,
) -> Outcome<import_resource_state::Response> {
    let entry = server.catalog().resource(&request.type_name)?;
    let asked = asked(entry, request.id, request.identity.as_ref())?;
    let response = entry.resource.import(&server.cx(), asked).await;
    let diagnostics = checked(&request.type_name, &response);
    let failed = diagnostics.has_errors();
    let (state, diagnostics) = entry.block.answered(&response.state, diagnostics);
    let imported = (!failed).then(|| ImportedResource {
        type_name: request.type_name,
        state,
        identity: entry.encode_identity(&response.identity),
        private: response.private,
    });
    Ok(import_resource_state::Response {
        imported_resources: imported.into_iter().collect(),
        diagnostics,
        deferred: None,
    })
}

fn asked(entry: &ResourceEntry, id: String, identity: Option<&ResourceIdentityData>) -> Outcome<ImportRequest> {
    let identity = entry.decode_identity(identity)?;
    match (id.is_empty(), identity) {
        (false, Cty::Null) => Ok(ImportRequest::Id(id)),
        (true, identity) if !identity.is_null() => Ok(ImportRequest::Identity(identity)),
        _ => failed(entry, one_of_both().into()),
    }
}

fn checked(type_name: &str, response: &StateResponse) -> Diagnostics {
    let mut diagnostics = response.diagnostics.clone();
    if response.state.is_null() && !diagnostics.has_errors() {
        let detail = format!("Import of {type_name:?} said neither what is there nor what went wrong.");
        diagnostics.push(
            Diagnostic::error(&AttributePath::root(), BUG, detail)
                .advise("Please report it to the provider's authors with this text."),
        );
    }
    diagnostics
}

fn one_of_both() -> Diagnostic {
    let detail = "An import names its object either by an id or by an identity, and this one gives both or none.";
    Diagnostic::error(&AttributePath::root(), "Cannot tell what to import", detail)
        .advise("Give exactly one of `id` and `identity`; the resource's documentation shows both forms.")
}
