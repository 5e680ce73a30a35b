//! The life of a resource that nothing goes wrong with: made, looked at, imported, replaced, destroyed.

use serde_json::{Value as Json, json};
use tf_provider::{Cty, Source, testing::Action};

use crate::{
    json::{config, place, with},
    subjects::{Subject, every_resource_obeys},
    world::{Held, World, difference},
};

every_resource_obeys!(what_was_made_is_as_wanted_and_a_look_changes_nothing);

async fn what_was_made_is_as_wanted_and_a_look_changes_nothing(subject: &'static Subject) -> Held {
    for (name, config) in subject.configs() {
        let mut world = World::made(subject, &config).await?;
        let writes = world.cloud.writes();
        world.settled(&config, &format!("{name} made")).await?;
        let before = world.instance()?.clone();
        world.refresh("a look").await?;
        if world.cloud.writes() != writes {
            return Err(world.told(&name, &format!("a look wrote: {:?}", world.cloud.journal())));
        }
        if *world.instance()? != before {
            let changed = difference(&before.value, &world.instance()?.value);
            return Err(world.told(&name, &format!("a look changed{changed}")));
        }
        world.destroyed(&name).await?;
    }
    Ok(())
}

every_resource_obeys!(what_was_made_is_imported_by_id_and_by_identity_with_an_empty_plan);

async fn what_was_made_is_imported_by_id_and_by_identity_with_an_empty_plan(subject: &'static Subject) -> Held {
    for (name, config) in subject.configs() {
        let made = World::made(subject, &config).await?;
        let Cty::String(id) = made.attribute("id") else { return Err(made.told(&name, "has no id")) };
        let identity = made.instance()?.identity.clone();
        for by_id in [true, false] {
            let what = format!("{name} imported by {}", if by_id { "id" } else { "identity" });
            let mut world = World::fork(&made);
            world.core.forget(&world.address);
            let address = world.address.clone();
            let imported = if by_id {
                world.core.import_id(&address, &id).await
            } else {
                world.core.import_identity(&address, identity.clone()).await
            };
            imported.map_err(|failure| world.story(&what, &failure))?;
            // Terraform alone knows how long it may take: nothing remembers `timeouts`.
            let wanted = with(&config, &place("timeouts"), Json::Null);
            world.settled(&wanted, &what).await?;
            world.refresh(&what).await?;
            world.settled(&wanted, &format!("{what}, looked at again")).await?;
            world.destroyed(&what).await?;
        }
    }
    Ok(())
}

every_resource_obeys!(what_stands_for_the_same_object_elsewhere_is_taken_over_with_an_empty_plan);

async fn what_stands_for_the_same_object_elsewhere_is_taken_over_with_an_empty_plan(subject: &'static Subject) -> Held {
    for (name, config) in subject.configs() {
        let mut world = World::made(subject, &config).await?;
        let Cty::String(id) = world.attribute("id") else { return Err(world.told(&name, "has no id")) };
        world.core.forget(&world.address);
        let (address, what) = (world.address.clone(), format!("{name} taken over"));
        let stranger = source("example.com/hashicorp/aws", "aws_lambda_function", json!({ "id": id }));
        if world.core.move_from(&address, &stranger).await.is_ok() {
            return Err(world.told(&what, "from what stands for something else"));
        }
        let Some(source) = elsewhere(&address, &id) else { continue };
        world.core.move_from(&address, &source).await.map_err(|failure| world.story(&what, &failure))?;
        let wanted = with(&config, &place("timeouts"), Json::Null);
        world.settled(&wanted, &what).await?;
        world.destroyed(&what).await?;
    }
    Ok(())
}

// The state of hashicorp/aws for the same object, as far as it counts.
fn elsewhere(address: &str, id: &str) -> Option<Source> {
    let (type_name, state) = match address.split('.').next()? {
        "mlplat_model_bucket" => ("aws_s3_bucket", json!({ "bucket": id, "id": id })),
        "mlplat_shared_filesystem" => ("aws_efs_file_system", json!({ "id": id })),
        "mlplat_gpu_pool" => {
            let (cluster, name) = id.split_once('/')?;
            ("aws_eks_node_group", json!({ "cluster_name": cluster, "node_group_name": name }))
        }
        _ => return None,
    };
    Some(source("registry.terraform.io/hashicorp/aws", type_name, state))
}

fn source(provider: &str, type_name: &str, state: Json) -> Source {
    Source { provider: provider.to_owned(), type_name: type_name.to_owned(), state }
}

every_resource_obeys!(a_lost_record_is_made_again);

async fn a_lost_record_is_made_again(subject: &'static Subject) -> Held {
    for (name, config) in subject.configs() {
        let made = World::made(subject, &config).await?;
        let mut world = made.fork();
        world.core.forget_private(&made.address);
        world.settled(&config, &format!("{name} without its record")).await?;
        world.refresh("a look").await?;
        world.settled(&config, &format!("{name} without its record, looked at")).await?;
        world.destroyed("its record was lost").await?;
        let mut world = made.fork();
        world.core.forget_private(&made.address);
        // Another one of the same kind of change has to work on the record made again.
        let inputs = subject.inputs();
        let marks = ["tags", "labels"].into_iter().find(|name| inputs.iter().any(|input| input.place == [*name]));
        let tagged = with(&config, &place(marks.ok_or("nothing to change")?), json!({ "another": "tag" }));
        world.run(&tagged, "a change without a record").await?;
        world.settled(&tagged, "a change without a record").await?;
    }
    Ok(())
}

every_resource_obeys!(a_tainted_resource_is_replaced_or_destroyed_and_leaves_nothing);

async fn a_tainted_resource_is_replaced_or_destroyed_and_leaves_nothing(subject: &'static Subject) -> Held {
    for (name, config) in subject.configs() {
        let made = World::made(subject, &config).await?;
        for has_record in [true, false] {
            let what = format!("tainting {name} (with its record: {has_record})");
            let tainted = || {
                let mut world = made.fork();
                world.core.taint(&made.address);
                if !has_record {
                    world.core.forget_private(&made.address);
                }
                world
            };
            let mut world = tainted();
            let action = world.run(&config, &what).await?;
            if action != Action::Replace {
                return Err(world.told(&what, &format!("led to {action:?}")));
            }
            world.settled(&config, &what).await?;
            world.is_like(&made, &what)?;
            world.destroyed(&what).await?;
            tainted().destroyed(&what).await?;
            let mut world = tainted();
            world.core.untaint(&made.address);
            world.settled(&config, &format!("{what} and untainting it")).await?;
        }
    }
    Ok(())
}

every_resource_obeys!(two_resources_do_not_touch_each_other);

async fn two_resources_do_not_touch_each_other(subject: &'static Subject) -> Held {
    let config = config(subject.resource, "typical");
    let mut world = World::made(subject, &config).await?;
    let alone = world.fork();
    let (first, second) = (world.address.clone(), format!("{}.other", subject.resource));
    let twin = (subject.twin)().into_iter().map(|(at, value)| (place(at), value));
    let other = twin
        .chain([(place("name"), json!("acme-another-one"))])
        .fold(config.clone(), |config, (at, value)| with(&config, &at, value));
    world.address = second;
    world.run(&other, "a second one").await?;
    world.settled(&other, "a second one").await?;
    let address = world.address.clone();
    world.core.destroy(&address).await.map_err(|failure| world.story("destroying one of two", &failure))?;
    world.address = first;
    world.is_like(&alone, "destroying one of two")?;
    world.settled(&config, "destroying one of two").await?;
    Ok(())
}
