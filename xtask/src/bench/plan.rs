//! Plans that find nothing to do in AWS.

use acceptance_tests::Sandbox;
use anyhow::Result;

use super::{
    Figure, Subject,
    world::{World, seconds},
};

pub(super) fn one_of_each(subject: &Subject) -> Result<Vec<Figure>> {
    Ok(made(subject, 1, 1)?.plans(3)?.figures("1 bucket, 1 pool", 3.0))
}

pub(super) fn many(subject: &Subject) -> Result<Vec<Figure>> {
    let world = made(subject, 200, 50)?;
    let plan = world.plans(1)?.with;
    Ok(vec![
        Figure::plain("200 buckets, 50 pools: wall time at 50 ms", seconds(plan.wall)),
        Figure::plain("  CPU of the provider", format!("{:.2} s", plan.cpu_seconds)),
        Figure::plain("  calls", plan.calls().to_string()),
        Figure::plain("  memory of the provider, peak", format!("{:.1} MiB", world.peak_memory()?)),
    ])
}

/// A world in which so many buckets and pools have been made.
fn made(subject: &Subject, buckets: u32, pools: u32) -> Result<World> {
    let world = World::of_aws(subject)?;
    let configuration = format!("provider \"mlplat\" {{}}\n\n{}{}", bucket(buckets), pool(world.sandbox(), pools));
    world.apply(&configuration)?;
    Ok(world)
}

pub(super) fn bucket(count: u32) -> String {
    format!(
        "resource \"mlplat_model_bucket\" \"models\" {{\n  count = {count}\n  \
         name  = \"bench-models-${{count.index}}\"\n}}\n\n"
    )
}

pub(super) fn pool(sandbox: &Sandbox, count: u32) -> String {
    let (cluster, subnets) = (&sandbox.cluster().name, &sandbox.cluster().subnet_ids);
    format!(
        "resource \"mlplat_gpu_pool\" \"pool\" {{\n  count = {count}\n  \
         cluster = \"{cluster}\"\n  name = \"bench-${{count.index}}\"\n  purpose = \"inference\"\n  \
         instance_types = [\"g5.xlarge\", \"g5.2xlarge\"]\n  subnet_ids = {subnets:?}\n  \
         size = {{ min = 0, max = 2 }}\n}}\n\n"
    )
}
