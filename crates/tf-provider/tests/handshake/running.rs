//! A plugin that serves in the test's own process.

use crate::host::{Address, Identity};
use std::{path::Path, sync::Arc, time::Duration};
use tf_provider::wire::{
    Ending, Environment, Plugin, StopSignal, WireError,
    proto::tfplugin6::{
        FunctionError, call_function, get_metadata, provider_server::Provider, validate_provider_config,
    },
};
use tokio::{sync::Notify, task::JoinHandle, time::timeout};
use tonic::{Request, Response, Status};

/// Longer than any test takes; a test that reaches it has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A provider with three calls: one says hello, one measures, one lasts until the process ends.
pub(crate) struct Sample {
    stop: StopSignal,
    pub(crate) lasting: Arc<Notify>,
}

#[tonic::async_trait]
impl Provider for Sample {
    async fn get_metadata(
        &self,
        _: Request<get_metadata::Request>,
    ) -> Result<Response<get_metadata::Response>, Status> {
        Ok(Response::new(get_metadata::Response::default()))
    }

    async fn call_function(
        &self,
        request: Request<call_function::Request>,
    ) -> Result<Response<call_function::Response>, Status> {
        let arguments = request.into_inner().arguments;
        Ok(Response::new(call_function::Response {
            result: arguments.into_iter().next(),
            error: None::<FunctionError>,
        }))
    }

    async fn validate_provider_config(
        &self,
        _: Request<validate_provider_config::Request>,
    ) -> Result<Response<validate_provider_config::Response>, Status> {
        self.lasting.notify_one();
        self.stop.token().cancelled().await;
        Ok(Response::new(validate_provider_config::Response::default()))
    }
}

/// A plugin that serves in this process.
pub(crate) struct Running {
    pub(crate) address: Address,
    pub(crate) ending: Ending,
    pub(crate) lasting: Arc<Notify>,
    served: JoinHandle<Result<(), WireError>>,
    _dir: tempfile::TempDir,
}

impl Running {
    pub(crate) fn start(client: Option<&Identity>) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let environment = Environment {
            protocol_versions: Some("5,6".to_owned()),
            client_cert: client.map(Identity::pem),
            temp_dir: dir.path().to_owned(),
            ..Environment::default()
        };
        let plugin = Plugin::bind(&environment).expect("a socket");
        let address = Address::parse(&plugin.handshake_line());
        let ending = Ending::default();
        let lasting = Arc::new(Notify::new());
        let provider = Sample { stop: ending.signal(), lasting: Arc::clone(&lasting) };
        Self { address, served: tokio::spawn(plugin.serve(provider, ending.clone())), ending, lasting, _dir: dir }
    }

    pub(crate) fn path(&self) -> &Path {
        Path::new(&self.address.path)
    }

    pub(crate) async fn ended(self) {
        let served = timeout(PATIENCE, self.served).await.expect("in time");
        served.expect("no panic").expect("a good end");
        assert!(!Path::new(&self.address.path).exists(), "the socket is still there");
    }
}
