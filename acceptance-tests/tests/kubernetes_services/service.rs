//! The life of an inference service: made, changed, left alone, imported, destroyed.

use crate::support::{SERVICE, scene};
use anyhow::Result;

#[test]
fn a_service_is_made_through_eks_left_alone_and_destroyed() -> Result<()> {
    scene("life", |stage| {
        let stage = stage.with_service("")?;
        assert_eq!(stage.workspace.attributes(SERVICE)?["ready_replicas"], 1);
        assert_eq!(stage.workspace.attributes(SERVICE)?["service_url"], "http://llm.life.svc");
        assert!(stage.cluster.tokens().accepted() > 0, "the token was never seen");
        stage.settled()?;
        let journal = stage.api.take_journal();
        assert_eq!(journal.writes(), Vec::<&str>::new());
        let objects: Vec<_> = stage.objects()?.into_iter().collect();
        assert_eq!(objects, ["deployments/llm", "poddisruptionbudgets/llm", "serviceaccounts/llm", "services/llm"]);
        stage.destroy()
    })
}
