//! A taint that pods tolerate, as several resources take it: attributes, check, manifest.

use serde_json::{Value as Json, json};
use tf_provider::{Attributes, Diagnostics};
use value::Value;

/// A taint that pods tolerate.
#[derive(Attributes, Clone, Debug, Default)]
pub struct Toleration {
    /// Key of the taint. Left out: every taint, with the operator `Exists`.
    pub key: Value<String>,
    /// `Exists` or `Equal`. Left out: `Equal`.
    pub operator: Value<String>,
    /// Value of the taint, for `Equal`.
    pub value: Value<String>,
    /// Effect of the taint: `NoSchedule`, `PreferNoSchedule` or `NoExecute`. Left out: every effect.
    pub effect: Value<String>,
}

// === impl Toleration ===

impl Toleration {
    pub(super) fn check(&self, complaints: &mut Diagnostics) {
        let operator = self.operator.get().map_or("Equal", String::as_str);
        if !["Equal", "Exists"].contains(&operator) {
            complaints.error(
                &self.operator,
                format!("{operator:?} is not an operator of tolerations"),
                "Kubernetes has two.\n\nWrite \"Exists\" or \"Equal\".",
            );
        }
        let effect = self.effect.get().map_or("", String::as_str);
        if !["", "NoSchedule", "PreferNoSchedule", "NoExecute"].contains(&effect) {
            complaints.error(
                &self.effect,
                format!("{effect:?} is not an effect of taints"),
                "Kubernetes has three, which the EKS API spells otherwise.\n\nWrite \"NoSchedule\", \
                 \"PreferNoSchedule\" or \"NoExecute\".",
            );
        }
        if operator == "Exists" && self.value.get().is_some_and(|value| !value.is_empty()) {
            complaints.error(
                &self.value,
                "A toleration with `Exists` has a value",
                "`Exists` tolerates the taint whatever its value is, so Kubernetes takes none.\n\nLeave `value` out, or \
                 use \"Equal\".",
            );
        }
        if operator == "Equal" && self.key.is_null() && !self.operator.is_pending() {
            complaints.error(
                &self.key,
                "A toleration has no key",
                "Only with `Exists` may it be left out; then every taint is tolerated.\n\nGive the taint's key.",
            );
        }
    }

    /// As in a manifest. None and an empty text are the same.
    pub(super) fn manifest(&self) -> Json {
        let operator = self.operator.get().map_or("Equal", String::as_str);
        let mut manifest = json!({ "operator": operator });
        for (name, value) in [("key", &self.key), ("value", &self.value), ("effect", &self.effect)] {
            if let Some(value) = value.get().filter(|value| !value.is_empty()) {
                manifest[name] = json!(value);
            }
        }
        manifest
    }
}
