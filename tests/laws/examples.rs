//! The configurations under test are those that users see.

use std::{collections::BTreeSet, fs, path::PathBuf};

use serde_json::Value as Json;

use crate::{
    json::{config, configs},
    subjects::SUBJECTS,
    world::World,
};

/// Warnings that configurations which set everything cannot be without.
const EXPECTED: [&str; 2] = ["The instance types differ in shape", "Every pod will ask for ephemeral storage"];

#[test]
fn the_typical_configuration_sets_what_the_example_sets() {
    for subject in SUBJECTS {
        let file = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("examples/resources")
            .join(subject.resource)
            .join("resource.tf");
        let mut names = BTreeSet::new();
        keys(&config(subject.resource, "typical"), &mut names);
        // What comes before, such as a variable, is not of the resource.
        let text = fs::read_to_string(file).unwrap();
        let start = text.find("\nresource ").unwrap_or_default();
        assert_eq!(example_names(&text[start..]), names, "{}", subject.resource);
    }
}

#[tokio::test]
async fn every_configuration_is_taken_without_complaint() {
    for subject in SUBJECTS {
        let world = World::new(subject);
        for (name, config) in configs(subject.resource) {
            let told = world.core.validate(&world.address, config).await.unwrap_or_else(|failure| panic!("{failure}"));
            let other: Vec<_> = told.iter().filter(|told| !EXPECTED.contains(&told.summary.as_str())).collect();
            assert!(other.is_empty(), "{} {name}: {other:?}", subject.resource);
        }
    }
}

#[test]
fn every_resource_is_under_test() {
    use tf_provider::Provider as _;
    let tested: BTreeSet<_> = SUBJECTS.iter().map(|subject| subject.resource).collect();
    let provided: BTreeSet<_> =
        mlplat::provider::Provider::new().resources().iter().map(|resource| resource.type_name()).collect();
    assert_eq!(tested, provided);
}

// The names that are set in HCL without expressions: whatever stands before an equals sign.
fn example_names(hcl: &str) -> BTreeSet<String> {
    let lines = hcl.lines().map(|line| line.split('#').next().unwrap_or_default());
    let parts = lines.flat_map(|line| line.split(['{', ',', '[']).map(str::to_owned).collect::<Vec<_>>());
    parts.filter_map(|part| part.split_once('=').map(|(name, _)| name.trim().trim_matches('"').to_owned())).collect()
}

fn keys(config: &Json, names: &mut BTreeSet<String>) {
    match config {
        Json::Object(map) => {
            names.extend(map.keys().cloned());
            map.values().for_each(|value| keys(value, names));
        }
        Json::Array(items) => items.iter().for_each(|item| keys(item, names)),
        _ => {}
    }
}
