//! Texts that nothing can be called by, and empty ones: a variable that was not set, which is not the same as none.

use tf_provider::Diagnostics;
use value::Value;

use super::{InferenceService, check::check_name};
use crate::resources::kubernetes::NameRule;

type Named<'a> = (&'a Value<String>, &'static str);

pub(super) fn check(service: &InferenceService, complaints: &mut Diagnostics) {
    for (text, name) in plain(service).into_iter().flatten() {
        if text.get().is_some_and(|text| text.trim().is_empty()) {
            complaints.error(
                text,
                format!("`{name}` is an empty text"),
                "An empty text is not the same as none.\n\nLeave it out, or set it to null.",
            );
        }
    }
    for (text, of) in objects(service).into_iter().flatten() {
        check_name(text, of, NameRule::Subdomain, complaints);
    }
    check_pull_secrets(service, complaints);
}

// What an empty text would be handed on of.
fn plain(service: &InferenceService) -> [Option<Named<'_>>; 7] {
    let (model, gpus) = (service.model.get(), service.gpus.get());
    [
        model.map(|model| (&model.revision, "model.revision")),
        model.map(|model| (&model.served_name, "model.served_name")),
        model.map(|model| (&model.token_wo, "model.token_wo")),
        model.and_then(|model| Some((&model.token_secret.get()?.key, "model.token_secret.key"))),
        gpus.map(|gpus| (&gpus.product, "gpus.product")),
        gpus.map(|gpus| (&gpus.resource_name, "gpus.resource_name")),
        service.scaling.get().map(|scaling| (&scaling.prometheus_address, "scaling.prometheus_address")),
    ]
}

// Objects of the cluster.
fn objects(service: &InferenceService) -> [Option<Named<'_>>; 4] {
    let (model, expose) = (service.model.get(), service.expose.get());
    [
        model.map(|model| (&model.cache_storage_class, "name of a storage class")),
        model.and_then(|model| Some((&model.token_secret.get()?.name, "name of a Secret"))),
        expose.map(|expose| (&expose.class, "name of an Ingress class")),
        expose.map(|expose| (&expose.tls_secret, "name of a Secret")),
    ]
}

fn check_pull_secrets(service: &InferenceService, complaints: &mut Diagnostics) {
    let Some(secrets) = service.engine.get().map(|engine| &engine.image_pull_secrets) else { return };
    for name in secrets.get().into_iter().flatten() {
        check_name(&Value::from(name.as_str()).blamed_on(secrets), "name of a Secret", NameRule::Subdomain, complaints);
    }
}
