//! Whether an author's answer has the type its schema promises.
//!
//! The encoding puts null in the place of what does not fit, for an answer without a state loses an object. Null may
//! well be allowed there, so that nobody would ever notice: therefore it is told.

use std::collections::BTreeMap;

use crate::{Cty, Diagnostic, Type};
use value::AttributePath;

/// The summary of all that is the provider's own fault.
pub(crate) const BUG: &str = "The provider has a bug";

/// What to tell of an answer that does not fit.
pub(super) fn check(value: &Cty, ty: &Type) -> Option<Diagnostic> {
    let path = misfit(value, ty, &AttributePath::root())?;
    let detail =
        format!("Its answer has a value of a wrong type at {:?}, and null was put in its place.", path.to_string());
    Some(Diagnostic::error(&path, BUG, detail).advise("Please report it to the provider's authors with this text."))
}

/// The first place that does not fit.
fn misfit(value: &Cty, ty: &Type, path: &AttributePath) -> Option<AttributePath> {
    match (value, ty) {
        (Cty::Null | Cty::Unknown(_), _)
        | (Cty::Bool(_), Type::Bool)
        | (Cty::Number(_), Type::Number)
        | (Cty::String(_), Type::String) => None,
        (Cty::Dynamic(ty, inner), Type::Dynamic) => misfit(inner, ty, path),
        (Cty::List(items), Type::List(element)) => {
            items.iter().enumerate().find_map(|(index, item)| misfit(item, element, &path.index(index)))
        }
        (Cty::Set(items), Type::Set(element)) => {
            items.iter().any(|item| misfit(item, element, path).is_some()).then(|| path.clone())
        }
        (Cty::List(items), Type::Tuple(types)) if items.len() == types.len() => {
            let mut pairs = items.iter().zip(types).enumerate();
            pairs.find_map(|(index, (item, ty))| misfit(item, ty, &path.index(index)))
        }
        (Cty::Map(items), Type::Map(element)) => {
            items.iter().find_map(|(key, item)| misfit(item, element, &path.key(key)))
        }
        (Cty::Object(items), Type::Object(types)) => in_object(items, types, path),
        _ => Some(path.clone()),
    }
}

fn in_object(
    items: &BTreeMap<String, Cty>,
    types: &BTreeMap<String, Type>,
    path: &AttributePath,
) -> Option<AttributePath> {
    let stranger = items.keys().find(|name| !types.contains_key(*name)).map(|name| path.attribute(name));
    stranger.or_else(|| {
        types.iter().find_map(|(name, ty)| match items.get(name) {
            Some(item) => misfit(item, ty, &path.attribute(name)),
            None => Some(path.attribute(name)),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misfit_is_told_with_its_place() {
        let ty = Type::Object(
            [("sizes".to_owned(), Type::list(Type::Number)), ("tags".to_owned(), Type::map(Type::String))].into(),
        );
        let object = |sizes: Cty, tags: Cty| Cty::object([("sizes", sizes), ("tags", tags)]);
        let table = [
            (object(Cty::List(vec![1.into()]), Cty::Null), None),
            (object(Cty::unknown(), Cty::unknown()), None),
            (object(Cty::List(vec![1.into(), "2".into()]), Cty::Null), Some("sizes[1]")),
            (object(Cty::Null, Cty::Object(BTreeMap::new())), Some("tags")),
            (Cty::object([("sizes", Cty::Null)]), Some("tags")),
            (Cty::object([("sizes", Cty::Null), ("tags", Cty::Null), ("more", Cty::Null)]), Some("more")),
        ];
        for (value, place) in table {
            let told = check(&value, &ty).map(|told| told.path.to_string());
            assert_eq!(told.as_deref(), place, "{value:?}");
        }
    }
}
