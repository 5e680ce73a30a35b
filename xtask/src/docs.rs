//! `cargo xtask docs`: the reference and the schema on record, written or checked by the provider's own tests.

use anyhow::Result;

use crate::{checkout, only_flags, steps::Steps};

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let is_check = !only_flags(arguments, &["--check"])?.is_empty();
    let mut steps = Steps::start();
    let mut tests = checkout::cargo(&["test", "--workspace", "--all-features", "--test", "docs", "--test", "schema"]);
    if !is_check {
        tests.env("MLPLAT_UPDATE", "1");
    }
    steps.run(if is_check { "Compare the reference" } else { "Write the reference" }, &mut tests)?;
    steps.finish(if is_check { "docs/ is fresh." } else { "docs/ is written." });
    Ok(())
}
