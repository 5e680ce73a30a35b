//! What to ask EKS for. Pure.

use aws_sdk_eks::types::{
    LaunchTemplateSpecification, NodeRepairConfig, NodegroupScalingConfig, Taint as SdkTaint, UpdateLabelsPayload,
    UpdateTaintsPayload,
};
use converge::Observed;

use crate::components::aws::{NodeGroup, Taint};

/// The sizes at creation: as many nodes as the group it takes the place of, else the initial number.
pub(super) fn first_scaling(spec: &NodeGroup, live: Option<u32>) -> NodegroupScalingConfig {
    sizes(spec).desired_size(within(spec, live.unwrap_or(spec.initial))).build()
}

/// The sizes to change, if any. The number of nodes is sent only where the new range leaves it outside: EKS refuses
/// a range that does not hold it, and otherwise it is an autoscaler's.
pub(super) fn scaling(spec: &NodeGroup, found: &Observed<NodeGroup>) -> Option<NodegroupScalingConfig> {
    if (spec.min, spec.max) == (found.spec.min, found.spec.max) {
        return None;
    }
    let live = found.outputs.live_size.cast_signed();
    let desired = within(spec, found.outputs.live_size);
    Some(sizes(spec).set_desired_size((desired != live).then_some(desired)).build())
}

pub(super) fn node_repair(spec: &NodeGroup) -> NodeRepairConfig {
    NodeRepairConfig::builder().enabled(spec.node_repair).build()
}

pub(super) fn launch_template(spec: &NodeGroup) -> LaunchTemplateSpecification {
    LaunchTemplateSpecification::builder().id(&spec.launch_template_id).version(&spec.launch_template_version).build()
}

/// The labels to change, if any.
pub(super) fn label_change(spec: &NodeGroup, found: &NodeGroup) -> Option<UpdateLabelsPayload> {
    let put = spec.labels.iter().filter(|(key, value)| found.labels.get(*key) != Some(*value));
    let put: Vec<_> = put.map(|(key, value)| (key.clone(), value.clone())).collect();
    let remove: Vec<_> = found.labels.keys().filter(|key| !spec.labels.contains_key(*key)).cloned().collect();
    let change = UpdateLabelsPayload::builder()
        .set_add_or_update_labels((!put.is_empty()).then(|| put.iter().cloned().collect()))
        .set_remove_labels((!remove.is_empty()).then(|| remove.clone()));
    (!put.is_empty() || !remove.is_empty()).then(|| change.build())
}

/// The taints to change, if any. A taint is the same one while its key and effect are.
pub(super) fn taint_change(spec: &NodeGroup, found: &NodeGroup) -> Option<UpdateTaintsPayload> {
    let put: Vec<_> = spec.taints.difference(&found.taints).map(taint).collect();
    let stays = |old: &Taint| spec.taints.iter().any(|new| (&new.key, &new.effect) == (&old.key, &old.effect));
    let remove: Vec<_> = found.taints.iter().filter(|old| !stays(old)).map(taint).collect();
    let is_empty = put.is_empty() && remove.is_empty();
    let change = UpdateTaintsPayload::builder()
        .set_add_or_update_taints((!put.is_empty()).then_some(put))
        .set_remove_taints((!remove.is_empty()).then_some(remove));
    (!is_empty).then(|| change.build())
}

pub(super) fn taint(taint: &Taint) -> SdkTaint {
    let effect = match taint.effect.as_str() {
        "NoSchedule" => "NO_SCHEDULE",
        "NoExecute" => "NO_EXECUTE",
        "PreferNoSchedule" => "PREFER_NO_SCHEDULE",
        other => other,
    };
    let value = (!taint.value.is_empty()).then(|| taint.value.clone());
    SdkTaint::builder().key(&taint.key).set_value(value).effect(effect.into()).build()
}

fn sizes(spec: &NodeGroup) -> aws_sdk_eks::types::builders::NodegroupScalingConfigBuilder {
    NodegroupScalingConfig::builder().min_size(spec.min.cast_signed()).max_size(spec.max.cast_signed())
}

fn within(spec: &NodeGroup, size: u32) -> i32 {
    size.min(spec.max).max(spec.min).cast_signed()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use aws_sdk_eks::types::TaintEffect;
    use converge::{Ownership, Readiness};

    use super::*;
    use crate::components::aws::NodeGroupOutputs;

    fn sized(min: u32, max: u32) -> NodeGroup {
        NodeGroup { min, max, initial: 3, ..NodeGroup::default() }
    }

    fn live(spec: NodeGroup, live_size: u32) -> Observed<NodeGroup> {
        let outputs = NodeGroupOutputs { live_size, ..NodeGroupOutputs::default() };
        Observed { spec, outputs, ownership: Ownership::Unmarked, readiness: Readiness::Ready }
    }

    fn change(spec: &NodeGroup, found: &Observed<NodeGroup>) -> Option<(Option<i32>, Option<i32>, Option<i32>)> {
        scaling(spec, found).map(|scaling| (scaling.min_size, scaling.max_size, scaling.desired_size))
    }

    #[test]
    fn a_raised_minimum_raises_the_number_of_nodes_in_the_same_call() {
        assert_eq!(change(&sized(2, 2), &live(sized(1, 2), 1)), Some((Some(2), Some(2), Some(2))));
        assert_eq!(change(&sized(0, 2), &live(sized(0, 6), 5)), Some((Some(0), Some(2), Some(2))));
    }

    #[test]
    fn the_number_of_nodes_is_the_autoscalers_within_the_range() {
        assert_eq!(change(&sized(3, 9), &live(sized(3, 6), 6)), Some((Some(3), Some(9), None)));
        assert_eq!(change(&sized(3, 6), &live(sized(3, 6), 6)), None);
    }

    #[test]
    fn a_group_that_takes_the_place_of_another_starts_with_as_many_nodes() {
        let desired = |spec, live| first_scaling(&spec, live).desired_size;
        assert_eq!(desired(sized(0, 6), None), Some(3));
        assert_eq!(desired(sized(0, 6), Some(5)), Some(5));
        assert_eq!(desired(sized(0, 4), Some(5)), Some(4));
        assert_eq!(desired(sized(4, 6), None), Some(4), "the initial number lies within the range");
    }

    #[test]
    fn only_labels_that_differ_are_sent() {
        let labelled = |pairs: &[(&str, &str)]| NodeGroup {
            labels: pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect::<BTreeMap<_, _>>(),
            ..NodeGroup::default()
        };
        let change = label_change(&labelled(&[("a", "1"), ("b", "2")]), &labelled(&[("a", "1"), ("c", "3")]));
        let change = change.expect("labels differ");
        assert_eq!(change.add_or_update_labels().map(std::collections::HashMap::len), Some(1));
        assert_eq!(change.remove_labels(), ["c"]);
        assert!(label_change(&labelled(&[("a", "1")]), &labelled(&[("a", "1")])).is_none());
    }

    #[test]
    fn a_taint_with_a_new_value_is_not_removed() {
        let tainted = |taints: &[(&str, &str, &str)]| NodeGroup {
            taints: taints
                .iter()
                .map(|(key, value, effect)| Taint {
                    key: (*key).to_owned(),
                    value: (*value).to_owned(),
                    effect: (*effect).to_owned(),
                })
                .collect(),
            ..NodeGroup::default()
        };
        let spec = tainted(&[("gpu", "new", "NoSchedule")]);
        let found = tainted(&[("gpu", "old", "NoSchedule"), ("gone", "", "NoExecute")]);
        let change = taint_change(&spec, &found).expect("taints differ");
        let keys = |taints: &[SdkTaint]| taints.iter().filter_map(|taint| taint.key.clone()).collect::<Vec<_>>();
        assert_eq!(keys(change.add_or_update_taints()), ["gpu"]);
        assert_eq!(keys(change.remove_taints()), ["gone"]);
        assert_eq!(change.remove_taints()[0].effect.as_ref().map(TaintEffect::as_str), Some("NO_EXECUTE"));
        assert!(taint_change(&spec, &spec).is_none());
    }
}
