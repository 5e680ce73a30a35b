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

/// Remove a framed diagnostic by its first line.
fn without_block(text: &str, title: &str) -> String {
    let Some(at) = text.find(title) else {
        return text.to_owned();
    };
    let begin = text[..at].rfind('╷').unwrap_or(at);
    let end = text[at..].find('╵').map_or(text.len(), |end| at + end + '╵'.len_utf8());
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
    fn every_pattern_compiles() {
        for (pattern, _) in super::PATTERNS {
            assert!(regex::Regex::new(pattern).is_ok(), "{pattern}");
        }
    }
}
