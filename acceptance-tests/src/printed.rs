//! What terraform printed, reduced to what a test is about.

use crate::Output;

/// What terraform printed, without what every run prints or prints in an order of its own.
pub fn shown(output: &Output) -> String {
    const PROGRESS: [&str; 11] = [
        ": Refreshing state...",
        ": Reading...",
        ": Read complete",
        ": Preparing import...",
        ": Importing from ID",
        ": Import prepared!",
        ": Creating...",
        ": Modifying...",
        ": Destroying...",
        ": Destruction complete",
        ": Still ",
    ];
    let text = output.snapshot().replace("OpenTofu", "Terraform");
    let kept = text.lines().filter(|line| !PROGRESS.iter().any(|progress| line.contains(progress)));
    let text = kept.collect::<Vec<_>>().join("\n");
    // The legend of symbols, and what is said of plans that are not saved.
    let begin = text.find("Terraform will perform the following actions:").unwrap_or(0);
    let mut text = text[begin..].to_owned();
    if let Some(note) = text.find("\n─────") {
        let end = text[note..].find("\"terraform apply\" now.").or_else(|| text[note..].find("\"tofu apply\" now."));
        let end = end.map_or(text.len(), |end| note + end + text[note + end..].find('\n').unwrap_or(0));
        text.replace_range(note..end, "");
    }
    while text.contains("\n\n\n") {
        text = text.replace("\n\n\n", "\n\n");
    }
    text.trim().to_owned()
}

/// The lines of a plan that change something, and what is said after them.
pub fn changed_lines(plan: &str) -> String {
    let is_change =
        |line: &&str| ["+ ", "- ", "~ ", "-/+", "+/-"].iter().any(|mark| line.trim_start().starts_with(mark));
    let (changes, rest) = plan.split_once("\nPlan: ").unwrap_or((plan, ""));
    let changes = changes.lines().filter(is_change).collect::<Vec<_>>().join("\n");
    format!("{changes}\nPlan: {rest}\n")
}

/// What terraform complained of, without what it printed before.
pub fn errors(output: &Output) -> String {
    let text = shown(output);
    let begin = ["\nError: ", "\nWarning: "].iter().filter_map(|title| text.find(title)).min();
    text[begin.unwrap_or(0)..].trim().to_owned()
}
