//! What the scenarios share: a stage (account, workspace, cluster) and configurations.

pub(crate) use acceptance_tests::printed::{changed_lines, errors, shown};
use acceptance_tests::{Account, Cluster, Emulator, Output, Workspace};
use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// The bucket of most scenarios.
pub(crate) const BUCKET: &str = "mlplat_model_bucket.models";
/// The pool of most scenarios.
pub(crate) const POOL: &str = "mlplat_gpu_pool.gpu";
/// The name of that pool.
pub(crate) const POOL_NAME: &str = "gpu-inference";

/// An account and a workspace that leads there.
pub(crate) struct Stage {
    pub(crate) account: Account,
    pub(crate) workspace: Workspace,
    /// Present where the scenario has pools.
    pub(crate) cluster: Option<Cluster>,
}

impl Stage {
    /// An empty account.
    pub(crate) fn empty() -> Result<Self> {
        let account = Emulator::shared()?.account()?;
        let workspace = Workspace::new(&account)?;
        Ok(Self { account, workspace, cluster: None })
    }

    /// An account with the cluster "ml-prod".
    pub(crate) fn with_cluster() -> Result<Self> {
        let mut account = Emulator::shared()?.account()?;
        let cluster = account.seed_cluster()?;
        let workspace = Workspace::new(&account)?;
        Ok(Self { account, workspace, cluster: Some(cluster) })
    }

    /// An account in which this configuration is applied; the journal begins after that.
    pub(crate) fn applied(self, configuration: &str) -> Result<Self> {
        self.workspace.configure(configuration)?;
        self.apply()?;
        self.account.proxy().take_journal();
        Ok(self)
    }

    /// A bucket with these attributes, applied.
    pub(crate) fn with_bucket(attributes: &str) -> Result<Self> {
        Self::empty()?.applied(&bucket(attributes))
    }

    /// A pool with these attributes, applied.
    pub(crate) fn with_pool(attributes: &str) -> Result<Self> {
        let stage = Self::with_cluster()?;
        let configuration = stage.pool(attributes)?;
        stage.applied(&configuration)
    }

    /// The configuration of a pool in all subnets of the cluster.
    pub(crate) fn pool(&self, attributes: &str) -> Result<String> {
        let subnets = self.subnets()?;
        Ok(pool(&format!("subnet_ids = {subnets}\n{attributes}")))
    }

    /// The cluster's subnets as a list in a configuration.
    pub(crate) fn subnets(&self) -> Result<String> {
        Ok(format!("{:?}", self.cluster()?.subnet_ids))
    }

    pub(crate) fn cluster(&self) -> Result<&Cluster> {
        self.cluster.as_ref().context("the stage has no cluster")
    }

    /// Apply, which must succeed and leave nothing to do.
    pub(crate) fn apply(&self) -> Result<Output> {
        let output = self.workspace.apply()?.ok()?;
        self.settled()?;
        Ok(output)
    }

    /// Nothing is left to do.
    pub(crate) fn settled(&self) -> Result<()> {
        self.workspace.plan()?.no_changes().map(drop)
    }

    /// The plan's output, reduced; it must have changes.
    pub(crate) fn plan(&self) -> Result<String> {
        let output = self.workspace.plan()?.ok()?;
        ensure!(output.status == 2, "the plan was expected to have changes:\n{}", output.stdout);
        Ok(shown(&output))
    }

    /// The calls that changed something since the journal was last taken, sorted.
    pub(crate) fn writes(&self) -> Vec<String> {
        let journal = self.account.proxy().take_journal();
        let mut writes: Vec<_> = journal.writes().into_iter().map(str::to_owned).collect();
        writes.sort();
        writes
    }

    /// Apply and say which calls changed something.
    pub(crate) fn apply_and_tell_writes(&self) -> Result<Vec<String>> {
        self.account.proxy().take_journal();
        self.workspace.apply()?.ok()?;
        let writes = self.writes();
        self.settled()?;
        Ok(writes)
    }

    /// Destroy, which must leave what was there before and nothing else.
    pub(crate) fn destroy(&self) -> Result<()> {
        self.workspace.destroy()?.ok()?;
        self.nothing_left()
    }

    /// The account is as it was before the first apply.
    pub(crate) fn nothing_left(&self) -> Result<()> {
        let (left, missing) = (self.account.leftovers()?, self.account.missing()?);
        ensure!(left.is_empty(), "left over: {left:#?}");
        ensure!(missing.is_empty(), "destroyed although it was not ours: {missing:?}");
        Ok(())
    }

    /// One object of the account, by the inventory's name.
    pub(crate) fn object(&self, name: &str) -> Result<Value> {
        let inventory = self.account.inventory()?;
        let names: Vec<_> = inventory.keys().cloned().collect();
        inventory.get(name).cloned().with_context(|| format!("no {name} among {names:#?}"))
    }

    /// The pool's node group as the account has it.
    pub(crate) fn node_group(&self) -> Result<Value> {
        self.object(&format!("eks:nodegroup/ml-prod/{POOL_NAME}"))
    }
}

/// The configuration of a bucket; the provider takes everything from the environment.
pub(crate) fn bucket(attributes: &str) -> String {
    format!("resource \"mlplat_model_bucket\" \"models\" {{\n  name = \"acme-models\"\n{attributes}\n}}\n")
}

/// The configuration of a pool; the attributes have its subnets.
pub(crate) fn pool(attributes: &str) -> String {
    format!(
        "resource \"mlplat_gpu_pool\" \"gpu\" {{\n  cluster = \"ml-prod\"\n  name = \"{POOL_NAME}\"\n{attributes}\n}}\n"
    )
}
