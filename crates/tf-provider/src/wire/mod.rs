//! What the host and the process say to each other: handshake, socket, mutual TLS, side services, logs, the end.
//!
//! Nothing in here knows what a provider does: [`serve`] is given the generated service and knows no more of it.
//! **Invariant:** the environment is read once, in [`Environment::read`], and standard output carries one line.
//!
//! UNIX only: on Windows go-plugin wants a TCP port, and the signals differ.

#[cfg(not(unix))]
compile_error!("the wire layer needs UNIX sockets and signals");

pub mod proto;

mod arguments;
mod conn;
mod ending;
mod environment;
mod error;
mod handshake;
mod log;
mod panics;
mod plugin;
mod process;
mod reattach;
mod side;
mod socket;
mod tls;

pub use ending::{Cause, Ending, StopSignal};
pub use environment::Environment;
pub use error::WireError;
pub use panics::{Panic, catch_panic};
pub use plugin::Plugin;
pub use process::{Identity, serve};
