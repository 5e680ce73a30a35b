//! Plans that find nothing to do: how many calls, how many round trips one after the other, how much CPU.

use std::{collections::BTreeMap, time::Duration};

use acceptance_tests::{Journal, Sandbox, Terraform, Workspace};
use anyhow::Result;

use super::{Figure, Subject, debugged::Debugged};

/// What every call takes longer, so that round trips show in the wall time.
pub(super) const LATENCY: Duration = Duration::from_millis(50);

/// A plan without changes, measured.
struct Measured {
    journal: Journal,
    wall: Duration,
    cpu_seconds: f64,
}

struct Bench {
    sandbox: Sandbox,
    workspace: Workspace,
    provider: Debugged,
}

pub(super) fn one_of_each(subject: &Subject) -> Result<Vec<Figure>> {
    let bench = Bench::applied(subject, 1, 1)?;
    let without = bench.plan(Duration::ZERO)?;
    let with = bench.plan(LATENCY)?;
    let added = with.wall.saturating_sub(without.wall);
    let trips = added.as_secs_f64() / LATENCY.as_secs_f64();
    let mut figures = vec![
        Figure::at_most("round trips one after the other (time added ÷ 50 ms)", trips, "", 3.0),
        Figure::plain("wall time, terraform's own included", format!("{:.0} ms", with.wall.as_secs_f64() * 1e3)),
        Figure::plain("calls", with.journal.len().to_string()),
    ];
    let services = per_service(&with.journal);
    figures.extend(services.iter().map(|(service, calls)| Figure::plain(format!("  {service}"), calls.to_string())));
    Ok(figures)
}

pub(super) fn many(subject: &Subject) -> Result<Vec<Figure>> {
    let bench = Bench::applied(subject, 200, 50)?;
    let plan = bench.plan(LATENCY)?;
    Ok(vec![
        Figure::plain("200 buckets, 50 pools: wall time", format!("{:.1} s", plan.wall.as_secs_f64())),
        Figure::plain("  CPU of the provider", format!("{:.2} s", plan.cpu_seconds)),
        Figure::plain("  calls", plan.journal.len().to_string()),
        Figure::plain("  memory of the provider, peak", format!("{:.1} MiB", bench.provider.peak_memory()?)),
    ])
}

// === impl Bench ===

impl Bench {
    /// A sandbox in which so many buckets and pools have been made.
    fn applied(subject: &Subject, buckets: u32, pools: u32) -> Result<Self> {
        let sandbox = Sandbox::start()?;
        let endpoint = sandbox.account().proxy().url();
        let provider = Debugged::start(&subject.provider, endpoint)?;
        let mut workspace = Workspace::with(Terraform::find()?.clone(), endpoint)?;
        provider.attach(&mut workspace);
        workspace.configure(&configuration(&sandbox, buckets, pools))?;
        workspace.apply()?.ok()?;
        Ok(Self { sandbox, workspace, provider })
    }

    fn plan(&self, latency: Duration) -> Result<Measured> {
        let proxy = self.sandbox.account().proxy();
        proxy.set_latency(latency);
        proxy.take_journal();
        let before = self.provider.cpu_seconds()?;
        let output = self.workspace.plan()?.no_changes()?;
        let cpu_seconds = self.provider.cpu_seconds()? - before;
        Ok(Measured { journal: proxy.take_journal(), wall: output.elapsed, cpu_seconds })
    }
}

fn configuration(sandbox: &Sandbox, buckets: u32, pools: u32) -> String {
    let (cluster, subnets) = (&sandbox.cluster().name, &sandbox.cluster().subnet_ids);
    format!(
        "provider \"mlplat\" {{}}\n\n\
         resource \"mlplat_model_bucket\" \"models\" {{\n  count = {buckets}\n  \
         name  = \"bench-models-${{count.index}}\"\n}}\n\n\
         resource \"mlplat_gpu_pool\" \"pool\" {{\n  count = {pools}\n  \
         cluster = \"{cluster}\"\n  name = \"bench-${{count.index}}\"\n  purpose = \"inference\"\n  \
         instance_types = [\"g5.xlarge\", \"g5.2xlarge\"]\n  subnet_ids = {subnets:?}\n  \
         size = {{ min = 0, max = 2 }}\n}}\n"
    )
}

pub(super) fn per_service(journal: &Journal) -> BTreeMap<String, usize> {
    let mut services = BTreeMap::new();
    for entry in journal.entries() {
        let service = entry.name.split('.').next().unwrap_or_default();
        *services.entry(service.to_owned()).or_default() += 1;
    }
    services
}
