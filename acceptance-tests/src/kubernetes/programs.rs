//! The programs of a control plane, kept in the cache: out of their official images where Docker answers on Linux,
//! else built from their Go modules. `MLPLAT_KUBERNETES_PROGRAMS` names a directory that has them already.
//!
//! Not `kind`: its API server runs in a container and could ask neither a token webhook nor a fault proxy on
//! loopback, and it has no GPU nodes. The images hold the same static programs, and one way of starting is enough.
//! The way through Docker was written without a Docker to try it on; where it fails the modules are built.

use super::crds;
use crate::{
    cache,
    command::{on_path, run},
};
use anyhow::{Context, Result, bail};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The version of Kubernetes that runs.
pub const VERSION: &str = "v1.36.3";

/// Names a directory with all programs, for machines that have them by other means.
const READY_MADE: &str = "MLPLAT_KUBERNETES_PROGRAMS";

/// Where the programs lie.
#[derive(Clone, Debug)]
pub(super) struct Programs {
    pub(super) etcd: PathBuf,
    pub(super) apiserver: PathBuf,
    pub(super) controller_manager: PathBuf,
    pub(super) scheduler: PathBuf,
    pub(super) kwok: PathBuf,
}

impl Programs {
    /// The programs, fetched or built if they are not there; an error says what this machine lacks.
    pub(super) fn find() -> Result<Self> {
        let etcd = ETCD.get()?.join("etcd");
        let (kwok, control_plane) = (KWOK.get()?.join("kwok"), CONTROL_PLANE.get()?);
        Ok(Self {
            etcd,
            apiserver: control_plane.join("kube-apiserver"),
            controller_manager: control_plane.join("kube-controller-manager"),
            scheduler: control_plane.join("kube-scheduler"),
            kwok,
        })
    }
}

/// Why this machine cannot have a control plane with Kueue; none where it has all of it or can get it. Docker alone
/// would not do: the custom resources are in no image.
pub fn lacking() -> Option<String> {
    let modules = [&ETCD, &KWOK, &CONTROL_PLANE, &KUEUE];
    let has_programs =
        std::env::var_os(READY_MADE).is_some() || modules.iter().all(|module| cache::has(module.name, &module.pins()));
    if on_path("go").is_some() || (has_programs && crds::are_there()) {
        return None;
    }
    Some(
        "a Kubernetes control plane needs Go 1.26 or later, which is not on PATH: https://go.dev/doc/install"
            .to_owned(),
    )
}

/// Docker, where an engine answers that runs the programs of this system.
fn docker() -> Result<PathBuf> {
    if !cfg!(target_os = "linux") {
        bail!("the images hold programs for Linux");
    }
    let docker = on_path("docker").context("not on PATH")?;
    run(Command::new(&docker).arg("info")).context("no engine answers")?;
    Ok(docker)
}

/// Kueue's controller.
pub(super) fn kueue() -> Result<PathBuf> {
    Ok(KUEUE.get()?.join("kueue"))
}

/// One Go module of ours with the programs that it pins.
struct Module {
    name: &'static str,
    what: &'static str,
    go_mod: &'static str,
    go_sum: &'static str,
    /// A main package of our own, where upstream has none.
    main: Option<&'static str>,
    flags: &'static str,
    packages: &'static [&'static str],
    /// Image, program in it, name of ours.
    images: &'static [(&'static str, &'static str, &'static str)],
}

macro_rules! module {
    ($folder:literal, $($rest:tt)*) => {
        Module {
            name: $folder,
            go_mod: include_str!(concat!("../../kubernetes/", $folder, "/go.mod")),
            go_sum: include_str!(concat!("../../kubernetes/", $folder, "/go.sum")),
            $($rest)*
        }
    };
}

const ETCD: Module = module! {
    "etcd",
    what: "Building etcd (about a minute, once)",
    main: Some(include_str!("../../kubernetes/etcd/main.go")),
    flags: "-s -w",
    packages: &["."],
    images: &[("gcr.io/etcd-development/etcd:v3.6.16", "/usr/local/bin/etcd", "etcd")],
};

const CONTROL_PLANE: Module = module! {
    "control-plane",
    what: "Building the Kubernetes control plane (about six minutes, once)",
    main: None,
    // Without the stamp the server calls itself v0.0.0.
    flags: "-s -w -X k8s.io/component-base/version.gitVersion=v1.36.3 \
            -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=36",
    packages: &[
        "k8s.io/kubernetes/cmd/kube-apiserver",
        "k8s.io/kubernetes/cmd/kube-controller-manager",
        "k8s.io/kubernetes/cmd/kube-scheduler",
    ],
    images: &[
        ("registry.k8s.io/kube-apiserver:v1.36.3", "/usr/local/bin/kube-apiserver", "kube-apiserver"),
        (
            "registry.k8s.io/kube-controller-manager:v1.36.3",
            "/usr/local/bin/kube-controller-manager",
            "kube-controller-manager",
        ),
        ("registry.k8s.io/kube-scheduler:v1.36.3", "/usr/local/bin/kube-scheduler", "kube-scheduler"),
    ],
};

const KWOK: Module = module! {
    "kwok",
    what: "Building kwok, which plays nodes and pods (about a minute, once)",
    main: None,
    flags: "-s -w",
    packages: &["sigs.k8s.io/kwok/cmd/kwok"],
    images: &[("registry.k8s.io/kwok/kwok:v0.8.0", "/usr/local/bin/kwok", "kwok")],
};

const KUEUE: Module = module! {
    "kueue",
    what: "Building Kueue's controller (about three minutes, once)",
    main: None,
    flags: "-s -w",
    packages: &["sigs.k8s.io/kueue/cmd/kueue"],
    images: &[("registry.k8s.io/kueue/kueue:v0.17.0", "/manager", "kueue")],
};

impl Module {
    /// The directory with the module's programs.
    fn get(&self) -> Result<PathBuf> {
        if let Some(dir) = std::env::var_os(READY_MADE) {
            return Ok(dir.into());
        }
        let dir = cache::entry(self.name, self.what, &self.pins(), |dir| {
            let bin = dir.join("bin");
            fs::create_dir_all(&bin)?;
            let Err(docker) = self.copy_from_images(&bin) else { return Ok(()) };
            match on_path("go") {
                Some(go) => self.build(&go, dir, &bin),
                None => bail!(
                    "a Kubernetes control plane needs Docker on Linux ({docker:#}) or Go 1.26 or later (not on \
                     PATH). Install one of them: https://docs.docker.com/engine/install, https://go.dev/doc/install"
                ),
            }
        })?;
        Ok(dir.join("bin"))
    }

    /// What decides whether programs that were built before will do.
    fn pins(&self) -> [&'static str; 4] {
        [self.go_mod, self.go_sum, self.main.unwrap_or(""), self.flags]
    }

    fn copy_from_images(&self, bin: &Path) -> Result<()> {
        let docker = docker()?;
        for (image, program, name) in self.images {
            let id = run(Command::new(&docker).args(["create", image]))?;
            let from = format!("{}:{program}", id.trim());
            let copied = run(Command::new(&docker).args(["cp", &from]).arg(bin.join(name)));
            run(Command::new(&docker).args(["rm", id.trim()]))?;
            copied?;
        }
        Ok(())
    }

    fn build(&self, go: &Path, dir: &Path, bin: &Path) -> Result<()> {
        fs::write(dir.join("go.mod"), self.go_mod)?;
        fs::write(dir.join("go.sum"), self.go_sum)?;
        if let Some(main) = self.main {
            fs::write(dir.join("main.go"), main)?;
        }
        let mut build = Command::new(go);
        build.args(["build", "-trimpath", "-ldflags", self.flags, "-o"]).arg(bin.join("")).args(self.packages);
        run(build.current_dir(dir)).with_context(|| format!("the module {} does not build", self.name)).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_and_stamp_have_the_versions_of_the_modules() {
        for module in [ETCD, CONTROL_PLANE, KWOK, KUEUE] {
            for (image, ..) in module.images {
                let version = image.rsplit(':').next().unwrap();
                let pinned = module.go_mod.split_whitespace().any(|word| word == version);
                assert!(pinned, "{image} is not what {} pins", module.name);
            }
        }
        assert!(CONTROL_PLANE.go_mod.contains(&format!("k8s.io/kubernetes {VERSION} ")));
        assert!(CONTROL_PLANE.flags.contains(&format!("gitVersion={VERSION} ")));
    }
}
