//! Where things are in this checkout, and cargo run in it.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use acceptance_tests::{command, provider};
use anyhow::{Context, Result, bail};

/// The root of the checkout.
pub(crate) fn root() -> &'static Path {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest)
}

/// A cargo command in the root.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut cargo = Command::new(program);
    cargo.args(arguments).current_dir(root());
    cargo
}

/// The directory that cargo builds into, wherever that is configured.
pub(crate) fn target_dir() -> Result<PathBuf> {
    let text = command::run(&mut cargo(&["metadata", "--no-deps", "--format-version", "1", "--offline"]))?;
    let metadata: serde_json::Value = serde_json::from_str(&text)?;
    let dir = metadata["target_directory"].as_str().context("cargo tells no target directory")?;
    Ok(PathBuf::from(dir))
}

/// The provider as built with this profile.
pub(crate) fn provider_binary(profile: &str) -> Result<PathBuf> {
    let folder = if profile == "dev" { "debug" } else { profile };
    let file = target_dir()?.join(folder).join(provider::PROGRAM);
    if !file.is_file() {
        bail!("{} was not built", file.display());
    }
    Ok(file)
}

/// Build the provider with this profile. Cargo's own lines show how far it is.
pub(crate) fn build_provider(profile: &str) -> Result<PathBuf> {
    let arguments = ["build", "--package", provider::PROGRAM, "--profile", profile];
    let status = cargo(&arguments).status().context("cannot start cargo")?;
    if !status.success() {
        bail!("the provider does not build");
    }
    provider_binary(profile)
}

/// A provider to run: the one that `MLPLAT_PROVIDER` names, else one built with this profile.
pub(crate) fn provider(profile: &str) -> Result<PathBuf> {
    if std::env::var_os("MLPLAT_PROVIDER").is_some() { provider::binary() } else { build_provider(profile) }
}

/// Files that git tracks or would track, below the root.
pub(crate) fn files() -> Result<Vec<PathBuf>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root());
    let listed = command::run(&mut git)?;
    let files = listed.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from);
    Ok(files.filter(|file| root().join(file).is_file()).collect())
}
