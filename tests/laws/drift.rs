//! Whatever somebody else does to a child object is shown by name, repaired alone, and forgotten where it is undone.

use std::collections::BTreeSet;

use converge::{Entry, KindFacts, Owner, testing::FakeObject};
use mlplat::testing::KINDS;
use serde_json::{Value as Json, json};
use tf_provider::testing::Action;

use crate::{
    json::other_than,
    subjects::{Subject, every_resource_obeys},
    world::{Held, World, difference},
};

/// A child object of a resource.
struct Child {
    key: String,
    entry: Entry,
    facts: KindFacts,
    object: FakeObject,
}

/// A resource as one configuration makes it, with those of its children that no configuration before it makes the same.
struct Made {
    world: World,
    config: Json,
    children: Vec<Child>,
}

/// The resource as each configuration makes it, that with everything first.
async fn made(subject: &'static Subject) -> Result<Vec<Made>, String> {
    let (mut all, mut seen) = (Vec::new(), BTreeSet::new());
    let mut configs = subject.configs();
    configs.sort_by_key(|(name, _)| name != "full");
    for (_, config) in configs {
        let mut world = World::made(subject, &config).await?;
        world.cloud.settle();
        world.refresh("a look").await?;
        let mut children = children(&world)?;
        children.retain(|child| seen.insert(format!("{} {:?}", child.key, child.entry.document)));
        all.push(Made { world, config, children });
    }
    Ok(all)
}

fn children(world: &World) -> Result<Vec<Child>, String> {
    let mut children = Vec::new();
    for (key, entry) in world.ledger()?.entries {
        let facts = *KINDS.iter().find(|facts| facts.kind == entry.kind).ok_or("a kind is not listed")?;
        let names: Vec<_> = facts.identity.iter().filter_map(|field| entry.document.get(*field)?.as_str()).collect();
        let object = world
            .cloud
            .objects()
            .into_iter()
            .find(|object| object.kind == entry.kind && object.name == names.join("/"));
        let object = object.ok_or_else(|| format!("{key} is not in the cloud"))?;
        children.push(Child { key, entry, facts, object });
    }
    Ok(children)
}

every_resource_obeys!(a_changed_field_is_shown_repaired_and_forgotten_when_undone);

async fn a_changed_field_is_shown_repaired_and_forgotten_when_undone(subject: &'static Subject) -> Held {
    for made in made(subject).await? {
        changed(&made).await?;
    }
    Ok(())
}

async fn changed(Made { world: made, config, children }: &Made) -> Held {
    for child in children {
        for (field, value) in child.changes() {
            let what = format!("{}.{field} becoming {value}", child.key);
            let mut world = made.fork();
            child.set(&world, &field, value);
            world.refresh(&what).await?;
            let state = world.component_state(&child.key);
            if !state.starts_with(&format!("drifted: {field}")) {
                return Err(world.told(&what, &format!("shows as {state:?}")));
            }
            repaired(&world, made, config, &what).await?;
            child.put_back(&world);
            world.refresh(&what).await?;
            world.settled(config, &format!("{what} and back")).await?;
            // What the API cannot change comes back only with another object.
            let is_fixed = child.facts.fixed.contains(&field.as_str());
            let left = difference(&made.instance()?.value, &world.instance()?.value);
            if !is_fixed && !left.is_empty() {
                return Err(world.told(&what, &format!("and back left {left}")));
            }
        }
    }
    Ok(())
}

every_resource_obeys!(drift_of_what_an_attribute_says_shows_in_the_attribute);

async fn drift_of_what_an_attribute_says_shows_in_the_attribute(subject: &'static Subject) -> Held {
    let all = made(subject).await?;
    let Made { world: made, config, children } = all.first().ok_or("there is no configuration")?;
    for (key, field, drift, attribute) in subject.mirrors {
        let what = format!("{key}.{field}");
        let child = children.iter().find(|child| child.key == *key).ok_or_else(|| format!("no component {key}"))?;
        let mut world = made.fork();
        child.set(&world, field, drift(&child.entry.document[*field]));
        let before = world.attribute(attribute);
        world.refresh(&what).await?;
        if world.attribute(attribute) == before {
            return Err(world.told(&what, &format!("{attribute} still says {before:?}")));
        }
        repaired(&world, made, config, &what).await?;
    }
    Ok(())
}

every_resource_obeys!(a_child_that_is_gone_is_shown_and_made_again);

async fn a_child_that_is_gone_is_shown_and_made_again(subject: &'static Subject) -> Held {
    for made in made(subject).await? {
        gone(&made).await?;
    }
    Ok(())
}

async fn gone(Made { world: made, config, children }: &Made) -> Held {
    for child in children {
        let what = format!("{} deleted", child.key);
        let mut world = made.fork();
        world.cloud.take(&child.object.kind, &child.object.name);
        world.refresh(&what).await?;
        // With the bucket all is gone, and Terraform makes the resource again.
        if world.core.state(&world.address).is_some() && world.component_state(&child.key) != "missing" {
            return Err(world.told(&what, &format!("shows as {:?}", world.component_state(&child.key))));
        }
        repaired(&world, made, config, &what).await?;
        world.destroyed(&what).await?;
    }
    Ok(())
}

every_resource_obeys!(a_child_that_lost_its_mark_is_shown_and_marked_again);

async fn a_child_that_lost_its_mark_is_shown_and_marked_again(subject: &'static Subject) -> Held {
    for made in made(subject).await? {
        unmarked(&made).await?;
    }
    Ok(())
}

async fn unmarked(Made { world: made, config, children }: &Made) -> Held {
    for child in children.iter().filter(|child| !child.facts.part) {
        let what = format!("{} without its mark", child.key);
        let mut world = made.fork();
        world.cloud.alter(&child.object.kind, &child.object.name, |object| object.owner = None);
        world.refresh(&what).await?;
        if world.component_state(&child.key) != "unmarked" {
            return Err(world.told(&what, &format!("shows as {:?}", world.component_state(&child.key))));
        }
        repaired(&world, made, config, &what).await?;
        world.destroyed(&what).await?;
    }
    Ok(())
}

every_resource_obeys!(a_child_with_the_mark_of_a_stranger_is_neither_changed_nor_deleted);

async fn a_child_with_the_mark_of_a_stranger_is_neither_changed_nor_deleted(subject: &'static Subject) -> Held {
    for made in made(subject).await? {
        strange(&made).await?;
    }
    Ok(())
}

async fn strange(Made { world: made, config, children }: &Made) -> Held {
    for child in children.iter().filter(|child| !child.facts.part) {
        let what = format!("{} with somebody else's mark", child.key);
        let mut world = made.fork();
        let (kind, name) = (&child.object.kind, &child.object.name);
        world.cloud.alter(kind, name, |object| object.owner = Some(Owner("somebody/else".to_owned())));
        let theirs = |world: &World| {
            world.cloud.objects().into_iter().find(|object| object.kind == *kind && object.name == *name)
        };
        let before = theirs(&world);
        world.refresh(&what).await?;
        let state = world.component_state(&child.key);
        if !state.starts_with("owned by somebody/else") {
            return Err(world.told(&what, &format!("shows as {state:?}")));
        }
        if world.run(config, &what).await.is_ok_and(|action| action != Action::NoOp) {
            return Err(world.told(&what, "was applied"));
        }
        let address = world.address.clone();
        world.core.destroy(&address).await.map_err(|failure| world.story(&what, &failure))?;
        // What is inside an object of ours goes with it, whoever has marked it meanwhile.
        let after = before.clone().filter(|_| child.entry.inside.is_none());
        if before.is_none() || theirs(&world) != after {
            return Err(world.told(&what, &format!("is now {:?}", theirs(&world))));
        }
    }
    Ok(())
}

every_resource_obeys!(keys_of_others_in_shared_maps_are_no_drift_and_stay);

async fn keys_of_others_in_shared_maps_are_no_drift_and_stay(subject: &'static Subject) -> Held {
    for made in made(subject).await? {
        keyed(&made).await?;
    }
    Ok(())
}

async fn keyed(Made { world: made, config, children }: &Made) -> Held {
    for (child, field) in children.iter().flat_map(|child| child.facts.merged.iter().map(move |f| (child, *f))) {
        let what = format!("a key of somebody else in {}.{field}", child.key);
        let mut world = made.fork();
        world.cloud.alter(&child.object.kind, &child.object.name, |object| {
            object.document.entry(field).or_insert_with(|| json!({}))["theirs"] = json!("stays");
        });
        let with_theirs = world.fork();
        world.settled(config, &what).await?;
        world.refresh(&what).await?;
        let left = difference(&made.instance()?.value, &world.instance()?.value);
        if !left.is_empty() {
            return Err(world.told(&what, &format!("shows as {left}")));
        }
        let ours = child.entry.document.get(field).and_then(Json::as_object);
        let Some(key) = ours.and_then(|ours| ours.keys().next()) else { continue };
        world.cloud.alter(&child.object.kind, &child.object.name, |object| {
            object.document[field][key] = json!("changed");
        });
        repaired(&world, &with_theirs, config, &what).await?;
    }
    Ok(())
}

every_resource_obeys!(what_is_there_already_and_not_ours_is_refused_and_stays);

async fn what_is_there_already_and_not_ours_is_refused_and_stays(subject: &'static Subject) -> Held {
    for Made { world: made, config, children } in made(subject).await? {
        for child in children.iter().filter(|child| !child.facts.part) {
            for owner in [None, Some(Owner("somebody/else".to_owned()))] {
                let theirs = FakeObject { owner, ..child.object.clone() };
                let what = format!("{} of {:?} being there before", child.key, theirs.owner);
                let mut world = World::new(made.subject);
                world.cloud.put(theirs.clone());
                match world.run(&config, &what).await {
                    Err(story) if story.contains("is there already and") => {}
                    other => return Err(world.told(&what, &format!("was not refused: {other:?}"))),
                }
                let address = world.address.clone();
                world.core.destroy(&address).await.map_err(|failure| world.story(&what, &failure))?;
                // What is inside an object of ours goes with it.
                let stays = if child.entry.inside.is_none() { vec![theirs] } else { Vec::new() };
                if world.cloud.objects() != stays {
                    return Err(world.told(&what, &format!("left {:#?}", world.cloud.objects())));
                }
            }
        }
    }
    Ok(())
}

/// One apply repairs all, and ends as before.
async fn repaired(world: &World, made: &World, config: &Json, what: &str) -> Held {
    let mut world = world.fork();
    let action = world.run(config, what).await?;
    if action == Action::NoOp {
        return Err(world.told(what, "was not repaired"));
    }
    world.settled(config, &format!("{what}, repaired")).await?;
    world.is_like(made, &format!("{what}, repaired"))
}

// === impl Child ===

impl Child {
    /// Another value for each field that is compared, none, and of a list a longer one.
    fn changes(&self) -> Vec<(String, Json)> {
        let facts = &self.facts;
        let fields = self.entry.document.iter().filter(|(name, value)| {
            let name = name.as_str();
            let is_steering = facts.initial.contains(&name) || facts.local.contains(&name) || name == "slot";
            !is_steering && !facts.identity.contains(&name) && !is_nothing(value)
        });
        // What the API cannot change can be another, where somebody made the object anew, and is never none.
        let none = |name: &String| (!facts.fixed.contains(&name.as_str())).then(|| (name.clone(), Json::Null));
        fields
            .flat_map(|(name, value)| {
                let others = [(name.clone(), self.other(name, value))].into_iter();
                others.chain(none(name)).chain(longer(value).map(|longer| (name.clone(), longer)))
            })
            // Of what has nothing in it there is no other.
            .filter(|(name, other)| self.entry.document.get(name) != Some(other))
            .collect()
    }

    // Of a map with the keys of others, one key of ours has another value.
    fn other(&self, field: &str, value: &Json) -> Json {
        match value {
            Json::Object(map) if self.facts.merged.contains(&field) => {
                let mut map = map.clone();
                if let Some(value) = map.values_mut().next() {
                    *value = other_than(value);
                }
                Json::Object(map)
            }
            other => other_than(other),
        }
    }

    fn set(&self, world: &World, field: &str, value: Json) {
        world.cloud.alter(&self.object.kind, &self.object.name, |object| {
            if value.is_null() {
                object.document.remove(field);
            } else {
                object.document.insert(field.to_owned(), value);
            }
        });
    }

    fn put_back(&self, world: &World) {
        world.cloud.alter(&self.object.kind, &self.object.name, |object| {
            object.document.clone_from(&self.object.document);
        });
    }
}

/// A list with one item more.
fn longer(value: &Json) -> Option<Json> {
    let items = value.as_array()?;
    Some(items.iter().cloned().chain(items.last().map(other_than)).collect())
}

fn is_nothing(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::Array(items) => items.is_empty(),
        Json::Object(map) => map.is_empty(),
        _ => false,
    }
}
