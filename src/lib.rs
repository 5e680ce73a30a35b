//! The provider: everything that knows machine-learning platforms.
//!
//! Read first: `composite` (what a resource is), `resources` (one file each), `bridge` (how one becomes a resource of
//! Terraform). Layers, lowest first: `catalog`, `components`, `resources`, `drivers`, `bridge`, `provider`.

pub mod bridge;
pub mod catalog;
pub mod components;
pub mod composite;
pub mod data_sources;
pub mod drivers;
pub mod functions;
pub mod neighbours;
pub mod provider;
pub mod resources;
pub mod settings;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
