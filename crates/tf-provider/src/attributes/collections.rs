//! Lists, sets and maps as attributes.
//!
//! Elements are plain, so a collection is known only where all of them are; an element that is an object has
//! attributes of its own, and those may be pending on their own.

use std::collections::{BTreeMap, BTreeSet};

use value::{AttributePath, State, Value};

use crate::{AttributeType, Cty, Decoder, Nesting, Shape, Type};

impl<T: AttributeType> AttributeType for Vec<T> {
    fn shape() -> Shape {
        collection::<T>(Nesting::List, Type::list)
    }

    fn choices() -> Vec<String> {
        T::choices()
    }

    fn decode(cty: &Cty, path: &AttributePath, decoder: &mut Decoder) -> Value<Self> {
        let Cty::List(items) = cty else {
            decoder.complain_of_type(path, "a list");
            return Value::null();
        };
        together(items.iter().enumerate().map(|(index, item)| element(item, &path.index(index), decoder)))
    }

    fn encode(&self) -> Cty {
        Cty::List(self.iter().map(T::encode).collect())
    }

    fn fill_within(&mut self) {
        self.iter_mut().for_each(T::fill_within);
    }
}

impl<T: AttributeType + Ord> AttributeType for BTreeSet<T> {
    fn shape() -> Shape {
        collection::<T>(Nesting::Set, Type::set)
    }

    fn choices() -> Vec<String> {
        T::choices()
    }

    fn decode(cty: &Cty, path: &AttributePath, decoder: &mut Decoder) -> Value<Self> {
        let Cty::Set(items) = cty else {
            decoder.complain_of_type(path, "a set");
            return Value::null();
        };
        // A set inside a set is told of the outer one, whose path is the longest there is.
        let outer = decoder.set.clone();
        decoder.set.get_or_insert_with(|| path.clone());
        let found = together(items.iter().map(|item| element(item, path, decoder)));
        decoder.set = outer;
        found
    }

    fn encode(&self) -> Cty {
        Cty::Set(self.iter().map(T::encode).collect())
    }

    fn fill_within(&mut self) {
        let elements = std::mem::take(self).into_iter().map(|mut element| {
            element.fill_within();
            element
        });
        *self = elements.collect();
    }
}

impl<T: AttributeType> AttributeType for BTreeMap<String, T> {
    fn shape() -> Shape {
        collection::<T>(Nesting::Map, Type::map)
    }

    fn choices() -> Vec<String> {
        T::choices()
    }

    fn decode(cty: &Cty, path: &AttributePath, decoder: &mut Decoder) -> Value<Self> {
        let Cty::Map(items) = cty else {
            decoder.complain_of_type(path, "a map");
            return Value::null();
        };
        together(items.iter().map(|(key, item)| keyed(key, element(item, &path.key(key), decoder))))
    }

    fn encode(&self) -> Cty {
        Cty::Map(self.iter().map(|(key, item)| (key.clone(), item.encode())).collect())
    }

    fn fill_within(&mut self) {
        self.values_mut().for_each(T::fill_within);
    }
}

// Objects as elements become a nested attribute; collections of collections have no documentation of their own.
fn collection<T: AttributeType>(nesting: Nesting, plain: fn(Type) -> Type) -> Shape {
    match T::shape() {
        Shape::Nested(Nesting::Single, attributes) => Shape::Nested(nesting, attributes),
        element => Shape::Plain(plain(element.ty())),
    }
}

fn element<T: AttributeType>(item: &Cty, path: &AttributePath, decoder: &mut Decoder) -> State<T> {
    // Asked first: an element that is null is not opened as an object whose attributes are null.
    if item.is_null() {
        decoder.complain(path, "is null, and an element has to have a value.", "Leave the element out.");
        return State::Null;
    }
    crate::decode(item, path, decoder).into_state()
}

fn keyed<T>(key: &str, element: State<T>) -> State<(String, T)> {
    match element {
        State::Null => State::Null,
        State::Known(element) => State::Known((key.to_owned(), element)),
        State::Pending(why) => State::Pending(why),
    }
}

// The elements together: null where one did not fit, else pending where one is. All are read in any case, so that
// all complaints are made.
fn together<T, C: Default + Extend<T>>(elements: impl Iterator<Item = State<T>>) -> Value<C> {
    elements
        .fold(State::Known(C::default()), |all, element| match (all, element) {
            (State::Null, _) | (_, State::Null) => State::Null,
            (State::Pending(why), _) | (State::Known(_), State::Pending(why)) => State::Pending(why),
            (State::Known(mut known), State::Known(element)) => {
                known.extend([element]);
                State::Known(known)
            }
        })
        .into()
}
