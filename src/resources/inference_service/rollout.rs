//! How pods are replaced: decided from what is known of the place there is for one more.

use serde_json::{Value as Json, json};

use super::{InferenceService, RolloutStrategy};

/// How pods are replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replacing {
    /// A new pod first.
    Surge,
    /// An old pod goes first.
    FreeFirst,
    /// All old pods go first.
    Recreate,
}

/// What is done, and whether it was the user who said so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decided {
    /// What is done.
    pub replacing: Replacing,
    /// Whether `auto` chose it.
    pub is_auto: bool,
}

/// Decides. Pending values count as not known.
pub(super) fn decide(service: &InferenceService) -> Decided {
    let strategy = service.rollout.get().and_then(|rollout| rollout.strategy.get().copied());
    let replacing = match strategy.unwrap_or(RolloutStrategy::Auto) {
        RolloutStrategy::Surge => Replacing::Surge,
        RolloutStrategy::FreeFirst => Replacing::FreeFirst,
        RolloutStrategy::Recreate => Replacing::Recreate,
        RolloutStrategy::Auto => return Decided { replacing: fitting(service), is_auto: true },
    };
    Decided { replacing, is_auto: false }
}

fn fitting(service: &InferenceService) -> Replacing {
    let gpus = service.gpus.get().and_then(|gpus| gpus.per_replica.get().copied()).unwrap_or(1);
    let capacity = service.placement.get().and_then(|placement| placement.gpu_capacity.get().copied());
    let replicas = most_replicas(service);
    let has_place = capacity.is_some_and(|capacity| replicas.saturating_add(1).saturating_mul(gpus) <= capacity);
    match () {
        () if gpus == 0 || has_place => Replacing::Surge,
        () if replicas <= 1 => Replacing::Recreate,
        () => Replacing::FreeFirst,
    }
}

/// The most replicas there can be.
pub(super) fn most_replicas(service: &InferenceService) -> u32 {
    let scaled = service.scaling.get().and_then(|scaling| scaling.max.get().copied());
    scaled.or_else(|| service.replicas.get().copied()).unwrap_or(1)
}

// === impl Replacing ===

impl Replacing {
    /// The Deployment's `strategy`.
    pub(super) fn manifest(self) -> Json {
        let rolling = |surge: u32, unavailable: u32| {
            json!({
                "type": "RollingUpdate",
                "rollingUpdate": { "maxSurge": surge, "maxUnavailable": unavailable },
            })
        };
        match self {
            Self::Surge => rolling(1, 0),
            Self::FreeFirst => rolling(0, 1),
            Self::Recreate => json!({ "type": "Recreate" }),
        }
    }
}
