//! Defaults of what was left out, those computed from the model included.

use tf_provider::Attributes;
use value::{Pending, Value};

use super::{Engine, Gpus, InferenceService, Model, Via, engine, scaling, sizing::Sizing};
use crate::catalog::{Vendor, instance_types, product_matches};

/// Fills in every default that is known now.
pub(super) fn fill_in_defaults(service: &mut InferenceService) {
    service.fill_defaults();
    if let Some(gpus) = service.gpus.get_mut() {
        fill_in_gpus(gpus);
    }
    let sizing = sizing(service);
    if let Some(engine) = service.engine.get_mut() {
        fill_in_engine(engine, &sizing);
    }
    if let Some(model) = service.model.get_mut() {
        fill_in_model(model, &sizing);
    }
    fill_in_resources(service, &sizing);
    fill_in_scale(service);
}

fn fill_in_gpus(gpus: &mut Gpus) {
    let name = gpus.product.with(&Value::<()>::null(), |product, _| resource_name(product.map_or("", String::as_str)));
    gpus.resource_name.default_to_value(name);
}

fn resource_name(product: &str) -> String {
    let known = instance_types().iter().map(|kind| &kind.accelerator).find(|device| product_matches(product, device));
    known.map_or(Vendor::Nvidia, |device| device.vendor).resource_name().to_owned()
}

// What is computed from the model waits for all it is computed from.
fn sizing(service: &InferenceService) -> Value<Sizing> {
    let model = |pending: fn(&Model) -> bool| service.model.get().is_some_and(pending);
    let is_pending = service.model.is_pending()
        || service.gpus.is_pending()
        || model(|model| {
            model.source.is_pending()
                || model.size_gib.is_pending()
                || model.parameters_billion.is_pending()
                || model.dtype.is_pending()
        })
        || service.gpus.get().is_some_and(|gpus| gpus.per_replica.is_pending());
    if is_pending { Value::pending(Pending::Config) } else { Value::known(Sizing::of(service)) }
}

fn fill_in_engine(engine: &mut Engine, sizing: &Value<Sizing>) {
    engine.port.default_to_value(engine.kind.and_then(|kind| Value::from(engine::default_port(*kind))));
    let health_path = engine.kind.and_then(|kind| Value::from(engine::default_health_path(*kind).map(str::to_owned)));
    engine.health_path.default_to_value(health_path);
    engine.startup_seconds.default_to_value(sizing.map(Sizing::startup_seconds));
}

fn fill_in_model(model: &mut Model, sizing: &Value<Sizing>) {
    let name = model.source.and_then(|source| Value::from(engine::default_served_name(source)));
    model.served_name.default_to_value(name);
    model.cache_gib.default_to_value(sizing.map(Sizing::cache_gib));
}

fn fill_in_resources(service: &mut InferenceService, sizing: &Value<Sizing>) {
    let Some(resources) = service.resources.get_mut() else { return };
    resources.cpu.default_to_value(sizing.map(|sizing| sizing.cpus().to_string()));
    resources.shm_gib.default_to_value(sizing.map(Sizing::shm_gib));
    let memory = sizing.with(&resources.shm_gib, |sizing, shm| {
        let gib = sizing.zip(shm).map_or(0, |(sizing, shm)| sizing.memory_gib(*shm));
        format!("{gib}Gi")
    });
    resources.memory.default_to_value(memory);
}

fn fill_in_scale(service: &mut InferenceService) {
    // An import reads an object that is not there as one without anything in it.
    let is_scaled = service.scaling.is_pending() || service.scaling.get().is_some_and(|scaling| !scaling.max.is_null());
    if !is_scaled {
        service.replicas.default_to(1);
    }
    if let Some(scaling) = service.scaling.get_mut() {
        let address =
            scaling.via.and_then(|via| Value::from((*via == Via::Keda).then(|| scaling::PROMETHEUS.to_owned())));
        scaling.prometheus_address.default_to_value(address);
    }
}
