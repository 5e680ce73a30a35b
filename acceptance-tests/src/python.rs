//! Python interpreters and virtual environments for the emulators, kept in the cache.

use crate::{
    cache,
    command::{on_path, run},
};
use anyhow::{Context, Result, bail};
use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// An interpreter with its version.
#[derive(Clone, Debug)]
pub struct Python {
    program: PathBuf,
    version: (u32, u32),
}

impl Python {
    /// The first interpreter that is new enough: `EMU_PYTHON`, else `python3` and the numbered ones on PATH, else
    /// those that pyenv keeps beside it.
    pub fn find(least: (u32, u32)) -> Result<Self> {
        let wanted = std::env::var_os("EMU_PYTHON").map(PathBuf::from);
        let names = ["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python3.10"];
        let candidates: Vec<_> = match wanted {
            Some(program) => vec![program],
            None => names.iter().filter_map(|name| on_path(name)).chain(kept_by_pyenv()).collect(),
        };
        let found: Vec<_> = candidates.iter().filter_map(|program| Self::probe(program).ok()).collect();
        let (major, minor) = least;
        found.iter().find(|python| python.version >= least).cloned().with_context(|| {
            let seen: Vec<_> = found.iter().map(ToString::to_string).collect();
            format!(
                "the emulator needs Python {major}.{minor} or later; found: {}. Install it (Debian, Ubuntu: \
                 `apt-get install python3 python3-venv`; macOS: `brew install python`) or name one in EMU_PYTHON",
                if seen.is_empty() { "none".to_owned() } else { seen.join(", ") }
            )
        })
    }

    fn probe(program: &Path) -> Result<Self> {
        let script = "import sys; print(sys.version_info[0], sys.version_info[1])";
        let answer = run(Command::new(program).args(["-c", script]))?;
        let mut numbers = answer.split_whitespace().map(str::parse);
        let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else {
            bail!("{} does not tell its version", program.display());
        };
        Ok(Self { program: program.to_owned(), version: (major, minor) })
    }

    /// The interpreter of a virtual environment with these requirements, made if it is absent.
    pub fn environment(&self, kind: &str, what: &str, requirements: &str) -> Result<PathBuf> {
        let version = format!("{}.{}", self.version.0, self.version.1);
        let dir = cache::entry(kind, what, &[requirements, &version], |dir| self.make(dir, requirements))?;
        Ok(dir.join("venv/bin/python"))
    }

    fn make(&self, dir: &Path, requirements: &str) -> Result<()> {
        if run(Command::new(&self.program).args(["-c", "import ensurepip, venv"])).is_err() {
            let package = format!("python{}.{}-venv", self.version.0, self.version.1);
            bail!(
                "{self} cannot make virtual environments. Install the missing part (Debian, Ubuntu: \
                 `apt-get install {package}`) or name another interpreter in EMU_PYTHON"
            );
        }
        let venv = dir.join("venv");
        run(Command::new(&self.program).args(["-m", "venv"]).arg(&venv))?;
        let list = dir.join("requirements.txt");
        std::fs::write(&list, requirements)?;
        run(Command::new(venv.join("bin/python"))
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"])
            .arg(&list))
        .context("pip could not install the emulator; it needs a package index once")?;
        Ok(())
    }
}

impl std::fmt::Display for Python {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}.{})", self.program.display(), self.version.0, self.version.1)
    }
}

/// Interpreters installed by pyenv whose shims answer only where a version is chosen.
fn kept_by_pyenv() -> Vec<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let root = set("PYENV_ROOT").or_else(|| set("HOME").map(|home| home.join(".pyenv")));
    let versions = root.and_then(|root| std::fs::read_dir(root.join("versions")).ok());
    versions.into_iter().flatten().flatten().map(|version| version.path().join("bin/python3")).collect()
}
