//! Whether what came out of an apply, or of a later plan, is what was planned.

use crate::{
    Block, Cty, Nesting, Shape,
    testing::rules::{Complaints, complaint, refined, same::same, shown},
};
use value::AttributePath;

/// What contradicts the plan.
pub(in crate::testing) fn check(block: &Block, planned: &Cty, actual: &Cty) -> Complaints {
    let mut complaints = Vec::new();
    of_block(block, planned, actual, &AttributePath::root(), &mut complaints);
    complaints
}

fn of_block(block: &Block, planned: &Cty, actual: &Cty, path: &AttributePath, complaints: &mut Complaints) {
    match (planned.is_null(), actual.is_null()) {
        (true, false) => return complaints.push(complaint(path, "was planned to be absent, but is there")),
        (false, true) => return complaints.push(complaint(path, "was planned to be there, but is absent")),
        (true, true) => return,
        (false, false) => {}
    }
    for attribute in &block.attributes {
        let path = path.attribute(&attribute.name);
        let (planned, actual) = (planned.get(&attribute.name), actual.get(&attribute.name));
        of_value(planned, actual, (&path, hides(attribute)), complaints);
    }
    for nested in &block.blocks {
        let (planned, actual) = (planned.get(&nested.name), actual.get(&nested.name));
        // A block that was not known to be there at all may turn out not to be.
        if !planned.is_unknown() {
            of_block(&nested.block, planned, actual, &path.attribute(&nested.name), complaints);
        }
    }
}

/// Whether values of the attribute, or of one inside it, must not be shown.
fn hides(attribute: &crate::Attribute) -> bool {
    let inside = match &attribute.shape {
        Shape::Nested(_, attributes) => attributes.iter().any(hides),
        Shape::Plain(_) => false,
    };
    attribute.sensitive || inside
}

fn of_value(planned: &Cty, actual: &Cty, at: (&AttributePath, bool), complaints: &mut Complaints) {
    let (path, sensitive) = at;
    match (planned, actual) {
        (Cty::Unknown(known), actual) => {
            complaints.extend(refined::check(known, actual).into_iter().map(|text| complaint(path, text)));
        }
        // The type was left open: so is the value.
        (Cty::Dynamic(_, inner), _) if inner.is_unknown() || inner.is_null() => {}
        (Cty::Dynamic(ours, planned), Cty::Dynamic(theirs, actual)) if ours == theirs => {
            of_value(planned, actual, at, complaints);
        }
        (Cty::List(ours), Cty::List(theirs)) if ours.len() == theirs.len() => {
            for (index, (planned, actual)) in ours.iter().zip(theirs).enumerate() {
                of_value(planned, actual, (&path.index(index), sensitive), complaints);
            }
        }
        (Cty::Map(ours), Cty::Map(theirs)) if ours.keys().eq(theirs.keys()) => {
            for (key, planned) in ours {
                of_value(planned, actual.get(key), (&path.key(key), sensitive), complaints);
            }
        }
        (Cty::Object(ours), Cty::Object(_)) => {
            for (name, planned) in ours {
                of_value(planned, actual.get(name), (&path.attribute(name), sensitive), complaints);
            }
        }
        (Cty::Set(ours), Cty::Set(theirs)) if correlate(ours, theirs) => {}
        _ if same(planned, actual) => {}
        _ => {
            let [planned, actual] = [planned, actual].map(|value| shown(value, sensitive));
            complaints.push(complaint(path, format!("was planned to be {planned}, but is {actual}")));
        }
    }
}

/// Whether each element of either set may be one of the other.
fn correlate(planned: &[Cty], actual: &[Cty]) -> bool {
    let fits = |one: &Cty, other: &Cty| {
        let mut complaints = Vec::new();
        of_value(one, other, (&AttributePath::root(), false), &mut complaints);
        complaints.is_empty()
    };
    actual.len() <= planned.len()
        && planned.iter().all(|one| actual.iter().any(|other| fits(one, other)))
        && actual.iter().all(|other| planned.iter().any(|one| fits(one, other)))
}

/// How a nesting is written in a complaint; used by the schema checks, too.
pub(in crate::testing) fn name(nesting: Nesting) -> &'static str {
    match nesting {
        Nesting::Single => "single",
        Nesting::List => "list",
        Nesting::Set => "set",
        Nesting::Map => "map",
    }
}
