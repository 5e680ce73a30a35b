//! The tags of a resource's objects: what the provider stamps on, what the user gives, and how to tell them apart in
//! what is found.
//!
//! Precedence, weakest first: `managed-by` and `workload-type`, the provider's `default_tags`, its
//! `cost_allocation`, the resource's own `tags`.
//! **Invariant:** what is read back from tags written here is what the user gave, unless a user's tag repeats one of
//! the provider's with the same value: the two cannot be told apart, so it counts as the provider's.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use tf_provider::Diagnostics;
use value::{Back, Value};

use crate::{components::aws::Tags, settings::Settings};

/// Prefix of the tags that remember what the API cannot tell, and of the ownership mark.
pub(super) const OUR_PREFIX: &str = "mlplat:";

/// Tag and label: who made it.
pub(super) const MANAGED_BY: (&str, &str) = ("managed-by", "mlplat");

/// Tag and label: what it is used for.
pub(super) const WORKLOAD_TYPE: &str = "workload-type";

/// AWS allows 50; the rest is for the provider's own.
const MOST: usize = 40;

/// What the provider stamps on every object of a resource.
pub(super) fn stamps(settings: &Settings, workload: &Value<String>) -> Value<Tags> {
    workload.with(&settings.default_tags, own_stamps).with(&settings.cost_allocation, |tags, costs| {
        let mut tags = tags.cloned().unwrap_or_default();
        tags.extend(costs.cloned().unwrap_or_default());
        tags
    })
}

fn own_stamps(workload: Option<&String>, defaults: Option<&Tags>) -> Tags {
    let mut tags = Tags::from([(MANAGED_BY.0.to_owned(), MANAGED_BY.1.to_owned())]);
    if let Some(workload) = workload {
        tags.insert(WORKLOAD_TYPE.to_owned(), workload.clone());
    }
    tags.extend(defaults.cloned().unwrap_or_default());
    tags
}

/// The stamps and the user's tags, which win.
pub(super) fn merged(user: &Value<Tags>, stamps: &Value<Tags>) -> Value<Tags> {
    user.with(stamps, |user, stamps| {
        let mut tags = stamps.cloned().unwrap_or_default();
        tags.extend(user.cloned().unwrap_or_default());
        tags
    })
    .blamed_on(user)
}

/// The tags and one more that remembers a value; none where the value is null.
pub(super) fn marked(tags: &Value<Tags>, key: &str, value: &Value<String>) -> Value<Tags> {
    tags.with(value, |tags, value| {
        let mut tags = tags.cloned().unwrap_or_default();
        if let Some(value) = value {
            tags.insert(key.to_owned(), value.clone());
        }
        tags
    })
    .blamed_on(tags)
}

/// What found tags say of the user's: all but the stamps, AWS's own, and ours.
pub(super) fn without_stamps(stamps: &Value<Tags>) -> impl Fn(&Json) -> Back + Send + Sync + use<> {
    let stamps = stamps.get().cloned();
    move |found| {
        let (Some(stamps), Some(found)) = (&stamps, texts(found)) else { return Back::Unsaid };
        let is_reserved = |key: &str| ["aws:", OUR_PREFIX].iter().any(|prefix| key.starts_with(prefix));
        let users: Tags =
            found.into_iter().filter(|(key, value)| !is_reserved(key) && stamps.get(key) != Some(value)).collect();
        Back::Is(serde_json::to_value(users).unwrap_or_default())
    }
}

/// What a found tag that remembers a value says of it, read by `read`.
pub(super) fn remembered(key: &'static str, read: fn(&str) -> Option<Json>) -> impl Fn(&Json) -> Back + Send + Sync {
    move |found| found.get(key).and_then(Json::as_str).and_then(read).map_or(Back::Unsaid, Back::Is)
}

/// A map of texts.
pub(super) fn texts(found: &Json) -> Option<BTreeMap<String, String>> {
    serde_json::from_value(found.clone()).ok()
}

/// Complains of tags that AWS would refuse.
pub(super) fn check(tags: &Value<Tags>, complaints: &mut Diagnostics) {
    let Some(known) = tags.get() else { return };
    if known.len() > MOST {
        complaints.error(
            tags,
            format!("Too many tags: {}", known.len()),
            format!(
                "AWS allows 50 tags on an object, and the provider's own take up to 10 of them.\n\nGive at most {MOST}."
            ),
        );
    }
    for (key, value) in known {
        if let Some(reason) = fault(key, value) {
            complaints.error(tags, format!("The tag {key:?} cannot be used"), reason);
        }
    }
}

fn fault(key: &str, value: &str) -> Option<String> {
    let is_allowed = |text: &str| text.chars().all(|c| c.is_alphanumeric() || c == ' ' || "+-=._:/@".contains(c));
    if key.to_ascii_lowercase().starts_with("aws:") {
        return Some("Keys that begin with \"aws:\" are AWS's own.\n\nChoose another key.".to_owned());
    }
    if key.starts_with(OUR_PREFIX) {
        return Some(format!("Keys that begin with {OUR_PREFIX:?} are this provider's own.\n\nChoose another key."));
    }
    let length = key.chars().count();
    if length == 0 || length > 128 {
        return Some(format!("Its key has {length} characters.\n\nA key has 1 to 128 characters."));
    }
    let length = value.chars().count();
    if length > 256 {
        return Some(format!("Its value has {length} characters.\n\nA value has at most 256 characters."));
    }
    (!is_allowed(key) || !is_allowed(value)).then(|| {
        format!("It holds a character that not every AWS service takes: {value:?}.\n\nUse letters, digits, spaces and + - = . _ : / @.")
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use value::{AttributePath, Pending};

    use super::*;

    fn settings() -> Settings {
        Settings {
            default_tags: Value::known(map(&[("env", "prod"), ("team", "none")])),
            cost_allocation: Value::known(map(&[("team", "search")])),
            ..Settings::default()
        }
    }

    fn map(pairs: &[(&str, &str)]) -> Tags {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn the_users_tag_wins_over_cost_allocation_over_default_tags() {
        let stamps = stamps(&settings(), &Value::from("training"));
        let tags = merged(&Value::known(map(&[("env", "dev")])), &stamps);
        let expected = [("env", "dev"), ("managed-by", "mlplat"), ("team", "search"), ("workload-type", "training")];
        assert_eq!(tags.get(), Some(&map(&expected)));
    }

    #[test]
    fn tags_are_pending_while_any_of_them_is() {
        let unknown = Settings { cost_allocation: Value::pending(Pending::Config), ..settings() };
        let stamps = stamps(&unknown, &Value::from("training"));
        let user = Value::known(Tags::new()).at(&AttributePath::new("tags"));
        assert!(merged(&user, &stamps).is_pending());
        assert_eq!(merged(&user, &stamps).origin(), Some(&AttributePath::new("tags")));
        assert_eq!(without_stamps(&stamps)(&serde_json::json!({})), Back::Unsaid);
    }

    #[test]
    fn a_remembered_value_comes_back_and_an_absent_one_says_nothing() {
        let tags = marked(&Value::known(Tags::new()), "mlplat:purpose", &Value::from("training"));
        let found = serde_json::to_value(&tags).expect("a map of texts");
        let read = remembered("mlplat:purpose", |text| Some(Json::from(text)));
        assert_eq!(read(&found), Back::Is(Json::from("training")));
        assert_eq!(read(&serde_json::json!({})), Back::Unsaid);
    }

    #[test]
    fn what_aws_would_refuse_is_refused_with_the_reason() {
        let long = "k".repeat(129);
        let tags =
            map(&[("aws:x", "1"), ("mlplat:owner", "1"), (&long, "1"), ("ok", "a\u{7}b"), ("fine", "a b+c@d/é")]);
        let mut complaints = Diagnostics::new();
        check(&Value::known(tags), &mut complaints);
        assert_eq!(complaints.iter().count(), 4);
        let many: Tags = (0..41).map(|number| (number.to_string(), String::new())).collect();
        let mut complaints = Diagnostics::new();
        check(&Value::known(many), &mut complaints);
        assert_eq!(complaints.iter().map(|c| c.summary.clone()).collect::<Vec<_>>(), ["Too many tags: 41"]);
    }

    proptest! {
        #[test]
        fn what_the_user_gave_comes_back(user in proptest::collection::btree_map("[a-z]{1,3}", "[A-Z]{0,3}", 0..5)) {
            let stamps = stamps(&settings(), &Value::from("training"));
            let written = serde_json::to_value(merged(&Value::known(user.clone()), &stamps)).expect("a map of texts");
            prop_assert_eq!(without_stamps(&stamps)(&written), Back::Is(serde_json::to_value(user).expect("texts")));
        }
    }
}
