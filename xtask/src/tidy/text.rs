//! What holds for every text file.

use super::{File, Findings};

/// Files of others, kept as they are.
const FOREIGN: [&str; 2] = ["LICENSE", "Cargo.lock"];

/// Where people's files lie on some machine: nothing in the repository may depend on it. In two parts, so that this
/// file does not find itself.
const MACHINE_PATHS: [(&str, &str); 3] = [("/Us", "ers/"), ("/ro", "ot/"), ("/wo", "rk/")];

/// Snapshots hold what a program printed; a table's last column may be empty.
pub(super) fn no_trailing_space(file: &File, findings: &mut Findings) {
    if FOREIGN.contains(&file.path.as_str()) || file.ends_in(&["snap", "tsv"]) {
        return;
    }
    for (number, line) in numbered(file) {
        if line.ends_with([' ', '\t', '\r']) {
            findings.errors.push(format!("{}:{number}: space at the end of the line", file.path));
        }
    }
    if !file.text.is_empty() && !file.text.ends_with('\n') {
        findings.errors.push(format!("{}: the last line has no end", file.path));
    }
}

pub(super) fn no_machine_paths(file: &File, findings: &mut Findings) {
    for (number, line) in numbered(file) {
        let is_path = |place: usize| !line[..place].ends_with(|before: char| before.is_alphanumeric() || before == '.');
        for (begin, end) in MACHINE_PATHS {
            let path = format!("{begin}{end}");
            if line.match_indices(&path).any(|(place, _)| is_path(place)) {
                findings.errors.push(format!("{}:{number}: a path of somebody's machine", file.path));
            }
        }
    }
}

pub(super) fn todos_have_issues(file: &File, findings: &mut Findings) {
    let word = ["TO", "DO"].concat();
    for (number, line) in numbered(file) {
        let mut places = line.match_indices(&word);
        if file.ends_in(&["rs", "py", "toml", "proto", "tf"])
            && places.any(|(place, _)| !line[place + word.len()..].starts_with("(#"))
        {
            findings.errors.push(format!("{}:{number}: {word} without an issue: write {word}(#12)", file.path));
        }
    }
}

pub(super) fn sources_of_the_lock(file: &File, findings: &mut Findings) {
    if file.path != "Cargo.lock" {
        return;
    }
    let known = "registry+https://github.com/rust-lang/crates.io-index";
    for (number, line) in numbered(file) {
        if line.starts_with("source = ") && !line.contains(known) {
            findings.errors.push(format!("{}:{number}: a crate that is not from crates.io", file.path));
        }
    }
}

fn numbered(file: &File) -> impl Iterator<Item = (usize, &str)> {
    file.text.split('\n').enumerate().map(|(index, line)| (index + 1, line))
}
