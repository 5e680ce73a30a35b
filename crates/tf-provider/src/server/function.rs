//! CallFunction. Often called on a process that was never configured.

use crate::{
    Cty, FunctionError, Parameter, Signature,
    server::{Server, catalog::FunctionEntry, translate},
    wire::proto::tfplugin6::{self as proto, DynamicValue, call_function},
};

pub(super) fn call(server: &Server, request: &call_function::Request) -> call_function::Response {
    let result = match server.catalog().function(&request.name) {
        Some(entry) => called(entry, &request.arguments),
        None => Err(no_argument(format!("This provider has no function named {:?}.", request.name))),
    };
    match result {
        Ok(result) => call_function::Response { result: Some(result), error: None },
        Err(error) => call_function::Response { result: None, error: Some(failure(error)) },
    }
}

fn called(entry: &FunctionEntry, arguments: &[DynamicValue]) -> Result<DynamicValue, FunctionError> {
    let arguments = decoded(&entry.signature, arguments)?;
    let known = arguments.iter().all(Cty::is_wholly_known);
    // Terraform asks only with known arguments; of others nothing can be said.
    let result = if known { entry.function.call(arguments)? } else { Cty::unknown() };
    Ok(translate::encode(&result, &entry.signature.result))
}

fn decoded(signature: &Signature, arguments: &[DynamicValue]) -> Result<Vec<Cty>, FunctionError> {
    let fixed = signature.parameters.len();
    let fits = arguments.len() == fixed || (arguments.len() > fixed && signature.variadic.is_some());
    if !fits {
        return Err(no_argument(format!("It takes {fixed} arguments, and got {}.", arguments.len())));
    }
    let parameters = signature.parameters.iter().chain(signature.variadic.iter().cycle());
    arguments
        .iter()
        .zip(parameters)
        .enumerate()
        .map(|(index, (value, parameter))| one(index, value, parameter))
        .collect()
}

fn one(index: usize, value: &DynamicValue, parameter: &Parameter) -> Result<Cty, FunctionError> {
    let blamed = |text: String| FunctionError { text, argument: Some(index) };
    let value = translate::decode(Some(value), &parameter.ty)
        .map_err(|error| blamed(format!("Cannot read {:?}: {error}.", parameter.name)))?;
    if value.is_null() && !parameter.nullable {
        return Err(blamed(format!("{:?} must not be null. Give it a value.", parameter.name)));
    }
    Ok(value)
}

fn no_argument(text: String) -> FunctionError {
    FunctionError { text, argument: None }
}

fn failure(error: FunctionError) -> proto::FunctionError {
    proto::FunctionError {
        text: error.text,
        function_argument: error.argument.and_then(|index| i64::try_from(index).ok()),
    }
}
