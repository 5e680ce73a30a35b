//! Interruptions that a user makes, and waits that do not end.

use crate::support::{POOL, Stage, errors};
use acceptance_tests::Rule;
use anyhow::Result;
use std::time::{Duration, Instant};

const PLAIN: &str = "  instance_types = [\"g5.xlarge\"]\n  size = { min = 1, max = 2 }";

#[test]
fn an_apply_that_is_interrupted_stops_and_keeps_what_it_made() -> Result<()> {
    let stage = Stage::with_cluster()?;
    stage.workspace.configure(&stage.pool(PLAIN)?)?;
    stage.account.set_polls(100_000)?;
    let running = stage.workspace.start(&["apply", "-auto-approve", "-no-color"])?;
    let limit = Instant::now() + Duration::from_mins(2);
    while stage.account.proxy().journal().count("eks.CreateNodegroup") == 0 {
        assert!(Instant::now() < limit, "no node group was begun");
        std::thread::yield_now();
    }
    running.interrupt();
    let output = running.wait()?.failed()?;
    assert_snapshot!("interrupted", errors(&output));
    assert_eq!(stage.workspace.attributes(POOL)?["id"], "ml-prod/gpu-inference");
    stage.account.set_polls(1)?;
    Ok(())
}

#[test]
fn a_wait_that_takes_too_long_ends_and_tells_the_state() -> Result<()> {
    let stage = Stage::with_cluster()?;
    stage.workspace.configure(&stage.pool(&format!("{PLAIN}\n  timeouts {{\n    create = \"5s\"\n  }}"))?)?;
    stage.account.proxy().add_rule(Rule::on("eks.DescribeNodegroup").patch_json("nodegroup.status", "CREATING"));
    let output = stage.workspace.apply()?.failed()?;
    assert_snapshot!("timed_out", errors(&output));
    stage.account.proxy().clear_rules();
    // Going on waiting is an update of what is there, once it is no longer tainted.
    stage.workspace.untaint(POOL)?.ok()?;
    let writes = stage.apply_and_tell_writes()?;
    assert!(writes.iter().all(|write| write.starts_with("autoscaling.")), "{writes:?}");
    stage.destroy()
}
