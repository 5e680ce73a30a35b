//! What a configuration becomes, and how it comes back.

use std::collections::BTreeMap;

use converge::Document;
use serde_json::{Value as Json, json};

use super::config;
use crate::resources::{
    GpuPool,
    testing::{drifted, expanded, imported, text},
};

fn field(config: &Json, component: &str, field: &str) -> Json {
    let (_, graph) = expanded::<GpuPool>(config, BTreeMap::new());
    graph.nodes()[component].document().get(field).cloned().unwrap_or_default()
}

fn outputs(component: &str, outputs: Json) -> (String, Document) {
    let Json::Object(outputs) = outputs else { panic!("outputs are an object") };
    (component.to_owned(), outputs)
}

/// Everything that can be set.
fn whole() -> Json {
    config(json!({
        "purpose": "training",
        "instance_types": ["g6e.12xlarge"],
        "size": { "min": 1, "max": 3, "initial": 2 },
        "capacity": { "type": "spot" },
        "image": { "family": "bottlerocket", "release": "1.50.0" },
        "disk": { "size_gib": 600, "type": "gp3", "iops": 6000, "throughput_mibps": 500 },
        "node_role_arn": "arn:aws:iam::123456789012:role/nodes",
        "labels": { "node-type": "gpu-training" },
        "taints": [
            { "key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule" },
            { "key": "team", "effect": "NoExecute" },
        ],
        "node_repair": false,
        "scaler": "none",
        "max_hourly_cost_usd": 60.5,
        "tags": { "data": "public" },
    }))
}

#[test]
#[expect(clippy::too_many_lines, reason = "a snapshot is one text")]
fn the_least_configuration_gives_a_safe_pool() {
    let (_, graph) = expanded::<GpuPool>(&config(json!({})), BTreeMap::new());
    insta::assert_snapshot!(text(&graph), @r#"
    autoscaling_tags: aws_autoscaling_tags after node_group
      autoscaling_group <- node_group.autoscaling_group_names
      tags[k8s.io/cluster-autoscaler/enabled] = "true"
      tags[k8s.io/cluster-autoscaler/ml-prod] = "owned"
      tags[k8s.io/cluster-autoscaler/node-template/label/k8s.amazonaws.com/accelerator] = "nvidia-a10g"
      tags[k8s.io/cluster-autoscaler/node-template/label/managed-by] = "mlplat"
      tags[k8s.io/cluster-autoscaler/node-template/label/mlplat.io/pool] = "gpu"
      tags[k8s.io/cluster-autoscaler/node-template/label/nvidia.com/gpu.product] = "NVIDIA-A10G"
      tags[k8s.io/cluster-autoscaler/node-template/label/team] = "search"
      tags[k8s.io/cluster-autoscaler/node-template/label/workload-type] = "inference"
      tags[k8s.io/cluster-autoscaler/node-template/resources/ephemeral-storage] = "200Gi"
      tags[k8s.io/cluster-autoscaler/node-template/resources/nvidia.com/gpu] = "1"
      tags[k8s.io/cluster-autoscaler/node-template/taint/nvidia.com/gpu] = "present:NoSchedule"
    launch_template: aws_launch_template
      device_name = "/dev/xvda"
      instance_tags[Name] = "gpu"
      instance_tags[env] = "prod"
      instance_tags[managed-by] = "mlplat"
      instance_tags[team] = "search"
      instance_tags[workload-type] = "inference"
      metadata_hop_limit = 2
      metadata_http_tokens = "required"
      name = "mlplat-ml-prod-gpu"
      tags[env] = "prod"
      tags[managed-by] = "mlplat"
      tags[team] = "search"
      tags[workload-type] = "inference"
      volume_size_gib = 200
      volume_type = "gp3"
    node_group: aws_eks_node_group after launch_template, node_role
      ami_type = "AL2023_x86_64_NVIDIA"
      capacity_type = "ON_DEMAND"
      cluster = "ml-prod"
      initial = 0
      instance_types = ["g5.xlarge"]
      labels[k8s.amazonaws.com/accelerator] = "nvidia-a10g"
      labels[managed-by] = "mlplat"
      labels[mlplat.io/pool] = "gpu"
      labels[team] = "search"
      labels[workload-type] = "inference"
      launch_template_id <- launch_template.id
      launch_template_version <- launch_template.version
      max = 4
      min = 0
      name = "gpu"
      node_repair = true
      node_role_arn <- node_role.arn
      subnet_ids = ["subnet-a","subnet-b"]
      tags[env] = "prod"
      tags[managed-by] = "mlplat"
      tags[mlplat:purpose] = "inference"
      tags[team] = "search"
      tags[workload-type] = "inference"
      taints:
        {"effect":"NoSchedule","key":"nvidia.com/gpu","value":"present"}
    node_role: aws_iam_role
      description = "Nodes of the pool gpu in the EKS cluster ml-prod"
      managed_policy_arns:
        "arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryPullOnly"
        "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"
        "arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy"
        "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"
      name = "mlplat-ml-prod-gpu"
      tags[env] = "prod"
      tags[managed-by] = "mlplat"
      tags[team] = "search"
      tags[workload-type] = "inference"
      trust_policy[Statement]:
        {"Action":"sts:AssumeRole","Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Sid":"EKSNodes"}
      trust_policy[Version] = "2012-10-17"
    "#);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a snapshot is one text")]
fn every_attribute_reaches_its_object() {
    let (_, graph) = expanded::<GpuPool>(&whole(), BTreeMap::new());
    insta::assert_snapshot!(text(&graph), @r#"
    launch_template: aws_launch_template
      device_name = "/dev/xvdb"
      instance_tags[Name] = "gpu"
      instance_tags[data] = "public"
      instance_tags[env] = "prod"
      instance_tags[managed-by] = "mlplat"
      instance_tags[team] = "search"
      instance_tags[workload-type] = "training"
      metadata_hop_limit = 2
      metadata_http_tokens = "required"
      name = "mlplat-ml-prod-gpu"
      tags[data] = "public"
      tags[env] = "prod"
      tags[managed-by] = "mlplat"
      tags[team] = "search"
      tags[workload-type] = "training"
      volume_iops = 6000
      volume_size_gib = 600
      volume_throughput_mibps = 500
      volume_type = "gp3"
    node_group: aws_eks_node_group after launch_template
      ami_type = "BOTTLEROCKET_x86_64_NVIDIA"
      capacity_type = "SPOT"
      cluster = "ml-prod"
      initial = 2
      instance_types = ["g6e.12xlarge"]
      labels[k8s.amazonaws.com/accelerator] = "nvidia-l40s"
      labels[managed-by] = "mlplat"
      labels[mlplat.io/pool] = "gpu"
      labels[node-type] = "gpu-training"
      labels[team] = "search"
      labels[workload-type] = "training"
      launch_template_id <- launch_template.id
      launch_template_version <- launch_template.version
      max = 3
      min = 1
      name = "gpu"
      node_repair = false
      node_role_arn = "arn:aws:iam::123456789012:role/nodes"
      release_version = "1.50.0"
      subnet_ids = ["subnet-a","subnet-b"]
      tags[data] = "public"
      tags[env] = "prod"
      tags[managed-by] = "mlplat"
      tags[mlplat:image-release] = "1.50.0"
      tags[mlplat:initial-size] = "2"
      tags[mlplat:max-hourly-cost-usd] = "60.5"
      tags[mlplat:purpose] = "training"
      tags[mlplat:scaler] = "none"
      tags[team] = "search"
      tags[workload-type] = "training"
      taints:
        {"effect":"NoSchedule","key":"nvidia.com/gpu","value":"present"}
        {"effect":"NoExecute","key":"team"}
    "#);
}

#[test]
fn known_outputs_reach_the_objects_that_need_them_and_the_attributes() {
    let known = BTreeMap::from([
        outputs("node_role", json!({ "id": "r", "arn": "arn:aws:iam::123456789012:role/mlplat-ml-prod-gpu" })),
        outputs("launch_template", json!({ "id": "lt-1", "version": "3" })),
        outputs(
            "node_group",
            json!({ "id": "gpu", "arn": "arn:…", "status": "ACTIVE", "live_size": 3, "autoscaling_group_names": ["eks-1"] }),
        ),
    ]);
    let (pool, graph) = expanded::<GpuPool>(&config(json!({})), known);
    assert!(graph.nodes().values().all(converge::Node::is_known));
    assert_eq!(graph.nodes()["autoscaling_tags"].document()["autoscaling_group"], "eks-1");
    assert_eq!(graph.nodes()["node_group"].document()["launch_template_version"], "3");
    assert_eq!(pool.live_size.get(), Some(&3));
    assert_eq!(pool.status.get().map(String::as_str), Some("ACTIVE"));
    assert_eq!(pool.node_role_arn.get().map(String::as_str), Some("arn:aws:iam::123456789012:role/mlplat-ml-prod-gpu"));
}

#[test]
fn the_disk_goes_to_the_device_of_the_image_family() {
    for (family, device) in [("al2023", "/dev/xvda"), ("bottlerocket", "/dev/xvdb")] {
        let config = config(json!({ "image": { "family": family }, "disk": { "size_gib": 123 } }));
        assert_eq!(field(&config, "launch_template", "device_name"), device);
        assert_eq!(field(&config, "launch_template", "volume_size_gib"), 123);
        assert_eq!(field(&config, "node_group", "disk_size"), Json::Null);
    }
}

#[test]
fn a_role_that_is_given_is_used_and_none_is_made() {
    let (_, graph) = expanded::<GpuPool>(&whole(), BTreeMap::new());
    assert!(!graph.nodes().contains_key("node_role"));
}

#[test]
fn a_role_of_the_derived_name_is_ours_even_where_a_state_has_its_arn() {
    let config = config(json!({ "node_role_arn": "arn:aws:iam::123456789012:role/mlplat-ml-prod-gpu" }));
    let (_, graph) = expanded::<GpuPool>(&config, BTreeMap::new());
    assert!(graph.nodes().contains_key("node_role"));
}

#[test]
fn the_shape_waits_for_a_role_or_a_scaler_that_is_not_known_and_for_nothing_else() {
    for (name, unshaped) in [("node_role_arn", true), ("scaler", true), ("subnet_ids", false), ("labels", false)] {
        let (_, graph) = expanded::<GpuPool>(&config(json!({ name: "(unknown)" })), BTreeMap::new());
        assert_eq!(graph.unshaped().map(ToString::to_string), unshaped.then(|| name.to_owned()), "{name}");
    }
}

#[test]
fn an_accelerator_stands_for_the_cheapest_type_that_has_it() {
    let config =
        config(json!({ "instance_types": null, "accelerator": { "product": "L4", "count": 1, "memory_gib_min": 20 } }));
    let (pool, graph) = expanded::<GpuPool>(&config, BTreeMap::new());
    assert_eq!(pool.instance_types.get(), Some(&vec!["g6.xlarge".to_owned()]));
    assert_eq!(graph.nodes()["node_group"].document()["instance_types"], json!(["g6.xlarge"]));
}

#[test]
fn the_taint_and_the_resource_follow_the_maker() {
    let config = config(json!({ "instance_types": ["trn1.2xlarge"] }));
    let taint = json!([{ "key": "aws.amazon.com/neuron", "value": "present", "effect": "NoSchedule" }]);
    assert_eq!(field(&config, "node_group", "taints"), taint);
    assert_eq!(field(&config, "node_group", "ami_type"), "AL2023_x86_64_NEURON");
    let tags = field(&config, "autoscaling_tags", "tags");
    assert_eq!(tags["k8s.io/cluster-autoscaler/node-template/resources/aws.amazon.com/neuron"], "1");
}

#[test]
fn a_pool_at_zero_tells_cluster_autoscaler_what_a_node_would_be_like() {
    let config = config(json!({ "labels": { "a": "b" }, "disk": { "size_gib": 150 } }));
    let tags = field(&config, "autoscaling_tags", "tags");
    let template = |rest: &str| tags[format!("k8s.io/cluster-autoscaler/node-template/{rest}")].clone();
    assert_eq!(template("label/a"), "b");
    assert_eq!(template("label/nvidia.com/gpu.product"), "NVIDIA-A10G");
    assert_eq!(template("taint/nvidia.com/gpu"), "present:NoSchedule");
    assert_eq!(template("resources/nvidia.com/gpu"), "1");
    assert_eq!(template("resources/ephemeral-storage"), "150Gi");
    assert_eq!(tags["k8s.io/cluster-autoscaler/ml-prod"], "owned");
    assert_eq!(field(&config, "node_group", "labels")["nvidia.com/gpu.product"], Json::Null);
}

#[test]
fn a_taint_without_value_is_one_with_an_empty_value_in_either_spelling_of_its_effect() {
    let written = |taint: Json| field(&config(json!({ "taints": [taint] })), "node_group", "taints");
    let expected = json!([{ "key": "a", "effect": "NoSchedule" }]);
    assert_eq!(written(json!({ "key": "a", "effect": "NoSchedule" })), expected);
    assert_eq!(written(json!({ "key": "a", "value": "", "effect": "NO_SCHEDULE" })), expected);
}

#[test]
fn taints_are_a_set_whatever_order_they_are_written_or_found_in() {
    let (one, other) = (json!({ "key": "a", "effect": "NoSchedule" }), json!({ "key": "b", "effect": "NoExecute" }));
    let written = |taints: Json| field(&config(json!({ "taints": taints })), "node_group", "taints");
    assert_eq!(written(json!([one, other])), written(json!([other, one])));
    assert_eq!(written(json!([])), json!([]));
}

#[test]
fn names_keep_within_their_limits_and_stay_the_same_for_ever() {
    let config = config(json!({ "cluster": "c".repeat(40), "name": "p".repeat(40) }));
    let name = field(&config, "node_role", "name");
    assert_eq!(name, "mlplat-cccccccccccccccccccccccccccccccccccccccc-ppppppp-aa35db35");
    assert_eq!(field(&config, "node_group", "name"), "p".repeat(40));
    let config = super::config(json!({ "cluster": "c".repeat(100), "name": "p".repeat(61) }));
    assert!(field(&config, "launch_template", "name").as_str().is_some_and(|name| name.len() <= 128));
}

#[test]
fn what_the_pool_has_and_costs_is_computed() {
    let config = config(json!({
        "instance_types": ["g5.xlarge", "g5.12xlarge"],
        "size": { "min": 1, "max": 20 },
    }));
    let (pool, _) = expanded::<GpuPool>(&config, BTreeMap::new());
    let gpu = pool.gpu.get().expect("computed");
    assert_eq!((gpu.count.get(), gpu.total_max.get()), (Some(&1), Some(&80)));
    assert_eq!(gpu.product.get().map(String::as_str), Some("NVIDIA-A10G"));
    let cost = pool.cost.get().expect("computed");
    assert_eq!((cost.hourly_min_usd.get(), cost.hourly_max_usd.get()), (Some(&1.006), Some(&113.44)));
    assert_eq!(cost.priced_on.get().map(String::as_str), Some("2026-02-09"));
    let tolerations = pool.tolerations.get().expect("computed");
    assert_eq!(tolerations.first().and_then(|one| one.key.get()).map(String::as_str), Some("nvidia.com/gpu"));
    let selector = pool.node_selector.get().expect("computed");
    assert_eq!(selector.get("mlplat.io/pool").map(String::as_str), Some("gpu"));
}

async fn check_import(config: &Json) {
    let said = imported::<GpuPool>(config, &json!({ "cluster": config["cluster"], "name": config["name"] })).await;
    let flat = |name: &str| said.get(name).cloned();
    for (name, value) in config.as_object().expect("an object") {
        match value.as_object().filter(|_| flat(name).is_none()) {
            Some(parts) => parts.iter().for_each(|(part, value)| {
                assert_eq!(flat(&format!("{name}.{part}")).as_ref(), Some(value), "{name}.{part}");
            }),
            None => assert_eq!(flat(name).as_ref(), Some(value), "{name}"),
        }
    }
}

#[tokio::test]
async fn an_import_of_what_was_created_says_what_was_configured() {
    check_import(&whole()).await;
    check_import(&config(json!({ "instance_types": ["g5.xlarge", "g5.2xlarge"], "labels": {}, "tags": {} }))).await;
    check_import(&config(json!({
        "instance_types": null,
        "accelerator": { "product": "L4", "count": 1, "memory_gib_min": 20.0 },
        "taints": [],
    })))
    .await;
}

#[tokio::test]
async fn an_import_does_not_take_our_role_or_the_newest_image_for_the_users() {
    let said = imported::<GpuPool>(&config(json!({})), &json!({ "cluster": "ml-prod", "name": "gpu" })).await;
    assert_eq!(said.get("node_role_arn"), None);
    assert_eq!(said.get("image.release"), None);
    assert_eq!(said.get("size.initial"), None);
    assert_eq!(said.get("labels"), Some(&json!({})));
    assert_eq!(said.get("tags"), Some(&json!({})));
}

#[tokio::test]
async fn what_somebody_changed_is_told_of_the_attribute_and_of_no_other() {
    let group = ("aws_eks_node_group", "ml-prod/gpu");
    let told =
        |field: &'static str, found| async move { drifted::<GpuPool>(&config(json!({})), group, field, found).await };
    assert_eq!(told("max", json!(9)).await, "size.max = 9");
    assert_eq!(told("initial", json!(3)).await, "");
    assert_eq!(told("ami_type", json!("BOTTLEROCKET_x86_64_NVIDIA")).await, "image.family = \"bottlerocket\"");
    assert_eq!(told("capacity_type", json!("SPOT")).await, "capacity.type = \"spot\"");
    let (_, graph) = expanded::<GpuPool>(&config(json!({})), BTreeMap::new());
    let mut labels = graph.nodes()["node_group"].document()["labels"].clone();
    labels["theirs"] = json!("x");
    assert_eq!(told("labels", labels).await, "labels = {\"theirs\":\"x\"}");
    let mut tags = graph.nodes()["node_group"].document()["tags"].clone();
    tags["theirs"] = json!("x");
    assert_eq!(told("tags", tags).await, "");
}
