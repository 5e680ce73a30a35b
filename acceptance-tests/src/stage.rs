//! Where a scenario plays: an account whose cluster "ml-prod" is a real control plane, each behind its fault proxy, and
//! a directory for terraform that leads there.

use crate::{
    Account, Emulator, Output, Proxy, Workspace,
    kubernetes::{Client, ControlPlane},
    printed,
};
use anyhow::{Result, ensure};

/// Account, API server, workspace.
#[derive(Debug)]
pub struct Stage {
    /// The account.
    pub account: Account,
    /// Where terraform runs.
    pub workspace: Workspace,
    /// Before the API server.
    pub api: Proxy,
    /// The control plane itself.
    pub cluster: &'static ControlPlane,
}

impl Stage {
    /// A new account and workspace before this control plane.
    pub fn before(cluster: &'static ControlPlane) -> Result<Self> {
        let api = cluster.proxy()?;
        let mut account = Emulator::shared()?.account()?;
        account.seed_cluster()?;
        account.lead_to_kubernetes(api.url(), &cluster.ca_pem())?;
        account.set_baseline()?;
        let mut workspace = Workspace::new(&account)?;
        workspace.hide(api.url(), "<api server>");
        Ok(Self { account, workspace, api, cluster })
    }

    /// Configure and apply; both journals begin after that.
    pub fn applied(&self, configuration: &str) -> Result<()> {
        self.workspace.configure(configuration)?;
        self.apply()?;
        self.api.take_journal();
        self.account.proxy().take_journal();
        Ok(())
    }

    /// Apply, which must succeed and leave nothing to do.
    pub fn apply(&self) -> Result<Output> {
        let output = self.workspace.apply()?.ok()?;
        self.settled()?;
        Ok(output)
    }

    /// Nothing is left to do.
    pub fn settled(&self) -> Result<()> {
        self.workspace.plan()?.no_changes().map(drop)
    }

    /// The calls that changed something in the cluster since the journal was last taken, in order. One that was
    /// refused changed nothing: what somebody else manages is asked for before it is taken back.
    pub fn writes(&self) -> Vec<String> {
        let journal = self.api.take_journal();
        let done = journal.entries().iter().filter(|call| call.write && call.status.is_some_and(|status| status < 300));
        done.map(|call| call.name.clone()).collect()
    }

    /// Apply and say which calls changed something in the cluster, sorted.
    pub fn apply_and_tell_writes(&self) -> Result<Vec<String>> {
        self.api.take_journal();
        self.workspace.apply()?.ok()?;
        let mut writes = self.writes();
        writes.sort();
        self.settled()?;
        Ok(writes)
    }

    /// The plan's output, reduced; it must have changes.
    pub fn plan(&self) -> Result<String> {
        let output = self.workspace.plan()?.ok()?;
        ensure!(output.status == 2, "the plan was expected to have changes:\n{}", output.stdout);
        Ok(printed::shown(&output))
    }

    /// Destroy, which must leave in the account what was there before and nothing else.
    pub fn destroy(&self) -> Result<()> {
        self.workspace.destroy()?.ok()?;
        let left = self.account.leftovers()?;
        ensure!(left.is_empty(), "left over in the account: {left:#?}");
        Ok(())
    }

    /// Calls past the proxy.
    pub fn client(&self) -> &Client {
        self.cluster.client()
    }
}
