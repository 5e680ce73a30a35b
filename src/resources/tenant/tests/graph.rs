//! What a configuration becomes, and how it comes back.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::{config, whole};
use crate::resources::{
    Tenant,
    testing::{blames, drifted, expanded, imported, text},
};

fn document(config: &Json, key: &str) -> Json {
    let (_, graph) = expanded::<Tenant>(config, BTreeMap::new());
    Json::Object(graph.nodes().get(key).unwrap_or_else(|| panic!("no {key}")).document())
}

fn keys(config: &Json) -> Vec<String> {
    let (_, graph) = expanded::<Tenant>(config, BTreeMap::new());
    graph.nodes().keys().cloned().collect()
}

#[test]
fn a_message_about_a_part_of_an_object_is_shown_at_its_attribute() {
    insta::assert_snapshot!(blames::<Tenant>(&whole()));
}

/// The graph, without what all objects have in common.
fn told(config: &Json) -> String {
    let (_, graph) = expanded::<Tenant>(config, BTreeMap::new());
    let is_common =
        |line: &str| ["  adopt", "  cluster", "  labels[", "  namespace"].iter().any(|start| line.starts_with(start));
    // Accelerators of which there are none are many.
    let is_none = |line: &str| line.contains("[hard]") && line.ends_with("= \"0\"");
    let text = text(&graph);
    text.lines().filter(|line| !is_common(line) && !is_none(line)).flat_map(|line| [line, "\n"]).collect()
}

#[test]
fn the_name_alone_gives_a_safe_namespace() {
    insta::assert_snapshot!(told(&config(json!({}))), @r#"
    namespace: kubernetes_namespace
      annotations[mlplat.io/attributes] = "{}"
      name = "team-alpha"
    network_api: kubernetes_network_policy inside namespace
      manifest[spec][egress]:
        {"ports":[{"port":80,"protocol":"TCP"}],"to":[{"ipBlock":{"cidr":"169.254.170.23/32"}},{"ipBlock":{"cidr":"fd00:ec2::23/128"}}]}
        {"ports":[{"port":443,"protocol":"TCP"},{"port":6443,"protocol":"TCP"}],"to":[{"ipBlock":{"cidr":"0.0.0.0/0"}},{"ipBlock":{"cidr":"::/0"}}]}
      manifest[spec][policyTypes] = ["Egress"]
      name = "mlplat-api"
    network_default_deny: kubernetes_network_policy inside namespace
      manifest[spec][policyTypes] = ["Ingress","Egress"]
      name = "mlplat-default-deny"
    network_dns: kubernetes_network_policy inside namespace
      manifest[spec][egress]:
        {"ports":[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"}],"to":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"kube-system"}},"podSelector":{"matchLabels":{"k8s-app":"kube-dns"}}},{"ipBlock":{"cidr":"169.254.20.10/32"}},{"ipBlock":{"cidr":"10.96.0.0/12"}},{"ipBlock":{"cidr":"172.20.0.0/16"}}]}
      manifest[spec][policyTypes] = ["Egress"]
      name = "mlplat-dns"
    network_enforcement: kubernetes_network_enforcement after namespace
      warn = true
    network_same_namespace: kubernetes_network_policy inside namespace
      manifest[spec][egress]:
        {"ports":[{"protocol":"TCP"}],"to":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"team-alpha"}}},{"ipBlock":{"cidr":"10.96.0.0/12"}},{"ipBlock":{"cidr":"172.20.0.0/16"}}]}
      manifest[spec][ingress]:
        {"from":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"team-alpha"}}}],"ports":[{"protocol":"TCP"}]}
      manifest[spec][policyTypes] = ["Ingress","Egress"]
      name = "mlplat-same-namespace"
    "#);
    let labels = document(&config(json!({})), "namespace")["labels"].clone();
    assert_eq!(labels["pod-security.kubernetes.io/enforce"], "restricted");
    assert_eq!(labels["pod-security.kubernetes.io/enforce-version"], "v1.36");
    assert_eq!((&labels["team"], &labels["workload-type"]), (&json!("search"), &json!("tenant")));
}

#[test]
#[expect(clippy::too_many_lines, reason = "a snapshot is one text")]
fn every_attribute_reaches_its_object() {
    insta::assert_snapshot!(told(&whole()), @r#"
    limits: kubernetes_limit_range inside namespace
      manifest[spec][limits]:
        {"default":{"cpu":"1","memory":"2Gi"},"defaultRequest":{"cpu":"500m","memory":"1Gi"},"max":{"cpu":"32","memory":"128Gi"},"type":"Container"}
      name = "mlplat"
    member_team-alpha_edit: kubernetes_role_binding inside namespace
      manifest[roleRef][apiGroup] = "rbac.authorization.k8s.io"
      manifest[roleRef][kind] = "ClusterRole"
      manifest[roleRef][name] = "edit"
      manifest[subjects]:
        {"apiGroup":"rbac.authorization.k8s.io","kind":"Group","name":"team-alpha"}
      name = "mlplat-group-team-alpha-edit"
    member_user_Ann@acme.com_view: kubernetes_role_binding inside namespace
      manifest[roleRef][apiGroup] = "rbac.authorization.k8s.io"
      manifest[roleRef][kind] = "ClusterRole"
      manifest[roleRef][name] = "view"
      manifest[subjects]:
        {"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"Ann@acme.com"}
      name = "mlplat-user--nn-acme-com-view-da08da52"
    namespace: kubernetes_namespace after pod_identity_trainer, registries_binding, role_policy_trainer
      annotations[mlplat.io/attributes] = "{\"access_method\":\"pod_identity\",\"adopt\":\"if_unmanaged\",\"annotate_service_accounts\":false,\"container\":{\"default\":{\"cpu\":\"1\",\"memory\":\"2Gi\"},\"default_request\":{\"cpu\":\"500m\",\"memory\":\"1Gi\"},\"max\":{\"cpu\":\"32\",\"memory\":\"128Gi\"}},\"data_access\":[{\"bucket_arn\":\"arn:aws:s3:::acme-models\",\"mode\":\"read\",\"prefix\":\"models/\",\"service_account\":\"trainer\"},{\"bucket_arn\":\"arn:aws:s3:::acme-runs\",\"kms_key_arn\":\"arn:aws:kms:us-east-1:123456789012:key/0a\",\"mode\":\"write\",\"prefix\":\"alpha/\",\"service_account\":\"trainer\"}],\"external_secrets\":[{\"key\":\"prod/hf\",\"name\":\"hf\",\"property\":\"token\",\"refresh_interval\":\"30m\",\"secret_key\":\"hf-token\",\"store\":\"aws\",\"store_kind\":\"SecretStore\"}],\"labels\":{\"data\":\"public\"},\"members\":[{\"group\":\"team-alpha\",\"role\":\"edit\"},{\"role\":\"view\",\"user\":\"Ann@acme.com\"}],\"network\":{\"allow_gang_traffic\":true,\"egress_cidrs\":[\"10.0.0.0/8\"],\"enforcer\":\"kube-system/my-cni\",\"ingress_from_namespaces\":[\"ingress-nginx\",\"monitoring\"],\"isolation\":\"strict\",\"service_cidrs\":[\"172.20.0.0/16\"]},\"pod_security\":\"baseline\",\"pod_security_version\":\"v1.35\",\"quota\":{\"cpu\":\"64000m\",\"extended\":{\"example.com/dongle\":2},\"gpu_resource_name\":\"nvidia.com/gpu\",\"gpus\":8,\"memory\":\"256Gi\",\"persistent_volume_claims\":10,\"pods\":100,\"storage\":\"2Ti\"},\"tags\":{\"data\":\"public\"},\"team\":\"alpha\",\"trusted_registries\":[\"docker.io/vllm/vllm-openai\",\"ghcr.io/acme/\",\"quay.io\"]}"
      name = "team-alpha"
    network_api: kubernetes_network_policy inside namespace
      manifest[spec][egress]:
        {"ports":[{"port":80,"protocol":"TCP"}],"to":[{"ipBlock":{"cidr":"169.254.170.23/32"}},{"ipBlock":{"cidr":"fd00:ec2::23/128"}}]}
        {"ports":[{"port":443,"protocol":"TCP"},{"port":6443,"protocol":"TCP"}],"to":[{"ipBlock":{"cidr":"10.0.0.0/8"}}]}
      manifest[spec][policyTypes] = ["Egress"]
      name = "mlplat-api"
    network_default_deny: kubernetes_network_policy inside namespace
      manifest[spec][policyTypes] = ["Ingress","Egress"]
      name = "mlplat-default-deny"
    network_dns: kubernetes_network_policy inside namespace
      manifest[spec][egress]:
        {"ports":[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"}],"to":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"kube-system"}},"podSelector":{"matchLabels":{"k8s-app":"kube-dns"}}},{"ipBlock":{"cidr":"169.254.20.10/32"}},{"ipBlock":{"cidr":"172.20.0.0/16"}}]}
      manifest[spec][policyTypes] = ["Egress"]
      name = "mlplat-dns"
    network_enforcement: kubernetes_network_enforcement after namespace
      enforced = true
      enforcer = "kube-system/my-cni"
      warn = false
    network_gang: kubernetes_network_policy inside namespace
      manifest[spec][egress]:
        {"to":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"team-alpha"}}}]}
      manifest[spec][ingress]:
        {"from":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"team-alpha"}}}]}
      manifest[spec][policyTypes] = ["Ingress","Egress"]
      name = "mlplat-gang"
    network_ingress: kubernetes_network_policy inside namespace
      manifest[spec][ingress]:
        {"from":[{"namespaceSelector":{"matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":"In","values":["ingress-nginx","monitoring"]}]}}]}
      manifest[spec][policyTypes] = ["Ingress"]
      name = "mlplat-ingress"
    network_same_namespace: kubernetes_network_policy inside namespace
      manifest[spec][egress]:
        {"ports":[{"protocol":"TCP"}],"to":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"team-alpha"}}},{"ipBlock":{"cidr":"172.20.0.0/16"}}]}
      manifest[spec][ingress]:
        {"from":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"team-alpha"}}}],"ports":[{"protocol":"TCP"}]}
      manifest[spec][policyTypes] = ["Ingress","Egress"]
      name = "mlplat-same-namespace"
    pod_identity_trainer: aws_eks_pod_identity_association after role_policy_trainer, role_trainer
      role_arn <- role_trainer.arn
      service_account = "trainer"
      tags[data] = "public"
      tags[env] = "prod"
      tags[managed-by] = "mlplat"
      tags[team] = "alpha"
      tags[workload-type] = "tenant"
    quota: kubernetes_resource_quota inside namespace
      manifest[spec][hard][persistentvolumeclaims] = "10"
      manifest[spec][hard][pods] = "100"
      manifest[spec][hard][requests.cpu] = "64000m"
      manifest[spec][hard][requests.example.com/dongle] = "2"
      manifest[spec][hard][requests.memory] = "256Gi"
      manifest[spec][hard][requests.nvidia.com/gpu] = "8"
      manifest[spec][hard][requests.storage] = "2Ti"
      name = "mlplat"
    registries_binding: kubernetes_validating_admission_policy_binding after registries_policy
      manifest[spec][matchResources][namespaceSelector][matchLabels][kubernetes.io/metadata.name] = "team-alpha"
      manifest[spec][policyName] = "mlplat-team-alpha-trusted-registries"
      manifest[spec][validationActions] = ["Deny"]
      name = "mlplat-team-alpha-trusted-registries"
    registries_policy: kubernetes_validating_admission_policy
      manifest[spec][failurePolicy] = "Fail"
      manifest[spec][matchConstraints][resourceRules]:
        {"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE","UPDATE"],"resources":["pods","pods/ephemeralcontainers"]}
      manifest[spec][validations]:
        {"expression":"size(variables.untrusted) == 0","messageExpression":"'images that are not from a trusted registry: ' + variables.untrusted.join(', ') + '; trusted are ' + 'docker.io/vllm/vllm-openai' + ', ' + 'ghcr.io/acme/' + ', ' + 'quay.io'","reason":"Forbidden"}
      manifest[spec][variables]:
        {"expression":"(has(object.spec.containers) ? object.spec.containers.map(c, has(c.image) ? c.image : '') : []) + (has(object.spec.initContainers) ? object.spec.initContainers.map(c, has(c.image) ? c.image : '') : []) + (has(object.spec.ephemeralContainers) ? object.spec.ephemeralContainers.map(c, has(c.image) ? c.image : '') : []) + (has(object.spec.volumes) ? object.spec.volumes.filter(v, has(v.image) && has(v.image.reference)).map(v, v.image.reference) : [])","name":"images"}
        {"expression":"variables.images.filter(i, oldObject == null || !(i in ((has(oldObject.spec.containers) ? oldObject.spec.containers.map(c, has(c.image) ? c.image : '') : []) + (has(oldObject.spec.initContainers) ? oldObject.spec.initContainers.map(c, has(c.image) ? c.image : '') : []) + (has(oldObject.spec.ephemeralContainers) ? oldObject.spec.ephemeralContainers.map(c, has(c.image) ? c.image : '') : []) + (has(oldObject.spec.volumes) ? oldObject.spec.volumes.filter(v, has(v.image) && has(v.image.reference)).map(v, v.image.reference) : []))))","name":"added"}
        {"expression":"variables.added.map(i, i.contains('/') && (i.split('/')[0].contains('.') || i.split('/')[0].contains(':') || i.split('/')[0] == 'localhost') ? i : (i.contains('/') ? 'docker.io/' + i : 'docker.io/library/' + i)).filter(i, !(i == 'docker.io/vllm/vllm-openai' || i.startsWith('docker.io/vllm/vllm-openai/') || i.startsWith('docker.io/vllm/vllm-openai:') || i.startsWith('docker.io/vllm/vllm-openai@') || i.startsWith('ghcr.io/acme/') || i.startsWith('quay.io/')))","name":"untrusted"}
      name = "mlplat-team-alpha-trusted-registries"
    role_policy_trainer: aws_iam_role_policy after role_trainer
      document[Statement]:
        {"Action":["kms:Decrypt","kms:GenerateDataKey"],"Condition":{"StringLike":{"kms:ViaService":"s3.*.amazonaws.com*"}},"Effect":"Allow","Resource":"arn:aws:kms:us-east-1:123456789012:key/0a","Sid":"Key1"}
        {"Action":"s3:ListBucket","Condition":{"StringLike":{"s3:prefix":"models/*"}},"Effect":"Allow","Resource":"arn:aws:s3:::acme-models","Sid":"List1"}
        {"Action":["s3:ListBucket","s3:ListBucketMultipartUploads"],"Condition":{"StringLike":{"s3:prefix":"alpha/*"}},"Effect":"Allow","Resource":"arn:aws:s3:::acme-runs","Sid":"List2"}
        {"Action":"s3:GetBucketLocation","Effect":"Allow","Resource":"arn:aws:s3:::acme-models","Sid":"Locate1"}
        {"Action":"s3:GetBucketLocation","Effect":"Allow","Resource":"arn:aws:s3:::acme-runs","Sid":"Locate2"}
        {"Action":["s3:GetObject","s3:GetObjectVersion"],"Effect":"Allow","Resource":"arn:aws:s3:::acme-models/models/*","Sid":"Objects1"}
        {"Action":["s3:AbortMultipartUpload","s3:DeleteObject","s3:GetObject","s3:GetObjectVersion","s3:ListMultipartUploadParts","s3:PutObject"],"Effect":"Allow","Resource":"arn:aws:s3:::acme-runs/alpha/*","Sid":"Objects2"}
      document[Version] = "2012-10-17"
      name = "data-access"
      role = "mlplat-ml-prod.team-alpha.trainer"
    role_trainer: aws_service_account_role
      description = "Data access of service account team-alpha/trainer"
      managed_policy_arns = []
      method = "pod_identity"
      name = "mlplat-ml-prod.team-alpha.trainer"
      service_account = "trainer"
      tags[data] = "public"
      tags[env] = "prod"
      tags[managed-by] = "mlplat"
      tags[team] = "alpha"
      tags[workload-type] = "tenant"
    secret_hf: external_secrets_external_secret inside namespace
      manifest[spec][data]:
        {"remoteRef":{"key":"prod/hf","property":"token"},"secretKey":"hf-token"}
      manifest[spec][refreshInterval] = "30m"
      manifest[spec][secretStoreRef][kind] = "SecretStore"
      manifest[spec][secretStoreRef][name] = "aws"
      manifest[spec][target][creationPolicy] = "Owner"
      manifest[spec][target][name] = "hf"
      name = "hf"
    "#);
    let namespace = document(&whole(), "namespace");
    assert_eq!((&namespace["adopt"], &namespace["labels"]["team"]), (&json!("if_unmanaged"), &json!("alpha")));
    assert_eq!(document(&whole(), "role_trainer")["tags"]["team"], "alpha");
}

#[test]
fn a_quota_on_cpu_or_memory_gives_containers_a_request() {
    let limits = |change: Json| document(&config(change), "limits")["manifest"]["spec"]["limits"][0].clone();
    assert_eq!(
        limits(json!({ "quota": { "cpu": "64", "memory": "256Gi" } })),
        json!({ "type": "Container", "defaultRequest": { "cpu": "500m", "memory": "1Gi" } })
    );
    // What has a limit has a request: the limit.
    assert_eq!(
        limits(json!({ "quota": { "cpu": "64", "memory": "256Gi" }, "container": { "default": { "memory": "2Gi" } } })),
        json!({ "type": "Container", "default": { "memory": "2Gi" }, "defaultRequest": { "cpu": "500m" } })
    );
    assert_eq!(
        limits(json!({ "quota": { "memory": "256Gi" }, "container": { "max": { "memory": "512Mi" } } }))["defaultRequest"],
        json!({ "memory": "512Mi" })
    );
    assert!(!keys(&config(json!({ "quota": { "gpus": 8 } }))).contains(&"limits".to_owned()));
}

#[test]
fn extended_resources_are_counted_by_requests_and_spelled_as_the_user_has_them() {
    let dongles = json!({ "example.com/dongle": 2, "count/resourceclaims.resource.k8s.io": 1 });
    let hard = hard(&json!({ "cpu": "1000m", "memory": "1024Mi", "extended": dongles }));
    let expected = json!({
        "requests.cpu": "1000m", "requests.memory": "1024Mi", "requests.example.com/dongle": "2",
        "count/resourceclaims.resource.k8s.io": "1",
    });
    assert_eq!(hard, expected);
}

#[test]
fn a_limit_of_accelerators_is_no_limit_of_one_name() {
    let hard = hard(&json!({
        "gpus": 4, "gpu_resource_name": "aws.amazon.com/neuron", "extended": { "nvidia.com/mig-1g.10gb": 3 },
    }));
    for (key, amount) in [
        ("requests.aws.amazon.com/neuron", "4"),
        ("requests.nvidia.com/mig-1g.10gb", "3"),
        ("requests.nvidia.com/mig-2g.20gb", "0"),
        ("requests.nvidia.com/gpu", "0"),
        ("requests.amd.com/gpu", "0"),
        ("count/resourceclaims.resource.k8s.io", "0"),
    ] {
        assert_eq!(hard[key], amount, "{key}");
    }
}

fn hard(quota: &Json) -> Json {
    document(&config(json!({ "quota": quota })), "quota")["manifest"]["spec"]["hard"].clone()
}

#[test]
fn isolation_is_promised_warned_of_or_none() {
    let enforcement =
        |isolation: &str| document(&config(json!({ "network": { "isolation": isolation } })), "network_enforcement");
    assert_eq!(enforcement("strict")["enforced"], true);
    assert_eq!((&enforcement("standard")["enforced"], &enforcement("standard")["warn"]), (&Json::Null, &json!(true)));
    assert_eq!(enforcement("none")["warn"], false);
    assert_eq!(keys(&config(json!({ "network": { "isolation": "none" } }))), ["namespace", "network_enforcement"]);
}

#[test]
fn no_egress_rule_selects_the_namespaces_pods_alone_and_none_is_empty() {
    let mut config = whole();
    config["network"]["egress_cidrs"] = json!([]);
    let (_, graph) = expanded::<Tenant>(&config, BTreeMap::new());
    for (key, node) in graph.nodes() {
        let document = Json::Object(node.document());
        for rule in document["manifest"]["spec"]["egress"].as_array().into_iter().flatten() {
            let to = rule["to"].as_array().unwrap_or_else(|| panic!("{key}"));
            assert!(!to.is_empty(), "{key}");
            let is_alone =
                to.iter().all(|peer| peer.get("namespaceSelector").is_none() && peer.get("podSelector").is_some());
            assert!(!is_alone, "{key}");
        }
    }
}

#[test]
fn irsa_annotates_the_service_accounts_and_makes_no_association() {
    let access = json!([{ "bucket_arn": "arn:aws:s3:::acme" }]);
    let irsa = config(json!({ "data_access": access, "access_method": "irsa" }));
    let outputs = BTreeMap::from([(
        "role_default".to_owned(),
        json!({ "arn": "arn:aws:iam::123456789012:role/r" }).as_object().cloned().expect("an object"),
    )]);
    let (tenant, graph) = expanded::<Tenant>(&irsa, outputs);
    assert!(!graph.nodes().contains_key("pod_identity_default"));
    let account = graph.nodes()["service_account_default"].document();
    assert_eq!(account["annotations"]["eks.amazonaws.com/role-arn"], "arn:aws:iam::123456789012:role/r");
    assert_eq!(account["adopt"], "if_unmanaged", "the cluster makes the account named default");
    assert_eq!(graph.nodes()["role_default"].document()["method"], "irsa");
    assert_eq!(tenant.role_arns.get().map(BTreeMap::len), Some(1));
    let mut left = irsa;
    left["annotate_service_accounts"] = json!(false);
    assert!(!keys(&left).contains(&"service_account_default".to_owned()));
}

#[test]
fn credentials_come_before_the_namespace_and_so_before_any_pod() {
    let (_, graph) = expanded::<Tenant>(&whole(), BTreeMap::new());
    assert!(graph.nodes()["namespace"].after.contains("pod_identity_trainer"));
    assert!(graph.nodes()["pod_identity_trainer"].after.contains("role_policy_trainer"));
}

#[test]
fn an_unknown_value_makes_its_objects_and_the_memory_wait() {
    let mut config = whole();
    config["quota"]["cpu"] = json!("(unknown)");
    let (_, graph) = expanded::<Tenant>(&config, BTreeMap::new());
    assert!(graph.unshaped().is_none());
    let mut config = whole();
    config["pod_security"] = json!("(unknown)");
    let (_, graph) = expanded::<Tenant>(&config, BTreeMap::new());
    let waiting: Vec<_> = graph.nodes().iter().filter(|(_, node)| !node.is_known()).map(|(key, _)| key).collect();
    assert_eq!(waiting, ["namespace", "pod_identity_trainer"]);
}

#[test]
fn names_that_kubernetes_does_not_take_get_a_hash() {
    let mut config =
        config(json!({ "members": [{ "group": "A:x", "role": "edit" }, { "group": "a/x", "role": "edit" }] }));
    let [one, other] =
        ["member_A:x_edit", "member_a/x_edit"].map(|key| document(&config, key)["name"].as_str().map(str::to_owned));
    assert_ne!(one, other);
    config["members"] = json!([{ "group": "system:serviceaccounts:ci", "role": "view" }]);
    let name = document(&config, "member_system:serviceaccounts:ci_view")["name"].clone();
    assert!(
        name.as_str().is_some_and(|name| name.starts_with("mlplat-group-system-serviceaccounts-ci-view-")),
        "{name}"
    );
}

#[tokio::test]
async fn an_import_of_what_was_created_says_what_was_configured() {
    let said = imported::<Tenant>(&whole(), &json!({ "cluster": "ml-prod", "name": "team-alpha" })).await;
    for (name, value) in
        whole().as_object().expect("an object").iter().filter(|(name, _)| !["cluster", "name"].contains(&name.as_str()))
    {
        if name == "trusted_registries" {
            continue;
        }
        assert_eq!(said.get(name), Some(value), "{name}");
    }
    assert_eq!(said["trusted_registries"], json!(["docker.io/vllm/vllm-openai", "ghcr.io/acme/", "quay.io"]), "sorted");
}

#[tokio::test]
async fn an_import_of_the_least_says_nothing_that_was_not_configured() {
    let least = config(json!({ "team": "alpha" }));
    let said = imported::<Tenant>(&least, &json!({ "cluster": "ml-prod", "name": "team-alpha" })).await;
    assert_eq!(said, BTreeMap::from([("team".to_owned(), json!("alpha"))]));
}

#[tokio::test]
async fn what_somebody_changed_is_no_attributes_new_value() {
    let told = drifted::<Tenant>(
        &whole(),
        ("kubernetes_resource_quota", "ml-prod/team-alpha/mlplat"),
        "manifest",
        json!({ "spec": { "hard": {} } }),
    )
    .await;
    assert_eq!(told, "");
}
