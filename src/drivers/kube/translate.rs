//! Between the words of a kind's newest version, which manifests are in, and those of an older one that a server
//! may have. One table: kind, version, how to go down and how to come back.

use serde_json::{Map, Value as Json, json};

struct Translation {
    kind: &'static str,
    version: &'static str,
    down: fn(&mut Json),
    up: fn(&mut Json),
}

const TRANSLATIONS: [Translation; 1] =
    [Translation { kind: "ClusterQueue", version: "v1beta1", down: queue_down, up: queue_up }];

/// To the words of `version`.
pub(super) fn down(kind: &str, version: &str, object: &mut Json) {
    if let Some(translation) = find(kind, version) {
        (translation.down)(object);
    }
}

/// From the words of `version`.
pub(super) fn up(kind: &str, version: &str, object: &mut Json) {
    if let Some(translation) = find(kind, version) {
        (translation.up)(object);
    }
}

/// The object in the words of each version: others may have written in any of them.
pub(super) fn in_all_words(kind: &str, object: &Json) -> Vec<Json> {
    let older = TRANSLATIONS.iter().filter(|translation| translation.kind == kind).map(|translation| {
        let mut object = object.clone();
        (translation.down)(&mut object);
        object
    });
    older.chain([object.clone()]).collect()
}

fn find(kind: &str, version: &str) -> Option<&'static Translation> {
    TRANSLATIONS.iter().find(|translation| translation.kind == kind && translation.version == version)
}

// Field, and the old word for "MayStopSearch"; "TryNextFlavor" has stayed.
const FUNGIBILITY: [(&str, &str); 2] = [("whenCanBorrow", "Borrow"), ("whenCanPreempt", "Preempt")];
const MAY_STOP: &str = "MayStopSearch";

fn queue_down(object: &mut Json) {
    let Some(spec) = spec(object) else { return };
    rename(spec, "cohortName", "cohort");
    each_fungibility(spec, |old, word| if word == MAY_STOP { Some(old) } else { None });
}

fn queue_up(object: &mut Json) {
    let Some(spec) = spec(object) else { return };
    rename(spec, "cohort", "cohortName");
    each_fungibility(spec, |old, word| if word == old { Some(MAY_STOP) } else { None });
    // Two ways to say the same, of which the newer version has kept one.
    if let Some(Json::Array(names)) = spec.remove("admissionChecks")
        && !names.is_empty()
    {
        let checks: Vec<_> = names.into_iter().map(|name| json!({ "name": name })).collect();
        spec.insert("admissionChecksStrategy".to_owned(), json!({ "admissionChecks": checks }));
    }
}

fn spec(object: &mut Json) -> Option<&mut Map<String, Json>> {
    object.get_mut("spec")?.as_object_mut()
}

fn rename(map: &mut Map<String, Json>, from: &str, to: &str) {
    if let Some(value) = map.remove(from) {
        map.insert(to.to_owned(), value);
    }
}

fn each_fungibility(spec: &mut Map<String, Json>, other: impl Fn(&'static str, &str) -> Option<&'static str>) {
    let Some(fungibility) = spec.get_mut("flavorFungibility") else { return };
    for (field, old) in FUNGIBILITY {
        if let Some(word) = fungibility.get_mut(field)
            && let Some(other) = word.as_str().and_then(|word| other(old, word))
        {
            *word = json!(other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_goes_to_an_older_server_and_back() {
        let newest = json!({ "spec": {
            "cohortName": "all",
            "flavorFungibility": { "whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor" },
        } });
        let mut object = newest.clone();
        down("ClusterQueue", "v1beta1", &mut object);
        assert_eq!(
            object,
            json!({ "spec": {
                "cohort": "all",
                "flavorFungibility": { "whenCanBorrow": "Borrow", "whenCanPreempt": "TryNextFlavor" },
            } })
        );
        up("ClusterQueue", "v1beta1", &mut object);
        assert_eq!(object, newest);
    }

    #[test]
    fn old_admission_checks_are_read_in_the_new_way() {
        let mut object = json!({ "spec": { "admissionChecks": ["prov"] } });
        up("ClusterQueue", "v1beta1", &mut object);
        assert_eq!(
            object,
            json!({ "spec": { "admissionChecksStrategy": { "admissionChecks": [{ "name": "prov" }] } } })
        );
    }

    #[test]
    fn the_newest_version_and_other_kinds_stay_as_they_are() {
        for (kind, version) in [("ClusterQueue", "v1beta2"), ("LocalQueue", "v1beta1")] {
            let mut object = json!({ "spec": { "cohortName": "all" } });
            down(kind, version, &mut object);
            assert_eq!(object["spec"]["cohortName"], "all", "{kind} {version}");
        }
    }
}
