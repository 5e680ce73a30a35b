//! One log line: a flat JSON object whose values are all strings, shorter than what hosts read at once.
//!
//! A value that is no string under one of the keys with `@` makes Terraform itself crash.

use std::fmt::Write as _;
use tracing::Level;

/// Hosts split lines at 64 KiB, and the pieces are not JSON.
const LINE_LIMIT: usize = 60 * 1024;

/// A value takes no more than this, so that there is room for the others.
const VALUE_LIMIT: usize = 16 * 1024;

/// A line that is being written.
#[derive(Debug)]
pub(crate) struct Line {
    text: String,
}

impl Line {
    pub(crate) fn new(level: Level, module: &str, timestamp: &str) -> Self {
        let mut line = Self { text: String::with_capacity(256) };
        line.push("@level", word(level));
        line.push("@timestamp", timestamp);
        line.push("@module", &module.replace("::", "."));
        line
    }

    /// Adds a key and its value, the latter cut if it is too long. Adds nothing if the line is full.
    pub(crate) fn push(&mut self, key: &str, value: &str) {
        let left = LINE_LIMIT.saturating_sub(self.text.len() + key.len() + 16);
        if left == 0 {
            return;
        }
        self.text.push(if self.text.is_empty() { '{' } else { ',' });
        self.quoted(key, key.len() * 6);
        self.text.push(':');
        self.quoted(value, left.min(VALUE_LIMIT));
    }

    pub(crate) fn finish(mut self) -> String {
        self.text.push_str("}\n");
        self.text
    }

    fn quoted(&mut self, text: &str, limit: usize) {
        self.text.push('"');
        let end = self.text.len() + limit;
        for character in text.chars() {
            if self.text.len() >= end {
                self.text.push('…');
                break;
            }
            self.escaped(character);
        }
        self.text.push('"');
    }

    fn escaped(&mut self, character: char) {
        match character {
            '"' => self.text.push_str("\\\""),
            '\\' => self.text.push_str("\\\\"),
            '\n' => self.text.push_str("\\n"),
            control if u32::from(control) < 0x20 => {
                // Writing to a string does not fail.
                let _ = write!(self.text, "\\u{:04x}", u32::from(control));
            }
            other => self.text.push(other),
        }
    }
}

fn word(level: Level) -> &'static str {
    match level {
        Level::ERROR => "error",
        Level::WARN => "warn",
        Level::INFO => "info",
        Level::DEBUG => "debug",
        Level::TRACE => "trace",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn parsed(line: Line) -> Value {
        let text = line.finish();
        assert!(text.len() < 64 * 1024 && text.ends_with("}\n"), "{} bytes", text.len());
        assert_eq!(text.matches('\n').count(), 1, "one line");
        serde_json::from_str(&text).expect("JSON")
    }

    fn line() -> Line {
        Line::new(Level::INFO, "a::b", "then")
    }

    #[test]
    fn what_hosts_look_for_is_there() {
        let line = parsed(line());

        assert_eq!(line["@level"], "info");
        assert_eq!(line["@module"], "a.b");
        assert_eq!(line["@timestamp"], "then");
    }

    #[test]
    fn any_text_survives() {
        let text = "quote \" back \\ tab \t line \n bell \u{7} é 漢 \u{2028}";
        let mut line = line();
        line.push(text, text);

        assert_eq!(parsed(line)[text], text);
    }

    #[test]
    fn long_values_are_cut_and_the_line_stays_short() {
        let mut line = line();
        for key in ["a", "b", "c", "d", "e", "f"] {
            line.push(key, &"\u{1}漢".repeat(40_000));
        }
        line.push("last", "dropped");

        let line = parsed(line);
        assert!(line["a"].as_str().expect("a string").ends_with('…'));
    }
}
