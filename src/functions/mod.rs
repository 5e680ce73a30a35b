//! The provider's functions, one file each: arithmetic over the catalogue.
//!
//! Pure: they run on a provider that is not configured, and while planning without credentials.

mod fit_instance_types;
mod model_memory_gib;
mod parse_model_uri;
#[cfg(test)]
mod testing;
mod tolerations;

use std::sync::Arc;

use tf_provider::{Attributes, Cty, Decoder, Function, FunctionError, Number, Parameter, Type};
use value::AttributePath;

pub use self::{
    fit_instance_types::FitInstanceTypes, model_memory_gib::ModelMemoryGib, parse_model_uri::ParseModelUri,
    tolerations::Tolerations,
};

/// All functions.
pub fn all() -> Vec<Arc<dyn Function>> {
    vec![Arc::new(ModelMemoryGib), Arc::new(FitInstanceTypes), Arc::new(Tolerations), Arc::new(ParseModelUri)]
}

// The last parameter of a function that takes options: none, or one object.
fn options_parameter<T: Attributes>() -> Parameter {
    let names: Vec<_> = T::attributes().iter().map(|one| format!("- `{}`: {}", one.name, one.description)).collect();
    Parameter {
        name: "options",
        ty: Type::Dynamic,
        nullable: true,
        description: format!("At most one object, with any of these attributes:\n{}", names.join("\n")),
    }
}

// The options among the arguments, which begin at `at`; defaults where none are given.
fn options<T: Attributes>(arguments: &[Cty], at: usize) -> Result<T, FunctionError> {
    match arguments.get(at..).unwrap_or_default() {
        [] => Ok(T::default()),
        [one] => object(one, "The options", at),
        _ => Err(fault(at + 1, "There is more than one object of options. Put all options into one object.")),
    }
}

// An object that an argument holds, read as `T`.
fn object<T: Attributes>(argument: &Cty, what: &str, at: usize) -> Result<T, FunctionError> {
    let object = match plain(argument) {
        Cty::Null => return Ok(T::default()),
        Cty::Map(map) | Cty::Object(map) => map,
        _ => return Err(fault(at, &format!("{what} are no object. Write them as {{ name = value }}."))),
    };
    let attributes = T::attributes();
    if let Some(name) = object.keys().find(|name| attributes.iter().all(|one| one.name != **name)) {
        let known: Vec<_> = attributes.iter().map(|one| one.name.as_str()).collect();
        return Err(fault(at, &format!("{what} have no attribute {name:?}. There are {}.", known.join(", "))));
    }
    let mut decoder = Decoder::default();
    let object = Cty::Object(object.iter().map(|(name, value)| (name.clone(), plain(value).clone())).collect());
    let read = T::decode_object(&object, &AttributePath::root(), &mut decoder);
    match decoder.diagnostics.iter().next() {
        Some(complaint) => Err(fault(at, &complaint.detail.replace("\n\n", " "))),
        None => Ok(read),
    }
}

// A value without the type it carries.
fn plain(value: &Cty) -> &Cty {
    match value {
        Cty::Dynamic(_, inner) => plain(inner),
        other => other,
    }
}

fn text(arguments: &[Cty], at: usize) -> Result<&str, FunctionError> {
    arguments.get(at).map(plain).and_then(Cty::as_str).ok_or_else(|| fault(at, "It is no text."))
}

fn number(arguments: &[Cty], at: usize) -> Result<f64, FunctionError> {
    match arguments.get(at).map(plain) {
        Some(Cty::Number(number)) => Ok(number.as_f64()),
        _ => Err(fault(at, "It is no number.")),
    }
}

fn whole_number(arguments: &[Cty], at: usize) -> Result<u32, FunctionError> {
    let number = match arguments.get(at).map(plain) {
        Some(Cty::Number(number)) => number.as_u64().and_then(|number| u32::try_from(number).ok()),
        _ => None,
    };
    number.ok_or_else(|| fault(at, &format!("It is no whole number from 0 to {}.", u32::MAX)))
}

// Two places: more would be noise in an estimate.
fn hundredths(value: f64) -> Cty {
    Cty::Number(Number::from((value * 100.0).round() / 100.0))
}

fn fault(argument: usize, text: &str) -> FunctionError {
    FunctionError { text: text.to_owned(), argument: Some(argument) }
}

fn parameter(name: &'static str, ty: Type, description: &str) -> Parameter {
    Parameter { name, ty, nullable: false, description: description.to_owned() }
}
