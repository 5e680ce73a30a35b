//! An example stack, copied into a workspace of its own.

use std::{fs, path::Path};

use acceptance_tests::Workspace;
use anyhow::{Context, Result};

/// Copy the files of `examples/stacks/<name>` into the workspace.
pub(crate) fn copy(name: &str, workspace: &Workspace) -> Result<()> {
    let from = crate::checkout::root().join("examples/stacks").join(name);
    // A stack says itself where its providers come from.
    workspace.remove("versions.tf")?;
    copy_dir(&from, workspace.path())
}

fn copy_dir(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_dir(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
