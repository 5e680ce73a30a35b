//! What is downloaded or built for the tests, kept outside the checkout and keyed by what pins it.
//!
//! An entry is made once: under a lock, in its final place (virtual environments do not move), and valid only with
//! its marker, which is written last. A run that was killed half-way leaves no marker and the next one starts anew.

use crate::progress::Progress;
use anyhow::{Context, Result};
use sha2::{Digest, Sha256};
use std::{
    fmt::Write,
    fs::{self, File},
    path::{Path, PathBuf},
};

const MARKER: &str = ".complete";

/// The directory of all entries: `$XDG_CACHE_HOME/terraform-provider-mlplat`, else below `~/.cache`.
pub fn root() -> PathBuf {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
    base.unwrap_or_else(std::env::temp_dir).join("terraform-provider-mlplat")
}

/// The directory of an entry, made by `make` if it is not there; `what` is shown while that lasts.
pub fn entry(kind: &str, what: &str, pins: &[&str], make: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
    entry_in(&root(), kind, what, pins, make)
}

/// Whether an entry is there already.
pub fn has(kind: &str, pins: &[&str]) -> bool {
    root().join(format!("{kind}-{}", key(pins))).join(MARKER).exists()
}

fn entry_in(
    root: &Path,
    kind: &str,
    what: &str,
    pins: &[&str],
    make: impl FnOnce(&Path) -> Result<()>,
) -> Result<PathBuf> {
    let name = format!("{kind}-{}", key(pins));
    let dir = root.join(&name);
    if dir.join(MARKER).exists() {
        return Ok(dir);
    }
    fs::create_dir_all(root).with_context(|| format!("cannot create the cache {}", root.display()))?;
    let lock = File::create(root.join(format!("{name}.lock")))?;
    lock.lock()?;
    // Another process may have made it while this one waited.
    if !dir.join(MARKER).exists() {
        let _progress = Progress::start(what);
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir)?;
        make(&dir)?;
        File::create(dir.join(MARKER))?;
    }
    Ok(dir)
}

/// Half a SHA-256 over the pins, each with its length so that they cannot run together.
fn key(pins: &[&str]) -> String {
    let mut hash = Sha256::new();
    for pin in pins {
        hash.update(pin.len().to_le_bytes());
        hash.update(pin.as_bytes());
    }
    hash.finalize().iter().take(8).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;

    #[test]
    fn an_entry_is_made_once_and_anew_for_other_pins() {
        let root = tempfile::tempdir().unwrap();
        let mut made = 0;
        let mut get = |pin: &str| {
            entry_in(root.path(), "kind", "Making", &[pin], |_| {
                made += 1;
                Ok(())
            })
            .unwrap()
        };
        let first = get("1");
        assert_eq!(get("1"), first);
        assert_ne!(get("2"), first);
        assert_eq!(made, 2);
    }

    #[test]
    fn an_entry_that_failed_is_begun_from_nothing() {
        let root = tempfile::tempdir().unwrap();
        let failed = entry_in(root.path(), "kind", "Making", &["1"], |dir| {
            fs::write(dir.join("half"), "")?;
            bail!("no network")
        });
        assert!(failed.is_err());
        let dir = entry_in(root.path(), "kind", "Making", &["1"], |_| Ok(())).unwrap();
        assert!(!dir.join("half").exists());
    }

    #[test]
    fn pins_do_not_run_together() {
        assert_ne!(key(&["a", "bc"]), key(&["ab", "c"]));
    }
}
