//! Why a provider process could not start or go on serving. Not a provider's own errors: those are diagnostics.

use std::{io, path::PathBuf};

/// An error between start and end of the process. Each text says what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// The host speaks other protocol versions only.
    #[error(
        "This provider speaks plugin protocol 6, the program that started it only {offered}. \
         Use Terraform 1.8 or OpenTofu 1.8, or later versions of them."
    )]
    ProtocolVersion {
        /// What the host offered.
        offered: String,
    },
    /// The address of a socket has a fixed size in the kernel.
    #[error(
        "The socket {path:?} cannot be made: its path has {length} bytes and the operating system allows {limit}. \
         Set TMPDIR to a shorter directory, for example /tmp."
    )]
    SocketPathTooLong {
        /// The path that was wanted.
        path: PathBuf,
        /// Its length.
        length: usize,
        /// What the operating system takes.
        limit: usize,
    },
    /// The socket or its directory could not be created.
    #[error(
        "No socket can be made under {dir:?}. \
         Set TMPDIR, or PLUGIN_UNIX_SOCKET_DIR where that is in use, to a directory this user can write to."
    )]
    Socket {
        /// The directory tried.
        dir: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The group in `PLUGIN_UNIX_SOCKET_GROUP` does not exist.
    #[error("PLUGIN_UNIX_SOCKET_GROUP names the group {group:?}, which /etc/group does not have. Use its number.")]
    UnknownGroup {
        /// The name given.
        group: String,
    },
    /// `PLUGIN_CLIENT_CERT` is set but is no certificate.
    #[error("PLUGIN_CLIENT_CERT does not hold a certificate in PEM form. Leave this variable to Terraform.")]
    ClientCertificate,
    /// No certificate could be made for this process.
    #[error("No certificate can be made for the connection to Terraform.")]
    Certificate(#[source] rcgen::Error),
    /// The certificate was not usable.
    #[error("TLS cannot be set up for the connection to Terraform.")]
    Tls(#[source] rustls::Error),
    /// Threads, signals or standard output failed.
    #[error("The process cannot be set up to serve.")]
    Process(#[source] io::Error),
    /// The server failed while running.
    #[error("The connection to Terraform failed.")]
    Server(#[source] tonic::transport::Error),
}
