//! Plans that find nothing to do in a real Kubernetes API server: round trips, calls, time.

use std::time::Duration;

use acceptance_tests::{
    Journal, Proxy, Sandbox, Terraform, Workspace,
    kubernetes::{self, Node},
};
use anyhow::{Context, Result, bail};

use super::{
    Figure, Subject,
    debugged::Debugged,
    plan::{LATENCY, per_service},
};

const PLANS: usize = 5;

/// Tenants, and a service in each, that have been made.
struct Bench {
    sandbox: Sandbox,
    /// Before the API server.
    api: Proxy,
    workspace: Workspace,
    provider: Debugged,
}

/// A plan without changes, measured.
struct Measured {
    aws: Journal,
    kubernetes: Journal,
    wall: Duration,
}

pub(super) fn one_of_each(subject: &Subject) -> Result<Vec<Figure>> {
    let bench = Bench::applied(subject, 1)?;
    let without = bench.plan(Duration::ZERO)?;
    let with = bench.plan(LATENCY)?;
    let trips = with.wall.saturating_sub(without.wall).as_secs_f64() / LATENCY.as_secs_f64();
    let mut figures = vec![
        Figure::at_most("one tenant, one service: round trips (time added ÷ 50 ms)", trips, "", 3.0),
        Figure::count("  calls", with.calls(), 16),
    ];
    for journal in [&with.aws, &with.kubernetes] {
        let services = per_service(journal);
        figures.extend(services.iter().map(|(name, calls)| Figure::plain(format!("    {name}"), calls.to_string())));
    }
    Ok(figures)
}

pub(super) fn many(subject: &Subject) -> Result<Vec<Figure>> {
    let bench = Bench::applied(subject, 20)?;
    let without = bench.plan(Duration::ZERO)?;
    let with = bench.plan(LATENCY)?;
    Ok(vec![
        Figure::at_most("20 tenants, 20 services: wall time at 0 ms", without.wall.as_secs_f64(), "s", 1.2),
        Figure::plain("  wall time at 50 ms", format!("{:.1} s", with.wall.as_secs_f64())),
        Figure::count("  calls", with.calls(), 60),
        Figure::plain("  memory of the provider, peak", format!("{:.1} MiB", bench.provider.peak_memory()?)),
    ])
}

// === impl Measured ===

impl Measured {
    fn calls(&self) -> usize {
        self.aws.len() + self.kubernetes.len()
    }
}

// === impl Bench ===

impl Bench {
    fn applied(subject: &Subject, count: u32) -> Result<Self> {
        if let Some(reason) = kubernetes::lacking() {
            bail!("{reason}");
        }
        let mut sandbox = Sandbox::start()?;
        let cluster = sandbox.add_kubernetes()?;
        cluster.add_node(&Node::with_gpus("bench", count).label("pool", "bench"))?;
        let (api, ca) = (cluster.proxy()?, cluster.ca_pem());
        sandbox.account().lead_to_kubernetes(api.url(), &ca)?;
        let endpoint = sandbox.account().proxy().url();
        let provider = Debugged::start(&subject.provider, endpoint)?;
        let mut workspace = Workspace::with(Terraform::find()?.clone(), endpoint)?;
        provider.attach(&mut workspace);
        // First the namespaces. Side by side afterwards: terraform's own order would count as the provider's trips.
        workspace.configure(&tenants(&sandbox, count))?;
        workspace.apply()?.ok().context("the tenants")?;
        workspace.configure(&format!("{}{}", tenants(&sandbox, count), services(&sandbox, count)))?;
        workspace.apply()?.ok().context("the services")?;
        Ok(Self { sandbox, api, workspace, provider })
    }

    /// The fastest of a few: the control plane shares the processors.
    fn plan(&self, latency: Duration) -> Result<Measured> {
        let mut plans = (0..PLANS).map(|_| self.plan_once(latency)).collect::<Result<Vec<_>>>()?;
        plans.sort_by_key(|plan| plan.wall);
        plans.into_iter().next().context("no plan")
    }

    fn plan_once(&self, latency: Duration) -> Result<Measured> {
        let aws = self.sandbox.account().proxy();
        for proxy in [aws, &self.api] {
            proxy.set_latency(latency);
            proxy.take_journal();
        }
        let output = self.workspace.plan()?.no_changes()?;
        Ok(Measured { aws: aws.take_journal(), kubernetes: self.api.take_journal(), wall: output.elapsed })
    }
}

fn tenants(sandbox: &Sandbox, count: u32) -> String {
    format!(
        "provider \"mlplat\" {{}}\n\n\
         resource \"mlplat_tenant\" \"team\" {{\n  count   = {count}\n  cluster = \"{}\"\n  \
         name    = \"bench-${{count.index}}\"\n  quota   = {{ gpus = 2 }}\n}}\n\n",
        sandbox.cluster().name
    )
}

fn services(sandbox: &Sandbox, count: u32) -> String {
    format!(
        "resource \"mlplat_inference_service\" \"llm\" {{\n  count     = {count}\n  cluster   = \"{}\"\n  \
         namespace = \"bench-${{count.index}}\"\n  name      = \"llm\"\n  \
         engine    = {{ kind = \"vllm\", image = \"vllm/vllm-openai:v0.32.0\" }}\n  \
         model     = {{\n    source = \"hf://Qwen/Qwen2.5-7B-Instruct\"\n    parameters_billion = 7.6\n    \
         dtype = \"bfloat16\"\n    max_context = 8192\n  }}\n  \
         gpus      = {{ per_replica = 1, product = \"NVIDIA-A10G\" }}\n  \
         placement = {{ node_selector = {{ pool = \"bench\" }}, gpu_capacity = {count} }}\n  \
         scaling   = {{ min = 1, max = 3, target = 4 }}\n}}\n",
        sandbox.cluster().name
    )
}
