//! Changes of a configuration: each attribute in turn, there and back, and what each leads to.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};
use tf_provider::testing::Action;

use crate::{
    json::{Place, config, configs, place, with},
    subjects::{Change, Effect, SUBJECTS, Subject, every_resource_obeys, gpu_pool},
    world::{Held, World},
};

every_resource_obeys!(each_attribute_changed_applies_and_settles_there_and_back);

async fn each_attribute_changed_applies_and_settles_there_and_back(subject: &'static Subject) -> Held {
    for change in (subject.changes)() {
        let (before, after) = change.both(subject);
        let what = format!("{} to {}", change.attribute, change.to);
        let mut world = World::made(subject, &before).await?;
        let made = world.fork();
        goes(&mut world, &after, change.effect, &what).await?;
        let fresh = World::made(subject, &after).await?;
        world.is_like(&fresh, &what)?;
        goes(&mut world, &before, change.effect, &format!("{what} and back")).await?;
        world.is_like(&made, &format!("{what} and back"))?;
        world.destroyed(&what).await?;
    }
    Ok(())
}

/// Applies a change and holds it to the effect it is said to have.
async fn goes(world: &mut World, config: &Json, effect: Effect, what: &str) -> Held {
    let writes = world.cloud.writes();
    let objects = objects(world);
    let action = world.run(config, what).await?;
    world.settled(config, what).await?;
    let now = self::objects(world);
    let rolled = now.iter().any(|(kind, name)| {
        let twin = name.strip_suffix("/b").map_or_else(|| format!("{name}/b"), str::to_owned);
        objects.contains(&(kind.clone(), twin)) && !objects.contains(&(kind.clone(), name.clone()))
    });
    let seen = match action {
        Action::Replace => Effect::Replaces,
        Action::Update if rolled => Effect::Rolls,
        Action::Update if world.cloud.writes() == writes => Effect::StateOnly,
        Action::Update => Effect::InPlace,
        other => return Err(world.told(what, &format!("led to {other:?}"))),
    };
    if seen == effect { Ok(()) } else { Err(world.told(what, &format!("{seen:?}, and not {effect:?}"))) }
}

fn objects(world: &World) -> BTreeSet<(String, String)> {
    world.cloud.objects().into_iter().map(|object| (object.kind, object.name)).collect()
}

#[test]
fn what_a_change_leads_to_is_told_by_the_schema() {
    for subject in SUBJECTS {
        let inputs = subject.inputs();
        for change in (subject.changes)() {
            let input = inputs.iter().find(|input| input.place == change.place());
            let input = input.unwrap_or_else(|| panic!("{} has no attribute {}", subject.resource, change.attribute));
            assert_eq!(
                input.attribute.replaces,
                change.effect == Effect::Replaces,
                "{}: `replaces` of {} against what a change does",
                subject.resource,
                change.attribute
            );
            let around = inputs.iter().filter(|other| other.place.first() == input.place.first());
            let told = around.map(|input| &input.descriptions).any(|text| text.contains("rolls the pool"));
            if change.effect == Effect::Rolls {
                assert!(told, "{}: nothing tells that {} rolls", subject.resource, change.attribute);
            }
        }
    }
}

#[test]
fn every_attribute_is_changed_by_some_row_and_set_by_some_configuration() {
    for subject in SUBJECTS {
        let changed: BTreeSet<Place> = (subject.changes)().iter().map(Change::place).collect();
        let configs = configs(subject.resource);
        for input in subject.inputs().iter().filter(|input| !input.is_element) {
            let name = input.place.join(".");
            if subject.unsupported.contains(&name.as_str()) {
                continue;
            }
            assert!(changed.contains(&input.place), "{}: no row changes {name}", subject.resource);
            let is_set = |config: &Json| config.pointer(&format!("/{}", input.place.join("/"))).is_some();
            assert!(configs.iter().any(|(_, config)| is_set(config)), "{}: nothing sets {name}", subject.resource);
        }
    }
}

// As if another version of the catalogue had chosen: the types that a pool has are not the ones chosen today.
#[tokio::test]
async fn a_choice_once_made_stays_while_it_does() -> Held {
    let subject = &gpu_pool::SUBJECT;
    let small = config(subject.resource, "small");
    let earlier = with(&small, &place("instance_types"), json!(["p5e.48xlarge"]));
    let chosen = with(&small, &place("instance_types"), Json::Null);
    let asking = |product: &str| with(&chosen, &place("accelerator"), json!({ "product": product }));
    let mut world = World::made(subject, &earlier).await?;
    let made = world.attribute("instance_types");
    world.run(&asking("H200"), "asking for what is there").await?;
    world.settled(&asking("H200"), "asking for what is there").await?;
    if world.attribute("instance_types") != made {
        return Err(world.told("asking for what is there", "chose other types"));
    }
    let fresh = World::made(subject, &asking("H200")).await?;
    if fresh.attribute("instance_types") == made {
        return Err(fresh.told("a new pool", "chose what the test takes for the choice of another catalogue"));
    }
    goes(&mut world, &asking("L4"), Effect::Rolls, "asking for something else").await
}

every_resource_obeys!(any_optional_attribute_can_be_left_out_later_and_set_again);

async fn any_optional_attribute_can_be_left_out_later_and_set_again(subject: &'static Subject) -> Held {
    let mut left_out = 0;
    for (name, config) in subject.configs() {
        let made = World::made(subject, &config).await?;
        for place in optional_places(subject, &config) {
            let without = with(&config, &place, Json::Null);
            if made.core.validate(&made.address, without.clone()).await.is_err() {
                continue;
            }
            left_out += 1;
            let what = format!("{name} without {}", place.join("."));
            let mut world = made.fork();
            world.run(&without, &what).await?;
            world.settled(&without, &what).await?;
            world.is_like(&World::made(subject, &without).await?, &what)?;
            world.run(&config, &format!("{what}, set again")).await?;
            world.settled(&config, &format!("{what}, set again")).await?;
            world.is_like(&made, &format!("{what}, set again"))?;
        }
    }
    assert!(left_out > 6, "only {left_out} attributes were left out");
    Ok(())
}

// Attributes set in a configuration that may be left out, and the objects around them.
fn optional_places(subject: &Subject, config: &Json) -> Vec<Place> {
    let mut places = BTreeSet::new();
    for input in subject.inputs() {
        for length in 1..=input.place.len() {
            let place = input.place.get(..length).unwrap_or_default();
            let is_set = config.pointer(&format!("/{}", place.join("/"))).is_some();
            if is_set && (length < input.place.len() || input.attribute.optional) {
                places.insert(place.to_vec());
            }
        }
    }
    places.into_iter().collect()
}

every_resource_obeys!(every_configuration_can_become_every_other);

async fn every_configuration_can_become_every_other(subject: &'static Subject) -> Held {
    let configs = configs(subject.resource);
    for (from, before) in &configs {
        let made = World::made(subject, before).await?;
        for (to, after) in configs.iter().filter(|(to, _)| to != from) {
            let what = format!("{from} to {to}");
            let mut world = made.fork();
            world.run(after, &what).await?;
            world.settled(after, &what).await?;
            world.is_like(&World::made(subject, after).await?, &what)?;
            world.destroyed(&what).await?;
        }
    }
    Ok(())
}
