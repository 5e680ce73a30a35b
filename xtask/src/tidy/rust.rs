//! What holds for every Rust file.

use super::{File, Findings};

const LONG: usize = 400;
const TOO_LONG: usize = 600;

pub(super) fn has_header(file: &File, findings: &mut Findings) {
    if file.is_rust() && !file.text.starts_with("//! ") {
        findings.errors.push(format!("{}: begins with `//!` and what the file is", file.path));
    }
}

/// Tests do not count: they are read one at a time.
pub(super) fn is_short(file: &File, findings: &mut Findings) {
    if !file.is_rust() {
        return;
    }
    let lines = file.text.lines().take_while(|line| *line != "#[cfg(test)]").count();
    let words = format!("{}: {lines} lines; split it by subject", file.path);
    if lines > TOO_LONG {
        findings.errors.push(words);
    } else if lines > LONG {
        findings.warnings.push(words);
    }
}

/// Code that a derive macro writes is out of this: an expectation may not come true where it lands.
pub(super) fn expects_with_reason(file: &File, findings: &mut Findings) {
    let attribute = ["#[al", "low("].concat();
    let inner = ["#![al", "low("].concat();
    if file.is_rust()
        && !file.path.contains("-derive/")
        && (file.text.contains(&attribute) || file.text.contains(&inner))
    {
        findings
            .errors
            .push(format!("{}: write #[expect(lint, reason = \"…\")], which says when it is obsolete", file.path));
    }
}
