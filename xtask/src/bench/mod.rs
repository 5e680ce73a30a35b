//! `cargo xtask bench`: figures, each beside its target. Nothing here fails because a figure is bad.
//!
//! To add one: a function that gives [`Figure`]s, and a line in `FIGURES`.

mod codec;
mod debugged;
mod kubernetes;
mod plan;
mod platform;
mod size;
mod start;
mod world;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::{checkout, steps::Steps};

/// One measured figure.
struct Figure {
    what: String,
    value: String,
    /// Empty where there is none.
    target: String,
    /// None where there is no target.
    is_met: Option<bool>,
}

/// What the measurements work on.
struct Subject {
    provider: PathBuf,
    profile: String,
}

/// A group of figures: its name, and how they are got.
type Group = (&'static str, fn(&Subject) -> Result<Vec<Figure>>);

const FIGURES: &[Group] = &[
    ("Start", start::measure),
    ("Memory after the schema was asked for", debugged::memory),
    ("Size of the binary", size::measure),
    ("A plan without changes, 50 ms on every call", plan::one_of_each),
    ("Many resources: 200 buckets and 50 pools", plan::many),
    ("A plan without changes in Kubernetes, 50 ms on every call", kubernetes::one_of_each),
    ("Many resources in Kubernetes: 20 tenants and 20 services", kubernetes::many),
    ("The whole platform, 50 ms on every call", platform::one_of_each),
    ("The whole platform ten times", platform::ten),
    ("The platform stack", platform::stack),
    ("Codec", codec::measure),
];

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let (profile, word) = asked(arguments)?;
    let mut steps = Steps::start();
    let provider = steps.step(&format!("Build the provider, profile {profile}"), || checkout::provider(&profile))?;
    let subject = Subject { provider, profile };
    let mut table = Vec::new();
    for (name, measure) in FIGURES.iter().filter(|(name, _)| name.to_lowercase().contains(&word)) {
        let measured = steps.step(name, || measure(&subject));
        // One figure that cannot be had does not take the others away.
        table.extend(measured.unwrap_or_else(|error| vec![Figure::failed(name, &error)]));
    }
    println!("\n{}", text(&table));
    steps.finish(&format!("Measured {}.", subject.provider.display()));
    Ok(())
}

/// The profile, and the word that a group's name must have.
fn asked(arguments: &[String]) -> Result<(String, String)> {
    let (mut profile, mut word) = ("dist".to_owned(), String::new());
    for pair in arguments.chunks(2) {
        match pair {
            [flag, name] if flag == "--profile" => profile.clone_from(name),
            [flag, part] if flag == "--only" => word = part.to_lowercase(),
            _ => bail!(
                "usage: cargo xtask bench [--profile NAME] [--only WORD]; the profile that is shipped is `dist`, and a \
                 word is one of a group's name"
            ),
        }
    }
    Ok((profile, word))
}

fn text(table: &[Figure]) -> String {
    let width = |column: fn(&Figure) -> &str| table.iter().map(|row| column(row).chars().count()).max().unwrap_or(0);
    let (what, value, target) =
        (width(|row| &row.what).max(6), width(|row| &row.value).max(5), width(|row| &row.target).max(6));
    let header = format!("{:what$}  {:>value$}  {:>target$}\n", "figure", "value", "target");
    let line = |row: &Figure| {
        let verdict = match row.is_met {
            None => "",
            Some(true) => "met",
            Some(false) => "MISSED",
        };
        let cells = format!("{:what$}  {:>value$}  {:>target$}  {verdict}", row.what, row.value, row.target);
        format!("{}\n", cells.trim_end())
    };
    header + &table.iter().map(line).collect::<Vec<_>>().concat()
}

// === impl Figure ===

impl Figure {
    /// A figure with the most it should be.
    fn at_most(what: impl Into<String>, value: f64, unit: &str, most: f64) -> Self {
        Self {
            what: what.into(),
            value: format!("{value:.1} {unit}"),
            target: format!("≤ {most} {unit}"),
            is_met: Some(value <= most),
        }
    }

    /// A number of things with the most it should be.
    fn count(what: impl Into<String>, value: usize, most: usize) -> Self {
        let (what, is_met) = (what.into(), Some(value <= most));
        Self { what, value: value.to_string(), target: format!("≤ {most}"), is_met }
    }

    /// A figure without a target.
    fn plain(what: impl Into<String>, value: impl Into<String>) -> Self {
        Self { what: what.into(), value: value.into(), target: String::new(), is_met: None }
    }

    fn failed(what: &str, error: &anyhow::Error) -> Self {
        eprintln!("not measured: {error:#}");
        Self::plain(what, "not measured")
    }
}

/// A number of `/proc/<pid>/status`, such as `VmHWM`, in its unit there (kB).
fn proc_status(pid: u32, name: &str) -> Result<f64> {
    let file = format!("/proc/{pid}/status");
    let text = std::fs::read_to_string(Path::new(&file)).with_context(|| format!("cannot read {file}"))?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let number = line.and_then(|line| line.split_whitespace().next()).context("no such line")?;
    Ok(number.parse()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_shows_a_figure_beside_its_target() {
        let table = [Figure::at_most("start", 2.41, "ms", 5.0), Figure::plain("codec", "fast")];
        assert_eq!(text(&table), "figure   value  target\nstart   2.4 ms  ≤ 5 ms  met\ncodec     fast\n");
    }
}
