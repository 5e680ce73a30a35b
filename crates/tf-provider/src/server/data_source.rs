//! ReadDataSource.

use crate::{
    server::{Server, answer::Outcome},
    wire::proto::tfplugin6::read_data_source,
};

pub(super) async fn read(server: &Server, request: read_data_source::Request) -> Outcome<read_data_source::Response> {
    let entry = server.catalog().data_source(&request.type_name)?;
    let config = entry.block.decode(request.config.as_ref())?;
    let (state, diagnostics) = entry.data_source.read(&server.cx(), config).await;
    let (state, diagnostics) = entry.block.answered(&state, diagnostics);
    Ok(read_data_source::Response { state, diagnostics, deferred: None })
}
