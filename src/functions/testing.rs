//! Shared by the tests of functions.

use serde_json::Value as Json;
use tf_provider::{Cty, Function, FunctionError, Number, Type};

/// Calls a function with arguments in JSON, objects and lists as an expression in HCL gives them.
pub(super) fn call(function: &dyn Function, arguments: &Json) -> Result<Cty, FunctionError> {
    let signature = function.signature();
    let arguments = arguments.as_array().expect("a list").iter().enumerate().map(|(at, argument)| {
        let parameter = signature.parameters.get(at).or(signature.variadic.as_ref()).expect("a parameter");
        match parameter.ty {
            Type::Dynamic => Cty::Dynamic(Box::new(Type::Dynamic), Box::new(cty(argument))),
            _ => cty(argument),
        }
    });
    function.call(arguments.collect())
}

fn cty(value: &Json) -> Cty {
    match value {
        Json::Null => Cty::Null,
        Json::Bool(value) => Cty::Bool(*value),
        Json::Number(number) => Cty::Number(Number::parse(&number.to_string()).expect("a number")),
        Json::String(text) => Cty::from(text.as_str()),
        Json::Array(items) => Cty::List(items.iter().map(cty).collect()),
        Json::Object(map) => Cty::object(map.iter().map(|(key, value)| (key.clone(), cty(value)))),
    }
}

/// Fails unless the call fails with a text that holds `expected`, about the argument `at`.
pub(super) fn refused(function: &dyn Function, arguments: &Json, at: usize, expected: &str) {
    let error = call(function, arguments).expect_err("refused");
    assert_eq!(error.argument, Some(at), "{error:?}");
    assert!(error.text.contains(expected), "{error:?}");
}
