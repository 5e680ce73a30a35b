//! What follows from the size of a model: how much memory and disk a pod needs and how long a start may take.
//!
//! Rules of thumb on the safe side, written down here and nowhere else. Whether the model fits on its GPUs is
//! `check_model`'s question.

use super::InferenceService;
use crate::catalog::{Dtype, ModelSize, ModelSpec, Scheme, model_memory_gib, parse_model_uri};

/// Where no size is known.
const UNKNOWN_STARTUP_SECONDS: u32 = 1800;
const UNKNOWN_CACHE_GIB: u32 = 100;

const KERNEL_CACHE_GIB: u32 = 10;

/// What a process keeps of the weights that it streams; see `manifest::environment`.
pub(super) const STREAM_BUFFER_GIB: u32 = 5;

/// What a start takes beside reading the weights: imports, compiling kernels, capturing graphs.
const ENGINE_SECONDS: f64 = 240.0;
/// Each further GPU is one more process to bring up and to connect.
const SECONDS_PER_GPU: f64 = 15.0;
/// A start may take so many times what it is expected to: the budget only ends what hangs.
pub(super) const MARGIN: f64 = 2.0;

/// What is computed from the model and its GPUs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sizing {
    /// Size of the weights.
    pub weights_gib: Option<f64>,
    /// Where they come from.
    pub scheme: Option<Scheme>,
    /// GPUs of a replica.
    pub gpus: u32,
}

// === impl Sizing ===

impl Sizing {
    /// What is known of the service; pending values count as not known.
    pub(super) fn of(service: &InferenceService) -> Self {
        let model = service.model.get();
        let source = model.and_then(|model| model.source.get());
        Self {
            weights_gib: weights_gib(service),
            scheme: source.and_then(|source| Some(parse_model_uri(source).ok()?.scheme)),
            gpus: service.gpus.get().and_then(|gpus| gpus.per_replica.get().copied()).unwrap_or(1),
        }
    }

    /// Seconds that reading the weights is expected to take.
    pub(super) fn load_seconds(&self) -> Option<f64> {
        Some(self.weights_gib? / speed(self.scheme?))
    }

    /// Seconds that a start is expected to take.
    pub(super) fn expected_seconds(&self) -> Option<f64> {
        Some(self.load_seconds()? + ENGINE_SECONDS + SECONDS_PER_GPU * f64::from(self.gpus))
    }

    /// The longest that a start may take, in whole minutes.
    pub(super) fn startup_seconds(&self) -> u32 {
        let budget = |expected: f64| whole(expected * MARGIN / 60.0).saturating_mul(60);
        self.expected_seconds().map_or(UNKNOWN_STARTUP_SECONDS, budget)
    }

    /// How long a start is expected to take, so that who knows better can see which part is wrong.
    pub(super) fn arithmetic(&self) -> Option<String> {
        Some(format!(
            "{:.0} GiB / {} GiB a second + {ENGINE_SECONDS} s for the engine + {} x {SECONDS_PER_GPU} s for its GPUs = {:.0} s",
            self.weights_gib?,
            speed(self.scheme?),
            self.gpus,
            self.expected_seconds()?
        ))
    }

    /// Disk for a download: the weights, what the download keeps beside them, and compiled kernels, which alone are
    /// there where nothing is downloaded.
    pub(super) fn cache_gib(&self) -> u32 {
        if !matches!(self.scheme, None | Some(Scheme::HuggingFace)) {
            return KERNEL_CACHE_GIB;
        }
        self.weights_gib.map_or(UNKNOWN_CACHE_GIB, |weights| whole(weights * 1.2).saturating_add(KERNEL_CACHE_GIB))
    }

    /// Shared memory.
    pub(super) fn shm_gib(&self) -> u32 {
        if self.gpus > 1 { 8 } else { 2 }
    }

    /// Main memory, given the shared memory in it. Weights are mapped or streamed, so not all of them are in it at
    /// once.
    pub(super) fn memory_gib(&self, shm_gib: u32) -> u32 {
        let weights = match self.scheme {
            Some(Scheme::S3) => self.gpus.max(1).saturating_mul(STREAM_BUFFER_GIB),
            _ => whole(self.weights_gib.unwrap_or(16.0) / 4.0),
        };
        [4, self.gpus.saturating_mul(2), shm_gib, weights].into_iter().fold(0, u32::saturating_add)
    }

    /// Processors.
    pub(super) fn cpus(&self) -> u32 {
        self.gpus.saturating_mul(2).saturating_add(1)
    }
}

// GiB a second, each a slow day: a download from the Hub, objects streamed from S3, a network file system (894 GiB took
// 43 minutes over EFS with elastic throughput).
fn speed(scheme: Scheme) -> f64 {
    match scheme {
        Scheme::HuggingFace => 0.1,
        Scheme::S3 => 0.5,
        Scheme::VolumeClaim => 0.345,
    }
}

/// The model as the catalogue's estimate takes it; none where no size is known or the data type is not a known one.
pub(super) fn spec(service: &InferenceService) -> Option<ModelSpec> {
    let model = service.model.get()?;
    let size = match (model.size_gib.get(), model.parameters_billion.get()) {
        (Some(size), _) => ModelSize::CheckpointGib(*size),
        (None, Some(parameters)) => ModelSize::ParametersBillion(*parameters),
        (None, None) => return None,
    };
    let dtype = model.dtype.get().map_or(Ok(Dtype::Bfloat16), |dtype| Dtype::parse(dtype)).ok()?;
    // Without a given context only one token's cache is counted: the model's own limit is not known.
    Some(ModelSpec::new(size, dtype, model.max_context.get().copied().unwrap_or(1)))
}

fn weights_gib(service: &InferenceService) -> Option<f64> {
    spec(service).and_then(|spec| Some(model_memory_gib(&spec).ok()?.weights_gib))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the type's range before")]
fn whole(number: f64) -> u32 {
    number.ceil().clamp(0.0, f64::from(u32::MAX)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizing(weights_gib: impl Into<Option<f64>>, scheme: Scheme, gpus: u32) -> Sizing {
        Sizing { weights_gib: weights_gib.into(), scheme: Some(scheme), gpus }
    }

    #[test]
    fn the_startup_budget_grows_with_size_and_gpus_and_shrinks_with_the_sources_speed() {
        assert_eq!(sizing(2.0, Scheme::HuggingFace, 1).startup_seconds(), 600);
        assert_eq!(sizing(140.0, Scheme::HuggingFace, 1).startup_seconds(), 3360);
        assert_eq!(sizing(140.0, Scheme::HuggingFace, 8).startup_seconds(), 3540);
        assert_eq!(sizing(140.0, Scheme::S3, 8).startup_seconds(), 1320);
        assert_eq!(sizing(894.0, Scheme::VolumeClaim, 8).startup_seconds(), 5940);
        assert_eq!(sizing(None, Scheme::S3, 1).startup_seconds(), 1800);
    }

    #[test]
    fn a_model_of_seven_billion_fits_beside_the_system_of_a_node_of_16_gib() {
        let sizing = sizing(14.2, Scheme::HuggingFace, 1);
        assert_eq!((sizing.memory_gib(sizing.shm_gib()), sizing.cpus()), (12, 3));
        assert_eq!(sizing.cache_gib(), 28);
    }

    #[test]
    fn nonsense_does_not_overflow() {
        assert_eq!(sizing(f64::INFINITY, Scheme::S3, u32::MAX).startup_seconds(), u32::MAX);
        assert_eq!(sizing(f64::INFINITY, Scheme::S3, u32::MAX).memory_gib(u32::MAX), u32::MAX);
    }
}
