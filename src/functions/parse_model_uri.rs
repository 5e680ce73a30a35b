//! `parse_model_uri(uri)`.

use std::collections::BTreeMap;

use tf_provider::{Cty, Function, FunctionError, Signature, Type};

use super::{fault, parameter, text};
use crate::catalog::parse_model_uri;

/// The function.
pub struct ParseModelUri;

const ATTRIBUTES: [&str; 4] = ["scheme", "location", "path", "revision"];

// === impl ParseModelUri ===

impl Function for ParseModelUri {
    fn name(&self) -> &'static str {
        "parse_model_uri"
    }

    fn signature(&self) -> Signature {
        let attributes: BTreeMap<_, _> = ATTRIBUTES.iter().map(|name| ((*name).to_owned(), Type::String)).collect();
        Signature {
            summary: "The parts of a model's address.".to_owned(),
            description: "Reads `hf://organisation/name[@revision]`, `s3://bucket[/prefix]` and `pvc://claim[/path]`. \
                The result has `scheme` (`hf`, `s3` or `pvc`), `location` (the repository, the bucket or the claim), \
                `path` (null where there is none) and `revision` (null where there is none)."
                .to_owned(),
            parameters: vec![parameter("uri", Type::String, "The address.")],
            variadic: None,
            result: Type::Object(attributes),
        }
    }

    fn call(&self, arguments: Vec<Cty>) -> Result<Cty, FunctionError> {
        let uri = parse_model_uri(text(&arguments, 0)?).map_err(|reason| fault(0, &reason))?;
        let path = Some(uri.path).filter(|path| !path.is_empty());
        let values = [Some(uri.scheme.name().to_owned()), Some(uri.location), path, uri.revision];
        Ok(Cty::object(ATTRIBUTES.into_iter().zip(values.map(|value| value.map_or(Cty::Null, Cty::from)))))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::functions::testing::{call, refused};

    #[test]
    fn an_address_falls_into_its_parts() {
        let parts = call(&ParseModelUri, &json!(["s3://acme/models/qwen/"])).expect("an address");
        assert_eq!(parts.get("scheme"), &Cty::from("s3"));
        assert_eq!(parts.get("location"), &Cty::from("acme"));
        assert_eq!(parts.get("path"), &Cty::from("models/qwen"));
        assert_eq!(parts.get("revision"), &Cty::Null);
        let parts = call(&ParseModelUri, &json!(["hf://Qwen/Qwen2.5-7B@main"])).expect("an address");
        assert_eq!(parts.get("revision"), &Cty::from("main"));
    }

    #[test]
    fn what_is_no_address_is_refused_with_the_forms() {
        refused(&ParseModelUri, &json!(["Qwen/Qwen2.5-7B"]), 0, "hf://organisation/name");
    }
}
