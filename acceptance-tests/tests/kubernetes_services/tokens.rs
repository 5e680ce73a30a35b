//! Credentials that age while terraform runs.

use crate::support::{SERVICE, scene};
use acceptance_tests::kubernetes::Script;
use anyhow::Result;
use std::time::Duration;

/// The API server remembers an accepted token for ten seconds, so nothing ages sooner.
const SLOW: Duration = Duration::from_secs(14);
const YOUNG: Duration = Duration::from_secs(5);
const KEY: &str = "SHORTLIVED";

#[test]
fn an_apply_outlives_its_token() -> Result<()> {
    scene("aging", |mut stage| {
        stage.cluster.tokens().set_lifetime(KEY, YOUNG);
        stage.workspace.set_env("AWS_ACCESS_KEY_ID", KEY);
        stage.cluster.play("aging", &Script::ReadyAfter(SLOW))?;
        stage.workspace.configure(&stage.service(""))?;
        stage.workspace.apply()?.ok()?;
        let journal = stage.api.take_journal();
        let refused: Vec<_> = journal.entries().iter().filter(|call| call.status == Some(401)).collect();
        assert!(!refused.is_empty(), "no token aged:\n{journal}");
        // Each call that met an old token was made once more, with a new one.
        for call in refused {
            let is_answered = |other: &&acceptance_tests::proxy::Entry| {
                other.target == call.target && other.status.is_some_and(|status| status < 300)
            };
            assert!(
                journal.entries().iter().any(|other| is_answered(&other)),
                "{} was given up:\n{journal}",
                call.target
            );
        }
        assert_eq!(stage.workspace.attributes(SERVICE)?["ready_replicas"], 1);
        stage.settled()?;
        stage.destroy()
    })
}
