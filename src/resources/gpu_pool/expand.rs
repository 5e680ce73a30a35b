//! The child objects of a GPU pool.

use std::collections::BTreeSet;

use converge::{Graph, Handle};
use serde_json::{Value as Json, json};
use tf_provider::Attributes;
use value::{Back, Value};

use super::{
    GpuPool,
    attributes::{CapacityType, Purpose, Scaler},
    hardware::{Hardware, Request},
    marks, nodes, outputs,
};
use crate::{
    catalog::ImageFamily,
    components::aws::{
        AutoscalingTagsDraft, IamRole, IamRoleDraft, IamRoleOutputs, LaunchTemplate, LaunchTemplateDraft,
        LaunchTemplateOutputs, NodeGroup, NodeGroupDraft, NodeGroupOutputs, Tags,
    },
    resources::{arn, fill_in, names, tags},
    settings::Settings,
};

const ROLE_NAME_LIMIT: usize = 64;
const TEMPLATE_NAME_LIMIT: usize = 128;

/// What a node needs: to join the cluster, to pull images, to give pods addresses, and to be reached through Systems
/// Manager, since it has no SSH key.
const NODE_POLICIES: [&str; 4] = [
    "AmazonEC2ContainerRegistryPullOnly",
    "AmazonEKSWorkerNodePolicy",
    "AmazonEKS_CNI_Policy",
    "AmazonSSMManagedInstanceCore",
];

/// What several objects are made from.
struct Parts {
    hardware: Value<Hardware>,
    stamps: Value<Tags>,
    tags: Value<Tags>,
}

pub(super) fn expand(pool: &mut GpuPool, settings: &Settings, graph: &mut Graph) {
    let hardware = fill_in_defaults(pool);
    let stamps = tags::stamps(settings, &pool.purpose.map(|purpose| purpose.as_str().to_owned()));
    let parts = Parts { hardware, tags: tags::merged(&pool.tags, &stamps), stamps };
    let role = add_role(pool, settings, &parts, graph);
    let template = add_template(pool, &parts, graph);
    let labels = nodes::labels(pool, &nodes::own_labels(pool, settings, &parts.hardware));
    let taints = nodes::taints(pool);
    let draft = NodeGroupDraft {
        node_role_arn: node_role_arn(pool, role.as_ref()),
        launch_template_id: template.output(LaunchTemplateOutputs::ID),
        launch_template_version: template.output(LaunchTemplateOutputs::VERSION),
        labels: labels.clone(),
        taints: taints.clone(),
        ..node_group(pool, &parts)
    };
    let group = graph.add("node_group", draft);
    set_outputs(pool, &parts, role.as_ref(), &template, &group);
    pool.tolerations = nodes::tolerations(&taints);
    if graph.shape(&pool.scaler) == Some(&Scaler::ClusterAutoscaler) {
        let template = nodes::NodeTemplate {
            cluster: &pool.cluster,
            labels: &labels,
            taints: &taints,
            hardware: &parts.hardware,
            disk_gib: &disk_gib(pool),
        };
        add_autoscaling_tags(&template, &group, graph);
    }
}

fn fill_in_defaults(pool: &mut GpuPool) -> Value<Hardware> {
    pool.fill_defaults();
    pool.instance_types.default_to_value(marks::request(pool).map(Request::instance_types));
    let disk_gib = pool.purpose.map(|purpose| if *purpose == Purpose::Training { 500 } else { 200 });
    fill_in(&mut pool.disk, |disk| {
        disk.size_gib.default_to_value(disk_gib);
        disk.fill_defaults();
    });
    if let Some(size) = pool.size.get_mut() {
        size.initial.default_to_value(size.min.clone());
    }
    let hardware = pool.instance_types.map(|names| Hardware::of(names));
    let vendor = hardware.and_then(|hardware| Value::from(hardware.vendor()));
    pool.taints.default_to_value(vendor.map(|vendor| nodes::default_taints(*vendor)));
    hardware
}

// `mlplat-<cluster>-<pool>`, within the limit.
fn derived_name(pool: &GpuPool, limit: usize) -> Value<String> {
    named(pool, |cluster, name| names::fitted(&format!("mlplat-{cluster}-{name}"), limit))
}

fn named(pool: &GpuPool, text: impl FnOnce(&str, &str) -> String) -> Value<String> {
    pool.cluster
        .with(&pool.name, |cluster, name| text(cluster.map_or("", String::as_str), name.map_or("", String::as_str)))
}

// A role of the derived name is ours, however the attribute came by its ARN: a state has it there too, and an import
// finds it on the node group.
fn add_role(pool: &mut GpuPool, settings: &Settings, parts: &Parts, graph: &mut Graph) -> Option<Handle<IamRole>> {
    let name = derived_name(pool, ROLE_NAME_LIMIT);
    let given = graph.shape(&pool.node_role_arn).cloned();
    let is_ours = given
        .as_deref()
        .map_or(!pool.node_role_arn.is_pending(), |arn| arn::role_name(arn) == name.get().map(String::as_str));
    if !is_ours {
        return None;
    }
    let partition =
        settings.region.with(&Value::<()>::null(), |region, _| region.map_or("aws", |region| arn::partition(region)));
    let role = graph.add(
        "node_role",
        IamRoleDraft {
            name,
            description: named(pool, |cluster, name| format!("Nodes of the pool {name} in the EKS cluster {cluster}")),
            trust_policy: partition.map(|partition| trust_policy(partition)).blamed_on(&pool.node_role_arn),
            managed_policy_arns: partition.map(|partition| policy_arns(partition)).blamed_on(&pool.node_role_arn),
            tags: parts.tags.clone(),
        },
    );
    pool.node_role_arn.default_to_value(role.output(IamRoleOutputs::ARN));
    Some(role)
}

fn trust_policy(partition: &str) -> Json {
    let suffix = if partition == "aws-cn" { ".cn" } else { "" };
    json!({
        "Version": "2012-10-17",
        "Statement": [{
            "Sid": "EKSNodes",
            "Effect": "Allow",
            "Principal": { "Service": format!("ec2.amazonaws.com{suffix}") },
            "Action": "sts:AssumeRole",
        }],
    })
}

fn policy_arns(partition: &str) -> BTreeSet<String> {
    NODE_POLICIES.iter().map(|name| format!("arn:{partition}:iam::aws:policy/{name}")).collect()
}

fn node_role_arn(pool: &GpuPool, role: Option<&Handle<IamRole>>) -> Value<String> {
    let Some(role) = role else { return pool.node_role_arn.clone() };
    let ours = derived_name(pool, ROLE_NAME_LIMIT);
    role.output(IamRoleOutputs::ARN).blamed_on(&pool.node_role_arn).mirrored(&pool.node_role_arn, move |found| {
        match found.as_str() {
            Some(arn) if arn::role_name(arn) != ours.get().map(String::as_str) => Back::Is(found.clone()),
            _ => Back::Unsaid,
        }
    })
}

fn add_template(pool: &GpuPool, parts: &Parts, graph: &mut Graph) -> Handle<LaunchTemplate> {
    let device = image_family(pool).map(|family| family.data_device().to_owned());
    let instance_tags = parts.tags.with(&pool.name, |tags, name| {
        let mut tags = tags.cloned().unwrap_or_default();
        if let Some(name) = name {
            tags.entry("Name".to_owned()).or_insert_with(|| name.clone());
        }
        tags
    });
    graph.add(
        "launch_template",
        LaunchTemplateDraft {
            name: derived_name(pool, TEMPLATE_NAME_LIMIT),
            device_name: device,
            volume_size_gib: disk_gib(pool),
            volume_type: pool.disk.and_then(|disk| disk.kind.clone()),
            volume_iops: pool.disk.and_then(|disk| disk.iops.clone()),
            volume_throughput_mibps: pool.disk.and_then(|disk| disk.throughput_mibps.clone()),
            metadata_http_tokens: Value::from("required"),
            // One hop more than the node's own: agents on the pod network ask for the node's region and zone.
            metadata_hop_limit: Value::known(2),
            instance_tags: instance_tags.blamed_on(&pool.tags),
            tags: parts.tags.clone(),
        },
    )
}

fn disk_gib(pool: &GpuPool) -> Value<u32> {
    pool.disk.and_then(|disk| disk.size_gib.clone())
}

fn image_family(pool: &GpuPool) -> Value<ImageFamily> {
    pool.image.and_then(|image| image.family.and_then(|name| Value::from(ImageFamily::parse(name).ok())))
}

// The node group without what comes from other objects.
fn node_group(pool: &GpuPool, parts: &Parts) -> NodeGroupDraft {
    let tags = marks::marked(pool, &parts.tags).mirrored(&pool.tags, tags::without_stamps(&parts.stamps));
    NodeGroupDraft {
        cluster: pool.cluster.clone(),
        name: pool.name.clone(),
        subnet_ids: pool.subnet_ids.clone(),
        instance_types: pool.instance_types.clone(),
        ami_type: image_type(pool, &parts.hardware),
        capacity_type: capacity_type(pool),
        // Found on every group; only one that is pinned is the user's, and a tag remembers that.
        release_version: pool.image.and_then(|image| image.release.map(String::clone)),
        min: pool.size.and_then(|size| size.min.clone()),
        max: pool.size.and_then(|size| size.max.clone()),
        // Found as the live size, which says nothing of the attribute.
        initial: pool.size.and_then(|size| size.initial.map(|initial| *initial)),
        node_repair: pool.node_repair.clone(),
        tags,
        ..NodeGroupDraft::default()
    }
}

fn image_type(pool: &GpuPool, hardware: &Value<Hardware>) -> Value<String> {
    let family = pool.image.and_then(|image| image.family.clone());
    let known = image_family(pool);
    let image_type = hardware.and_then(|hardware| {
        known.and_then(|family| Value::from(hardware.image_type(*family).and_then(Result::ok).map(str::to_owned)))
    });
    image_type.blamed_on(&family).mirrored(&family, |found| {
        let found = found.as_str().unwrap_or_default().to_ascii_lowercase();
        let family = [ImageFamily::Al2023, ImageFamily::Bottlerocket]
            .into_iter()
            .find(|family| found.starts_with(family.name()));
        family.map_or(Back::Unsaid, |family| Back::Is(Json::from(family.name())))
    })
}

fn capacity_type(pool: &GpuPool) -> Value<String> {
    let kind = pool.capacity.and_then(|capacity| capacity.kind.clone());
    let word = kind.map(|kind| kind.as_str().to_uppercase());
    word.mirrored(&kind, |found| {
        let word = found.as_str().map(str::to_ascii_lowercase);
        let kind = word.as_deref().and_then(CapacityType::from_word);
        kind.map_or(Back::Unsaid, |kind| Back::Is(Json::from(kind.as_str())))
    })
}

fn set_outputs(
    pool: &mut GpuPool,
    parts: &Parts,
    role: Option<&Handle<IamRole>>,
    template: &Handle<LaunchTemplate>,
    group: &Handle<NodeGroup>,
) {
    if let Some(role) = role {
        pool.node_role_arn.default_to_value(role.output(IamRoleOutputs::ARN));
    }
    pool.arn = group.output(NodeGroupOutputs::ARN);
    pool.status = group.output(NodeGroupOutputs::STATUS);
    pool.live_size = group.output(NodeGroupOutputs::LIVE_SIZE);
    pool.autoscaling_group_names = group.output(NodeGroupOutputs::AUTOSCALING_GROUP_NAMES);
    pool.launch_template_id = template.output(LaunchTemplateOutputs::ID);
    pool.gpu = outputs::gpu(pool, &parts.hardware);
    pool.cost = outputs::cost(pool, &parts.hardware);
    pool.node_selector = pool.name.map(|name| Tags::from([(nodes::POOL_LABEL.to_owned(), name.clone())]));
}

fn add_autoscaling_tags(template: &nodes::NodeTemplate<'_>, group: &Handle<NodeGroup>, graph: &mut Graph) {
    let names = group.output(NodeGroupOutputs::AUTOSCALING_GROUP_NAMES);
    // A managed node group has one scaling group.
    let autoscaling_group = names.and_then(|names| Value::from(names.first().cloned()));
    let tags = graph.add("autoscaling_tags", AutoscalingTagsDraft { autoscaling_group, tags: template.tags() });
    graph.after(&tags, group);
}
