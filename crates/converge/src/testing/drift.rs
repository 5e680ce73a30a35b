//! The law of drift: whatever somebody else does to an object of ours is seen, planned and undone; what they add of
//! their own stays.

use serde_json::{Value as Json, json};

use super::{
    driver::place,
    laws::Case,
    stage::{Stage, told},
};
use crate::{
    Action, Document, Entry, Health, KindFacts,
    compare::{SLOT, is_nothing},
};

/// Something that somebody else does to one object.
#[derive(Clone, Debug)]
enum Drift {
    Deleted,
    Unmarked,
    Changed(String, Json),
}

/// Any single drift is seen, planned and repaired; keys of others in shared maps are neither drift nor touched.
pub(super) async fn repairs(case: &Case<'_>) -> Result<(), String> {
    let made = Stage::made(case).await?;
    for (key, entry) in &made.ledger.entries {
        let Some(facts) = case.kinds.iter().find(|facts| facts.kind == entry.kind) else { continue };
        for drift in drifts(facts, &entry.document) {
            repair(&made, key, entry, facts, &drift).await?;
        }
        spares_stray_keys(&made, entry, facts).await?;
    }
    Ok(())
}

async fn repair(made: &Stage<'_>, key: &str, entry: &Entry, facts: &KindFacts, drift: &Drift) -> Result<(), String> {
    let what = format!("{key}, of which somebody else made: {drift:?}");
    let mut stage = made.fork();
    undergo(&stage, facts, &entry.document, drift);
    let seen = stage.look().await?;
    stage.ledger = seen.ledger;
    if stage.ledger.entries.get(key).is_none_or(|entry| entry.health == Health::Ready) {
        return Err(made.case.story(&what, "was not seen"));
    }
    let plan = stage.plan();
    if plan.steps.get(key).is_none_or(|step| step.action == Action::Keep) {
        return Err(made.case.story(&what, &told(&plan)));
    }
    // Then Terraform replaces the resource as a whole, which is another run.
    if !plan.replacements.is_empty() {
        return Ok(());
    }
    stage.converge().await.map_err(|story| format!("{story}, after {what}"))?;
    stage.is_like(made, &what)?;
    stage.is_as_applied(&what).await
}

async fn spares_stray_keys(made: &Stage<'_>, entry: &Entry, facts: &KindFacts) -> Result<(), String> {
    for field in facts.merged {
        let mut stage = made.fork();
        let (kind, name) = place(facts, &entry.document);
        stage.cloud.alter(&kind, &name, |object| {
            let map = object.document.entry(*field).or_insert_with(|| json!({}));
            if let Some(map) = map.as_object_mut() {
                map.insert("theirs".to_owned(), json!("stays"));
            }
        });
        let with_stray = stage.fork();
        stage.is_as_applied(&format!("{name}, to whose {field} somebody else added a key")).await?;
        // Something of ours in the same map has to be repaired; the key beside it stays.
        let Some(ours) = entry.document.get(*field).filter(|ours| !is_nothing(ours)) else { continue };
        stage.cloud.alter(&kind, &name, |object| {
            let map = object.document.get_mut(*field).and_then(Json::as_object_mut);
            if let (Some(map), Json::Object(other)) = (map, other_than(ours)) {
                map.extend(other);
            }
        });
        stage.ledger = stage.look().await?.ledger;
        stage.converge().await?;
        stage.is_like(&with_stray, &format!("{name} with a stray key in {field}"))?;
    }
    Ok(())
}

fn drifts(facts: &KindFacts, document: &Document) -> Vec<Drift> {
    let mut drifts = vec![Drift::Deleted];
    if !facts.part {
        drifts.push(Drift::Unmarked);
    }
    for (field, value) in document {
        let name = field.as_str();
        let is_compared = !facts.identity.contains(&name)
            && !facts.initial.contains(&name)
            && !facts.local.contains(&name)
            && name != SLOT;
        if is_compared {
            drifts.push(Drift::Changed(field.clone(), other_than(value)));
            drifts.push(Drift::Changed(field.clone(), Json::Null));
        }
    }
    let is_none = |drift: &Drift| match drift {
        Drift::Changed(field, Json::Null) => document.get(field).is_none_or(is_nothing),
        Drift::Changed(field, value) => document.get(field) == Some(value),
        _ => false,
    };
    drifts.retain(|drift| !is_none(drift));
    drifts
}

fn undergo(stage: &Stage<'_>, facts: &KindFacts, document: &Document, drift: &Drift) {
    let (kind, name) = place(facts, document);
    match drift {
        Drift::Deleted => {
            stage.cloud.take(&kind, &name);
        }
        Drift::Unmarked => stage.cloud.alter(&kind, &name, |object| object.owner = None),
        Drift::Changed(field, Json::Null) => stage.cloud.alter(&kind, &name, |object| {
            object.document.remove(field);
        }),
        Drift::Changed(field, value) => stage.cloud.alter(&kind, &name, |object| {
            object.document.insert(field.clone(), value.clone());
        }),
    }
}

// A value of the same shape that is another one. Of an empty map nothing is ours, so it has no other value.
fn other_than(value: &Json) -> Json {
    match value {
        Json::Null => Json::Null,
        Json::Bool(is) => Json::Bool(!is),
        Json::Number(number) => json!(number.as_f64().unwrap_or_default() + 1.0),
        Json::String(text) => Json::String(format!("{text}-drifted")),
        Json::Array(items) => Json::Array(items.iter().cloned().chain([json!("drifted")]).collect()),
        Json::Object(map) => Json::Object(map.iter().map(|(key, value)| (key.clone(), other_than(value))).collect()),
    }
}
