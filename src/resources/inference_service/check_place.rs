//! Whether there can ever be GPUs for all that is asked for.

use tf_provider::Diagnostics;
use value::Value;

use super::{InferenceService, RolloutStrategy};

pub(super) fn check(service: &InferenceService, complaints: &mut Diagnostics) {
    let capacity = service.placement.get().and_then(|placement| placement.gpu_capacity.get().copied());
    let (Some(capacity), Some(gpus)) = (capacity, gpus(service)) else { return };
    let Some((most, place)) = most_replicas(service) else { return };
    let needed = |replicas: u32| replicas.saturating_mul(gpus);
    if needed(most) > capacity {
        complaints.warn(
            place,
            "There cannot be GPUs for all replicas",
            format!(
                "{most} replicas need {} GPUs, and `placement.gpu_capacity` is {capacity}: the pods that are too many \
                 wait for a node that never comes.\n\nLower the number of replicas, or let the pool grow larger.",
                needed(most)
            ),
        );
        return;
    }
    let Some(rollout) = service.rollout.get() else { return };
    if rollout.strategy.get() == Some(&RolloutStrategy::Surge) && needed(most.saturating_add(1)) > capacity {
        complaints.warn(
            &rollout.strategy,
            "A new pod may wait for GPUs that the old ones hold",
            format!(
                "With \"surge\" a new pod starts before an old one goes. That needs {} GPUs where there are {most} \
                 replicas, and `placement.gpu_capacity` is {capacity}.\n\nChoose \"free_first\" or \"recreate\", or let \
                 the pool grow larger.",
                needed(most.saturating_add(1))
            ),
        );
    }
}

// Of a replica; none while it is not known. Before defaults are filled in: one where nothing is said.
fn gpus(service: &InferenceService) -> Option<u32> {
    match service.gpus.get() {
        Some(gpus) if gpus.per_replica.is_null() => Some(1),
        Some(gpus) => gpus.per_replica.get().copied(),
        None => service.gpus.is_null().then_some(1),
    }
}

fn most_replicas(service: &InferenceService) -> Option<(u32, &Value<u32>)> {
    match service.scaling.get() {
        Some(scaling) => Some((*scaling.max.get()?, &scaling.max)),
        None if !service.scaling.is_null() => None,
        None if service.replicas.is_null() => Some((1, &service.replicas)),
        None => Some((*service.replicas.get()?, &service.replicas)),
    }
}
