//! ValidateProviderConfig, ConfigureProvider and StopProvider.

use std::sync::PoisonError;

use crate::{
    Cty,
    server::{Server, answer::Outcome, catalog::BlockEntry, validate::complaints},
    wire::proto::tfplugin6::{DynamicValue, configure_provider, stop_provider, validate_provider_config},
};

pub(super) fn validate(
    server: &Server,
    request: &validate_provider_config::Request,
) -> Outcome<validate_provider_config::Response> {
    let block = &server.catalog().provider;
    let config = config(block, request.config.as_ref())?;
    let diagnostics = block.told(complaints(&config, block, |config| server.provider.validate(config)));
    Ok(validate_provider_config::Response { diagnostics })
}

pub(super) async fn configure(
    server: &Server,
    request: configure_provider::Request,
) -> Outcome<configure_provider::Response> {
    let block = &server.catalog().provider;
    let config = config(block, request.config.as_ref())?;
    server.terraform_version.write().unwrap_or_else(PoisonError::into_inner).clone_from(&request.terraform_version);
    let diagnostics = server.provider.configure(&server.cx(), config).await;
    Ok(configure_provider::Response { diagnostics: block.told(diagnostics) })
}

/// Asks running calls to come to an end. They still answer, with what they have done.
pub(super) fn stop(server: &Server) -> stop_provider::Response {
    tracing::info!("Terraform asks running work to stop");
    server.stop();
    stop_provider::Response { error: String::new() }
}

/// No block at all is a block in which nothing is set.
fn config(block: &BlockEntry, config: Option<&DynamicValue>) -> Outcome<Cty> {
    let config = block.decode(config)?;
    Ok(if config.is_null() { block.schema.block.null_object() } else { config })
}
