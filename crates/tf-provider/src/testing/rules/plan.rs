//! What a plan may say, given configuration and prior state.

use crate::{
    Attribute, Block, Cty, Nesting, Shape,
    testing::rules::{Complaints, complaint, same::same, shown},
};
use value::AttributePath;

/// The three values a plan is judged by.
#[derive(Clone, Copy)]
pub(in crate::testing) struct Change<'a> {
    pub(in crate::testing) prior: &'a Cty,
    pub(in crate::testing) config: &'a Cty,
    pub(in crate::testing) planned: &'a Cty,
}

/// What is wrong with a plan.
pub(in crate::testing) fn check(block: &Block, change: Change<'_>) -> Complaints {
    let mut complaints = Vec::new();
    of_block(block, change, &AttributePath::root(), &mut complaints);
    complaints
}

// === impl Change ===

impl Change<'_> {
    fn part(self, name: &str) -> Self {
        Self { prior: self.prior.get(name), config: self.config.get(name), planned: self.planned.get(name) }
    }

    /// Whether existence is planned as configured; says so if not.
    fn exists(self, path: &AttributePath, complaints: &mut Complaints) -> bool {
        match (self.config.is_null(), self.planned.is_null()) {
            (false, true) => complaints.push(complaint(path, "is configured, but planned to be absent")),
            (true, false) => complaints.push(complaint(path, "is not configured, but planned to exist")),
            (true, true) => {}
            (false, false) => return true,
        }
        false
    }
}

fn of_block(block: &Block, change: Change<'_>, path: &AttributePath, complaints: &mut Complaints) {
    if !change.exists(path, complaints) {
        return;
    }
    if change.planned.is_unknown() {
        return complaints.push(complaint(path, "is unknown as a whole, which no block may be"));
    }
    of_attributes(&block.attributes, change, path, complaints);
    for nested in &block.blocks {
        let (change, path) = (change.part(&nested.name), path.attribute(&nested.name));
        if change.config.is_unknown() && !change.planned.is_unknown() {
            complaints.push(complaint(&path, "is configured by something not known yet, and must stay unknown"));
        } else if !same(change.planned, change.config) {
            of_block(&nested.block, change, &path, complaints);
        }
    }
}

fn of_attributes(attributes: &[Attribute], change: Change<'_>, path: &AttributePath, complaints: &mut Complaints) {
    for attribute in attributes {
        let path = path.attribute(&attribute.name);
        of_attribute(attribute, change.part(&attribute.name), &path, complaints);
    }
}

fn of_attribute(attribute: &Attribute, change: Change<'_>, path: &AttributePath, complaints: &mut Complaints) {
    let Change { prior, config, planned } = change;
    let as_configured = same(planned, config) && !attribute.write_only;
    let as_before = same(planned, prior) && !prior.is_null() && !config.is_null();
    let computed_only = attribute.computed && !attribute.optional;
    if as_configured || as_before || computed_only || (attribute.computed && config.is_null()) {
        return;
    }
    match &attribute.shape {
        _ if attribute.write_only => {
            if !planned.is_null() {
                complaints.push(complaint(path, "is write-only, so its planned value must be null"));
            }
        }
        _ if config.is_null() => {
            let planned = shown(planned, attribute.sensitive);
            let text = format!("is planned to be {planned}, but is neither configured nor computed");
            complaints.push(complaint(path, text));
        }
        Shape::Nested(nesting, attributes) => of_nested((*nesting, attributes), change, path, complaints),
        Shape::Plain(_) => {
            let [planned, config, prior] = [planned, config, prior].map(|value| shown(value, attribute.sensitive));
            let text =
                format!("is planned to be {planned}, which is neither configured ({config}) nor prior ({prior})");
            complaints.push(complaint(path, text));
        }
    }
}

fn of_nested(
    (nesting, attributes): (Nesting, &[Attribute]),
    change: Change<'_>,
    path: &AttributePath,
    complaints: &mut Complaints,
) {
    if !change.exists(path, complaints) {
        return;
    }
    if change.planned.is_unknown() {
        return complaints.push(complaint(path, "is configured, but unknown as a whole in the plan"));
    }
    let Change { prior, config, planned } = change;
    match (nesting, planned, config) {
        (Nesting::Single, Cty::Object(_), Cty::Object(_)) => of_attributes(attributes, change, path, complaints),
        (Nesting::List, Cty::List(planned), Cty::List(config)) if planned.len() == config.len() => {
            let prior = if let Cty::List(prior) = prior { prior.as_slice() } else { &[] };
            for (index, (planned, config)) in planned.iter().zip(config).enumerate() {
                let change = Change { prior: prior.get(index).unwrap_or(&Cty::Null), config, planned };
                of_element(attributes, change, &path.index(index), complaints);
            }
        }
        (Nesting::Map, Cty::Map(elements), Cty::Map(keys)) if elements.keys().eq(keys.keys()) => {
            for key in keys.keys() {
                of_element(attributes, change.part(key), &path.key(key), complaints);
            }
        }
        (Nesting::Set, Cty::Set(elements), Cty::Set(given)) if fits(elements, given) => {}
        _ => {
            let text = format!("is planned with other elements ({planned:?}) than configured ({config:?})");
            complaints.push(complaint(path, text));
        }
    }
}

fn of_element(attributes: &[Attribute], change: Change<'_>, path: &AttributePath, complaints: &mut Complaints) {
    let change_of_unknown = change.config.is_unknown() && change.planned.is_unknown();
    if !change_of_unknown && change.exists(path, complaints) {
        of_attributes(attributes, change, path, complaints);
    }
}

/// Elements of a set cannot be told apart, but they can be counted; unknown ones may turn out to be the same.
fn fits(planned: &[Cty], config: &[Cty]) -> bool {
    let certain = config.iter().all(Cty::is_wholly_known);
    planned.len() == config.len() || (!certain && !planned.is_empty() && planned.len() < config.len())
}
