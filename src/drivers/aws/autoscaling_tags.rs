//! Our tags on a scaling group that EKS made.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use aws_sdk_autoscaling::{
    Client,
    types::{AutoScalingGroup, Tag},
};
use converge::{Changes, Creation, Cx, Driver, Fault, Observed, Ownership, Readiness};

use crate::{
    components::aws::{AutoscalingTags, Tags},
    drivers::{
        aws::{
            Aws,
            fault::{Absence, call},
            tags::{TagChange, parted},
        },
        gather::Gather,
    },
};

pub(super) struct AutoscalingTagsDriver {
    aws: Arc<Aws>,
    groups: Gather<Tags>,
}

/// Most names that DescribeAutoScalingGroups takes, and answers in one page.
const NAMES: usize = 100;

impl AutoscalingTagsDriver {
    pub(super) fn new(aws: Arc<Aws>) -> Self {
        Self { aws, groups: Gather::new(NAMES) }
    }

    async fn put(&self, group: &str, tags: &Tags) -> Result<(), Fault> {
        if tags.is_empty() {
            return Ok(());
        }
        let tags = tags.iter().map(|(key, value)| tag(group, key).value(value).propagate_at_launch(false).build());
        let sent = self.aws.autoscaling().await?.create_or_update_tags().set_tags(Some(tags.collect())).send();
        call("autoscaling:CreateOrUpdateTags", words(group), sent).await.map(drop)
    }

    async fn remove<'a>(&self, group: &str, keys: impl Iterator<Item = &'a String>) -> Result<(), Fault> {
        let tags: Vec<_> = keys.map(|key| tag(group, key).build()).collect();
        if tags.is_empty() {
            return Ok(());
        }
        let sent = self.aws.autoscaling().await?.delete_tags().set_tags(Some(tags)).send();
        call("autoscaling:DeleteTags", words(group), sent).await.or_absent().map(drop)
    }
}

impl Driver<AutoscalingTags> for AutoscalingTagsDriver {
    const ACTIONS: &'static [&'static str] =
        &["autoscaling:CreateOrUpdateTags", "autoscaling:DeleteTags", "autoscaling:DescribeAutoScalingGroups"];

    async fn observe(&self, cx: &Cx, spec: &AutoscalingTags) -> Result<Option<Observed<AutoscalingTags>>, Fault> {
        let aws = Arc::clone(&self.aws);
        let answer = move |names| {
            let aws = Arc::clone(&aws);
            async move { groups(aws.autoscaling().await?, names).await }
        };
        let Some(tags) = self.groups.ask(cx, &spec.autoscaling_group, answer).await? else { return Ok(None) };
        // The tags are the object: where none of them is there, it is absent though the group is not.
        if !spec.tags.is_empty() && !spec.tags.keys().any(|key| tags.contains_key(key)) {
            return Ok(None);
        }
        let spec = AutoscalingTags { tags, ..spec.clone() };
        Ok(Some(Observed { spec, outputs: (), ownership: Ownership::Inherited, readiness: Readiness::Ready }))
    }

    async fn create(
        &self,
        _cx: &Cx,
        spec: &AutoscalingTags,
        _creation: &Creation<'_, AutoscalingTags>,
    ) -> Result<(), Fault> {
        self.put(&spec.autoscaling_group, &spec.tags).await
    }

    async fn update(
        &self,
        _cx: &Cx,
        spec: &AutoscalingTags,
        changes: &Changes<'_, AutoscalingTags>,
    ) -> Result<(), Fault> {
        let change = TagChange::of(changes, &spec.tags, &changes.found.spec.tags);
        self.put(&spec.autoscaling_group, &change.put).await?;
        self.remove(&spec.autoscaling_group, change.remove.iter()).await
    }

    async fn delete(&self, _cx: &Cx, spec: &AutoscalingTags, _found: &Observed<AutoscalingTags>) -> Result<(), Fault> {
        self.remove(&spec.autoscaling_group, spec.tags.keys()).await
    }
}

/// The tags of each group that is there.
async fn groups(client: &Client, names: BTreeSet<String>) -> Result<BTreeMap<String, Tags>, Fault> {
    let object = format!("scaling groups {}", names.iter().map(String::as_str).collect::<Vec<_>>().join(", "));
    let (mut found, mut token) = (BTreeMap::new(), None);
    loop {
        let request = client.describe_auto_scaling_groups();
        let names = names.iter().cloned().collect();
        let sent = request.set_auto_scaling_group_names(Some(names)).set_next_token(token).send();
        let page = call("autoscaling:DescribeAutoScalingGroups", &object, sent).await?;
        found.extend(page.auto_scaling_groups.unwrap_or_default().into_iter().filter_map(named));
        token = page.next_token.filter(|token| !token.is_empty());
        if token.is_none() {
            return Ok(found);
        }
    }
}

fn named(group: AutoScalingGroup) -> Option<(String, Tags)> {
    let tags = group.tags.unwrap_or_default().into_iter();
    let (tags, _) = parted(tags.filter_map(|tag| Some((tag.key?, tag.value.unwrap_or_default()))));
    Some((group.auto_scaling_group_name?, tags))
}

fn tag(group: &str, key: &str) -> aws_sdk_autoscaling::types::builders::TagBuilder {
    Tag::builder().resource_id(group).resource_type("auto-scaling-group").key(key)
}

fn words(group: &str) -> String {
    format!("scaling group {group:?}")
}
