//! What an autoscaler would refuse, and what it could never act on.

use tf_provider::Diagnostics;

use super::{
    InferenceService, Scaling, Via, scaling,
    signal::{Scope, Signal},
};

pub(super) fn check(service: &InferenceService, complaints: &mut Diagnostics) {
    if !service.replicas.is_null() && !service.scaling.is_null() {
        complaints.error(
            &service.replicas,
            "The number of replicas is given twice",
            "With `scaling` the autoscaler has the number, and `replicas` would set it back with each apply.\n\nLeave \
             `replicas` out, and give `scaling.min` the number that there should be at least.",
        );
    }
    if let Some(scaling) = service.scaling.get() {
        check_range(scaling, complaints);
        check_signal(scaling, service, complaints);
        check_target(scaling, complaints);
        check_via(scaling, complaints);
    }
}

fn check_range(scaling: &Scaling, complaints: &mut Diagnostics) {
    let Some(max) = scaling.max.get() else { return };
    if *max == 0 {
        complaints.error(&scaling.max, "There can never be a replica", "`scaling.max` is 0.\n\nGive at least 1.");
        return;
    }
    let min = scaling.min.get().copied().unwrap_or(1);
    if !scaling.min.is_pending() && min > *max {
        complaints.error(
            &scaling.min,
            "The fewest replicas are more than the most",
            format!(
                "`scaling.min` is {min} and `scaling.max` is {max}.\n\nLower `scaling.min` or raise `scaling.max`."
            ),
        );
    }
}

fn check_signal(scaling: &Scaling, service: &InferenceService, complaints: &mut Diagnostics) {
    let signal = match scaling.signal.get() {
        Some(signal) => signal,
        None if scaling.signal.is_null() => &Signal::QueueDepth,
        None => return,
    };
    let is_external = matches!(signal, Signal::Metric { scope: Scope::External, .. });
    if scaling.min.get() == Some(&0) && !is_external {
        complaints.error(
            &scaling.min,
            "Without a replica nothing asks for the first one",
            "The signal is measured on the pods of the service, and with none of them it is never above its \
             target.\n\nSet `scaling.min` to 1, or scale by a metric of something else: \
             `signal = { metric = \"…\", scope = \"external\" }`.",
        );
    }
    let is_hpa = scaling.via.get().map_or(scaling.via.is_null(), |via| *via == Via::Hpa);
    if scaling.min.get() == Some(&0) && is_external && is_hpa {
        complaints.warn(
            &scaling.min,
            "Most clusters refuse a HorizontalPodAutoscaler without replicas",
            "It needs Kubernetes' feature gate `HPAScaleToZero`, which is off unless somebody switched it on, and EKS \
             has no switch for it.\n\nScale with `via = \"keda\"`, or set `scaling.min` to 1.",
        );
    }
    let kind = service.engine.get().and_then(|engine| engine.kind.get().copied());
    if kind.is_some_and(|kind| scaling::metric(signal, kind).is_none()) {
        complaints.error(
            &scaling.signal,
            "The metric of a custom engine is not known",
            "Queues and caches have another metric in each engine.\n\nName it: `signal = { metric = \"…\" }`.",
        );
    }
    if *signal == Signal::GpuUtilization {
        complaints.warn(
            &scaling.signal,
            "GPU utilisation says little of load",
            "A GPU is busy with one request as with a hundred, and on a MIG slice the metric is missing.\n\nScale by \
             \"queue_depth\" or \"kv_cache\".",
        );
    }
}

fn check_target(scaling: &Scaling, complaints: &mut Diagnostics) {
    let Some(target) = scaling.target.get().copied() else { return };
    let (most, words) = match scaling.signal.get() {
        Some(Signal::KvCache) => (1.0, "a fraction above 0 and at most 1, such as 0.8"),
        Some(Signal::GpuUtilization) => (100.0, "a number of percent above 0 and at most 100"),
        _ => (f64::MAX, "a number above 0"),
    };
    // Thousandths are the smallest that Kubernetes keeps.
    if !(0.001..=most).contains(&target) {
        complaints.error(
            &scaling.target,
            "The target of the scaling is out of range",
            format!("It is {target}.\n\nGive {words}."),
        );
    }
}

fn check_via(scaling: &Scaling, complaints: &mut Diagnostics) {
    let address = &scaling.prometheus_address;
    let is_url = |text: &&String| text.starts_with("http://") || text.starts_with("https://");
    if let Some(text) = address.get().filter(|text| !text.is_empty() && !is_url(text)) {
        complaints.error(
            address,
            format!("{text:?} is not the address of Prometheus"),
            format!("KEDA asks it by HTTP.\n\nGive a URL, such as \"{}\".", scaling::PROMETHEUS),
        );
    }
    let is_hpa = scaling.via.get().map_or(scaling.via.is_null(), |via| *via == Via::Hpa);
    if is_hpa && scaling.prometheus_address.is_known() {
        complaints.warn(
            &scaling.prometheus_address,
            "Nobody asks this Prometheus",
            "A HorizontalPodAutoscaler reads the metrics API, behind which an adapter has its own address.\n\nLeave \
             `scaling.prometheus_address` out, or scale with `via = \"keda\"`.",
        );
    }
}
