//! The provider as its users meet it: the real terraform, the built provider, an emulated AWS behind the fault proxy.
//!
//! One binary, so that one emulator serves all tests; each test has an account of its own. What terraform prints is
//! kept as snapshots, to be read as a user reads it.

mod bucket;
mod bucket_data;
mod faults;
mod filesystem;
mod imports;
mod modules;
mod pool;
mod pool_drift;
mod pool_reports;
mod provider;
mod support;
mod sweep;
