//! `fit_instance_types(memory_gib, options…)`.

use tf_provider::{Attributes, Cty, Function, FunctionError, Signature, Type};
use value::Value;

use super::{fault, number, options, options_parameter, parameter};
use crate::catalog::{self, Arch, Filter, Vendor, known_products};

/// The function.
pub struct FitInstanceTypes;

/// What else is asked of the instance types.
#[derive(Attributes, Clone, Debug, Default)]
struct Options {
    /// The accelerator, such as `L4`.
    product: Value<String>,
    /// Its maker: `nvidia` or `neuron`.
    vendor: Value<String>,
    /// The instance family, such as `g6`.
    family: Value<String>,
    /// The processor: `x86_64` or `arm64`.
    arch: Value<String>,
    /// Exact number of accelerators.
    count: Value<u32>,
    /// List price in US dollars an hour, at most.
    max_usd_per_hour: Value<f64>,
}

const OPTIONS: usize = 1;

// === impl FitInstanceTypes ===

impl Function for FitInstanceTypes {
    fn name(&self) -> &'static str {
        "fit_instance_types"
    }

    fn signature(&self) -> Signature {
        Signature {
            summary: "Instance types whose accelerators hold so much, the cheapest first.".to_owned(),
            description: "A type with several accelerators counts with all of them, as a model server with tensor \
                parallelism uses it. A tenth of their memory is kept free. The list is empty where none fits."
                .to_owned(),
            parameters: vec![parameter(
                "memory_gib",
                Type::Number,
                "Memory in GiB, for example from `model_memory_gib`.",
            )],
            variadic: Some(options_parameter::<Options>()),
            result: Type::list(Type::String),
        }
    }

    fn call(&self, arguments: Vec<Cty>) -> Result<Cty, FunctionError> {
        let memory_gib = number(&arguments, 0)?;
        if !memory_gib.is_finite() || memory_gib <= 0.0 {
            return Err(fault(0, &format!("It is {memory_gib}. Give a number of GiB above 0.")));
        }
        let filter = options::<Options>(&arguments, OPTIONS)?.filter().map_err(|reason| fault(OPTIONS, &reason))?;
        let found = catalog::fit_instance_types(memory_gib, &filter);
        Ok(Cty::List(found.into_iter().map(|kind| Cty::from(kind.name)).collect()))
    }
}

// === impl Options ===

impl Options {
    fn filter(&self) -> Result<Filter, String> {
        let filter = Filter {
            product: self.product.get().cloned(),
            vendor: word(&self.vendor, "vendor", Vendor::parse, "\"nvidia\" or \"neuron\"")?,
            family: self.family.get().cloned(),
            arch: word(&self.arch, "arch", Arch::parse, "\"x86_64\" or \"arm64\"")?,
            count: self.count.get().copied(),
            max_usd_per_hour: self.max_usd_per_hour.get().copied(),
            ..Filter::default()
        };
        let product = Filter { product: filter.product.clone(), ..Filter::default() };
        match &filter.product {
            Some(name) if catalog::filter(&product).is_empty() => {
                Err(format!("No accelerator is called {name:?}. Those known are {}.", known_products().join(", ")))
            }
            _ => Ok(filter),
        }
    }
}

fn word<T>(value: &Value<String>, name: &str, read: fn(&str) -> Option<T>, words: &str) -> Result<Option<T>, String> {
    let Some(text) = value.get() else { return Ok(None) };
    read(text).map(Some).ok_or_else(|| format!("The option {name} is {text:?}. Give {words}."))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::functions::testing::{call, refused};

    fn names(arguments: &serde_json::Value) -> Vec<String> {
        match call(&FitInstanceTypes, arguments) {
            Ok(Cty::List(items)) => items.iter().filter_map(Cty::as_str).map(str::to_owned).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_cheapest_type_that_fits_comes_first() {
        assert_eq!(names(&json!([20, { "vendor": "nvidia" }])).first().map(String::as_str), Some("g6.xlarge"));
        assert_eq!(names(&json!([150, { "product": "L40S" }])), ["g6e.12xlarge", "g6e.24xlarge", "g6e.48xlarge"]);
        assert!(
            names(&json!([20, { "vendor": "neuron" }]))
                .iter()
                .all(|name| name.starts_with("inf") || name.starts_with("trn"))
        );
        assert_eq!(names(&json!([100_000])), Vec::<String>::new());
    }

    #[test]
    fn the_argument_at_fault_is_named() {
        refused(&FitInstanceTypes, &json!([-1]), 0, "above 0");
        refused(&FitInstanceTypes, &json!([20, { "product": "L5" }]), 1, "NVIDIA-L4");
        refused(&FitInstanceTypes, &json!([20, { "arch": "riscv" }]), 1, "\"arm64\"");
    }
}
