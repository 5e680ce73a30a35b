//! Tags: the owner's mark among them, and what of them to write.

use std::collections::BTreeSet;

use converge::{Changes, Component, Owner, Ownership};

use crate::components::aws::{OWNER_TAG, Tags};

/// What to write so that our tags are as wanted and those of others stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TagChange {
    /// Tags to set.
    pub(crate) put: Tags,
    /// Keys to remove.
    pub(crate) remove: BTreeSet<String>,
}

/// The tags of a new object.
pub(crate) fn marked(tags: &Tags, owner: &Owner) -> Tags {
    let mut tags = tags.clone();
    tags.insert(OWNER_TAG.to_owned(), owner.0.clone());
    tags
}

/// Tags as the API has them, parted into the mark and the others. AWS's own, which nobody can set, are left out.
pub(crate) fn parted(tags: impl IntoIterator<Item = (String, String)>) -> (Tags, Ownership) {
    let mut tags: Tags = tags.into_iter().filter(|(key, _)| !key.starts_with("aws:")).collect();
    let ownership = tags.remove(OWNER_TAG).map_or(Ownership::Unmarked, |mark| Ownership::Marked(Owner(mark)));
    (tags, ownership)
}

// === impl TagChange ===

impl TagChange {
    /// The change from the tags `found` to those wanted.
    pub(crate) fn of<C: Component>(changes: &Changes<'_, C>, wanted: &Tags, found: &Tags) -> Self {
        let differs = |(key, value): &(&String, &String)| found.get(*key) != Some(*value);
        let mut put: Tags = wanted.iter().filter(differs).map(|(k, v)| (k.clone(), v.clone())).collect();
        if changes.owner_missing {
            put.insert(OWNER_TAG.to_owned(), changes.owner.0.clone());
        }
        Self { put, remove: changes.removed_keys.get("tags").cloned().unwrap_or_default() }
    }

    /// `tags` after the change, for APIs that take all tags at once.
    pub(crate) fn applied_to(&self, mut tags: Tags) -> Tags {
        tags.retain(|key, _| !self.remove.contains(key));
        tags.extend(self.put.clone());
        tags
    }

    /// Whether there is nothing to write.
    pub(crate) fn is_empty(&self) -> bool {
        self.put.is_empty() && self.remove.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(pairs: &[(&str, &str)]) -> Tags {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn the_mark_is_not_one_of_the_tags() {
        let owner = Owner("mlplat_model_bucket/b".to_owned());
        let all = marked(&tags(&[("team", "a")]), &owner);
        let (found, ownership) = parted(all.into_iter().chain(tags(&[("aws:cloudformation:stack-id", "s")])));
        assert_eq!((found, ownership), (tags(&[("team", "a")]), Ownership::Marked(owner)));
        assert_eq!(parted(tags(&[])).1, Ownership::Unmarked);
    }

    #[test]
    fn tags_of_others_stay() {
        let change = TagChange { put: tags(&[("team", "b")]), remove: BTreeSet::from(["old".to_owned()]) };
        let after = change.applied_to(tags(&[("team", "a"), ("old", "1"), ("theirs", "2"), ("aws:x", "3")]));
        assert_eq!(after, tags(&[("team", "b"), ("theirs", "2"), ("aws:x", "3")]));
    }
}
