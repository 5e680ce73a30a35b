//! Certificates of one control plane: its authority, and servers and clients signed by it. Nothing outlives a test.

use anyhow::Result;
use base64::{Engine, engine::general_purpose::STANDARD};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose, PublicKeyData,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use std::fmt::{self, Write};

/// A certificate authority.
pub(super) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate with its key.
#[derive(Debug)]
pub(crate) struct Identity {
    certificate: CertificateDer<'static>,
    key: KeyPair,
}

impl Authority {
    pub(super) fn new() -> Result<Self> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.distinguished_name.push(DnType::CommonName, "mlplat-test-authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        Ok(Self { issuer: CertifiedIssuer::self_signed(params, KeyPair::generate()?)? })
    }

    pub(super) fn certificate(&self) -> CertificateDer<'static> {
        self.issuer.der().clone()
    }

    pub(super) fn pem(&self) -> String {
        pem("CERTIFICATE", self.issuer.der())
    }

    /// A server on loopback, known in the cluster as the API server is.
    pub(super) fn server(&self) -> Result<Identity> {
        let names = ["localhost", "127.0.0.1", "10.0.0.1", "kubernetes", "kubernetes.default.svc"];
        let params = CertificateParams::new(names.map(str::to_owned))?;
        self.sign(params, "mlplat-test-server", ExtendedKeyUsagePurpose::ServerAuth)
    }

    /// A client: user name and group.
    pub(super) fn client(&self, user: &str, group: Option<&str>) -> Result<Identity> {
        let mut params = CertificateParams::new(Vec::new())?;
        if let Some(group) = group {
            params.distinguished_name.push(DnType::OrganizationName, group);
        }
        self.sign(params, user, ExtendedKeyUsagePurpose::ClientAuth)
    }

    fn sign(&self, mut params: CertificateParams, name: &str, usage: ExtendedKeyUsagePurpose) -> Result<Identity> {
        params.distinguished_name.push(DnType::CommonName, name);
        params.extended_key_usages = vec![usage];
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?.der().clone();
        Ok(Identity { certificate, key })
    }
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authority")
    }
}

impl Identity {
    pub(crate) fn certificate(&self) -> CertificateDer<'static> {
        self.certificate.clone()
    }

    pub(crate) fn key(&self) -> PrivateKeyDer<'static> {
        PrivatePkcs8KeyDer::from(self.key.serialize_der()).into()
    }

    pub(super) fn certificate_pem(&self) -> String {
        pem("CERTIFICATE", &self.certificate)
    }

    pub(super) fn key_pem(&self) -> String {
        pem("PRIVATE KEY", self.key.serialized_der())
    }
}

/// A key pair for the tokens of service accounts: private and public PEM.
pub(super) fn signing_key() -> Result<(String, String)> {
    let key = KeyPair::generate()?;
    Ok((pem("PRIVATE KEY", key.serialized_der()), pem("PUBLIC KEY", &key.subject_public_key_info())))
}

fn pem(label: &str, der: &[u8]) -> String {
    let (text, mut lines) = (STANDARD.encode(der), String::new());
    for line in text.as_bytes().chunks(64) {
        let _ = writeln!(lines, "{}", String::from_utf8_lossy(line));
    }
    format!("-----BEGIN {label}-----\n{lines}-----END {label}-----\n")
}
