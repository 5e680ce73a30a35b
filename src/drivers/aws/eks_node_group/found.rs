//! What EKS tells of a node group, in the component's words. Pure.

use aws_sdk_eks::types::{
    Issue, Nodegroup, NodegroupHealth, NodegroupResources, NodegroupStatus, Taint as SdkTaint, TaintEffect,
};
use converge::{Observed, Readiness};

use super::full_name;
use crate::{
    components::aws::{NodeGroup, NodeGroupOutputs, Taint},
    drivers::aws::tags::parted,
};

pub(super) fn observed(spec: &NodeGroup, group: Nodegroup) -> Observed<NodeGroup> {
    let readiness = readiness(&group);
    let outputs = outputs(spec, &group);
    let (tags, ownership) = parted(group.tags.clone().unwrap_or_default());
    let found = NodeGroup {
        cluster: spec.cluster.clone(),
        name: spec.name.clone(),
        slot: spec.slot.clone(),
        initial: spec.initial,
        tags,
        ..described(group)
    };
    Observed { spec: found, outputs, ownership, readiness }
}

fn described(group: Nodegroup) -> NodeGroup {
    let scaling = group.scaling_config.as_ref();
    let size = |size: Option<i32>| size.map(i32::cast_unsigned).unwrap_or_default();
    let template = group.launch_template;
    NodeGroup {
        node_role_arn: group.node_role.unwrap_or_default(),
        subnet_ids: group.subnets.unwrap_or_default().into_iter().collect(),
        instance_types: group.instance_types.unwrap_or_default(),
        ami_type: group.ami_type.map(|kind| kind.as_str().to_owned()).unwrap_or_default(),
        capacity_type: group.capacity_type.map(|kind| kind.as_str().to_owned()).unwrap_or_default(),
        release_version: group.release_version,
        min: size(scaling.and_then(|scaling| scaling.min_size)),
        max: size(scaling.and_then(|scaling| scaling.max_size)),
        labels: group.labels.unwrap_or_default().into_iter().collect(),
        taints: group.taints.unwrap_or_default().into_iter().map(taint).collect(),
        node_repair: group.node_repair_config.and_then(|repair| repair.enabled).unwrap_or_default(),
        launch_template_id: template.as_ref().and_then(|template| template.id.clone()).unwrap_or_default(),
        launch_template_version: template.and_then(|template| template.version).unwrap_or_default(),
        ..NodeGroup::default()
    }
}

fn outputs(spec: &NodeGroup, group: &Nodegroup) -> NodeGroupOutputs {
    let desired = group.scaling_config.as_ref().and_then(|scaling| scaling.desired_size);
    let groups = group.resources.as_ref().map(NodegroupResources::auto_scaling_groups).unwrap_or_default();
    NodeGroupOutputs {
        id: full_name(spec),
        arn: group.nodegroup_arn.clone().unwrap_or_default(),
        status: told_status(group),
        live_size: desired.map(i32::cast_unsigned).unwrap_or_default(),
        release_version: group.release_version.clone(),
        autoscaling_group_names: groups.iter().filter_map(|group| group.name.clone()).collect(),
    }
}

/// A state that EKS leaves by itself is waited for; one that it does not is broken, with the issues it names. A
/// degraded group is neither: its nodes run, and it recovers when the cause is gone (no capacity for one node more,
/// say). Making it anew would drain nodes that serve, and could fail for the same cause.
fn readiness(group: &Nodegroup) -> Readiness {
    match &group.status {
        Some(NodegroupStatus::Active | NodegroupStatus::Degraded) => Readiness::Ready,
        Some(NodegroupStatus::CreateFailed | NodegroupStatus::DeleteFailed) => Readiness::broken(with_issues(group)),
        _ => Readiness::Waiting(with_issues(group)),
    }
}

fn told_status(group: &Nodegroup) -> String {
    if group.status == Some(NodegroupStatus::Degraded) { with_issues(group) } else { status(group).to_owned() }
}

fn with_issues(group: &Nodegroup) -> String {
    let issues: Vec<_> = group.health.iter().flat_map(NodegroupHealth::issues).map(issue).collect();
    match issues.as_slice() {
        [] => status(group).to_owned(),
        issues => format!("{}: {}", status(group), issues.join("; ")),
    }
}

fn status(group: &Nodegroup) -> &str {
    group.status.as_ref().map_or("UNKNOWN", NodegroupStatus::as_str)
}

fn issue(issue: &Issue) -> String {
    let code = issue.code().map_or("Unknown", |code| code.as_str());
    let message = issue.message().unwrap_or("EKS gives no reason");
    match issue.resource_ids() {
        [] => format!("{code}: {message}"),
        ids => format!("{code}: {message} ({})", ids.join(", ")),
    }
}

fn taint(taint: SdkTaint) -> Taint {
    let effect = match taint.effect.as_ref().map(TaintEffect::as_str) {
        Some("NO_SCHEDULE") => "NoSchedule",
        Some("NO_EXECUTE") => "NoExecute",
        Some("PREFER_NO_SCHEDULE") => "PreferNoSchedule",
        // As it stands: an effect newer than this provider differs from any of ours.
        other => other.unwrap_or_default(),
    };
    Taint { key: taint.key.unwrap_or_default(), value: taint.value.unwrap_or_default(), effect: effect.to_owned() }
}

#[cfg(test)]
mod tests {
    use aws_sdk_eks::types::{NodegroupIssueCode, NodegroupScalingConfig, builders::NodegroupBuilder};
    use converge::{Owner, Ownership};

    use super::*;
    use crate::components::aws::OWNER_TAG;

    fn group(status: NodegroupStatus) -> NodegroupBuilder {
        Nodegroup::builder().status(status)
    }

    fn failed(status: NodegroupStatus) -> Nodegroup {
        let issue = Issue::builder()
            .code(NodegroupIssueCode::NodeCreationFailure)
            .message("Instances failed to join the kubernetes cluster")
            .resource_ids("i-0abc")
            .build();
        group(status).health(NodegroupHealth::builder().issues(issue).build()).build()
    }

    #[test]
    fn a_failed_group_is_broken_and_names_its_issues() {
        let words = "NodeCreationFailure: Instances failed to join the kubernetes cluster (i-0abc)";
        for status in [NodegroupStatus::CreateFailed, NodegroupStatus::DeleteFailed] {
            let expected = format!("{}: {words}", status.as_str());
            assert_eq!(readiness(&failed(status)), Readiness::broken(expected));
        }
        let creating = readiness(&failed(NodegroupStatus::Creating));
        assert_eq!(creating, Readiness::Waiting(format!("CREATING: {words}")));
    }

    #[test]
    fn a_degraded_group_is_left_in_use_and_its_status_names_the_issues() {
        let group = failed(NodegroupStatus::Degraded);
        assert_eq!(readiness(&group), Readiness::Ready);
        assert_eq!(
            told_status(&group),
            "DEGRADED: NodeCreationFailure: Instances failed to join the kubernetes cluster (i-0abc)"
        );
        assert_eq!(told_status(&failed(NodegroupStatus::Creating)), "CREATING");
    }

    #[test]
    fn a_group_is_ready_when_it_is_active() {
        assert_eq!(readiness(&group(NodegroupStatus::Active).build()), Readiness::Ready);
        for status in [NodegroupStatus::Updating, NodegroupStatus::Deleting, "NEW_STATE".into()] {
            let name = status.as_str().to_owned();
            assert_eq!(readiness(&group(status).build()), Readiness::Waiting(name));
        }
    }

    #[test]
    fn a_group_is_told_in_the_components_words() {
        let sdk_taint = SdkTaint::builder().key("nvidia.com/gpu").effect(TaintEffect::NoSchedule).build();
        let scaling = NodegroupScalingConfig::builder().min_size(1).max_size(4).desired_size(3).build();
        let group = group(NodegroupStatus::Active)
            .taints(sdk_taint)
            .scaling_config(scaling)
            .tags(OWNER_TAG, "mlplat_gpu_pool/ml/gpu")
            .tags("team", "a")
            .build();
        let spec = NodeGroup { name: "gpu".to_owned(), slot: Some("b".to_owned()), initial: 2, ..Default::default() };
        let observed = observed(&spec, group);
        assert_eq!(observed.ownership, Ownership::Marked(Owner("mlplat_gpu_pool/ml/gpu".to_owned())));
        assert_eq!((observed.spec.min, observed.spec.max, observed.outputs.live_size), (1, 4, 3));
        assert_eq!((observed.spec.initial, observed.outputs.id.as_str()), (2, "gpu-b"));
        let taint = observed.spec.taints.first().expect("one taint");
        assert_eq!((taint.value.as_str(), taint.effect.as_str()), ("", "NoSchedule"));
    }
}
