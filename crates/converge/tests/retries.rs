//! How often a call that failed is made again.

mod example;

use converge::{
    Converged, Cx, FaultClass, Ledger, Run, converge, destroy,
    testing::{FakeCloud, InstantClock, When},
};
use example::{KINDS, Pool, cloud, owner};

async fn made(cloud: &FakeCloud, cx: &Cx) -> Converged {
    let (owner, drivers, pool) = (owner(), cloud.drivers(KINDS), Pool::default());
    let run = Run { drivers: &drivers, cx, owner: &owner, record: &|_| () };
    converge(&run, &|known| pool.expand(known), Ledger::default()).await
}

fn calls(cloud: &FakeCloud, call: &str) -> usize {
    cloud.journal().iter().filter(|made| *made == call).count()
}

#[tokio::test]
async fn a_write_that_keeps_failing_is_made_again_as_often_as_allowed() {
    for (class, retries) in [(FaultClass::Throttled, 0), (FaultClass::Unavailable, 2), (FaultClass::MaybeSent, 8)] {
        let (cloud, cx) = (cloud(), InstantClock::cx().with_retries(retries));
        (1..=60).for_each(|nth| cloud.fail(nth, When::Before, class));
        let outcome = made(&cloud, &cx).await;
        assert_eq!(outcome.failures.len(), 4, "{:?}", outcome.failures);
        for call in ["role.create gpu-nodes", "template.create gpu", "alarm.create gpu-idle", "bucket.create gpu-data"]
        {
            assert_eq!(calls(&cloud, call), retries as usize + 1, "{class:?}: {call}");
        }
    }
}

#[tokio::test]
async fn a_look_that_keeps_failing_is_made_again_as_often_as_allowed() {
    for (class, retries, tries) in [
        (FaultClass::Throttled, 0, 1),
        (FaultClass::Throttled, 3, 4),
        (FaultClass::Unreachable, 0, 1),
        // An endpoint that is not there will not be there in a minute.
        (FaultClass::Unreachable, 8, 3),
    ] {
        let (cloud, cx) = (cloud(), InstantClock::cx().with_retries(retries));
        (1..=60).for_each(|nth| cloud.fail_read(nth, class));
        let outcome = made(&cloud, &cx).await;
        assert_eq!(outcome.failures.len(), 4, "{:?}", outcome.failures);
        assert_eq!((cloud.reads(), cloud.writes()), (4 * tries, 0), "{class:?}, four objects need no other");
    }
}

#[tokio::test]
async fn waiting_for_an_object_in_use_is_not_counted() {
    let (cloud, cx) = (cloud(), InstantClock::cx().with_retries(0));
    let outcome = made(&cloud, &cx).await;
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    (1..=40).for_each(|nth| cloud.fail(nth, When::Before, FaultClass::Busy));
    let (owner, drivers) = (owner(), cloud.drivers(KINDS));
    let run = Run { drivers: &drivers, cx: &cx, owner: &owner, record: &|_| () };
    let outcome = destroy(&run, outcome.ledger).await;
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    assert_eq!(cloud.objects().len(), 0);
}
