//! Whether the model can be found, loaded and held: its address, its token, and its size against the GPUs.

use tf_provider::Diagnostics;

use super::{
    EngineKind, InferenceService, Model,
    check::listed,
    sizing::{self, MARGIN, Sizing},
};
use crate::catalog::{
    Breakdown, Dtype, Scheme, USABLE_MEMORY_FRACTION, instance_types, known_products, model_memory_gib,
    parse_model_uri, product_matches,
};

/// From this size on reading from a network file system is told of.
const LARGE_GIB: f64 = 100.0;

pub(super) fn check(service: &InferenceService, complaints: &mut Diagnostics) {
    let kind = service.engine.get().and_then(|engine| engine.kind.get());
    match service.model.get() {
        Some(model) => check_model(model, complaints),
        None if service.model.is_null() && kind.is_some_and(|kind| *kind != EngineKind::Custom) => complaints.error(
            &service.model,
            "There is no model to serve",
            "Only a custom engine may know its model by itself.\n\nGive `model.source`, such as \
             \"hf://Qwen/Qwen2.5-7B-Instruct\".",
        ),
        None => {}
    }
    check_gpus(service, complaints);
    check_fit(service, complaints);
    check_cache(service, complaints);
    check_loading(service, complaints);
}

// A pod that fills more than its volume's size is evicted, and the next one after it.
fn check_cache(service: &InferenceService, complaints: &mut Diagnostics) {
    let sizing = Sizing::of(service);
    let (Some(Scheme::HuggingFace), Some(weights), Some(model)) =
        (sizing.scheme, sizing.weights_gib, service.model.get())
    else {
        return;
    };
    if let Some(cache) = model.cache_gib.get().filter(|cache| **cache > 0 && f64::from(**cache) < weights) {
        complaints.error(
            &model.cache_gib,
            "The model does not fit on the volume that it is downloaded to",
            format!(
                "Its weights are {weights:.0} GiB, and `model.cache_gib` is {cache}.\n\nLeave it out, which gives {} GiB.",
                sizing.cache_gib()
            ),
        );
    }
}

fn check_model(model: &Model, complaints: &mut Diagnostics) {
    check_source(model, complaints);
    check_token(model, complaints);
    if let Some(fault) = model.dtype.get().and_then(|dtype| Dtype::parse(dtype).err()) {
        complaints.error(
            &model.dtype,
            "The data type is not known",
            format!("The weights' size depends on it.\n\n{fault}"),
        );
    }
    if model.size_gib.is_known() && model.parameters_billion.is_known() {
        complaints.warn(
            &model.parameters_billion,
            "The size of the model is given twice",
            "`size_gib` is taken, and `parameters_billion` is not looked at.\n\nGive one of the two.",
        );
    }
    for (value, name) in [(&model.parameters_billion, "parameters_billion"), (&model.size_gib, "size_gib")] {
        if let Some(number) = value.get().filter(|number| !(**number > 0.0 && **number <= 20_000.0)) {
            complaints.error(
                value,
                format!("`model.{name}` is out of range"),
                format!("It is {number}.\n\nWrite 7.6 for a model of 7.6 billion parameters, or for one of 7.6 GiB."),
            );
        }
    }
    if model.max_context.get() == Some(&0) {
        complaints.error(
            &model.max_context,
            "No request would fit",
            "`model.max_context` is 0.\n\nGive a number of tokens.",
        );
    }
    if model.cache_gib.get() == Some(&0) {
        complaints.error(
            &model.cache_gib,
            "There is no place to download to",
            "`model.cache_gib` is 0.\n\nGive at least the size of the model.",
        );
    }
}

fn check_source(model: &Model, complaints: &mut Diagnostics) {
    let Some(source) = model.source.get() else { return };
    let uri = match parse_model_uri(source) {
        Ok(uri) => uri,
        Err(fault) => {
            complaints.error(
                &model.source,
                "The model's address cannot be read",
                format!("Nothing was looked up.\n\n{fault}"),
            );
            return;
        }
    };
    let Some(revision) = model.revision.get() else { return };
    if uri.scheme != Scheme::HuggingFace {
        complaints.error(
            &model.revision,
            "Only a model of the Hugging Face Hub has revisions",
            "Objects and files are read as they are when a pod starts.\n\nLeave `model.revision` out, and put versions \
             under different prefixes.",
        );
    }
    if uri.revision.as_ref().is_some_and(|other| other != revision) {
        complaints.error(
            &model.revision,
            "Two revisions are given",
            format!(
                "The address says {:?} and `model.revision` {revision:?}.\n\nGive one of them.",
                uri.revision.unwrap_or_default()
            ),
        );
    }
}

fn check_token(model: &Model, complaints: &mut Diagnostics) {
    let has_token = !model.token_wo.is_null();
    let has_version = !model.token_wo_version.is_null();
    if has_token && !has_version {
        complaints.error(
            &model.token_wo,
            "The token has no version",
            "Terraform does not keep the token, so a new one is noticed by its version only.\n\nSet \
             `model.token_wo_version` to 1, and count it up with each new token.",
        );
    }
    if has_version && !has_token {
        complaints.error(
            &model.token_wo_version,
            "The version is of no token",
            "`model.token_wo` is left out or null.\n\nGive the token, or leave `model.token_wo_version` out.",
        );
    }
    if (has_token || has_version) && !model.token_secret.is_null() {
        complaints.error(
            &model.token_secret,
            "Two tokens are given",
            "`token_wo` makes a Secret, and `token_secret` names another one.\n\nGive one of them.",
        );
    }
}

fn check_gpus(service: &InferenceService, complaints: &mut Diagnostics) {
    let Some(gpus) = service.gpus.get() else { return };
    let Some(product) = gpus.product.get() else { return };
    let is_known = instance_types().iter().any(|kind| product_matches(product, &kind.accelerator));
    let looks_wrong = product.contains(['.', '/', ':']);
    if !is_known && looks_wrong {
        complaints.warn(
            &gpus.product,
            format!("{product:?} does not look like an accelerator"),
            format!(
                "It is none that is known here, so whether the model fits is not checked.\n\nGive the product, as in the \
                 node label `nvidia.com/gpu.product`. Known are {}.",
                listed(known_products())
            ),
        );
    }
}

// The arithmetic is in the message: who knows the model better can see which part is wrong.
fn check_fit(service: &InferenceService, complaints: &mut Diagnostics) {
    let Some(gpus) = service.gpus.get() else { return };
    let (Some(product), Some(spec)) = (gpus.product.get(), sizing::spec(service)) else { return };
    // Before defaults are filled in: none is one.
    let count = match gpus.per_replica.get() {
        Some(count) => *count,
        None if gpus.per_replica.is_null() => 1,
        None => return,
    };
    let (Some(each), Ok(needed)) = (memory_gib(product), model_memory_gib(&spec)) else { return };
    let usable = f64::from(count) * each * USABLE_MEMORY_FRACTION;
    if needed.total_gib <= usable {
        return;
    }
    let Breakdown { weights_gib, kv_cache_gib, overhead_gib, total_gib } = needed;
    complaints.error(
        &gpus.per_replica,
        format!("The model does not fit on {count} x {product}"),
        format!(
            "weights {weights_gib:.1} GiB + KV cache for {} tokens {kv_cache_gib:.1} GiB + overhead {overhead_gib:.1} GiB \
             = {total_gib:.1} GiB\n{count} GPUs x {each:.1} GiB x {USABLE_MEMORY_FRACTION} usable = {usable:.1} GiB\n\n{}",
            spec.max_context,
            advice(total_gib, each),
        ),
    );
}

fn advice(total_gib: f64, each: f64) -> String {
    let enough = [1, 2, 4, 8].into_iter().find(|count| total_gib <= f64::from(*count) * each * USABLE_MEMORY_FRACTION);
    let more = enough.map_or_else(
        || "Choose a product with more memory".to_owned(),
        |count| format!("Set `gpus.per_replica` to {count}, choose a product with more memory"),
    );
    format!("{more}, lower `model.max_context`, or serve weights of a smaller `model.dtype`.")
}

// Where a name stands for several editions, the one with the most memory: only what cannot fit is refused.
fn memory_gib(product: &str) -> Option<f64> {
    let devices = instance_types().iter().map(|kind| &kind.accelerator);
    devices
        .filter(|device| product_matches(product, device))
        .map(|device| device.memory_gib_each)
        .max_by(f64::total_cmp)
}

fn check_loading(service: &InferenceService, complaints: &mut Diagnostics) {
    let sizing = Sizing::of(service);
    let (Some(load), Some(expected), Some(arithmetic)) =
        (sizing.load_seconds(), sizing.expected_seconds(), sizing.arithmetic())
    else {
        return;
    };
    let budget = sizing.startup_seconds();
    let given =
        service.engine.get().and_then(|engine| engine.startup_seconds.is_known().then_some(&engine.startup_seconds));
    if let Some((given, seconds)) = given.and_then(|given| Some((given, *given.get()?)))
        && f64::from(seconds) < expected
    {
        complaints.warn(
            given,
            "Pods may be killed before the model is loaded",
            format!(
                "A start is expected to take\n{arithmetic}\nand `engine.startup_seconds` allows {seconds} s.\n\nLeave it \
                 out, which allows {MARGIN} times as much ({budget} s), or raise it."
            ),
        );
    }
    let (Some(Scheme::VolumeClaim), Some(weights)) =
        (sizing.scheme, sizing.weights_gib.filter(|gib| *gib >= LARGE_GIB))
    else {
        return;
    };
    let Some(model) = service.model.get() else { return };
    let allowed = match given {
        Some(_) => String::new(),
        None => format!(" So a start is allowed {budget} s, {MARGIN} times\n{arithmetic}"),
    };
    complaints.warn(
        &model.source,
        format!("Each start reads {weights:.0} GiB from a volume"),
        format!(
            "From EFS with elastic throughput that takes about {:.0} minutes, for each pod.{allowed}\n\nStream the weights \
             from S3 (\"s3://bucket/prefix\"), or make sure that the claim is of a faster file system.",
            load / 60.0
        ),
    );
}
