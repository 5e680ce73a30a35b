//! Plans that find nothing to do in a real Kubernetes API server.

use acceptance_tests::Sandbox;
use anyhow::{Context, Result};

use super::{
    Figure, Subject,
    world::{World, seconds},
};

const PLANS: usize = 5;

pub(super) fn one_of_each(subject: &Subject) -> Result<Vec<Figure>> {
    let pair = made(subject, 1)?.plans(PLANS)?;
    let mut figures = vec![
        Figure::at_most("1 tenant, 1 service: round trips (time added ÷ 50 ms)", pair.round_trips(), "", 3.0),
        Figure::count("  calls", pair.with.calls(), 16),
    ];
    figures.extend(pair.with.figures());
    Ok(figures)
}

pub(super) fn many(subject: &Subject) -> Result<Vec<Figure>> {
    let world = made(subject, 20)?;
    let pair = world.plans(PLANS)?;
    Ok(vec![
        Figure::at_most("20 tenants, 20 services: wall time at 0 ms", pair.without.wall.as_secs_f64(), "s", 1.2),
        Figure::plain("  wall time at 50 ms", seconds(pair.with.wall)),
        Figure::count("  calls", pair.with.calls(), 60),
        Figure::plain("  memory of the provider, peak", format!("{:.1} MiB", world.peak_memory()?)),
    ])
}

/// A world in which so many tenants, and a service in each, have been made.
fn made(subject: &Subject, count: u32) -> Result<World> {
    let world = World::with_kubernetes(subject, count)?;
    // First the namespaces. Side by side afterwards: terraform's own order would count as the provider's trips.
    let tenants = format!("provider \"mlplat\" {{}}\n\n{}", tenant(world.sandbox(), count));
    world.apply(&tenants).context("the tenants")?;
    world.apply(&format!("{tenants}{}", service(world.sandbox(), count))).context("the services")?;
    Ok(world)
}

pub(super) fn tenant(sandbox: &Sandbox, count: u32) -> String {
    format!(
        "resource \"mlplat_tenant\" \"team\" {{\n  count   = {count}\n  cluster = \"{}\"\n  \
         name    = \"bench-${{count.index}}\"\n  quota   = {{ gpus = 2 }}\n}}\n\n",
        sandbox.cluster().name
    )
}

pub(super) fn service(sandbox: &Sandbox, count: u32) -> String {
    format!(
        "resource \"mlplat_inference_service\" \"llm\" {{\n  count     = {count}\n  cluster   = \"{}\"\n  \
         namespace = \"bench-${{count.index}}\"\n  name      = \"llm\"\n  \
         engine    = {{ kind = \"vllm\", image = \"vllm/vllm-openai:v0.32.0\" }}\n  \
         model     = {{\n    source = \"hf://Qwen/Qwen2.5-7B-Instruct\"\n    parameters_billion = 7.6\n    \
         dtype = \"bfloat16\"\n    max_context = 8192\n  }}\n  \
         gpus      = {{ per_replica = 1, product = \"NVIDIA-A10G\" }}\n  \
         placement = {{ node_selector = {{ pool = \"bench\" }}, gpu_capacity = {count} }}\n  \
         scaling   = {{ min = 1, max = 3, target = 4 }}\n}}\n\n",
        sandbox.cluster().name
    )
}
