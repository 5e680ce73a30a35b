//! Whatever somebody else does to a child object is shown by name, repaired alone, and forgotten where it is undone.

use converge::{Entry, KindFacts, Owner, testing::FakeObject};
use serde_json::{Value as Json, json};
use tf_provider::testing::Action;

use crate::{
    json::{config, other_than},
    subjects::{SUBJECTS, Subject},
    world::{Held, KINDS, World, difference},
};

/// A child object of a resource.
struct Child {
    key: String,
    entry: Entry,
    facts: KindFacts,
    object: FakeObject,
}

async fn made(subject: &'static Subject) -> Result<(World, Json, Vec<Child>), String> {
    let config = config(subject.resource, "full");
    let mut world = World::made(subject, &config).await?;
    world.cloud.settle();
    world.refresh("a look").await?;
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
    Ok((world, config, children))
}

#[tokio::test]
async fn a_changed_field_is_shown_repaired_and_forgotten_when_undone() -> Held {
    for subject in SUBJECTS {
        let (made, config, children) = made(subject).await?;
        for child in &children {
            for (field, value) in child.changes() {
                let what = format!("{}.{field} becoming {value}", child.key);
                let mut world = made.fork();
                child.set(&world, &field, value);
                world.refresh(&what).await?;
                let state = world.component_state(&child.key);
                if !state.starts_with(&format!("drifted: {field}")) {
                    return Err(world.told(&what, &format!("shows as {state:?}")));
                }
                repaired(&world, &made, &config, &what).await?;
                child.put_back(&world);
                world.refresh(&what).await?;
                world.settled(&config, &format!("{what} and back")).await?;
                // What the API cannot change comes back only with another object.
                let is_fixed = child.facts.fixed.contains(&field.as_str());
                let left = difference(&made.instance()?.value, &world.instance()?.value);
                if !is_fixed && !left.is_empty() {
                    return Err(world.told(&what, &format!("and back left {left}")));
                }
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn drift_of_what_an_attribute_says_shows_in_the_attribute() -> Held {
    for subject in SUBJECTS {
        let (made, config, children) = made(subject).await?;
        for (key, field, attribute) in subject.mirrors {
            let what = format!("{key}.{field}");
            let child = children.iter().find(|child| child.key == *key).ok_or_else(|| format!("no component {key}"))?;
            let mut world = made.fork();
            child.set(&world, field, mirrored_value(field, &child.entry.document[*field]));
            let before = world.attribute(attribute);
            world.refresh(&what).await?;
            if world.attribute(attribute) == before {
                return Err(world.told(&what, &format!("{attribute} still says {before:?}")));
            }
            repaired(&world, &made, &config, &what).await?;
        }
    }
    Ok(())
}

// Attributes with a few allowed values say nothing of others.
fn mirrored_value(field: &str, value: &Json) -> Json {
    match field {
        "ami_type" => json!("BOTTLEROCKET_x86_64_NVIDIA"),
        "capacity_type" => json!("SPOT"),
        "taints" => json!([{ "key": "theirs", "effect": "NoExecute" }]),
        _ => other_than(value),
    }
}

#[tokio::test]
async fn a_child_that_is_gone_is_shown_and_made_again() -> Held {
    for subject in SUBJECTS {
        let (made, config, children) = made(subject).await?;
        for child in &children {
            let what = format!("{} deleted", child.key);
            let mut world = made.fork();
            world.cloud.take(&child.object.kind, &child.object.name);
            world.refresh(&what).await?;
            // With the bucket all is gone, and Terraform makes the resource again.
            if world.core.state(&world.address).is_some() && world.component_state(&child.key) != "missing" {
                return Err(world.told(&what, &format!("shows as {:?}", world.component_state(&child.key))));
            }
            repaired(&world, &made, &config, &what).await?;
            world.destroyed(&what).await?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_child_that_lost_its_mark_is_shown_and_marked_again() -> Held {
    for subject in SUBJECTS {
        let (made, config, children) = made(subject).await?;
        for child in children.iter().filter(|child| !child.facts.part) {
            let what = format!("{} without its mark", child.key);
            let mut world = made.fork();
            world.cloud.alter(&child.object.kind, &child.object.name, |object| object.owner = None);
            world.refresh(&what).await?;
            if world.component_state(&child.key) != "unmarked" {
                return Err(world.told(&what, &format!("shows as {:?}", world.component_state(&child.key))));
            }
            repaired(&world, &made, &config, &what).await?;
            world.destroyed(&what).await?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_child_with_the_mark_of_a_stranger_is_neither_changed_nor_deleted() -> Held {
    for subject in SUBJECTS {
        let (made, config, children) = made(subject).await?;
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
            if world.run(&config, &what).await.is_ok_and(|action| action != Action::NoOp) {
                return Err(world.told(&what, "was applied"));
            }
            let address = world.address.clone();
            world.core.destroy(&address).await.map_err(|failure| world.story(&what, &failure))?;
            if before.is_none() || theirs(&world) != before {
                return Err(world.told(&what, &format!("is now {:?}", theirs(&world))));
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn keys_of_others_in_shared_maps_are_no_drift_and_stay() -> Held {
    for subject in SUBJECTS {
        let (made, config, children) = made(subject).await?;
        for (child, field) in children.iter().flat_map(|child| child.facts.merged.iter().map(move |f| (child, *f))) {
            let what = format!("a key of somebody else in {}.{field}", child.key);
            let mut world = made.fork();
            world.cloud.alter(&child.object.kind, &child.object.name, |object| {
                object.document[field]["theirs"] = json!("stays");
            });
            let with_theirs = world.fork();
            world.settled(&config, &what).await?;
            world.refresh(&what).await?;
            if world.attribute("tags") != made.attribute("tags") {
                return Err(world.told(&what, &format!("tags are now {:?}", world.attribute("tags"))));
            }
            for key in child.entry.document[field].as_object().into_iter().flat_map(|map| map.keys()).take(1) {
                world.cloud.alter(&child.object.kind, &child.object.name, |object| {
                    object.document[field][key] = json!("changed");
                });
            }
            repaired(&world, &with_theirs, &config, &what).await?;
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
    /// Another value for each field that is compared, and none.
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
            .flat_map(|(name, value)| [(name.clone(), self.other(name, value))].into_iter().chain(none(name)))
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

fn is_nothing(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::Array(items) => items.is_empty(),
        Json::Object(map) => map.is_empty(),
        _ => false,
    }
}
