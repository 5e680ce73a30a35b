//! Where the built provider is: the tests use the binary only and never build it.

use anyhow::{Result, bail};
use std::path::PathBuf;

/// The program's name.
pub const PROGRAM: &str = "terraform-provider-mlplat";

/// The binary: `MLPLAT_PROVIDER`, else beside the running test in the target directory.
pub fn binary() -> Result<PathBuf> {
    if let Some(set) = std::env::var_os("MLPLAT_PROVIDER").map(PathBuf::from) {
        if set.file_name().is_some_and(|name| name == PROGRAM) && set.is_file() {
            return Ok(set);
        }
        bail!("MLPLAT_PROVIDER is {} and not a file named {PROGRAM}", set.display());
    }
    let here = std::env::current_exe()?;
    // target/debug/deps/test-…, target/debug/xtask
    let beside = here.ancestors().skip(1).take(2).map(|dir| dir.join(PROGRAM)).find(|file| file.is_file());
    match beside {
        Some(file) => Ok(file),
        None => bail!(
            "the provider is not built: run `cargo build` (or `cargo xtask test`, which does), or set MLPLAT_PROVIDER"
        ),
    }
}
