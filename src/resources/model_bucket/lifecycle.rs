//! The bucket's lifecycle rules, from days and prefixes, and back.
//!
//! What S3 does with them on a versioned bucket: `expire_after_days` makes an object's current version an old one
//! under a delete marker and frees nothing; old versions go by the days for noncurrent ones; a marker that hides
//! nothing any more goes by the cleanup rule, or with the days of a rule that has any (which is why S3 refuses both in
//! one rule).
//! **Invariant:** no rule that deletes versions covers a protected prefix. S3 knows no exceptions to a rule, so where
//! a prefix is protected the rule for the whole bucket deletes no versions.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use crate::{components::aws::LifecycleRule, resources::names};

/// The rule for the whole bucket.
const CLEANUP: &str = "mlplat-cleanup";
/// Beginning of the ids of the others.
const RETENTION: &str = "mlplat-retention-";
/// S3's limit for an id.
const ID_LIMIT: usize = 255;

/// The rules of a bucket in the user's words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lifecycle {
    /// Days by prefix.
    pub retention: BTreeMap<String, u32>,
    /// Whether a prefix is protected.
    pub has_protected: bool,
    /// Days of old versions. Not told by the rules, and then the smallest number that gives them, where
    /// `has_protected`.
    pub noncurrent_days: u32,
    /// Days of unfinished uploads.
    pub abort_days: u32,
}

// === impl Lifecycle ===

impl Lifecycle {
    /// The rules.
    pub(super) fn rules(&self) -> BTreeSet<LifecycleRule> {
        let cleanup = LifecycleRule {
            id: CLEANUP.to_owned(),
            enabled: true,
            expire_delete_markers: true,
            noncurrent_expire_after_days: (!self.has_protected).then_some(self.noncurrent_days),
            abort_incomplete_uploads_after_days: Some(self.abort_days),
            ..LifecycleRule::default()
        };
        let retention = self.retention.iter().map(|(prefix, days)| LifecycleRule {
            id: names::fitted(&format!("{RETENTION}{prefix}"), ID_LIMIT),
            enabled: true,
            prefix: prefix.clone(),
            expire_after_days: Some(*days),
            noncurrent_expire_after_days: Some(self.noncurrent_days.min(*days)),
            ..LifecycleRule::default()
        });
        retention.chain([cleanup]).collect()
    }

    /// What rules say, if they are rules that `rules` made.
    pub(super) fn read(found: &Json) -> Option<Self> {
        let found: BTreeSet<LifecycleRule> = serde_json::from_value(found.clone()).ok()?;
        let cleanup = found.iter().find(|rule| rule.id == CLEANUP)?;
        let noncurrent = found.iter().filter_map(|rule| rule.noncurrent_expire_after_days).max();
        let lifecycle = Self {
            retention: found.iter().filter_map(|rule| Some((rule.prefix.clone(), rule.expire_after_days?))).collect(),
            has_protected: cleanup.noncurrent_expire_after_days.is_none(),
            noncurrent_days: cleanup.noncurrent_expire_after_days.or(noncurrent).unwrap_or_default(),
            abort_days: cleanup.abort_incomplete_uploads_after_days?,
        };
        (lifecycle.rules() == found).then_some(lifecycle)
    }

    /// The value of the attribute `retention`.
    pub(super) fn retention(&self) -> Json {
        let rules = self.retention.iter().map(|(prefix, days)| json!({ "prefix": prefix, "expire_after_days": days }));
        Json::Array(rules.collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(lifecycle: &Lifecycle) -> Json {
        serde_json::to_value(lifecycle.rules()).expect("rules are plain data")
    }

    proptest! {
        #[test]
        fn what_was_written_is_read_back(
            retention in proptest::collection::btree_map("[a-z/]{0,4}", 1_u32..200, 0..4),
            has_protected: bool,
            noncurrent_days in 1_u32..200,
            abort_days in 1_u32..30,
        ) {
            let written = Lifecycle { retention, has_protected, noncurrent_days, abort_days };
            let read = Lifecycle::read(&found(&written)).expect("ours");
            prop_assert_eq!(&read.retention, &written.retention);
            prop_assert_eq!(read.has_protected, written.has_protected);
            prop_assert_eq!(read.abort_days, written.abort_days);
            if !has_protected {
                prop_assert_eq!(read.noncurrent_days, written.noncurrent_days);
            }
        }

        #[test]
        fn nothing_but_a_retention_prefix_loses_versions_where_a_prefix_is_protected(noncurrent_days in 1_u32..200) {
            let retention = BTreeMap::from([("checkpoints/".to_owned(), 30)]);
            let rules = Lifecycle { retention, has_protected: true, noncurrent_days, abort_days: 7 }.rules();
            let deleting = rules.iter().filter(|r| r.expire_after_days.or(r.noncurrent_expire_after_days).is_some());
            prop_assert_eq!(deleting.map(|rule| rule.prefix.as_str()).collect::<Vec<_>>(), ["checkpoints/"]);
        }
    }

    #[test]
    fn no_rule_has_days_and_marker_expiry_together() {
        let retention = BTreeMap::from([(String::new(), 30)]);
        for rule in (Lifecycle { retention, has_protected: false, noncurrent_days: 90, abort_days: 7 }).rules() {
            assert!(!(rule.expire_delete_markers && rule.expire_after_days.is_some()), "{rule:?}");
        }
    }

    #[test]
    fn a_rule_of_somebody_else_makes_the_rules_not_ours() {
        let mut rules = Lifecycle { noncurrent_days: 90, abort_days: 7, ..Lifecycle::default() }.rules();
        rules.insert(LifecycleRule {
            id: "theirs".to_owned(),
            other: Some("transition".to_owned()),
            ..LifecycleRule::default()
        });
        assert_eq!(Lifecycle::read(&serde_json::to_value(rules).expect("plain data")), None);
        assert_eq!(Lifecycle::read(&Json::Null), None);
    }

    #[test]
    fn a_long_prefix_gives_an_id_within_the_limit() {
        let retention = BTreeMap::from([("p".repeat(600), 1)]);
        let rules = Lifecycle { retention, has_protected: true, noncurrent_days: 90, abort_days: 7 }.rules();
        assert!(rules.iter().all(|rule| rule.id.len() <= ID_LIMIT));
    }
}
