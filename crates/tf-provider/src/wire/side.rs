//! go-plugin's services beside the provider: stdio, broker, controller and health.

use crate::wire::{
    Ending,
    ending::Cause,
    proto::plugin::{
        ConnInfo, Empty, StdioData, grpc_broker_server::GrpcBroker, grpc_controller_server::GrpcController,
        grpc_stdio_server::GrpcStdio,
    },
};
use futures::{StreamExt as _, stream};
use std::time::Duration;
use tonic::{Request, Response, Status, Streaming, codegen::BoxStream};

/// The name the host's health check asks for.
pub(crate) const HEALTH_SERVICE: &str = "plugin";

/// Time for the answer to Shutdown to leave before the connection closes.
const ANSWER_FIRST: Duration = Duration::from_millis(5);

/// All three of them: what they share is that they last as long as the process.
#[derive(Debug, Clone)]
pub(crate) struct Side {
    ending: Ending,
}

impl Side {
    pub(crate) fn new(ending: Ending) -> Self {
        Self { ending }
    }

    /// A stream that stays open and silent: refusing it makes hosts log a warning.
    fn silence<T: Send + 'static>(&self) -> BoxStream<T> {
        let end = self.ending.token().clone().cancelled_owned();
        Box::pin(stream::pending().take_until(end))
    }
}

#[tonic::async_trait]
impl GrpcStdio for Side {
    async fn stream_stdio(&self, _: Request<()>) -> Result<Response<BoxStream<StdioData>>, Status> {
        Ok(Response::new(self.silence()))
    }
}

#[tonic::async_trait]
impl GrpcBroker for Side {
    async fn start_stream(
        &self,
        request: Request<Streaming<ConnInfo>>,
    ) -> Result<Response<BoxStream<ConnInfo>>, Status> {
        let mut announced = request.into_inner();
        let end = self.ending.token().clone();
        // Ends with the process even if the host keeps its side open: the server waits for open streams.
        tokio::spawn(
            end.run_until_cancelled_owned(async move { while let Ok(Some(_)) = announced.message().await {} }),
        );
        Ok(Response::new(self.silence()))
    }
}

#[tonic::async_trait]
impl GrpcController for Side {
    async fn shutdown(&self, _: Request<Empty>) -> Result<Response<Empty>, Status> {
        let ending = self.ending.clone();
        tokio::spawn(async move {
            tokio::time::sleep(ANSWER_FIRST).await;
            ending.end(Cause::Shutdown);
        });
        Ok(Response::new(Empty {}))
    }
}
