//! An AWS account to play with: the emulator, a ready cluster, and the environment that leads there.

use crate::{
    account::{Account, Cluster},
    emulator::Emulator,
    kubernetes::{ControlPlane, Crds, Node, Options},
    workspace::Workspace,
};
use anyhow::Result;
use std::collections::BTreeMap;

/// A running sandbox; it ends when dropped.
#[derive(Debug)]
pub struct Sandbox {
    // Declared first, dropped first: the proxy before the emulator behind it.
    account: Account,
    emulator: Emulator,
    cluster: Cluster,
    kubernetes: Option<ControlPlane>,
}

impl Sandbox {
    /// Start an emulator with the cluster "ml-prod" in three zones.
    pub fn start() -> Result<Self> {
        let emulator = Emulator::start()?;
        let mut account = emulator.account_named("123456789012")?;
        let cluster = account.seed_cluster()?;
        Ok(Self { account, emulator, cluster, kubernetes: None })
    }

    /// Let the cluster lead to a real Kubernetes API server with every custom resource, Kueue's controller and a node of
    /// eight GPUs, which passes for one of the examples' pool "gpu-inference"; an error says what this machine lacks
    /// for it.
    pub fn add_kubernetes(&mut self) -> Result<&ControlPlane> {
        let options = Options { cluster: self.cluster.name.clone(), crds: Crds::ALL.to_vec(), ..Options::default() };
        let started = ControlPlane::start(&options)?;
        started.start_kueue()?;
        started.add_node(&Node::with_gpus("gpu-1", 8).label("mlplat.io/pool", "gpu-inference"))?;
        started.add_node(&Node::new("system-1"))?;
        self.account.lead_to_kubernetes(started.endpoint(), &started.ca_pem())?;
        self.account.set_baseline()?;
        Ok(self.kubernetes.insert(started))
    }

    /// The control plane, if one was added.
    pub fn kubernetes(&self) -> Option<&ControlPlane> {
        self.kubernetes.as_ref()
    }

    /// The account.
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// The emulator.
    pub fn emulator(&self) -> &Emulator {
        &self.emulator
    }

    /// The cluster.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// What to set so that terraform and AWS clients work in the sandbox; `TF_VAR_…` name the cluster's parts.
    pub fn environment(&self) -> BTreeMap<String, String> {
        let mut environment = self.account.environment();
        let subnets =
            format!("[{}]", self.cluster.subnet_ids.iter().map(|id| format!("\"{id}\"")).collect::<Vec<_>>().join(","));
        environment.insert("TF_VAR_cluster".to_owned(), self.cluster.name.clone());
        environment.insert("TF_VAR_subnet_ids".to_owned(), subnets);
        if let Some(kubernetes) = &self.kubernetes {
            let file = kubernetes.admin_kubeconfig().to_string_lossy().into_owned();
            environment.insert("KUBECONFIG".to_owned(), file);
        }
        environment
    }

    /// A workspace in the sandbox, with the variables set.
    pub fn workspace(&self) -> Result<Workspace> {
        let mut workspace = Workspace::new(&self.account)?;
        for (name, value) in self.environment() {
            workspace.set_env(&name, &value);
        }
        Ok(workspace)
    }
}
