//! `cargo xtask acceptance`: only the tests that drive the real terraform.

use anyhow::{Result, bail};

use crate::{checkout, steps::Steps};

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let (flags, filters): (Vec<&str>, Vec<&str>) =
        arguments.iter().map(String::as_str).partition(|argument| argument.starts_with('-'));
    if let Some(unknown) = flags.iter().find(|flag| **flag != "--localstack") {
        bail!("unknown argument {unknown:?}; allowed: a filter and --localstack");
    }
    let mut steps = Steps::start();
    steps.run("Build", &mut checkout::cargo(&["test", "--workspace", "--all-features", "--no-run"]))?;
    let mut tests =
        checkout::cargo(&["test", "--workspace", "--all-features", "--test", "acceptance", "--", "--nocapture"]);
    tests.args(filters).env("MLPLAT_PROVIDER", checkout::provider_binary("dev")?);
    if !flags.is_empty() {
        tests.env("MLPLAT_LOCALSTACK", "1");
    }
    steps.run("Acceptance tests", &mut tests)?;
    steps.finish("All good.");
    Ok(())
}
