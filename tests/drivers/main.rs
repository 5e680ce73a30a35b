//! The AWS drivers against the emulated AWS.

#![expect(clippy::panic, reason = "a test that cannot go on says so")]

mod contract;
mod efs;
mod faults;
mod identity;
mod preflight;
mod world;
