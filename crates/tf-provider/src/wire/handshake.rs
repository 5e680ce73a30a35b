//! The handshake of go-plugin: is this a host, does it speak our protocol, and where can it reach us.

use crate::wire::{Environment, WireError};
use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};
use std::path::Path;

/// What hosts put into `TF_PLUGIN_MAGIC_COOKIE`. Not a secret: it keeps people from running plugins by hand.
pub(crate) const MAGIC_COOKIE: &str = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";

/// The protocol's major version.
pub(crate) const PROTOCOL_VERSION: u32 = 6;

/// Whether a host started this process.
pub(crate) fn started_by_a_host(environment: &Environment) -> bool {
    environment.magic_cookie.as_deref() == Some(MAGIC_COOKIE)
}

/// Fails if the host says which versions it speaks and ours is not among them.
pub(crate) fn check_protocol_version(environment: &Environment) -> Result<(), WireError> {
    let Some(offered) = &environment.protocol_versions else {
        return Ok(());
    };
    let speaks_ours = |version: &str| version.trim().parse() == Ok(PROTOCOL_VERSION);
    if offered.split(',').any(speaks_ours) {
        return Ok(());
    }
    Err(WireError::ProtocolVersion { offered: offered.clone() })
}

/// The first line on standard output, without its end.
///
/// Six fields, never a seventh: hosts with go-plugin up to 1.5 would read it as part of the certificate.
/// The sixth is empty without TLS. Padding in the certificate is an error to the host.
pub(crate) fn line(socket: &Path, certificate: Option<&[u8]>) -> String {
    let certificate = certificate.map(|der| STANDARD_NO_PAD.encode(der));
    format!("1|{PROTOCOL_VERSION}|unix|{}|grpc|{}", socket.display(), certificate.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offering(versions: &str) -> Environment {
        Environment { protocol_versions: Some(versions.to_owned()), ..Environment::default() }
    }

    #[test]
    fn only_the_exact_cookie_is_a_host() {
        let with = |cookie: &str| Environment { magic_cookie: Some(cookie.to_owned()), ..Environment::default() };
        assert!(started_by_a_host(&with(MAGIC_COOKIE)));
        assert!(!started_by_a_host(&with("other")));
        assert!(!started_by_a_host(&Environment::default()));
    }

    #[test]
    fn versions_come_in_any_order() {
        assert!(check_protocol_version(&offering("5,6")).is_ok());
        assert!(check_protocol_version(&offering("6,5")).is_ok());
        assert!(check_protocol_version(&Environment::default()).is_ok());
    }

    #[test]
    fn a_host_without_version_6_is_told_what_to_use() {
        let error = check_protocol_version(&offering("4,5")).expect_err("no version in common");

        assert!(error.to_string().contains("protocol 6"), "{error}");
        assert!(error.to_string().contains("4,5"), "{error}");
    }

    #[test]
    fn the_line_has_six_fields_and_no_padding() {
        let line = line(Path::new("/tmp/plugin1/s"), Some(b"four"));

        assert_eq!(line, "1|6|unix|/tmp/plugin1/s|grpc|Zm91cg");
    }

    #[test]
    fn without_tls_the_sixth_field_is_empty() {
        assert_eq!(line(Path::new("/s"), None), "1|6|unix|/s|grpc|");
    }
}
