//! When two values are the same to Terraform.

use std::collections::BTreeMap;

use crate::Cty;

/// Whether two values are the same: sets have no order, unknown values are the same whatever is known of them.
pub(in crate::testing) fn same(one: &Cty, other: &Cty) -> bool {
    match (one, other) {
        (Cty::Unknown(_), Cty::Unknown(_)) => true,
        (Cty::Set(ours), Cty::Set(theirs)) => within(ours, theirs) && within(theirs, ours),
        (Cty::List(ours), Cty::List(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(one, other)| same(one, other))
        }
        (Cty::Map(ours), Cty::Map(theirs)) | (Cty::Object(ours), Cty::Object(theirs)) => same_entries(ours, theirs),
        (Cty::Dynamic(our_type, ours), Cty::Dynamic(their_type, theirs)) => {
            our_type == their_type && same(ours, theirs)
        }
        _ => one == other,
    }
}

/// Whether two values are certainly the same now: a part that is not known yet may turn out different.
pub(in crate::testing) fn certainly_same(one: &Cty, other: &Cty) -> bool {
    one.is_wholly_known() && same(one, other)
}

fn within(ours: &[Cty], theirs: &[Cty]) -> bool {
    ours.iter().all(|one| theirs.iter().any(|other| same(one, other)))
}

fn same_entries(ours: &BTreeMap<String, Cty>, theirs: &BTreeMap<String, Cty>) -> bool {
    ours.len() == theirs.len() && ours.iter().all(|(key, one)| theirs.get(key).is_some_and(|other| same(one, other)))
}
