//! The ground the acceptance tests stand on: an emulated AWS account and a real Kubernetes API server, each
//! behind a fault proxy, and the real terraform.
//!
//! Knows the provider only as a binary. A test takes an [`Account`] from the shared [`Emulator`], a [`Workspace`]
//! with some configuration, and afterwards looks at plans, state, the proxy's [`Journal`] and what is left over.

pub mod account;
pub mod aws;
pub mod cache;
pub mod command;
pub mod emulator;
pub mod http;
pub mod kubernetes;
pub mod localstack;
pub mod printed;
pub mod progress;
pub mod provider;
pub mod proxy;
pub mod python;
pub mod sandbox;
pub mod snapshot;
pub mod stage;
pub mod terraform;
pub mod workspace;

pub use crate::{
    account::{Account, Cluster, Failure, Inventory, REGION},
    emulator::Emulator,
    proxy::{Entry, Journal, Proxy, Rule},
    sandbox::Sandbox,
    stage::Stage,
    terraform::Terraform,
    workspace::{Output, Workspace},
};
