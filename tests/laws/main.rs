//! The laws that every resource obeys, held against each with every configuration in `configs`: through a small
//! Terraform core, so that anything the real one would call "Provider produced …" fails here, and on a fake cloud.
//!
//! A new resource gets a line in `subjects`, its configurations, and its table of changes.

#![expect(clippy::panic, clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on says so")]

mod change;
mod drift;
mod examples;
mod json;
mod life;
mod mishap;
mod refused;
mod subjects;
mod sweep;
mod unknown;
mod world;
