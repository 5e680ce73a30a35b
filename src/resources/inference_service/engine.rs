//! What a model server is started with: its command, and its arguments from the typed attributes.

use super::{Engine, EngineKind, InferenceService, Model};
use crate::catalog::{Dtype, ModelUri, Scheme, parse_model_uri};

/// Where a claim with models is mounted.
pub(super) const MODELS_PATH: &str = "/models";

/// The port that a kind of engine listens on where nothing is said.
pub(super) fn default_port(kind: EngineKind) -> Option<u16> {
    match kind {
        EngineKind::Vllm => Some(8000),
        EngineKind::Sglang => Some(30000),
        EngineKind::Custom => None,
    }
}

/// The path that tells whether it is healthy, where nothing is said.
pub(super) fn default_health_path(kind: EngineKind) -> Option<&'static str> {
    (kind != EngineKind::Custom).then_some("/health")
}

/// The command; none where the image has its own. The images of one engine differ in their entry points from release
/// to release, so it is written.
pub(super) fn command(engine: &Engine) -> Option<Vec<String>> {
    let own: &[&str] = match engine.kind.get()? {
        EngineKind::Vllm => &["vllm", "serve"],
        EngineKind::Sglang => &["python3", "-m", "sglang.launch_server"],
        EngineKind::Custom => return engine.command.get().cloned(),
    };
    Some(engine.command.get().cloned().unwrap_or_else(|| own.iter().map(|word| (*word).to_owned()).collect()))
}

/// The arguments; the user's come last, so that they win.
pub(super) fn args(service: &InferenceService) -> Vec<String> {
    let Some(engine) = service.engine.get() else { return Vec::new() };
    let mut args = Vec::new();
    if let (Some(model), Some(kind)) = (service.model.get(), engine.kind.get()) {
        let gpus = service.gpus.get().and_then(|gpus| gpus.per_replica.get().copied()).unwrap_or(1);
        let served = Served { engine, model, gpus };
        match kind {
            EngineKind::Vllm => served.vllm(&mut args),
            EngineKind::Sglang => served.sglang(&mut args),
            EngineKind::Custom => {}
        }
    }
    args.extend(engine.args.get().cloned().unwrap_or_default());
    args
}

/// What an engine is told to load: a repository, an address or a folder.
pub(super) fn model_path(uri: &ModelUri) -> String {
    match uri.scheme {
        Scheme::HuggingFace => uri.location.clone(),
        Scheme::S3 => ModelUri { revision: None, ..uri.clone() }.to_string(),
        Scheme::VolumeClaim if uri.path.is_empty() => MODELS_PATH.to_owned(),
        Scheme::VolumeClaim => format!("{MODELS_PATH}/{}", uri.path),
    }
}

/// The name that clients ask for where nothing is said.
pub(super) fn default_served_name(source: &str) -> Option<String> {
    let uri = parse_model_uri(source).ok()?;
    let last = uri.path.rsplit('/').next().filter(|last| !last.is_empty());
    Some(match uri.scheme {
        Scheme::HuggingFace => uri.location.clone(),
        Scheme::S3 | Scheme::VolumeClaim => last.unwrap_or(&uri.location).to_owned(),
    })
}

/// A model and what serves it.
struct Served<'a> {
    engine: &'a Engine,
    model: &'a Model,
    gpus: u32,
}

// === impl Served ===

impl Served<'_> {
    fn uri(&self) -> Option<ModelUri> {
        parse_model_uri(self.model.source.get()?).ok()
    }

    fn vllm(&self, args: &mut Vec<String>) {
        args.extend(self.uri().map(|uri| model_path(&uri)));
        self.common(args, "--max-model-len", "--tensor-parallel-size");
    }

    fn sglang(&self, args: &mut Vec<String>) {
        option(args, "--model-path", self.uri().map(|uri| model_path(&uri)));
        self.common(args, "--context-length", "--tp");
        // Its own default is the loopback interface, where no probe reaches it.
        option(args, "--host", Some("0.0.0.0"));
        args.push("--enable-metrics".to_owned());
    }

    fn common(&self, args: &mut Vec<String>, context: &str, parallel: &str) {
        let uri = self.uri();
        let revision = self.model.revision.get().cloned();
        option(args, "--served-model-name", self.model.served_name.get());
        option(args, "--revision", revision.or_else(|| uri.as_ref()?.revision.clone()));
        option(args, "--dtype", self.model.dtype.get().and_then(|dtype| computed_in(dtype)));
        option(args, context, self.model.max_context.get());
        option(args, parallel, Some(self.gpus).filter(|gpus| *gpus > 0));
        option(args, "--port", self.engine.port.get());
        let streams = uri.is_some_and(|uri| uri.scheme == Scheme::S3);
        option(args, "--load-format", streams.then_some("runai_streamer"));
    }
}

// Quantised weights say themselves how they are computed with.
fn computed_in(dtype: &str) -> Option<&'static str> {
    match Dtype::parse(dtype).ok()? {
        Dtype::Float32 => Some("float32"),
        Dtype::Bfloat16 => Some("bfloat16"),
        Dtype::Float16 => Some("float16"),
        Dtype::Fp8 | Dtype::Int8 | Dtype::Int4 => None,
    }
}

fn option(args: &mut Vec<String>, name: &str, value: Option<impl ToString>) {
    if let Some(value) = value {
        args.extend([name.to_owned(), value.to_string()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_called_after_its_repository_or_the_end_of_its_path() {
        for (source, path, name) in [
            ("hf://Qwen/Qwen2.5-7B-Instruct@v1", "Qwen/Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-7B-Instruct"),
            ("s3://acme-models/qwen/7b", "s3://acme-models/qwen/7b", "7b"),
            ("s3://acme-models", "s3://acme-models", "acme-models"),
            ("pvc://weights/qwen/7b", "/models/qwen/7b", "7b"),
            ("pvc://weights", "/models", "weights"),
        ] {
            let uri = parse_model_uri(source).expect("a source");
            assert_eq!((model_path(&uri).as_str(), default_served_name(source).as_deref()), (path, Some(name)));
        }
    }
}
