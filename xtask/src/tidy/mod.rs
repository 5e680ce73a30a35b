//! `cargo xtask tidy`: what holds for every file of the repository. Also a test, so `cargo test` alone tells.
//!
//! Reads text, compiles nothing: it answers in a second.

mod layers;
mod rust;
mod text;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::{checkout, only_flags};

/// A file of the repository.
pub(crate) struct File {
    /// Below the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// Each fails the check.
    pub(crate) errors: Vec<String>,
    /// Worth a look.
    pub(crate) warnings: Vec<String>,
}

/// A check of one file.
type Check = fn(&File, &mut Findings);

const CHECKS: &[Check] = &[
    text::no_trailing_space,
    text::no_machine_paths,
    text::todos_have_issues,
    text::sources_of_the_lock,
    rust::has_header,
    rust::is_short,
    rust::expects_with_reason,
    layers::imports_only_lower,
];

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    only_flags(arguments, &[])?;
    let findings = check(&tree()?);
    for warning in &findings.warnings {
        println!("warning: {warning}");
    }
    if !findings.errors.is_empty() {
        bail!("not tidy:\n  {}", findings.errors.join("\n  "));
    }
    println!("tidy");
    Ok(())
}

fn check(files: &[File]) -> Findings {
    let mut findings = Findings::default();
    for file in files {
        for check in CHECKS {
            check(file, &mut findings);
        }
    }
    findings
}

// The text files of the checkout.
fn tree() -> Result<Vec<File>> {
    let read = |path: PathBuf| {
        // What is not UTF-8 is no text of ours.
        let text = std::fs::read_to_string(checkout::root().join(&path)).ok()?;
        Some(File { path: slashes(&path), text })
    };
    Ok(checkout::files()?.into_iter().filter_map(read).collect())
}

fn slashes(path: &Path) -> String {
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

impl File {
    fn ends_in(&self, extensions: &[&str]) -> bool {
        Path::new(&self.path).extension().is_some_and(|end| extensions.iter().any(|wanted| end == *wanted))
    }

    fn is_rust(&self) -> bool {
        self.ends_in(&["rs"])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The errors that a file with this text gives.
    fn errors(path: &str, text: &str) -> Vec<String> {
        check(&[File { path: path.to_owned(), text: text.to_owned() }]).errors
    }

    #[test]
    fn the_tree_is_tidy() {
        let errors = check(&tree().unwrap()).errors;
        assert!(errors.is_empty(), "{errors:#?}");
    }

    #[test]
    fn a_source_file_says_what_it_is() {
        assert!(errors("src/a.rs", "//! A.\n").is_empty());
        assert_eq!(errors("src/a.rs", "use std::fmt;\n").len(), 1);
    }

    #[test]
    fn a_long_file_fails_unless_its_length_is_tests() {
        let long = "//! A.\n".to_owned() + &"fn f() {}\n".repeat(700);
        assert_eq!(errors("src/a.rs", &long).len(), 1);
        let tested = long.replacen("fn f() {}", "#[cfg(test)]", 1);
        assert!(errors("src/a.rs", &tested).is_empty());
    }

    #[test]
    fn layers_import_downwards_only() {
        assert!(errors("src/bridge/a.rs", "//! A.\nuse crate::composite::Composite;\n").is_empty());
        assert_eq!(errors("src/components/a.rs", "//! A.\nuse crate::{drivers::Aws, catalog::Shape};\n").len(), 1);
        assert_eq!(errors("src/resources/a.rs", "//! A.\nuse aws_sdk_s3::Client;\n").len(), 1);
    }

    #[test]
    fn words_that_do_not_belong_here_are_found() {
        assert_eq!(errors("a.md", "ends in a space \n").len(), 1);
        assert_eq!(errors("a.md", &format!("see /{}/x\n", "root")).len(), 1);
        let word = ["TO", "DO"].concat();
        assert_eq!(errors("src/a.rs", &format!("//! A.\n// {word}: later\n")).len(), 1);
        assert!(errors("src/a.rs", &format!("//! A.\n// {word}(#12): later\n")).is_empty());
    }
}
