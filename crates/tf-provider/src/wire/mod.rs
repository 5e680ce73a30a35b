//! What the host and the process say to each other: handshake, socket, mutual TLS, side services, logs, the end.

pub mod proto;
