//! `cargo xtask test`: everything that says whether the tree is good.

use acceptance_tests::command::on_path;
use anyhow::Result;

use crate::{checkout, only_flags, steps::Steps, tidy};

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    only_flags(arguments, &[])?;
    let mut steps = Steps::start();
    steps.run("Format", &mut checkout::cargo(&["fmt", "--all", "--check"]))?;
    steps.step("Tidy", || tidy::run(&[]))?;
    let lints = ["clippy", "--workspace", "--all-features", "--all-targets", "--", "--deny", "warnings"];
    steps.run("Lints", &mut checkout::cargo(&lints))?;
    // The tests drive the binary, which this builds too: for tests, so that nothing is built with two sets of features.
    steps.run("Build", &mut checkout::cargo(&["test", "--workspace", "--all-features", "--no-run"]))?;
    let mut tests = checkout::cargo(&["test", "--workspace", "--all-features"]);
    tests.env("MLPLAT_PROVIDER", checkout::provider_binary("dev")?);
    steps.run("Tests", &mut tests)?;
    if on_path("cargo-deny").is_some() {
        steps.run("Licences, bans, advisories", &mut checkout::cargo(&["deny", "check"]))?;
    } else {
        println!("\nskipped: `cargo deny check`, because cargo-deny is not installed");
    }
    steps.finish("All good.");
    Ok(())
}
