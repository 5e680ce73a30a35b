//! Mutual TLS with pins on both sides: each process knows exactly one certificate of the other.

use crate::wire::WireError;
use rcgen::{CertificateParams, ExtendedKeyUsagePurpose, KeyPair};
use rustls::{
    DigitallySignedStruct, DistinguishedName, Error, ServerConfig, SignatureScheme,
    client::danger::HandshakeSignatureValid,
    crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, UnixTime, pem::PemObject as _},
    server::{
        NoServerSessionStorage,
        danger::{ClientCertVerified, ClientCertVerifier},
    },
};
use std::sync::Arc;

/// This process's certificate, and the settings that admit one client only.
#[derive(Debug, Clone)]
pub(crate) struct Tls {
    /// What goes into the handshake line.
    pub(crate) certificate: CertificateDer<'static>,
    pub(crate) config: Arc<ServerConfig>,
}

impl Tls {
    /// Makes a certificate for this process and pins the client's, given as PEM.
    pub(crate) fn pinned_to(client_pem: &str) -> Result<Self, WireError> {
        let client = CertificateDer::from_pem_slice(client_pem.as_bytes());
        let client = client.map_err(|_| WireError::ClientCertificate)?;
        let (certificate, key) = own_certificate().map_err(WireError::Certificate)?;
        let config = server_config(client, certificate.clone(), key).map_err(WireError::Tls)?;
        Ok(Self { certificate, config: Arc::new(config) })
    }
}

/// A new P-256 certificate for `localhost`, the name hosts ask for.
fn own_certificate() -> Result<(CertificateDer<'static>, PrivateKeyDer<'static>), rcgen::Error> {
    let key = KeyPair::generate()?;
    let mut params = CertificateParams::new(["localhost".to_owned()])?;
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    let certificate = params.self_signed(&key)?;
    let key = PrivatePkcs8KeyDer::from(key.serialize_der());
    Ok((certificate.der().clone(), key.into()))
}

fn server_config(
    client: CertificateDer<'static>,
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
) -> Result<ServerConfig, Error> {
    // Named, not the process's default: that one is ambiguous as soon as two libraries are linked.
    let crypto = Arc::new(aws_lc_rs::default_provider());
    let verifier = Arc::new(PinnedClient { certificate: client, crypto: Arc::clone(&crypto) });
    let mut config = ServerConfig::builder_with_provider(crypto)
        .with_safe_default_protocol_versions()?
        .with_client_cert_verifier(verifier)
        .with_single_cert(vec![certificate], key)?;
    // Newer gRPC clients end a connection that has not agreed on HTTP/2.
    config.alpn_protocols = vec![b"h2".to_vec()];
    // There is one connection in a process's life: nothing to resume, and no way round the pin.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(config)
}

/// Admits whoever holds the key of one certificate.
///
/// The usual verifier would not do: hosts present a certificate that says it is an authority,
/// which may not stand at the end of a chain. Comparing bytes is stricter than any chain.
#[derive(Debug)]
struct PinnedClient {
    certificate: CertificateDer<'static>,
    crypto: Arc<CryptoProvider>,
}

impl ClientCertVerifier for PinnedClient {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        if *end_entity == self.certificate {
            return Ok(ClientCertVerified::assertion());
        }
        Err(Error::General("not the certificate in PLUGIN_CLIENT_CERT".to_owned()))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.crypto.signature_verification_algorithms;
        verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.crypto.signature_verification_algorithms;
        verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.crypto.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_client_certificate_is_named_as_such() {
        let error = Tls::pinned_to("-----BEGIN NOTHING-----").expect_err("no certificate");

        assert!(matches!(error, WireError::ClientCertificate), "{error}");
    }

    #[test]
    fn clients_with_p521_keys_can_sign() {
        let (client, key) = own_certificate().expect("a certificate");
        let (own, _) = own_certificate().expect("a certificate");
        let config = server_config(client, own, key);

        // The key belongs to the other certificate: it must not be taken.
        assert!(config.is_err());
        let schemes = aws_lc_rs::default_provider().signature_verification_algorithms.supported_schemes();
        assert!(schemes.contains(&SignatureScheme::ECDSA_NISTP521_SHA512));
    }
}
