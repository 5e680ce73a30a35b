//! Where in a configuration there is something of an attribute: every block and nested object is looked through.

use crate::{Attribute, Block, Cty, Nesting, Shape};
use value::AttributePath;

/// What is looked for: an attribute with its value.
type IsSuch = fn(&Attribute, &Cty) -> bool;

/// The paths of such attributes. Objects that are null or unknown have none.
pub(super) fn found(config: &Cty, block: &Block, is_such: IsSuch) -> Vec<AttributePath> {
    let mut search = Search { is_such, found: Vec::new() };
    search.block(config, block, &AttributePath::root());
    search.found
}

struct Search {
    is_such: IsSuch,
    found: Vec<AttributePath>,
}

// === impl Search ===

impl Search {
    fn block(&mut self, value: &Cty, block: &Block, path: &AttributePath) {
        self.object(value, &block.attributes, path);
        for nested in &block.blocks {
            self.block(value.get(&nested.name), &nested.block, &path.attribute(&nested.name));
        }
    }

    fn object(&mut self, object: &Cty, attributes: &[Attribute], path: &AttributePath) {
        if !matches!(object, Cty::Object(_)) {
            return;
        }
        for attribute in attributes {
            let value = object.get(&attribute.name);
            let path = path.attribute(&attribute.name);
            match &attribute.shape {
                _ if (self.is_such)(attribute, value) => self.found.push(path),
                Shape::Nested(nesting, attributes) => self.elements(value, (*nesting, attributes), &path),
                Shape::Plain(_) => {}
            }
        }
    }

    fn elements(&mut self, value: &Cty, (nesting, attributes): (Nesting, &[Attribute]), path: &AttributePath) {
        match (nesting, value) {
            (Nesting::Single, object) => self.object(object, attributes, path),
            (_, Cty::List(items) | Cty::Set(items)) => {
                for (index, item) in items.iter().enumerate() {
                    self.object(item, attributes, &path.index(index));
                }
            }
            (_, Cty::Map(items)) => {
                for (key, item) in items {
                    self.object(item, attributes, &path.key(key));
                }
            }
            _ => {}
        }
    }
}
