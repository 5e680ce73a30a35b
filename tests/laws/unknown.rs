//! Any one value that is not known at plan still plans, and applying with the value contradicts nothing.

use serde_json::{Value as Json, json};

use crate::{
    json::{Place, places, with},
    subjects::{Subject, every_resource_obeys},
    world::{Held, World},
};

every_resource_obeys!(a_creation_with_any_one_value_unknown_plans_and_applies);

async fn a_creation_with_any_one_value_unknown_plans_and_applies(subject: &'static Subject) -> Held {
    for (name, config) in subject.configs() {
        let made = World::made(subject, &config).await?;
        for place in places(&config) {
            let what = format!("creating {name} with {} unknown", place.join("."));
            applies(World::new(subject), &config, &place, &made, &what).await?;
        }
    }
    Ok(())
}

every_resource_obeys!(a_known_resource_whose_value_becomes_unknown_plans_and_applies_unchanged);

async fn a_known_resource_whose_value_becomes_unknown_plans_and_applies_unchanged(subject: &'static Subject) -> Held {
    for (name, config) in subject.configs() {
        let made = World::made(subject, &config).await?;
        for place in places(&config) {
            let what = format!("{name}, of which {} becomes unknown", place.join("."));
            applies(made.fork(), &config, &place, &made, &what).await?;
        }
    }
    Ok(())
}

every_resource_obeys!(a_change_whose_value_is_unknown_at_plan_applies_with_the_new_value);

async fn a_change_whose_value_is_unknown_at_plan_applies_with_the_new_value(subject: &'static Subject) -> Held {
    for change in (subject.changes)() {
        let (before, after) = change.both(subject);
        let what = format!("{} unknown, then {}", change.attribute, change.to);
        let made = World::made(subject, &before).await?;
        let fresh = World::made(subject, &after).await?;
        applies(made, &after, &change.place(), &fresh, &what).await?;
    }
    Ok(())
}

async fn applies(mut world: World, config: &Json, place: &Place, fresh: &World, what: &str) -> Held {
    let plan = world.plan(&with(config, place, json!("$unknown")), what).await?;
    let outcome = world.core.apply_with(plan, config.clone()).await;
    outcome.map_err(|failure| world.story(what, &failure))?;
    world.settled(config, what).await?;
    world.is_like(fresh, what)
}
