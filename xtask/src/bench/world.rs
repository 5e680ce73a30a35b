//! A sandbox in which something has been made, and plans of it that find nothing to do: how many calls, how many round
//! trips one after the other, how much CPU.

use std::{collections::BTreeMap, time::Duration};

use acceptance_tests::{
    Journal, Proxy, Sandbox, Terraform, Workspace,
    kubernetes::{self, Node},
};
use anyhow::{Context, Result, bail};

use super::{Figure, Subject, debugged::Debugged};

/// What every call takes longer, so that round trips show in the wall time.
const LATENCY: Duration = Duration::from_millis(50);

pub(super) struct World {
    sandbox: Sandbox,
    /// Before the API server, where there is one.
    api: Option<Proxy>,
    workspace: Workspace,
    provider: Debugged,
}

/// A plan without changes, measured.
pub(super) struct Measured {
    /// Of AWS by service, of Kubernetes by verb.
    calls: BTreeMap<String, usize>,
    pub(super) wall: Duration,
    pub(super) cpu_seconds: f64,
}

/// The same plan without and with latency.
pub(super) struct Pair {
    pub(super) without: Measured,
    pub(super) with: Measured,
}

// === impl World ===

impl World {
    /// AWS alone.
    pub(super) fn of_aws(subject: &Subject) -> Result<Self> {
        Self::around(subject, Sandbox::start()?, None)
    }

    /// AWS and a real Kubernetes API server, with a node of so many GPUs that is labelled `pool = "bench"`.
    pub(super) fn with_kubernetes(subject: &Subject, gpus: u32) -> Result<Self> {
        if let Some(reason) = kubernetes::lacking() {
            bail!("{reason}");
        }
        let mut sandbox = Sandbox::start()?;
        let cluster = sandbox.add_kubernetes()?;
        cluster.add_node(&Node::with_gpus("bench", gpus).label("pool", "bench"))?;
        let (api, ca) = (cluster.proxy()?, cluster.ca_pem());
        sandbox.account().lead_to_kubernetes(api.url(), &ca)?;
        Self::around(subject, sandbox, Some(api))
    }

    fn around(subject: &Subject, sandbox: Sandbox, api: Option<Proxy>) -> Result<Self> {
        let endpoint = sandbox.account().proxy().url();
        let provider = Debugged::start(&subject.provider, endpoint)?;
        let mut workspace = Workspace::with(Terraform::find()?.clone(), endpoint)?;
        provider.attach(&mut workspace);
        for (name, value) in sandbox.environment().iter().filter(|(name, _)| name.starts_with("TF_VAR_")) {
            workspace.set_env(name, value);
        }
        Ok(Self { sandbox, api, workspace, provider })
    }

    pub(super) fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    pub(super) fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Make what a configuration says; what was made before must be in it.
    pub(super) fn apply(&self, configuration: &str) -> Result<()> {
        self.workspace.configure(configuration)?;
        self.workspace.apply()?.ok().map(drop)
    }

    /// The most memory that the provider has had, in MiB.
    pub(super) fn peak_memory(&self) -> Result<f64> {
        self.provider.peak_memory()
    }

    /// The fastest of so many plans without latency and with it: other processes share the processors.
    pub(super) fn plans(&self, count: usize) -> Result<Pair> {
        Ok(Pair { without: self.fastest(Duration::ZERO, count)?, with: self.fastest(LATENCY, count)? })
    }

    fn fastest(&self, latency: Duration, count: usize) -> Result<Measured> {
        let plans = (0..count).map(|_| self.plan(latency)).collect::<Result<Vec<_>>>()?;
        plans.into_iter().min_by_key(|plan| plan.wall).context("no plan")
    }

    fn plan(&self, latency: Duration) -> Result<Measured> {
        let aws = self.sandbox.account().proxy();
        for proxy in std::iter::once(aws).chain(&self.api) {
            proxy.set_latency(latency);
            proxy.take_journal();
        }
        let before = self.provider.cpu_seconds()?;
        let output = self.workspace.plan()?.no_changes()?;
        let cpu_seconds = self.provider.cpu_seconds()? - before;
        let mut calls = by_first_word(&aws.take_journal(), "");
        if let Some(api) = &self.api {
            calls.extend(by_first_word(&api.take_journal(), "kubernetes "));
        }
        Ok(Measured { calls, wall: output.elapsed, cpu_seconds })
    }
}

/// How many calls of each service, as in "s3.GetBucketPolicy", or of each verb, as in "get.deployments".
fn by_first_word(journal: &Journal, prefix: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for entry in journal.entries() {
        let word = entry.name.split('.').next().unwrap_or_default();
        *counts.entry(format!("{prefix}{word}")).or_default() += 1;
    }
    counts
}

// === impl Measured ===

impl Measured {
    pub(super) fn calls(&self) -> usize {
        self.calls.values().sum()
    }

    /// A line for each service or verb.
    pub(super) fn figures(&self) -> impl Iterator<Item = Figure> {
        self.calls.iter().map(|(name, calls)| Figure::plain(format!("    {name}"), calls.to_string()))
    }
}

// === impl Pair ===

impl Pair {
    /// Round trips of `what`, of which there should be no more than `most`, wall time, and calls by service.
    pub(super) fn figures(&self, what: &str, most: f64) -> Vec<Figure> {
        let what = format!("{what}: round trips (time added ÷ 50 ms)");
        let mut figures = vec![
            Figure::at_most(what, self.round_trips(), "", most),
            Figure::plain("  wall time, terraform's own included", seconds(self.with.wall)),
            Figure::plain("  calls", self.with.calls().to_string()),
        ];
        figures.extend(self.with.figures());
        figures
    }

    /// How many calls were waited for one after the other.
    pub(super) fn round_trips(&self) -> f64 {
        self.with.wall.saturating_sub(self.without.wall).as_secs_f64() / LATENCY.as_secs_f64()
    }
}

/// Seconds as they are shown.
pub(super) fn seconds(duration: Duration) -> String {
    format!("{:.2} s", duration.as_secs_f64())
}
