//! Resources with Kubernetes objects as their users meet them: the real terraform, the built provider, an emulated AWS
//! and a real API server, each behind its fault proxy.
//!
//! One binary, so that one control plane serves all tests; each test has an account and a namespace of its own. On a
//! machine that cannot have a control plane the scenarios say so and do nothing.

mod admission;
mod adoption;
mod connection;
mod drift;
mod failures;
mod filesystem;
mod filesystem_drift;
mod filesystem_sweep;
mod permissions;
mod placement;
mod replicas;
mod service;
mod support;
mod sweep;
mod tenant;
mod tenant_access;
mod tenant_drift;
mod tenant_effects;
mod tenant_end;
mod tenant_network;
mod tokens;
mod unreached;
