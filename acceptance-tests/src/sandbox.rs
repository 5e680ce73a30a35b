//! An AWS account to play with: the emulator, a ready cluster, and the environment that leads there.

use crate::{
    account::{Account, Cluster},
    emulator::Emulator,
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
}

impl Sandbox {
    /// Start an emulator with the cluster "ml-prod" in three zones.
    pub fn start() -> Result<Self> {
        let emulator = Emulator::start()?;
        let mut account = emulator.account_named("123456789012")?;
        let cluster = account.seed_cluster()?;
        Ok(Self { account, emulator, cluster })
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
