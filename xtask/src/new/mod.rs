//! `cargo xtask new`: being written.

pub(crate) fn run(_arguments: &[String]) -> anyhow::Result<()> {
    anyhow::bail!("not yet")
}
