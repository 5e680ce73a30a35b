//! Custom resource definitions of the software around the platform, taken from its Go modules.
//!
//! They are copied into the cache once, so that a warm run needs neither Go nor a network.

use super::client::Client;
use crate::{
    cache,
    command::{on_path, run},
};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Mutex,
    thread,
    time::Duration,
};

/// The name of the cache's entries.
const FOLDER: &str = "module-folder";
/// How many definitions are sent at once.
const AT_ONCE: usize = 8;
/// Longer than all of them take on a busy machine.
const LIMIT: Duration = Duration::from_mins(3);
/// Karpenter's module asks for a newer Go than may be there; nothing of it is compiled.
const TOOLCHAIN: &str = "go1.27.3";

/// A set of custom resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crds {
    /// ClusterQueue, LocalQueue, ResourceFlavor and others, v1beta1 and v1beta2.
    Kueue,
    /// ScaledObject and others.
    Keda,
    /// ExternalSecret, SecretStore and others.
    ExternalSecrets,
    /// NodePool, NodeClaim, EC2NodeClass.
    Karpenter,
    /// PodMonitor, ServiceMonitor and others.
    PrometheusOperator,
}

impl Crds {
    /// Every set.
    pub const ALL: [Self; 5] =
        [Self::Kueue, Self::Keda, Self::ExternalSecrets, Self::Karpenter, Self::PrometheusOperator];

    /// Module with version, and the folder in it.
    fn source(self) -> (&'static str, &'static str) {
        match self {
            Self::Kueue => ("sigs.k8s.io/kueue@v0.17.0", "config/components/crd/bases"),
            Self::Keda => ("github.com/kedacore/keda/v2@v2.21.0", "config/crd/bases"),
            Self::ExternalSecrets => ("github.com/external-secrets/external-secrets@v1.3.2", "config/crds/bases"),
            Self::Karpenter => ("github.com/aws/karpenter-provider-aws@v1.14.3", "pkg/apis/crds"),
            Self::PrometheusOperator => {
                ("github.com/prometheus-operator/prometheus-operator@v0.85.0", "example/prometheus-operator-crd")
            }
        }
    }

    /// The files, in YAML.
    fn files(self) -> Result<Vec<PathBuf>> {
        let (module, folder) = self.source();
        let dir = copied(module, folder)?;
        let mut files = yaml_files(&dir)?;
        // Kustomize lists them; it is no definition itself.
        files.retain(|file| file.file_name().is_some_and(|name| name != "kustomization.yaml"));
        Ok(files)
    }
}

/// Whether every set is in the cache, and Kueue's webhooks.
pub(super) fn are_there() -> bool {
    let sources = Crds::ALL.map(Crds::source);
    sources.into_iter().chain([super::kueue::WEBHOOKS]).all(|(module, folder)| cache::has(FOLDER, &[module, folder]))
}

/// A folder of a module, copied into the cache.
pub(super) fn copied(module: &str, folder: &str) -> Result<PathBuf> {
    let what = format!("Downloading the custom resources of {module}");
    cache::entry(FOLDER, &what, &[module, folder], |dir| {
        let Some(go) = on_path("go") else {
            bail!("the custom resources of {module} are downloaded by Go, which is not on PATH");
        };
        let mut download = Command::new(go);
        // Outside of every module, so that none of its settings count.
        download.args(["mod", "download", "-json", module]).current_dir(dir);
        if module.contains("karpenter") {
            download.env("GOTOOLCHAIN", TOOLCHAIN);
        }
        let answer: Value = serde_json::from_str(&run(&mut download)?)?;
        let source = answer["Dir"].as_str().with_context(|| format!("go does not say where {module} is"))?;
        for file in yaml_files(&Path::new(source).join(folder))? {
            let name = file.file_name().context("a file without a name")?;
            // Not fs::copy: the module cache is read-only, and so would the copy be.
            fs::write(dir.join(name), fs::read(&file)?)?;
        }
        Ok(())
    })
}

fn yaml_files(dir: &Path) -> Result<Vec<PathBuf>> {
    let listed = fs::read_dir(dir).with_context(|| format!("cannot list {}", dir.display()))?;
    let mut files: Vec<_> = listed.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "yaml"));
    files.sort();
    Ok(files)
}

/// Define the resources of these sets, several at once, and wait until all are served.
pub(super) fn install(client: &Client, sets: &[Crds]) -> Result<()> {
    let mut files = Vec::new();
    for set in sets {
        for file in set.files()? {
            files.push(fs::read_to_string(file)?);
        }
    }
    let (waiting, failed) = (Mutex::new(files), Mutex::new(None));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                // The guard must not live through the call.
                while let Some(file) = next(&waiting) {
                    if let Err(error) = define(client, &file) {
                        *lock(&failed) = Some(error);
                    }
                }
            });
        }
    });
    let failed = lock(&failed).take();
    failed.map_or(Ok(()), Err)
}

fn next(waiting: &Mutex<Vec<String>>) -> Option<String> {
    lock(waiting).pop()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Create one definition and wait until it is established; one that is there already is waited for as well.
fn define(client: &Client, yaml: &str) -> Result<()> {
    const COLLECTION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let object: Value = serde_saphyr::from_str(yaml).context("a definition is not YAML")?;
    let name = object["metadata"]["name"].as_str().context("a definition without a name")?;
    let reply = client.send("POST", COLLECTION, "application/json", object.to_string().as_bytes())?;
    if reply.status != 409 {
        reply.ok().with_context(|| format!("defining {name}"))?;
    }
    let is_established = |crd: &Value| {
        let conditions = crd["status"]["conditions"].as_array();
        conditions.is_some_and(|all| all.iter().any(|one| one["type"] == "Established" && one["status"] == "True"))
    };
    client.wait(&format!("{COLLECTION}/{name}"), LIMIT, is_established).map(drop)
}
