//! What is certain to fail is told at plan, and what was made before can be destroyed all the same: Terraform plans what
//! is to be destroyed before, as if it were to stay.

use crate::{
    json::config,
    subjects::{Subject, every_resource_obeys},
    world::{Held, World},
};

every_resource_obeys!(a_creation_that_is_refused_fails_the_plan);

async fn a_creation_that_is_refused_fails_the_plan(subject: &'static Subject) -> Held {
    let world = World::new(subject);
    world.cloud.refuse();
    match world.plan(&config(subject.resource, "typical"), "a refused creation").await {
        Ok(_) => Err(world.told("a refused creation", "was planned")),
        Err(story) if story.contains("by request of the test") => Ok(()),
        Err(story) => Err(story),
    }
}

every_resource_obeys!(a_change_that_is_refused_fails_the_plan);

async fn a_change_that_is_refused_fails_the_plan(subject: &'static Subject) -> Held {
    let [typical, full] = ["typical", "full"].map(|name| config(subject.resource, name));
    let world = World::made(subject, &typical).await?;
    world.cloud.refuse();
    match world.plan(&full, "a refused change").await {
        Ok(_) => Err(world.told("a refused change", "was planned")),
        Err(story) if story.contains("by request of the test") => Ok(()),
        Err(story) => Err(story),
    }
}

every_resource_obeys!(what_was_made_can_be_planned_and_destroyed_whatever_is_refused_now);

async fn what_was_made_can_be_planned_and_destroyed_whatever_is_refused_now(subject: &'static Subject) -> Held {
    let typical = config(subject.resource, "typical");
    let made = World::made(subject, &typical).await?;
    for (what, is_tainted, has_record) in [
        ("a repair", false, true),
        ("what lost its record", false, false),
        ("what is tainted", true, true),
        ("what is tainted and lost its record", true, false),
    ] {
        let mut world = made.fork();
        world.cloud.refuse();
        // One object is gone, so that there is something to be done.
        let last = world.cloud.objects().pop().ok_or("nothing was made")?;
        world.cloud.take(&last.kind, &last.name);
        if is_tainted {
            world.core.taint(&made.address);
        }
        if !has_record {
            world.core.forget_private(&made.address);
        }
        // As the real core does before a destruction.
        world.refresh(what).await?;
        let planned = world.plan(&typical, what).await?;
        if !format!("{:?}", planned.diagnostics).contains("by request of the test") {
            return Err(world.told(what, "was planned without a warning"));
        }
        world.destroyed(what).await?;
    }
    Ok(())
}

every_resource_obeys!(what_is_gone_is_new_again);

async fn what_is_gone_is_new_again(subject: &'static Subject) -> Held {
    let typical = config(subject.resource, "typical");
    let mut world = World::made(subject, &typical).await?;
    world.refresh("a look").await?;
    for object in world.cloud.objects() {
        world.cloud.take(&object.kind, &object.name);
    }
    world.cloud.refuse();
    match world.plan(&typical, "what is gone").await {
        Ok(_) => Err(world.told("what is gone", "was planned")),
        Err(_) => Ok(()),
    }
}
