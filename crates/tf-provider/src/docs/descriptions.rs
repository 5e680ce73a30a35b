//! Every description of a provider with the place it stands in, for tests of their wording.

use crate::{Attribute, Block, Provider, Shape};

/// A description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// Where it stands: `mlplat_gpu_pool.size.max`.
    pub place: String,
    /// Its text.
    pub text: String,
}

/// The descriptions of everything that the provider has.
pub fn descriptions(provider: &dyn Provider) -> Vec<Described> {
    let mut found = Vec::new();
    block("provider", &provider.schema().block, &mut found);
    for resource in provider.resources() {
        block(resource.type_name(), &resource.schema().block, &mut found);
        for attribute in resource.identity_schema().attributes {
            let place = format!("{} identity.{}", resource.type_name(), attribute.name);
            found.push(Described { place, text: attribute.description });
        }
    }
    for source in provider.data_sources() {
        block(&format!("data.{}", source.type_name()), &source.schema().block, &mut found);
    }
    for function in provider.functions() {
        let (name, signature) = (function.name(), function.signature());
        found.push(Described { place: format!("{name}() summary"), text: signature.summary });
        found.push(Described { place: format!("{name}()"), text: signature.description });
        for parameter in signature.parameters.into_iter().chain(signature.variadic) {
            found.push(Described { place: format!("{name}({})", parameter.name), text: parameter.description });
        }
    }
    found
}

fn block(place: &str, block_: &Block, found: &mut Vec<Described>) {
    found.push(Described { place: place.to_owned(), text: block_.description.clone() });
    attributes(place, &block_.attributes, found);
    for nested in &block_.blocks {
        block(&format!("{place}.{}", nested.name), &nested.block, found);
    }
}

fn attributes(place: &str, list: &[Attribute], found: &mut Vec<Described>) {
    for attribute in list {
        let place = format!("{place}.{}", attribute.name);
        found.push(Described { place: place.clone(), text: attribute.description.clone() });
        if let Shape::Nested(_, nested) = &attribute.shape {
            attributes(&place, nested, found);
        }
    }
}
