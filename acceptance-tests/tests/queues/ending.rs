//! How a queue ends while something still runs in it, or uses what is its.

use crate::support::{QUEUE, errors, quota, scene, target};
use anyhow::{Result, ensure};
use insta::assert_snapshot;

const SHORT: &str = "  timeouts {\n    delete = \"2s\"\n  }";

#[test]
fn what_runs_is_waited_for_and_named() -> Result<()> {
    scene("busy", |scene| {
        scene.add_nodes(1)?;
        scene.applied(&scene.queue(1, SHORT))?;
        scene.submit("busy", "runner", 1, None)?;
        scene.runs("busy", "runner")?;
        assert_snapshot!("busy", errors(&scene.workspace.destroy()?.failed()?));
        // What runs goes on; what is left is remembered, and shown.
        scene.runs("busy", "runner")?;
        let components = &scene.workspace.attributes(QUEUE)?["components"];
        let keys: Vec<_> = components.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["cluster_queue", "flavor_busy-gpu"], "{components:#}");
        scene.cancel("busy", "runner")?;
        scene.destroy()
    })
}

#[test]
fn a_flavor_that_another_queue_uses_is_held_by_it() -> Result<()> {
    scene("shared", |scene| {
        // Without `depends_on` terraform does not know who goes first.
        let user = format!(
            "resource \"mlplat_queue\" \"user\" {{\n  cluster = \"ml-prod\"\n  name    = \"shared-user\"\n  cohort = \
             \"shared\"\n  flavors = [{{ name = \"shared-gpu\", existing = true, quota = {} }}]\n}}\n",
            quota("1")
        );
        scene.applied(&format!("{}{user}", scene.queue(1, SHORT)))?;
        scene.workspace.configure(&user)?;
        assert_snapshot!("shared", errors(&scene.workspace.apply()?.failed()?));
        scene.workspace.configure("")?;
        scene.apply()?;
        scene.destroy()
    })
}

#[test]
fn a_topology_and_its_flavor_are_replaced_by_others_of_another_name() -> Result<()> {
    scene("racked", |scene| {
        let flavor = |name: &str, levels: &str| {
            let topology = format!("topology = {{ name = \"racked-{name}\", levels = {levels} }}\n    tolerations");
            let flavor = scene.flavor(&format!("racked-{name}"), "1").replace("tolerations", &topology);
            scene.queue_of(&flavor, "")
        };
        scene.applied(&flavor("one", "[\"rack\"]"))?;
        scene.workspace.configure(&flavor("one", "[\"block\", \"rack\"]"))?;
        assert_snapshot!("levels", errors(&scene.workspace.plan()?.failed()?));
        scene.workspace.configure(&flavor("two", "[\"block\", \"rack\"]"))?;
        scene.apply()?;
        ensure!(
            scene.client().find(&target("topologies", "racked-one"))?.is_none(),
            "the first topology is still there"
        );
        scene.destroy()
    })
}
