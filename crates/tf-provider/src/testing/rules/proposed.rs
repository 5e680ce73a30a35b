//! Core's merge of a configuration and a prior state: what a provider without an opinion would plan.

use std::collections::BTreeMap;

use crate::{Attribute, Block, Cty, Nesting, Shape, testing::rules::same::same};

/// The proposed new state. Write-only values of the configuration are in it, as they are in the real one.
pub fn proposed_new(block: &Block, prior: &Cty, config: &Cty) -> Cty {
    if config.is_null() {
        return Cty::Null;
    }
    let nothing = block.null_object();
    of_block(block, if prior.is_null() { &nothing } else { prior }, config)
}

fn of_block(block: &Block, prior: &Cty, config: &Cty) -> Cty {
    if !matches!(config, Cty::Object(_)) {
        return config.clone();
    }
    let mut object = of_attributes(&block.attributes, prior, config);
    for nested in &block.blocks {
        let (prior, config) = (prior.get(&nested.name), config.get(&nested.name));
        object.insert(nested.name.clone(), of_block(&nested.block, prior, config));
    }
    Cty::Object(object)
}

fn of_attributes(attributes: &[Attribute], prior: &Cty, config: &Cty) -> BTreeMap<String, Cty> {
    let values = attributes.iter().map(|attribute| {
        let (prior, config) = (prior.get(&attribute.name), config.get(&attribute.name));
        (attribute.name.clone(), of_attribute(attribute, prior, config))
    });
    values.collect()
}

fn of_attribute(attribute: &Attribute, prior: &Cty, config: &Cty) -> Cty {
    match &attribute.shape {
        _ if attribute.computed && config.is_null() => {
            if was_configured(attribute, prior) {
                Cty::Null
            } else {
                prior.clone()
            }
        }
        Shape::Nested(nesting, attributes) => of_nested(*nesting, attributes, prior, config),
        Shape::Plain(_) => config.clone(),
    }
}

/// Whether a prior value must have come from a configuration: it has a part that the provider cannot have set.
fn was_configured(attribute: &Attribute, prior: &Cty) -> bool {
    match &attribute.shape {
        Shape::Nested(_, attributes) if attribute.optional => holds_configured(attributes, prior),
        _ => false,
    }
}

fn holds_configured(attributes: &[Attribute], value: &Cty) -> bool {
    match value {
        Cty::List(items) | Cty::Set(items) => items.iter().any(|item| holds_configured(attributes, item)),
        Cty::Map(items) => items.values().any(|item| holds_configured(attributes, item)),
        Cty::Object(_) => attributes.iter().any(|attribute| {
            let value = value.get(&attribute.name);
            let inside = match &attribute.shape {
                Shape::Nested(_, attributes) => holds_configured(attributes, value),
                Shape::Plain(_) => false,
            };
            !value.is_null() && (!attribute.computed || inside)
        }),
        _ => false,
    }
}

fn of_nested(nesting: Nesting, attributes: &[Attribute], prior: &Cty, config: &Cty) -> Cty {
    let merged = |prior: &Cty, config: &Cty| match config {
        Cty::Object(_) => Cty::Object(of_attributes(attributes, prior, config)),
        _ => config.clone(),
    };
    match (nesting, config) {
        (Nesting::Single, _) => merged(prior, config),
        (_, Cty::List(items)) => {
            let prior = if let Cty::List(prior) = prior { prior.as_slice() } else { &[] };
            let pairs = items.iter().enumerate();
            Cty::List(pairs.map(|(index, item)| merged(prior.get(index).unwrap_or(&Cty::Null), item)).collect())
        }
        (_, Cty::Map(items)) => {
            let pairs = items.iter().map(|(key, item)| (key.clone(), merged(prior.get(key), item)));
            Cty::Map(pairs.collect())
        }
        (_, Cty::Set(items)) => {
            let mut left = if let Cty::Set(prior) = prior { prior.iter().collect() } else { Vec::new() };
            let pairs = items.iter().map(|item| merged(&taken(&mut left, attributes, item), item));
            Cty::Set(pairs.collect())
        }
        _ => config.clone(),
    }
}

/// The first prior element that may have become `config`, which then is used up.
fn taken(left: &mut Vec<&Cty>, attributes: &[Attribute], config: &Cty) -> Cty {
    let found = left.iter().position(|prior| continues(attributes, prior, config));
    found.map_or(Cty::Null, |index| left.remove(index).clone())
}

/// Whether two objects differ only in what the provider computes and the configuration leaves out.
fn continues(attributes: &[Attribute], prior: &Cty, config: &Cty) -> bool {
    same(prior, config)
        || attributes.iter().all(|attribute| {
            let (prior, config) = (prior.get(&attribute.name), config.get(&attribute.name));
            match &attribute.shape {
                _ if same(prior, config) || (attribute.computed && config.is_null()) => true,
                Shape::Nested(nesting, attributes) => continues_nested(*nesting, attributes, prior, config),
                Shape::Plain(_) => false,
            }
        })
}

fn continues_nested(nesting: Nesting, attributes: &[Attribute], prior: &Cty, config: &Cty) -> bool {
    match (nesting, prior, config) {
        (Nesting::Single, Cty::Object(_), Cty::Object(_)) => continues(attributes, prior, config),
        (Nesting::List, Cty::List(prior), Cty::List(config)) => {
            prior.len() == config.len() && prior.iter().zip(config).all(|(a, b)| continues(attributes, a, b))
        }
        (Nesting::Map, Cty::Map(prior), Cty::Map(config)) => {
            let matching = |(key, one): (&String, &Cty)| config.get(key).is_some_and(|b| continues(attributes, one, b));
            prior.len() == config.len() && prior.iter().all(matching)
        }
        // A set inside a set must match as a whole.
        _ => false,
    }
}
