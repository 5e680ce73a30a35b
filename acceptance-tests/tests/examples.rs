//! Every example below examples/ is a configuration that the real terraform finds valid.

use acceptance_tests::{Emulator, Workspace};
use anyhow::{Context, Result};
use std::{
    fs,
    path::{Path, PathBuf},
};

#[test]
fn every_example_is_valid() -> Result<()> {
    let account = Emulator::shared()?.account()?;
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let directories = directories_with_configuration(&examples)?;
    assert!(directories.len() > 5, "{directories:?}");
    let mut wrong = Vec::new();
    for directory in directories {
        let workspace = Workspace::new(&account)?;
        copy(&directory, &workspace)?;
        let output = workspace.run(&["validate", "-no-color"])?;
        // A warning is for the author of a configuration; an example has none.
        let said = output.snapshot();
        if output.status != 0 || said.contains("Warning:") {
            wrong.push(format!("{}:\n{said}", directory.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

fn directories_with_configuration(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let entries = fs::read_dir(root).with_context(|| format!("cannot read {}", root.display()))?;
    let paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    if paths.iter().any(|path| path.extension().is_some_and(|end| end == "tf")) {
        found.push(root.to_owned());
    }
    for path in paths.into_iter().filter(|path| path.is_dir()) {
        found.extend(directories_with_configuration(&path)?);
    }
    found.sort();
    Ok(found)
}

/// The files of an example; one that says itself where its provider comes from replaces what the workspace says.
fn copy(directory: &Path, workspace: &Workspace) -> Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()).filter(|_| path.is_file()) else { continue };
        let text = fs::read_to_string(&path)?;
        if text.contains("required_providers") {
            workspace.remove("versions.tf")?;
        }
        workspace.write(name, &text)?;
    }
    Ok(())
}
