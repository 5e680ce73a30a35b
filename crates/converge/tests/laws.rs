//! The example resource obeys every law, when it is made and when it is changed.

mod example;

use converge::testing::laws::{self, Case};
use example::{KINDS, Pool, cloud, owner};
use value::Value;

async fn made(pool: Pool) -> Result<(), String> {
    let (source, cloud) = (|known| pool.expand(known), cloud());
    laws::all(&Case { name: "pool", source: &source, before: None, owner: owner(), kinds: KINDS, cloud: &cloud }).await
}

async fn changed(before: Pool, after: Pool) -> Result<(), String> {
    let (earlier, source, cloud) = (|known| before.expand(known), |known| after.expand(known), cloud());
    let before: converge::Source<'_> = &earlier;
    let case =
        Case { name: "pool", source: &source, before: Some(before), owner: owner(), kinds: KINDS, cloud: &cloud };
    laws::all(&case).await
}

#[tokio::test]
async fn a_new_resource_obeys_the_laws() -> Result<(), String> {
    made(Pool::default()).await
}

#[tokio::test]
async fn a_changed_field_obeys_the_laws() -> Result<(), String> {
    let after = Pool { max: Value::known(9), image: "al2023-arm".into(), tags: &[("team", "data")], ..Pool::default() };
    changed(Pool::default(), after).await
}

#[tokio::test]
async fn a_field_given_back_obeys_the_laws() -> Result<(), String> {
    changed(Pool::default(), Pool { max: Value::null(), tags: &[], ..Pool::default() }).await
}

#[tokio::test]
async fn a_group_rolled_out_beside_the_old_one_obeys_the_laws() -> Result<(), String> {
    changed(Pool::default(), Pool { zones: Value::known(vec!["c".to_owned()]), ..Pool::default() }).await
}

#[tokio::test]
async fn an_object_renamed_obeys_the_laws() -> Result<(), String> {
    changed(Pool::default(), Pool { alarm: "gpu-busy", ..Pool::default() }).await
}

#[tokio::test]
async fn an_object_dropped_obeys_the_laws() -> Result<(), String> {
    changed(Pool::default(), Pool { with_tags: false, ..Pool::default() }).await
}
