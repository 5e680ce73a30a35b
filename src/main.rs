//! The program: hands the provider to the framework.

use std::process::ExitCode;

fn main() -> ExitCode {
    tf_provider::serve(
        tf_provider::wire::Identity {
            name: "mlplat",
            address: "registry.terraform.io/mlplat/mlplat",
            version: env!("CARGO_PKG_VERSION"),
            log_targets: &["mlplat", "converge"],
        },
        mlplat::provider::Provider::new(),
    )
}
