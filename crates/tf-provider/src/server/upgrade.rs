//! UpgradeResourceState, UpgradeResourceIdentity and MoveResourceState: values that were written in other times.
//!
//! The first is called on every read of a state, at equal versions too.

use std::cmp::Ordering;

use serde_json::value::RawValue;

use crate::{
    Cty, Diagnostic, Diagnostics, Source, codec,
    server::{
        Server,
        answer::Outcome,
        catalog::ResourceEntry,
        diagnostics::plain,
        resource::failed,
        translate::{self, unreadable},
        write_only::without_write_only,
    },
    wire::proto::tfplugin6::{
        RawState, ResourceIdentityData, move_resource_state, upgrade_resource_identity, upgrade_resource_state,
    },
};
use value::AttributePath;

pub(super) fn state(
    server: &Server,
    request: &upgrade_resource_state::Request,
) -> Outcome<upgrade_resource_state::Response> {
    let entry = server.catalog().resource(&request.type_name)?;
    let json = json(request.raw_state.as_ref());
    let state = upgraded(entry, request.version, json).or_else(|diagnostics| failed(entry, diagnostics))?;
    let state = without_write_only(state, &entry.block.schema.block);
    let (upgraded_state, diagnostics) = entry.block.answered(&state, Diagnostics::new());
    Ok(upgrade_resource_state::Response { upgraded_state, diagnostics })
}

fn json(raw: Option<&RawState>) -> &[u8] {
    raw.map_or(&[], |raw| raw.json.as_slice())
}

fn upgraded(entry: &ResourceEntry, version: i64, json: &[u8]) -> Result<Cty, Diagnostics> {
    if json.is_empty() {
        return Err(flat(version));
    }
    match version.cmp(&entry.block.schema.version) {
        Ordering::Equal => codec::from_json(json, &entry.block.ty).map_err(|error| unreadable(&error).into()),
        Ordering::Less => entry.resource.upgrade(version, document(json)?),
        Ordering::Greater => Err(newer("state", version, entry.block.schema.version)),
    }
}

fn document(json: &[u8]) -> Result<&RawValue, Diagnostics> {
    serde_json::from_slice(json).map_err(|error| {
        let detail = format!("The stored state is no JSON: {error}.");
        Diagnostic::error(&AttributePath::root(), "Cannot read the stored state", detail)
            .advise("Restore the state from a backup.")
            .into()
    })
}

fn flat(version: i64) -> Diagnostics {
    let detail = format!(
        "It is in the format that Terraform wrote before version 0.12 (schema version {version}), \
         and no version of this provider ever wrote that."
    );
    Diagnostic::error(&AttributePath::root(), "Cannot read the stored state", detail)
        .advise("Remove the object from the state with `terraform state rm` and import it.")
        .into()
}

fn newer(what: &str, version: i64, ours: i64) -> Diagnostics {
    let detail = format!("Its version is {version}, and this provider knows versions up to {ours}.");
    Diagnostic::error(&AttributePath::root(), format!("The stored {what} is of a newer provider"), detail)
        .advise("Use the provider version that wrote it, or a later one.")
        .into()
}

pub(super) fn identity(
    server: &Server,
    request: &upgrade_resource_identity::Request,
) -> Outcome<upgrade_resource_identity::Response> {
    let entry = server.catalog().resource(&request.type_name)?;
    let json = json(request.raw_identity.as_ref());
    let Some((schema, ty)) = entry.identity.as_ref().filter(|_| !json.is_empty()) else {
        // A state from before the resource had an identity: the Read that follows finds it.
        return Ok(upgrade_resource_identity::Response::default());
    };
    if request.version > schema.version {
        return Err(plain(newer("identity", request.version, schema.version)));
    }
    let identity = codec::from_json(json, ty).map_err(|error| plain(unreadable(&error).into()))?;
    Ok(upgrade_resource_identity::Response {
        upgraded_identity: Some(ResourceIdentityData { identity_data: Some(translate::encode(&identity, ty)) }),
        diagnostics: Vec::new(),
    })
}

/// Takes over the state of another resource.
pub(super) fn moved(server: &Server, request: &move_resource_state::Request) -> Outcome<move_resource_state::Response> {
    let target = &request.target_type_name;
    let entry = server.catalog().resource(target)?;
    let state = serde_json::from_slice(json(request.source_state.as_ref())).unwrap_or_default();
    let (provider, type_name) = (request.source_provider_address.clone(), request.source_type_name.clone());
    match entry.resource.take_over(&Source { provider, type_name, state }) {
        Some(response) => {
            let (target_state, diagnostics) = entry.block.answered(&response.state, response.diagnostics);
            let target_identity = entry.encode_identity(&response.identity);
            Ok(move_resource_state::Response {
                target_state,
                diagnostics,
                target_private: response.private,
                target_identity,
            })
        }
        None => unmoved(entry, request),
    }
}

fn unmoved(entry: &ResourceEntry, request: &move_resource_state::Request) -> Outcome<move_resource_state::Response> {
    let target = &request.target_type_name;
    let detail = format!(
        "The moved block leads from {:?} of {:?}, whose state a {target:?} cannot take over.",
        request.source_type_name, request.source_provider_address,
    );
    let diagnostic = Diagnostic::error(&AttributePath::root(), "Cannot move from this resource", detail)
        .advise("Take the object out of the state with a `removed` block and bring it back with an `import` block.");
    failed(entry, diagnostic.into())
}
