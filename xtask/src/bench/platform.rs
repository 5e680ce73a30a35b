//! Plans that find nothing to do in a whole platform: bucket, pool, filesystem, tenant, service and queue.

use acceptance_tests::{Sandbox, account::Cluster};
use anyhow::{Context, Result};

use super::{
    Figure, Subject, kubernetes, plan,
    world::{World, seconds},
};

const PLANS: usize = 5;

pub(super) fn one_of_each(subject: &Subject) -> Result<Vec<Figure>> {
    Ok(made(subject, 1)?.plans(PLANS)?.figures("1 of each of 6 resources", 4.0))
}

pub(super) fn ten(subject: &Subject) -> Result<Vec<Figure>> {
    let world = made(subject, 10)?;
    let pair = world.plans(PLANS)?;
    let mut figures = vec![
        Figure::plain("10 of each: round trips (time added ÷ 50 ms)", format!("{:.1}", pair.round_trips())),
        Figure::plain("  wall time at 0 ms", seconds(pair.without.wall)),
        Figure::plain("  wall time at 50 ms", seconds(pair.with.wall)),
        Figure::plain("  memory of the provider, peak", format!("{:.1} MiB", world.peak_memory()?)),
        Figure::plain("  calls", pair.with.calls().to_string()),
    ];
    figures.extend(pair.with.figures());
    Ok(figures)
}

/// The stack of the examples, where terraform reads one resource after the other, as they refer to each other.
pub(super) fn stack(subject: &Subject) -> Result<Vec<Figure>> {
    let world = world(subject, 4)?;
    crate::stack::copy("platform", world.workspace())?;
    world.workspace().apply()?.ok()?;
    let pair = world.plans(PLANS)?;
    Ok(vec![
        Figure::plain("examples/stacks/platform: round trips, terraform's order included", {
            format!("{:.1}", pair.round_trips())
        }),
        Figure::plain("  wall time at 50 ms", seconds(pair.with.wall)),
        Figure::plain("  calls", pair.with.calls().to_string()),
    ])
}

/// With Kueue, as a queue is ready when its controller says so.
fn world(subject: &Subject, gpus: u32) -> Result<World> {
    let world = World::with_kubernetes(subject, gpus)?;
    world.sandbox().kubernetes().context("no control plane")?.start_kueue()?;
    Ok(world)
}

/// A world in which so many of each have been made.
fn made(subject: &Subject, count: u32) -> Result<World> {
    let world = world(subject, count)?;
    let sandbox = world.sandbox();
    // First what has to be there. Side by side afterwards: terraform's own order would count as the provider's trips.
    let base = [
        "provider \"mlplat\" {}\n\n".to_owned(),
        plan::bucket(count),
        plan::pool(sandbox, count),
        kubernetes::tenant(sandbox, count),
    ]
    .concat();
    world.apply(&base).context("buckets, pools and tenants")?;
    let rest = [filesystem(sandbox, count), kubernetes::service(sandbox, count), queue(sandbox, count)].concat();
    world.apply(&format!("{base}{rest}")).context("filesystems, services and queues")?;
    Ok(world)
}

fn filesystem(sandbox: &Sandbox, count: u32) -> String {
    let Cluster { name: cluster, subnet_ids: subnets, security_group_id: clients, .. } = sandbox.cluster();
    format!(
        "resource \"mlplat_shared_filesystem\" \"shared\" {{\n  count = {count}\n  cluster = \"{cluster}\"\n  \
         name = \"bench-${{count.index}}\"\n  subnet_ids = {subnets:?}\n  \
         client_security_group_ids = [\"{clients}\"]\n  volumes = [{{ namespace = \"bench-${{count.index}}\", name = \"data\", path = \"/data\", size_gib = 100 }}]\n\
         }}\n\n"
    )
}

fn queue(sandbox: &Sandbox, count: u32) -> String {
    format!(
        "resource \"mlplat_queue\" \"gpu\" {{\n  count = {count}\n  cluster = \"{}\"\n  \
         name = \"bench-${{count.index}}\"\n  flavors = [{{\n    name = \"bench-${{count.index}}\"\n    \
         quota = {{ \"nvidia.com/gpu\" = {{ nominal = 8 }}, cpu = {{ nominal = 64 }}, \
         memory = {{ nominal = \"256Gi\" }}, \"ephemeral-storage\" = {{ nominal = \"1Ti\" }} }}\n  }}]\n  \
         namespaces = {{ \"bench-${{count.index}}\" = \"gpu\" }}\n}}\n\n",
        sandbox.cluster().name
    )
}
