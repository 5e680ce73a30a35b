//! A plugin process between its birth and its end, without anything global: tests run several in one process.

use crate::wire::{
    Ending, Environment, WireError, conn, handshake,
    proto::{
        plugin::{
            grpc_broker_server::GrpcBrokerServer, grpc_controller_server::GrpcControllerServer,
            grpc_stdio_server::GrpcStdioServer,
        },
        tfplugin6::provider_server::{Provider, ProviderServer},
    },
    side::{HEALTH_SERVICE, Side},
    socket::Socket,
    tls::Tls,
};
use std::path::Path;
use tonic::transport::Server;
use tonic_health::ServingStatus;

/// States and schemas are large, and a refused message cannot be split: the size other providers allow.
const MESSAGE_LIMIT: usize = 256 << 20;

/// A plugin that listens but does not serve yet.
#[derive(Debug)]
pub struct Plugin {
    socket: Socket,
    tls: Option<Tls>,
}

impl Plugin {
    /// Listens as the host demands, with TLS if it sent a certificate.
    pub fn bind(environment: &Environment) -> Result<Self, WireError> {
        handshake::check_protocol_version(environment)?;
        let tls = environment.client_cert.as_deref();
        Ok(Self { tls: tls.map(Tls::pinned_to).transpose()?, socket: Socket::bind(environment)? })
    }

    /// The socket's path.
    pub fn path(&self) -> &Path {
        self.socket.path()
    }

    /// The line the host waits for on standard output, without its end.
    pub fn handshake_line(&self) -> String {
        let certificate = self.tls.as_ref().map(|tls| tls.certificate.as_ref());
        handshake::line(self.socket.path(), certificate)
    }

    /// Serves until `ending`, and some time longer for calls still running. Then the socket is gone.
    pub async fn serve<P: Provider>(self, provider: P, ending: Ending) -> Result<(), WireError> {
        let side = Side::new(ending.clone());
        let (health, health_service) = tonic_health::server::health_reporter();
        let serving = ServingStatus::Serving;
        health.set_service_status(HEALTH_SERVICE, serving).await;
        let router = Server::builder()
            .add_service(limited(provider))
            .add_service(GrpcStdioServer::new(side.clone()))
            .add_service(GrpcBrokerServer::new(side.clone()))
            .add_service(GrpcControllerServer::new(side))
            .add_service(health_service);

        let listener = self.socket.listener().map_err(WireError::Process)?;
        let tls = self.tls.map(|tls| tls.config);
        let connections = conn::accept(listener, tls, ending.token().clone());
        let end = ending.token().clone().cancelled_owned();
        tokio::select! {
            served = router.serve_with_incoming_shutdown(connections, end) => served.map_err(WireError::Server),
            () = ending.overdue() => Ok(()),
        }
    }
}

fn limited<P: Provider>(provider: P) -> ProviderServer<P> {
    ProviderServer::new(provider).max_decoding_message_size(MESSAGE_LIMIT).max_encoding_message_size(MESSAGE_LIMIT)
}
