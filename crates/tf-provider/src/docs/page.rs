//! One page of Markdown: front matter, then blocks with one empty line between them.

/// A page being written.
pub(super) struct Page(String);

// === impl Page ===

impl Page {
    /// A page with its front matter; the description is the first sentence of `about`.
    pub(super) fn new(title: &str, subcategory: &str, about: &str) -> Self {
        let first = sentences(about).into_iter().next().unwrap_or_default();
        Self(format!(
            "---\npage_title: \"{title}\"\nsubcategory: \"{subcategory}\"\ndescription: |-\n  {first}\n---\n\n"
        ))
    }

    /// A page without front matter: a part of another one.
    pub(super) fn empty() -> Self {
        Self(String::new())
    }

    pub(super) fn heading(&mut self, level: usize, text: &str) {
        self.push(&format!("{} {text}\n", "#".repeat(level)));
    }

    /// Prose, one sentence a line.
    pub(super) fn text(&mut self, text: &str) {
        self.push(&prose(text));
    }

    pub(super) fn code(&mut self, language: &str, code: &str) {
        self.push(&format!("```{language}\n{}\n```\n", code.trim_end()));
    }

    pub(super) fn deprecation(&mut self, text: Option<&str>) {
        if let Some(text) = text {
            self.push(&format!("~> **Deprecated.** {text}\n"));
        }
    }

    /// A block that is Markdown already.
    pub(super) fn push(&mut self, block: &str) {
        let block = block.trim_matches('\n');
        if !block.is_empty() {
            self.0.push_str(block);
            self.0.push_str("\n\n");
        }
    }

    pub(super) fn finish(self) -> String {
        format!("{}\n", self.0.trim_end())
    }
}

/// The text with one sentence a line; paragraphs, lists and code keep their lines.
pub(super) fn prose(text: &str) -> String {
    let mut inside_code = false;
    let paragraph = |paragraph: &str| {
        let is_plain = !inside_code && !paragraph.lines().any(keeps_its_line);
        inside_code ^= paragraph.matches("```").count() % 2 == 1;
        if is_plain { sentences(paragraph).join("\n") } else { paragraph.to_owned() }
    };
    text.trim().split("\n\n").map(paragraph).collect::<Vec<_>>().join("\n\n")
}

// Lines of lists, tables and code.
fn keeps_its_line(line: &str) -> bool {
    ["- ", "* ", "|", "```"].iter().any(|mark| line.trim_start().starts_with(mark))
}

/// The sentences of a paragraph. One ends with `.`, `?` or `!` before a space and something that can begin the
/// next: a capital letter or a code span.
pub fn sentences(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut sentences = vec![String::new()];
    for (index, word) in words.iter().enumerate() {
        if let Some(sentence) = sentences.last_mut() {
            if !sentence.is_empty() {
                sentence.push(' ');
            }
            sentence.push_str(word);
        }
        let begins = words.get(index + 1).and_then(|next| next.chars().next());
        if ends_sentence(word) && begins.is_some_and(|first| first.is_uppercase() || first == '`') {
            sentences.push(String::new());
        }
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

fn ends_sentence(word: &str) -> bool {
    let bare = word.trim_end_matches([')', '"', '*', '`']);
    let is_abbreviation = matches!(bare, "e.g." | "i.e." | "etc." | "vs." | "incl.");
    bare.ends_with(['.', '?', '!']) && !is_abbreviation
}
