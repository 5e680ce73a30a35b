//! Terraform's output without what differs from run to run, so that it can be a snapshot.

use regex::Regex;
use std::sync::OnceLock;

/// What to look for and what to show instead, in this order.
const PATTERNS: &[(&str, &str)] = &[
    (r"\x1b\[[0-9;]*m", ""),
    (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?", "<time>"),
    (r"127\.0\.0\.1:\d+", "127.0.0.1:<port>"),
    (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "<uuid>"),
    (r"\b(lt|subnet|vpc|sg|ami|fs|fsmt|fsap|eni|i|pg|cr|a)-[0-9a-f]{8,17}\b", "$1-<id>"),
    (r"Request id: \S+", "Request id: <id>"),
    (r"\(os error \d+\)", "(os error <n>)"),
    (r"\b(AROA|AIPA|ANPA|AKIA)[A-Z0-9]{12,}\b", "$1<id>"),
    (r"after \d+m\d+s|after \d+s", "after <duration>"),
    (r"(?m)^.*: Still (creating|modifying|destroying|reading)\.\.\. .*\n", ""),
    (r"/tmp/[^\s\x22:]+", "<path>"),
    (r"[ \t]+(\n|$)", "$1"),
    (r"\n{3,}", "\n\n"),
];
/// Said on every run because the provider is overridden; no subject of any test.
const OVERRIDE: &str = "Warning: Provider development overrides are in effect";

/// The text with a test's own words hidden, then the patterns, then the override warning removed.
pub fn normalise(text: &str, words: &[(String, String)]) -> String {
    static COMPILED: OnceLock<Vec<(Regex, &str)>> = OnceLock::new();
    let compiled = COMPILED.get_or_init(|| {
        PATTERNS.iter().filter_map(|(pattern, shown)| Some((Regex::new(pattern).ok()?, *shown))).collect()
    });
    let bare = without_override(text);
    let mut out = words.iter().fold(bare, |text, (word, shown)| text.replace(word, shown));
    for (pattern, shown) in compiled {
        out = pattern.replace_all(&out, *shown).into_owned();
    }
    format!("{}\n", out.trim())
}

/// Terraform's output as it is, without the warning of the overridden provider.
pub fn without_override(text: &str) -> String {
    without_block(text, OVERRIDE)
}

/// Diagnostics without the box that terraform draws around them.
pub fn unframed(text: &str) -> String {
    let bare = |line: &str| line.trim_start_matches(['╷', '│', '╵']).to_owned();
    text.lines().map(bare).collect::<Vec<_>>().join("\n")
}

/// Remove a diagnostic by its title: a box, or without colours the title and what follows up to `LAST`.
fn without_block(text: &str, title: &str) -> String {
    // The last word of the only block removed, after which other output may follow without an empty line.
    const LAST: &str = "releases.";
    let Some(at) = text.find(title) else {
        return text.to_owned();
    };
    let is_framed = text[..at].lines().next_back().is_some_and(|line| line.starts_with('│'));
    let begin = if is_framed { text[..at].rfind('╷').unwrap_or(at) } else { at };
    let last = if is_framed { "╵" } else { LAST };
    let end = text[at..].find(last).map_or(text.len(), |end| at + end + last.len());
    format!("{}{}", &text[..begin], &text[end..])
}

#[cfg(test)]
mod tests {
    use super::normalise;

    #[test]
    fn what_differs_between_runs_is_hidden() {
        let text = "╷\n│ Warning: Provider development overrides are in effect\n│ x\n╵\n\n\n\
                    lt-0123456789abcdef0 at 2026-11-30T07:00:00Z  \n\
                    x.y: Still creating... [00m10s elapsed]\nCreation complete after 3s [id=x]\n/home/me/x";
        let shown = normalise(text, &[("/home/me".to_owned(), "<dir>".to_owned())]);
        assert_eq!(shown, "lt-<id> at <time>\nCreation complete after <duration> [id=x]\n<dir>/x\n");
    }

    #[test]
    fn the_override_is_not_told_of_without_colours_either() {
        let text = "\nWarning: Provider development overrides are in effect\n\nThese are set:\n - a/b in /x\n\n\
                    State may become incompatible with published\nreleases.\n\nPlan: 1 to add.\n\nDone.\n";
        assert_eq!(normalise(text, &[]), "Plan: 1 to add.\n\nDone.\n");
    }

    #[test]
    fn every_pattern_compiles() {
        for (pattern, _) in super::PATTERNS {
            assert!(regex::Regex::new(pattern).is_ok(), "{pattern}");
        }
    }
}
