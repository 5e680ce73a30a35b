//! What a host does at the other end of the socket, as far as tests need it: certificate, connection, calls.

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, STANDARD_NO_PAD},
};
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, KeyPair, PKCS_ECDSA_P521_SHA512};
use rustls::{
    ClientConfig, RootCertStore, SupportedProtocolVersion,
    crypto::aws_lc_rs::{self, sign::any_supported_type},
    pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName},
    sign::{CertifiedKey, SingleCertAndKey},
};
use std::{
    io,
    path::Path,
    sync::Arc,
    task::{Context, Poll},
};
use tf_provider::wire::proto::tfplugin6::provider_client::ProviderClient;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::UnixStream,
};
use tokio_rustls::TlsConnector;
use tonic::{
    body::Body,
    codegen::{
        BoxFuture, Service,
        http::{Request, Response},
    },
};

/// A certificate as hosts make it: P-521, signed by itself, and saying that it is an authority.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) certificate: CertificateDer<'static>,
    pub(crate) key: PrivatePkcs8KeyDer<'static>,
}

impl Identity {
    pub(crate) fn new() -> Self {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P521_SHA512).expect("a key");
        let mut params = CertificateParams::new(["localhost".to_owned()]).expect("a name");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth, ExtendedKeyUsagePurpose::ServerAuth];
        let certificate = params.self_signed(&key).expect("a certificate");
        Self { certificate: certificate.der().clone(), key: PrivatePkcs8KeyDer::from(key.serialize_der()) }
    }

    fn resolver(&self) -> Arc<SingleCertAndKey> {
        let key = any_supported_type(&self.key.clone_key().into()).expect("a key");
        let chain = vec![self.certificate.clone()];
        Arc::new(CertifiedKey::new(chain, key).into())
    }

    /// What goes into `PLUGIN_CLIENT_CERT`.
    pub(crate) fn pem(&self) -> String {
        let text = STANDARD.encode(&self.certificate);
        let lines: Vec<_> = text.as_bytes().chunks(64).map(String::from_utf8_lossy).collect();
        format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
    }
}

/// The fields of a handshake line, checked as hosts check them.
pub(crate) struct Address {
    pub(crate) path: String,
    pub(crate) certificate: Option<CertificateDer<'static>>,
}

impl Address {
    pub(crate) fn parse(line: &str) -> Self {
        let fields: Vec<_> = line.trim().split('|').collect();
        let [core, protocol, network, path, kind, certificate] = fields.as_slice() else {
            unreachable!("not six fields: {line}");
        };
        assert_eq!([*core, *protocol, *network, *kind], ["1", "6", "unix", "grpc"]);
        let der = STANDARD_NO_PAD.decode(certificate).expect("base64 without padding");
        Self { path: (*path).to_owned(), certificate: (!der.is_empty()).then(|| der.into()) }
    }
}

/// How a client behaves in the TLS handshake.
pub(crate) struct Client<'a> {
    pub(crate) identity: Option<&'a Identity>,
    pub(crate) version: &'static SupportedProtocolVersion,
}

impl Client<'_> {
    fn config(&self, server: CertificateDer<'static>) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(server).expect("a certificate");
        let crypto = Arc::new(aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(crypto)
            .with_protocol_versions(&[self.version])
            .expect("a version")
            .with_root_certificates(roots);
        let mut config = match self.identity {
            None => config.with_no_client_auth(),
            // Given as a resolver, for rustls would refuse a key that does not fit.
            Some(identity) => config.with_client_cert_resolver(identity.resolver()),
        };
        config.alpn_protocols = vec![b"h2".to_vec()];
        config
    }

    /// Connects as hosts do: to the one certificate of the handshake line, under the name localhost.
    pub(crate) async fn connect(&self, address: &Address) -> io::Result<Channel> {
        let server = address.certificate.clone().expect("a server with TLS");
        let name = ServerName::try_from("localhost").expect("a name");
        let socket = UnixStream::connect(&address.path).await?;
        let connector = TlsConnector::from(Arc::new(self.config(server)));
        let stream = connector.connect(name, socket).await?;
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]), "newer hosts insist on this");
        Channel::over(stream).await
    }
}

/// Connects without TLS.
pub(crate) async fn connect_plainly(path: &Path) -> io::Result<Channel> {
    Channel::over(UnixStream::connect(path).await?).await
}

/// An HTTP/2 connection, for the generated clients.
#[derive(Clone)]
pub(crate) struct Channel(SendRequest<Body>);

impl Channel {
    async fn over(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> io::Result<Self> {
        let connected = handshake(TokioExecutor::new(), TokioIo::new(stream)).await;
        let (requests, connection) = connected.map_err(io::Error::other)?;
        tokio::spawn(connection);
        Ok(Self(requests))
    }

    pub(crate) fn provider(self) -> ProviderClient<Self> {
        ProviderClient::with_origin(self, origin()).max_decoding_message_size(64 << 20)
    }
}

pub(crate) fn origin() -> tonic::codegen::http::Uri {
    tonic::codegen::http::Uri::from_static("http://localhost")
}

impl Service<Request<Body>> for Channel {
    type Response = Response<hyper::body::Incoming>;
    type Error = hyper::Error;
    type Future = BoxFuture<Self::Response, Self::Error>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(self.0.send_request(request))
    }
}
