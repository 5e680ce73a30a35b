//! The provider as its users meet it: the real terraform, the built provider, an emulated AWS behind the fault proxy.
//!
//! One binary, so that one emulator serves all tests; each test has an account of its own. What terraform prints is
//! kept as snapshots, to be read as a user reads it.

/// A snapshot of what Terraform prints. OpenTofu says the same in other words and line breaks: with it the scenarios
/// run, and their texts are not compared.
macro_rules! assert_snapshot {
    ($name:expr, $text:expr $(,)?) => {{
        let text = $text;
        if !acceptance_tests::Terraform::find()?.is_tofu() {
            insta::assert_snapshot!($name, text);
        }
    }};
}

mod bucket;
mod bucket_data;
mod data_sources;
mod faults;
mod filesystem;
mod imports;
mod lifecycle;
mod localstack;
mod modules;
mod moves;
mod pool;
mod pool_drift;
mod pool_preflight;
mod pool_reports;
mod provider;
mod support;
mod sweep;
