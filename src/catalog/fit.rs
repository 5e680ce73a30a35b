//! Which instance types hold a model of a given size.

use super::{Filter, InstanceType, filter::filter};

/// The part of an accelerator's memory that a model server may plan with.
///
/// vLLM takes 0.9 by default (`gpu_memory_utilization`); the rest is the driver's context, the
/// communication library's buffers and fragmentation.
pub const USABLE_MEMORY_FRACTION: f64 = 0.9;

/// The types whose accelerators together hold `memory_gib`, and that the filter accepts.
///
/// The cheapest come first. A type with several accelerators counts with all of them, as a server
/// with tensor parallelism uses it; [`USABLE_MEMORY_FRACTION`] of each is counted.
pub fn fit_instance_types(memory_gib: f64, accepted: &Filter) -> Vec<&'static InstanceType> {
    let mut found = filter(accepted);
    found.retain(|kind| accelerators_needed(memory_gib, kind).is_some());
    found
}

/// The fewest accelerators of this type that hold `memory_gib`; `None` if all are too few.
///
/// Tensor parallelism splits attention heads evenly, so the number is a power of two, or all that
/// the instance has.
pub fn accelerators_needed(memory_gib: f64, kind: &InstanceType) -> Option<u32> {
    let each = kind.accelerator.memory_gib_each * USABLE_MEMORY_FRACTION;
    let all = kind.accelerator.count;
    std::iter::successors(Some(1_u32), |count| count.checked_mul(2))
        .take_while(|count| *count < all)
        .chain([all])
        .find(|count| memory_gib <= f64::from(*count) * each)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::find;

    fn needed(memory_gib: f64, instance_type: &str) -> Option<u32> {
        accelerators_needed(memory_gib, find(instance_type).expect("in the table"))
    }

    fn fitting(memory_gib: f64, accepted: &Filter) -> Vec<&'static str> {
        fit_instance_types(memory_gib, accepted).into_iter().map(|kind| kind.name).collect()
    }

    #[test]
    fn a_tenth_of_the_memory_is_kept_free() {
        assert_eq!(needed(20.1, "g5.xlarge"), Some(1));
        assert_eq!(needed(20.2, "g5.xlarge"), None);
    }

    #[test]
    fn the_number_of_accelerators_is_a_power_of_two_or_all() {
        assert_eq!(needed(150.0, "p5.48xlarge"), Some(4));
        assert_eq!(needed(40.0, "p5.48xlarge"), Some(1));
        assert_eq!(needed(576.0, "p5.48xlarge"), Some(8));
        assert_eq!(needed(577.0, "p5.48xlarge"), None);
        assert_eq!(needed(150.0, "inf2.24xlarge"), Some(6));
    }

    #[test]
    fn the_cheapest_fitting_type_comes_first() {
        let accepted = Filter { product: Some("L40S".to_owned()), ..Filter::default() };
        assert_eq!(fitting(30.0, &accepted).first(), Some(&"g6e.xlarge"));
        assert_eq!(fitting(150.0, &accepted), ["g6e.12xlarge", "g6e.24xlarge", "g6e.48xlarge"]);
    }

    #[test]
    fn a_model_too_big_for_every_instance_fits_nowhere() {
        assert!(fitting(3000.0, &Filter::default()).is_empty());
        assert!(fitting(f64::NAN, &Filter::default()).is_empty());
    }
}
