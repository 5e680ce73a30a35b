//! How fast values are decoded and encoded, by the framework's own example: it alone may link the codec.

use acceptance_tests::command;
use anyhow::Result;

use super::{Figure, Subject};
use crate::checkout;

pub(super) fn measure(subject: &Subject) -> Result<Vec<Figure>> {
    let arguments = ["run", "--quiet", "--profile", &subject.profile, "--package", "tf-provider", "--example"];
    let mut example = checkout::cargo(&arguments);
    let printed = command::run(example.arg("codec_bench"))?;
    // One figure a line: the operation, then its speed.
    let lines = printed.lines().filter_map(|line| line.trim().split_once(' '));
    Ok(lines.map(|(what, speed)| Figure::plain(format!("codec, {what}"), speed.trim())).collect())
}
