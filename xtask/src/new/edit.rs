//! Small edits of source files that keep their lists sorted.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail, ensure};

/// The files of a checkout, edited one after the other; the paths that were written.
pub(super) struct Checkout<'a> {
    root: &'a Path,
    written: Vec<PathBuf>,
}

// === impl Checkout ===

impl<'a> Checkout<'a> {
    pub(super) fn new(root: &'a Path) -> Self {
        Self { root, written: Vec::new() }
    }

    /// Makes a file that is not there yet.
    pub(super) fn create(&mut self, path: &str, text: &str) -> Result<()> {
        let file = self.root.join(path);
        ensure!(!file.exists(), "{path} is there already");
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent)?;
        }
        self.write(path, text)
    }

    /// Puts a line into the run of lines that begin like this, where the order wants it.
    pub(super) fn insert(&mut self, path: &str, begins: &str, line: &str) -> Result<()> {
        let text = fs::read_to_string(self.root.join(path)).with_context(|| format!("cannot read {path}"))?;
        let edited = inserted(&text, begins, line).with_context(|| format!("in {path}"))?;
        self.write(path, &edited)
    }

    /// Adds a name to the group of names that begins like this: `resources::{`.
    pub(super) fn add_name(&mut self, path: &str, begins: &str, name: &str) -> Result<()> {
        let text = fs::read_to_string(self.root.join(path)).with_context(|| format!("cannot read {path}"))?;
        let edited = with_name(&text, begins, name).with_context(|| format!("in {path}"))?;
        self.write(path, &edited)
    }

    /// Puts a line at the end of a file, which is made if it is not there.
    pub(super) fn append(&mut self, path: &str, line: &str) -> Result<()> {
        let before = fs::read_to_string(self.root.join(path)).unwrap_or_default();
        self.write(path, &format!("{before}{line}\n"))
    }

    pub(super) fn into_written(self) -> Vec<PathBuf> {
        self.written
    }

    fn write(&mut self, path: &str, text: &str) -> Result<()> {
        fs::write(self.root.join(path), text).with_context(|| format!("cannot write {path}"))?;
        if !self.written.iter().any(|written| written == Path::new(path)) {
            self.written.push(PathBuf::from(path));
        }
        Ok(())
    }
}

fn inserted(text: &str, begins: &str, line: &str) -> Result<String> {
    let is_kin = |other: &str| other.trim_start().starts_with(begins);
    let mut lines: Vec<&str> = text.lines().collect();
    let Some(first) = lines.iter().position(|other| is_kin(other)) else {
        bail!("no line begins with {begins:?}");
    };
    let indent: String = lines[first].chars().take_while(|c| c.is_whitespace()).collect();
    let line = format!("{indent}{line}");
    let run = lines[first..].iter().take_while(|other| is_kin(other)).count();
    let before = lines[first..first + run].iter().filter(|other| ***other < *line).count();
    lines.insert(first + before, &line);
    Ok(lines.join("\n") + "\n")
}

fn with_name(text: &str, begins: &str, name: &str) -> Result<String> {
    let (before, rest) = text.split_once(begins).with_context(|| format!("there is no {begins:?}"))?;
    let (group, after) = rest.split_once('}').context("the group has no end")?;
    let mut names: Vec<&str> = group.split(',').map(str::trim).filter(|known| !known.is_empty()).collect();
    names.push(name);
    names.sort_unstable();
    Ok(format!("{before}{begins}{}}}{after}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::{inserted, with_name};

    #[test]
    fn a_name_goes_into_its_group() {
        let text = "use crate::{\n    resources::{A, C},\n    settings,\n};\n";
        assert_eq!(with_name(text, "resources::{", "B").unwrap(), text.replace("A, C", "A, B, C"));
        assert!(with_name(text, "drivers::{", "B").is_err());
    }

    #[test]
    fn a_line_goes_where_the_order_wants_it() {
        let text = "//! A.\n\n    mod a;\n    mod c;\n\nmod later;\n";
        let edited = inserted(text, "mod ", "mod b;").unwrap();
        assert_eq!(edited, "//! A.\n\n    mod a;\n    mod b;\n    mod c;\n\nmod later;\n");
        assert!(inserted(text, "use ", "use x;").is_err());
    }
}
