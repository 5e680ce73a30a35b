//! The real server against a client that behaves like a host: who gets in, what is answered, and how it ends.

#[path = "../host/mod.rs"]
mod host;
mod running;

use host::{Address, Client, Identity, connect_plainly, origin};
use running::Running;
use rustls::version::{TLS12, TLS13};
use tf_provider::wire::{
    Cause,
    proto::{
        plugin::{
            self, grpc_broker_client::GrpcBrokerClient, grpc_controller_client::GrpcControllerClient,
            grpc_stdio_client::GrpcStdioClient,
        },
        tfplugin6::{DynamicValue, call_function, get_functions, get_metadata, validate_provider_config},
    },
};
use tonic::Code;
use tonic_health::pb::{HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient};

/// Whether a client gets as far as an answer.
async fn is_served(client: &Client<'_>, address: &Address) -> bool {
    let Ok(channel) = client.connect(address).await else {
        return false;
    };
    channel.provider().get_metadata(get_metadata::Request {}).await.is_ok()
}

#[tokio::test]
async fn the_host_that_started_the_process_is_served() {
    let own = Identity::new();
    let running = Running::start(Some(&own));

    for version in [&TLS13, &TLS12] {
        let client = Client { identity: Some(&own), version };
        assert!(is_served(&client, &running.address).await, "{version:?}");
    }
}

#[tokio::test]
async fn others_are_refused_and_do_no_harm() {
    let (own, other) = (Identity::new(), Identity::new());
    let thief = Identity { certificate: own.certificate.clone(), key: other.key.clone_key() };
    let running = Running::start(Some(&own));

    for version in [&TLS13, &TLS12] {
        for identity in [Some(&other), Some(&thief), None] {
            let client = Client { identity, version };
            assert!(!is_served(&client, &running.address).await, "{version:?}");
        }
    }
    let plain = connect_plainly(running.path()).await.expect("a socket");
    let answer = plain.provider().get_metadata(get_metadata::Request {}).await;
    assert!(answer.is_err(), "served without TLS");
    let client = Client { identity: Some(&own), version: &TLS13 };
    assert!(is_served(&client, &running.address).await);
}

#[tokio::test]
async fn without_a_client_certificate_there_is_no_tls() {
    let running = Running::start(None);
    assert!(running.address.certificate.is_none());

    let channel = connect_plainly(running.path()).await.expect("a connection");

    channel.provider().get_metadata(get_metadata::Request {}).await.expect("an answer");
}

#[tokio::test]
async fn messages_far_above_the_usual_limit_pass_both_ways() {
    let running = Running::start(None);
    let mut provider = connect_plainly(running.path()).await.expect("a connection").provider();

    let large = DynamicValue { msgpack: vec![7; 9 << 20], json: Vec::new() };
    let request = call_function::Request { name: "echo".to_owned(), arguments: vec![large.clone()] };
    let answer = provider.call_function(request).await.expect("an answer").into_inner();

    assert!(answer.result == Some(large));
}

#[tokio::test]
async fn a_call_that_is_not_written_says_so() {
    let running = Running::start(None);
    let mut provider = connect_plainly(running.path()).await.expect("a connection").provider();

    let status = provider.get_functions(get_functions::Request {}).await;

    assert_eq!(status.expect_err("not written").code(), Code::Unimplemented);
}

#[tokio::test]
async fn the_plugin_reports_to_be_healthy() {
    let running = Running::start(None);
    let channel = connect_plainly(running.path()).await.expect("a connection");

    let request = HealthCheckRequest { service: "plugin".to_owned() };
    let answer = HealthClient::with_origin(channel, origin()).check(request).await.expect("an answer");

    assert_eq!(answer.into_inner().status(), ServingStatus::Serving);
}

#[tokio::test]
async fn shutdown_is_answered_and_ends_everything() {
    let own = Identity::new();
    let running = Running::start(Some(&own));
    let client = Client { identity: Some(&own), version: &TLS13 };
    let channel = client.connect(&running.address).await.expect("a connection");
    let stdio = GrpcStdioClient::with_origin(channel.clone(), origin()).stream_stdio(()).await;
    let mut stdio = stdio.expect("an open stream").into_inner();
    let nothing = tokio_stream::pending::<plugin::ConnInfo>();
    let broker = GrpcBrokerClient::with_origin(channel.clone(), origin()).start_stream(nothing).await;
    let mut broker = broker.expect("an open stream").into_inner();

    let mut controller = GrpcControllerClient::with_origin(channel, origin());
    controller.shutdown(plugin::Empty {}).await.expect("an answer");

    assert!(stdio.message().await.is_ok_and(|message| message.is_none()));
    assert!(broker.message().await.is_ok_and(|message| message.is_none()));
    assert_eq!(running.ending.cause(), Some(Cause::Shutdown));
    running.ended().await;
}

#[tokio::test]
async fn a_call_still_running_at_the_end_can_answer() {
    let running = Running::start(None);
    let mut provider = connect_plainly(running.path()).await.expect("a connection").provider();
    let call =
        tokio::spawn(
            async move { provider.validate_provider_config(validate_provider_config::Request::default()).await },
        );
    running.lasting.notified().await;

    running.ending.end(Cause::Signalled);

    call.await.expect("no panic").expect("an answer");
    running.ended().await;
}

#[tokio::test]
async fn a_call_gets_through_however_many_are_running() {
    let running = Running::start(None);
    let mut provider = connect_plainly(running.path()).await.expect("a connection").provider();
    for _ in 0..300 {
        let mut provider = provider.clone();
        tokio::spawn(
            async move { provider.validate_provider_config(validate_provider_config::Request::default()).await },
        );
        running.lasting.notified().await;
    }

    provider.get_metadata(get_metadata::Request {}).await.expect("an answer");
}
