//! `cargo xtask fuzz`: bytes of every kind for the decoders of values, so many seconds for each.

use anyhow::{Context, Result, bail};

use crate::{checkout, steps::Steps};

const TARGETS: [&str; 2] = ["msgpack", "json"];

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let seconds = match arguments {
        [] => 60,
        [seconds] => seconds.parse::<u32>().with_context(|| format!("{seconds:?} is no number of seconds"))?,
        _ => bail!("usage: cargo xtask fuzz [seconds]"),
    };
    if !checkout::cargo(&["fuzz", "--version"]).output()?.status.success() {
        bail!("cargo-fuzz is missing: `cargo install cargo-fuzz` installs it");
    }
    let mut steps = Steps::start();
    for target in TARGETS {
        let mut fuzz = checkout::cargo(&["fuzz", "run", target, "--", &format!("-max_total_time={seconds}")]);
        // The sanitizers are behind an unstable flag, and the compiler that builds the rest will do.
        fuzz.env("RUSTC_BOOTSTRAP", "1").current_dir(checkout::root().join("crates/tf-provider"));
        steps.run(&format!("Fuzz {target}"), &mut fuzz)?;
    }
    steps.finish("No input broke a decoder.");
    Ok(())
}
