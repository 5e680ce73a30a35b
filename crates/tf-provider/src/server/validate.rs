//! ValidateResourceConfig and ValidateDataResourceConfig. Called again before every plan and every read.

use crate::{
    Cty, Diagnostics,
    server::{Server, answer::Outcome, catalog::BlockEntry, required, write_only},
    wire::proto::tfplugin6::{validate_data_resource_config, validate_resource_config},
};

pub(super) fn resource(
    server: &Server,
    request: &validate_resource_config::Request,
) -> Outcome<validate_resource_config::Response> {
    let entry = server.catalog().resource(&request.type_name)?;
    let config = entry.block.decode(request.config.as_ref())?;
    let mut diagnostics = complaints(&config, &entry.block, |config| entry.resource.validate(config));
    let stored_by_the_client =
        !request.client_capabilities.is_some_and(|capabilities| capabilities.write_only_attributes_allowed);
    if stored_by_the_client {
        let given = write_only::given(&config, &entry.block.schema.block);
        diagnostics.extend(given.iter().map(write_only::unsupported));
    }
    Ok(validate_resource_config::Response { diagnostics: entry.block.told(diagnostics) })
}

pub(super) fn data_source(
    server: &Server,
    request: &validate_data_resource_config::Request,
) -> Outcome<validate_data_resource_config::Response> {
    let entry = server.catalog().data_source(&request.type_name)?;
    let config = entry.block.decode(request.config.as_ref())?;
    let diagnostics = complaints(&config, &entry.block, |config| entry.data_source.validate(config));
    Ok(validate_data_resource_config::Response { diagnostics: entry.block.told(diagnostics) })
}

/// What is missing; where nothing is, what `validate` says.
pub(super) fn complaints(config: &Cty, entry: &BlockEntry, validate: impl FnOnce(&Cty) -> Diagnostics) -> Diagnostics {
    let missing = required::missing(config, &entry.schema.block);
    if missing.has_errors() { missing } else { validate(config) }
}
