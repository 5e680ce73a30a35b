//! Finding the terraform, or OpenTofu, that the tests drive.
//!
//! On PATH, by `MLPLAT_TERRAFORM`, or, where there is Go and neither of them, built once from OpenTofu's module.

use crate::{
    cache,
    command::{on_path, run},
};
use anyhow::{Context, Result, bail};
use std::{
    fmt, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// The oldest version that is driven: 1.8 brought provider functions.
const LEAST: (u32, u32) = (1, 8);
const GO_MOD: &str = include_str!("../tofu/go.mod");
const GO_SUM: &str = include_str!("../tofu/go.sum");
const PACKAGE: &str = "github.com/opentofu/opentofu/cmd/tofu";

/// A core that can apply configurations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terraform {
    program: PathBuf,
    version: (u32, u32, u32),
    tofu: bool,
}

impl Terraform {
    /// The core to test with: `MLPLAT_TERRAFORM`, terraform or tofu on PATH, an OpenTofu of our own.
    pub fn find() -> Result<&'static Self> {
        static FOUND: OnceLock<Result<Terraform, String>> = OnceLock::new();
        let found = FOUND.get_or_init(|| Self::search().map_err(|error| format!("{error:#}")));
        found.as_ref().map_err(|reason| anyhow::anyhow!("{reason}"))
    }

    /// Every core that is there without building one: terraform, tofu, or both.
    pub fn all() -> Vec<Self> {
        let found = ["terraform", "tofu"].iter().filter_map(|name| on_path(name));
        found.filter_map(|program| Self::probe(&program).and_then(Self::new_enough).ok()).collect()
    }

    /// The program's path.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Major, minor and patch.
    pub fn version(&self) -> (u32, u32, u32) {
        self.version
    }

    /// Whether it is OpenTofu.
    pub fn is_tofu(&self) -> bool {
        self.tofu
    }

    /// Whether it is at least this version of Terraform; OpenTofu's own features have other numbers.
    pub fn at_least(&self, major: u32, minor: u32) -> bool {
        (self.version.0, self.version.1) >= (major, minor)
    }

    /// Whether it imports by identity. Where it does not, it is said that a test of that is skipped.
    pub fn imports_by_identity(&self) -> bool {
        let does = self.at_least(1, 12);
        if !does {
            eprintln!("skipped: {self} knows no import by identity, version 1.12 does; the in-process core covers it");
        }
        does
    }

    fn search() -> Result<Self> {
        if let Some(set) = std::env::var_os("MLPLAT_TERRAFORM") {
            return Self::probe(Path::new(&set)).context("MLPLAT_TERRAFORM")?.new_enough();
        }
        let mut unfit = Vec::new();
        for program in ["terraform", "tofu"].iter().filter_map(|name| on_path(name)) {
            match Self::probe(&program).and_then(Self::new_enough) {
                Ok(core) => return Ok(core),
                Err(error) => unfit.push(format!("{error:#}")),
            }
        }
        let none = if unfit.is_empty() { "there is no terraform".to_owned() } else { unfit.join("; ") };
        Self::build().context(none)
    }

    fn new_enough(self) -> Result<Self> {
        if !self.at_least(LEAST.0, LEAST.1) {
            bail!("{self} is too old, {}.{} is the least", LEAST.0, LEAST.1);
        }
        Ok(self)
    }

    fn probe(program: &Path) -> Result<Self> {
        // A user's broken configuration prints warnings into the answer.
        let ask = |arguments: &[&str]| {
            run(Command::new(program).args(arguments).env("CHECKPOINT_DISABLE", "1").env_remove("TF_CLI_CONFIG_FILE"))
        };
        let answer = ask(&["version", "-json"])?;
        let document: serde_json::Value = serde_json::from_str(answer.trim_start())
            .with_context(|| format!("{} does not tell its version as JSON", program.display()))?;
        let text = document["terraform_version"].as_str().context("no terraform_version in its answer")?;
        let tofu = ask(&["version"])?.trim_start().starts_with("OpenTofu");
        Ok(Self { program: program.to_owned(), version: parse_version(text)?, tofu })
    }

    fn build() -> Result<Self> {
        let Some(go) = on_path("go") else {
            bail!(
                "no terraform or tofu of version {}.{} or later on PATH, and no Go to build one with. Install \
                 Terraform (https://developer.hashicorp.com/terraform/install) or OpenTofu \
                 (https://opentofu.org/docs/intro/install), or Go 1.26 or later, or name one in MLPLAT_TERRAFORM",
                LEAST.0,
                LEAST.1
            );
        };
        let what = "Building OpenTofu, because there is no terraform (about four minutes, once)";
        let dir = cache::entry("opentofu", what, &[GO_MOD, GO_SUM], |dir| {
            fs::write(dir.join("go.mod"), GO_MOD)?;
            fs::write(dir.join("go.sum"), GO_SUM)?;
            let flags = "-s -w -X github.com/opentofu/opentofu/version.dev=no";
            let mut build = Command::new(&go);
            build.args(["build", "-ldflags", flags, "-o", "tofu", PACKAGE]).current_dir(dir);
            run(&mut build).map(drop)
        })?;
        Self::probe(&dir.join("tofu"))
    }
}

impl fmt::Display for Terraform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.tofu { "OpenTofu" } else { "Terraform" };
        let (major, minor, patch) = self.version;
        write!(f, "{name} {major}.{minor}.{patch} ({})", self.program.display())
    }
}

/// "1.11.4" or "1.13.0-rc1".
fn parse_version(text: &str) -> Result<(u32, u32, u32)> {
    let plain = text.split(['-', '+']).next().unwrap_or(text);
    let mut numbers = plain.split('.').map(str::parse);
    match (numbers.next(), numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor)), Some(Ok(patch))) => Ok((major, minor, patch)),
        _ => bail!("{text} is no version"),
    }
}

#[cfg(test)]
mod tests {
    use super::parse_version;

    #[test]
    fn a_version_may_have_a_suffix() {
        assert_eq!(parse_version("1.13.0-rc1").unwrap(), (1, 13, 0));
        assert!(parse_version("one").is_err());
    }
}
