//! Promises of the whole schema: stored state stays readable, everything is described, everything has an example.

use std::{fs, path::PathBuf};

use mlplat::provider::Provider;
use serde_json::Value as Json;
use tf_provider::{
    Provider as _,
    docs::{breaking, descriptions, sentences, stored},
};

#[test]
fn the_layout_of_stored_state_is_the_one_on_record() {
    let file = root().join("docs/schema.json");
    let after = stored(&Provider::new());
    let before: Json = fs::read_to_string(&file).map_or(Json::Null, |text| serde_json::from_str(&text).unwrap());
    let broken = breaking(&before, &after);
    assert!(
        broken.is_empty(),
        "stored state does not survive this: {broken:#?}. Raise VERSION of the resource, bring old state up in \
         `upgrade`, and keep an old state as a fixture of its test."
    );
    if is_update() {
        fs::write(&file, format!("{after:#}\n")).unwrap();
    } else {
        assert!(before == after, "docs/schema.json is stale. Run `cargo xtask docs` and review what changed.");
    }
}

#[test]
fn every_description_is_made_of_sentences() {
    let is_sentence = |text: &str| {
        let begins = text.starts_with(|first: char| first.is_uppercase() || first == '`');
        begins && text.ends_with(['.', '`', ')']) && !text.contains("  ")
    };
    let bad: Vec<_> = descriptions(&Provider::new())
        .into_iter()
        .filter(|described| {
            let paragraphs = described.text.split("\n\n").filter(|text| !text.starts_with(['-', '*', '|', '`']));
            described.text.is_empty() || paragraphs.flat_map(sentences).any(|sentence| !is_sentence(&sentence))
        })
        .map(|described| format!("{}: {:?}", described.place, described.text))
        .collect();
    assert!(bad.is_empty(), "begin with a capital letter, end with a full stop:\n{}", bad.join("\n"));
}

#[test]
fn everything_has_an_example() {
    let provider = Provider::new();
    let mut wanted = vec![("provider/provider.tf".to_owned(), "mlplat".to_owned())];
    for resource in provider.resources() {
        let name = resource.type_name();
        wanted.push((format!("resources/{name}/resource.tf"), format!("resource \"{name}\"")));
        wanted.push((format!("resources/{name}/import.sh"), format!("terraform import {name}.")));
    }
    for source in provider.data_sources() {
        let name = source.type_name();
        wanted.push((format!("data-sources/{name}/data-source.tf"), format!("data \"{name}\"")));
    }
    for function in provider.functions() {
        let name = function.name();
        wanted.push((format!("functions/{name}/function.tf"), format!("provider::mlplat::{name}(")));
    }
    let has = |(path, words): &(String, String)| {
        fs::read_to_string(root().join("examples").join(path)).is_ok_and(|text| text.contains(words.as_str()))
    };
    let missing: Vec<_> = wanted.iter().filter(|example| !has(example)).collect();
    assert!(missing.is_empty(), "below examples/, files and what must stand in them: {missing:#?}");
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

#[expect(clippy::disallowed_methods, reason = "a test's switch, read here only")]
fn is_update() -> bool {
    std::env::var_os("MLPLAT_UPDATE").is_some()
}
