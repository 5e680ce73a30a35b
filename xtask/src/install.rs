//! `cargo xtask install`: builds the provider and writes a configuration with which terraform uses it.
//!
//! The user's own ~/.terraformrc is neither read nor written.

use std::fs;

use acceptance_tests::{cache, provider};
use anyhow::{Context, Result};

use crate::{checkout, only_flags};

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let profile = if only_flags(arguments, &["--release"])?.is_empty() { "dev" } else { "dist" };
    let built = checkout::build_provider(profile)?;
    // A place of its own, so that a later build with another profile does not change what terraform runs.
    let dir = cache::root().join("installed");
    fs::create_dir_all(&dir)?;
    let binary = dir.join(provider::PROGRAM);
    replace(&built, &binary)?;

    let template = fs::read_to_string(checkout::root().join(".terraformrc.example"))?;
    let config = dir.join("terraformrc");
    fs::write(&config, fill_in(&template, &dir.to_string_lossy()))?;
    println!("\nInstalled {}.\nTo use it, in the shell where terraform runs:\n", binary.display());
    println!("  export TF_CLI_CONFIG_FILE={}\n", config.display());
    println!("Leave out `terraform init` then: an overridden provider needs none.");
    Ok(())
}

// Written beside and renamed: a running terraform may hold the old file.
fn replace(from: &std::path::Path, to: &std::path::Path) -> Result<()> {
    let fresh = to.with_extension("new");
    fs::copy(from, &fresh).with_context(|| format!("cannot copy {}", from.display()))?;
    fs::rename(&fresh, to).with_context(|| format!("cannot write {}", to.display()))
}

// The template without what explains it, with the directory in place.
fn fill_in(template: &str, dir: &str) -> String {
    let lines = template.lines().skip_while(|line| line.starts_with('#') || line.is_empty());
    let text = lines.collect::<Vec<_>>().join("\n") + "\n";
    text.replace("@DIRECTORY@", dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_becomes_a_configuration() {
        let template = fs::read_to_string(checkout::root().join(".terraformrc.example")).unwrap();
        let config = fill_in(&template, "/opt/mlplat");
        assert!(config.starts_with("provider_installation {"), "{config}");
        assert!(config.contains("\"registry.terraform.io/mlplat/mlplat\" = \"/opt/mlplat\""), "{config}");
        assert!(!config.contains('@'), "{config}");
    }
}
