//! `model_memory_gib(parameters_billion, dtype, max_context, options…)`.

use tf_provider::{Attributes, Cty, Function, FunctionError, Signature, Type};
use value::Value;

use super::{fault, hundredths, number, options, options_parameter, parameter, text, whole_number};
use crate::catalog::{self, Architecture, Dtype, ModelSize, ModelSpec};

/// The function.
pub struct ModelMemoryGib;

/// What else may be known of the model.
#[derive(Attributes, Clone, Debug, Default)]
struct Options {
    /// Requests of `max_context` tokens whose cache is to fit at the same time. Default: 1.
    sequences: Value<u32>,
    /// Data type of the cache. Default: that of the computation.
    kv_cache_dtype: Value<String>,
    /// `num_hidden_layers` in the model's `config.json`.
    layers: Value<u32>,
    /// `hidden_size` there.
    hidden: Value<u32>,
    /// `num_key_value_heads` there.
    kv_heads: Value<u32>,
    /// `head_dim` there.
    head_dim: Value<u32>,
    /// `vocab_size` there.
    vocabulary: Value<u32>,
}

const OPTIONS: usize = 3;

// === impl ModelMemoryGib ===

impl Function for ModelMemoryGib {
    fn name(&self) -> &'static str {
        "model_memory_gib"
    }

    fn signature(&self) -> Signature {
        Signature {
            summary: "Accelerator memory that serving a model takes, in GiB.".to_owned(),
            description: "Estimates the memory of weights, of the cache for keys and values, and of buffers, over all \
                accelerators of a replica. What is not given of the model's architecture is estimated from its size, \
                to the large side."
                .to_owned(),
            parameters: vec![
                parameter(
                    "parameters_billion",
                    Type::Number,
                    "Parameters in billions, all experts of a mixture included.",
                ),
                parameter(
                    "dtype",
                    Type::String,
                    "How the weights are stored: `float32`, `bfloat16`, `float16`, `fp8`, `int8`, `int4`, `awq` or `gptq`.",
                ),
                parameter("max_context", Type::Number, "Tokens of the longest request, prompt and answer together."),
            ],
            variadic: Some(options_parameter::<Options>()),
            result: Type::Number,
        }
    }

    fn call(&self, arguments: Vec<Cty>) -> Result<Cty, FunctionError> {
        let size = ModelSize::ParametersBillion(number(&arguments, 0)?);
        let dtype = Dtype::parse(text(&arguments, 1)?).map_err(|reason| fault(1, &reason))?;
        let max_context = whole_number(&arguments, 2)?;
        let options: Options = options(&arguments, OPTIONS)?;
        let cache = options.kv_cache_dtype.get().map(|name| Dtype::parse(name)).transpose();
        let model = ModelSpec {
            sequences: options.sequences.get().copied().unwrap_or(1),
            kv_cache_dtype: cache.map_err(|reason| fault(OPTIONS, &reason))?,
            architecture: options.architecture(),
            ..ModelSpec::new(size, dtype, max_context)
        };
        let estimate = catalog::model_memory_gib(&model).map_err(|reason| fault(argument_of(&reason), &reason))?;
        Ok(hundredths(estimate.total_gib))
    }
}

// === impl Options ===

impl Options {
    fn architecture(&self) -> Architecture {
        Architecture {
            layers: self.layers.get().copied(),
            hidden: self.hidden.get().copied(),
            kv_heads: self.kv_heads.get().copied(),
            head_dim: self.head_dim.get().copied(),
            vocabulary: self.vocabulary.get().copied(),
        }
    }
}

// The catalogue's complaints begin with the name of what is wrong.
fn argument_of(reason: &str) -> usize {
    match reason.split(' ').next() {
        Some("parameters_billion") => 0,
        Some("max_context") => 2,
        _ => OPTIONS,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::functions::testing::{call, refused};

    fn gib(arguments: &serde_json::Value) -> f64 {
        match call(&ModelMemoryGib, arguments) {
            Ok(Cty::Number(number)) => number.as_f64(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_model_of_seven_billion_needs_its_weights_and_a_cache() {
        let alone = gib(&json!([7.6, "bfloat16", 8192]));
        assert!((14.2..20.0).contains(&alone), "{alone}");
        let many = gib(&json!([7.6, "bfloat16", 8192, { "sequences": 8 }]));
        assert!(many > alone);
        let known =
            gib(&json!([7.6, "bfloat16", 8192, { "layers": 28, "hidden": 3584, "kv_heads": 4, "head_dim": 128 }]));
        assert!(known < alone);
        assert!((gib(&json!([7.6, "bfloat16", 8192, null])) - alone).abs() < 1e-9);
    }

    #[test]
    fn the_argument_at_fault_is_named() {
        refused(&ModelMemoryGib, &json!([0, "bfloat16", 8192]), 0, "above 0");
        refused(&ModelMemoryGib, &json!([7.6, "bf17", 8192]), 1, "bf17");
        refused(&ModelMemoryGib, &json!([7.6, "bfloat16", 0]), 2, "at least 1");
        refused(&ModelMemoryGib, &json!([7.6, "bfloat16", 1.5]), 2, "whole number");
        refused(&ModelMemoryGib, &json!([7.6, "bfloat16", 1, { "heads": 4 }]), 3, "no attribute \"heads\"");
        refused(&ModelMemoryGib, &json!([7.6, "bfloat16", 1, { "layers": "many" }]), 3, "`layers`");
        refused(&ModelMemoryGib, &json!([7.6, "bfloat16", 1, "fp8"]), 3, "no object");
        refused(&ModelMemoryGib, &json!([7.6, "bfloat16", 1, {}, {}]), 4, "more than one");
    }
}
