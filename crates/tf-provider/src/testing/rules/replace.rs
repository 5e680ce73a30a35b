//! Which of the attributes named under "requires replace" count.

use crate::{
    Cty,
    testing::rules::{Complaints, complaint, same::certainly_same},
};
use value::AttributePath;

/// The attributes among `paths` that really change, and complaints about those that do not exist.
pub(in crate::testing) fn effective(
    paths: &[AttributePath],
    prior: &Cty,
    planned: &Cty,
) -> (Vec<AttributePath>, Complaints) {
    let (mut effective, mut complaints) = (Vec::new(), Vec::new());
    for path in paths {
        match (prior.at(path), planned.at(path)) {
            (None, None) => complaints.push(complaint(path, "requires replacement, but does not exist")),
            (one, other) if certainly_same(one.unwrap_or(&Cty::Null), other.unwrap_or(&Cty::Null)) => {}
            _ => effective.push(path.clone()),
        }
    }
    (effective, complaints)
}
