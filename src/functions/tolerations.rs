//! `tolerations(taints)`.

use std::collections::BTreeMap;

use tf_provider::{Attributes, Choice, Cty, Function, FunctionError, Signature, Type};
use value::Value;

use super::{fault, object, parameter, plain};

/// The function.
pub struct Tolerations;

/// A taint, in the spelling of Kubernetes or of EKS.
#[derive(Attributes, Clone, Debug, Default)]
struct Taint {
    /// Key.
    key: Value<String>,
    /// Value, which a toleration by `Exists` does not look at.
    value: Value<String>,
    /// Effect.
    effect: Value<Effect>,
}

#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    #[choice(name = "NoSchedule", also = "NO_SCHEDULE")]
    NoSchedule,
    #[choice(name = "NoExecute", also = "NO_EXECUTE")]
    NoExecute,
    #[choice(name = "PreferNoSchedule", also = "PREFER_NO_SCHEDULE")]
    PreferNoSchedule,
}

// === impl Tolerations ===

impl Function for Tolerations {
    fn name(&self) -> &'static str {
        "tolerations"
    }

    fn signature(&self) -> Signature {
        let attributes = ["key", "operator", "effect"].map(|name| (name.to_owned(), Type::String));
        Signature {
            summary: "Tolerations that match taints.".to_owned(),
            description: "For each taint a toleration by key and effect with the operator `Exists`, so that it still \
                matches when the taint's value changes. Effects may be spelled as EKS does (`NO_SCHEDULE`)."
                .to_owned(),
            parameters: vec![parameter(
                "taints",
                Type::Dynamic,
                "A list or set of objects with `key`, `effect` and, if there is one, `value`.",
            )],
            variadic: None,
            result: Type::list(Type::Object(BTreeMap::from(attributes))),
        }
    }

    fn call(&self, arguments: Vec<Cty>) -> Result<Cty, FunctionError> {
        let Some(Cty::List(taints) | Cty::Set(taints)) = arguments.first().map(plain) else {
            return Err(fault(0, "It is no list of taints. Write [{ key = \"…\", effect = \"NoSchedule\" }]."));
        };
        taints.iter().map(toleration).collect::<Result<_, _>>().map(Cty::List)
    }
}

fn toleration(taint: &Cty) -> Result<Cty, FunctionError> {
    let taint: Taint = object(taint, "The attributes of a taint", 0)?;
    let missing = |name: &str| fault(0, &format!("A taint has no {name}. Give `key` and `effect` of each."));
    let key = taint.key.get().ok_or_else(|| missing("`key`"))?;
    let effect = taint.effect.get().ok_or_else(|| missing("`effect`"))?;
    Ok(Cty::object([
        ("key", Cty::from(key.as_str())),
        ("operator", Cty::from("Exists")),
        ("effect", Cty::from(effect.as_str())),
    ]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::functions::testing::{call, refused};

    #[test]
    fn a_toleration_looks_at_key_and_effect() {
        let taints = json!([[{ "key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE" }, { "key": "a", "effect": "NoExecute" }]]);
        let expected = |key: &str, effect: &str| {
            Cty::object([("key", Cty::from(key)), ("operator", Cty::from("Exists")), ("effect", Cty::from(effect))])
        };
        assert_eq!(
            call(&Tolerations, &taints),
            Ok(Cty::List(vec![expected("nvidia.com/gpu", "NoSchedule"), expected("a", "NoExecute")]))
        );
        assert_eq!(call(&Tolerations, &json!([[]])), Ok(Cty::List(Vec::new())));
    }

    #[test]
    fn what_is_no_taint_is_refused() {
        refused(&Tolerations, &json!(["x"]), 0, "no list");
        refused(&Tolerations, &json!([[{ "key": "a" }]]), 0, "`effect`");
        refused(&Tolerations, &json!([[{ "key": "a", "effect": "Never" }]]), 0, "Never");
        refused(&Tolerations, &json!([[{ "key": "a", "efect": "NoSchedule" }]]), 0, "efect");
    }
}
