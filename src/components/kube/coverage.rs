//! What pods request without asking, against what a Kueue queue has quota of. Pure; in words that are the same whoever
//! finds it out.

use std::collections::BTreeSet;

/// A one-line summary, and the reason with advice, where containers of a namespace get resources from a LimitRange of
/// which the queue has no quota. CPU and memory, which nearly every pod asks for, are not told once more.
pub fn uncovered(namespace: &str, requested: &BTreeSet<String>, covered: &BTreeSet<&str>) -> Option<(String, String)> {
    let is_missing = |name: &&String| !covered.contains(name.as_str()) && !["cpu", "memory"].contains(&name.as_str());
    let missing: Vec<_> = requested.iter().filter(is_missing).map(|name| format!("{name:?}")).collect();
    let missing = (!missing.is_empty()).then(|| missing.join(", "))?;
    Some((
        format!(
            "Containers in namespace {namespace:?} get {missing} from a LimitRange, and the queue has no quota of it"
        ),
        "Kueue counts what a LimitRange adds as asked for, so no workload of this namespace is ever admitted, unless \
         Kueue is configured to leave the resource out (`excludeResourcePrefixes`).\n\nGive each flavor a quota of \
         it, or take it out of the LimitRange."
            .to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_no_quota_and_is_not_told_elsewhere_is_told() {
        let requested = ["cpu", "ephemeral-storage", "nvidia.com/gpu"].map(str::to_owned).into();
        let told = uncovered("a", &requested, &["nvidia.com/gpu"].into()).map(|(summary, _)| summary);
        assert_eq!(
            told.as_deref(),
            Some(
                "Containers in namespace \"a\" get \"ephemeral-storage\" from a LimitRange, and the queue has no quota of it"
            )
        );
        assert_eq!(uncovered("a", &requested, &["ephemeral-storage", "nvidia.com/gpu"].into()), None);
    }
}
