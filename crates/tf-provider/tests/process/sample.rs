//! The provider the executable turns into.

use tf_provider::wire::{
    self,
    proto::tfplugin6::{call_function, get_metadata, provider_server::Provider},
};
use tonic::{Request, Response, Status};

pub(crate) const IDENTITY: wire::Identity = wire::Identity {
    name: "sample",
    address: "registry.terraform.io/example/sample",
    version: "1.2.3",
    log_targets: &["process"],
};

/// Counts, and panics with and without somebody to catch it.
pub(crate) struct Sample;

#[tonic::async_trait]
impl Provider for Sample {
    async fn get_metadata(
        &self,
        _: Request<get_metadata::Request>,
    ) -> Result<Response<get_metadata::Response>, Status> {
        tracing::info!(count = 1, "asked");
        Ok(Response::new(get_metadata::Response::default()))
    }

    async fn call_function(
        &self,
        request: Request<call_function::Request>,
    ) -> Result<Response<call_function::Response>, Status> {
        let name = request.into_inner().name;
        if name == "caught" {
            let caught = wire::catch_panic(async { unreachable!("caught") }).await;
            return caught.map_err(|panic| Status::internal(panic.to_string()));
        }
        unreachable!("not caught")
    }
}
