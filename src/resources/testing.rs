//! Shared by the tests of resources: a resource from JSON, and its graph as text.

use std::{collections::BTreeMap, fmt::Write};

use converge::{
    Component, Document, Graph, KindFacts, Ledger, Owner, Run,
    testing::{FakeCloud, InstantClock},
};
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use tf_provider::{Attributes, Cty, Decoder, Diagnostics, Schema, Severity, from_document};
use value::AttributePath;

use crate::{
    components::{aws, kube},
    composite::Composite,
    settings::Settings,
};

/// The resource that a configuration in document form gives. A JSON text `"(unknown)"` at an attribute's place is
/// an unknown value.
pub(super) fn decoded<C: Attributes>(config: &Json) -> C {
    let (resource, complaints) = decoded_with_complaints(config, false);
    assert!(complaints.is_empty(), "{complaints:?}");
    resource
}

/// As [`decoded`], for an import's stub: nested objects left out are opened.
pub(super) fn stub<C: Attributes>(config: &Json) -> C {
    decoded_with_complaints(config, true).0
}

/// As [`decoded`], with what decoding complains of.
pub(super) fn decoded_with_complaints<C: Attributes>(config: &Json, open_nulls: bool) -> (C, Diagnostics) {
    let mut schema = Schema::default();
    schema.block.attributes = C::attributes();
    let mut object = from_document(config, &schema.ty());
    for (name, value) in config.as_object().into_iter().flatten() {
        assert!(schema.block.attribute(name).is_some(), "no attribute {name}");
        if value == "(unknown)" {
            object.set(name, Cty::unknown());
        }
    }
    let mut decoder = Decoder { open_nulls, ..Decoder::default() };
    let resource = C::decode_object(&object, &AttributePath::root(), &mut decoder);
    (resource, decoder.diagnostics)
}

/// The expansion, given outputs of objects that exist.
pub(super) fn expanded<C: Composite>(config: &Json, outputs: BTreeMap<String, Document>) -> (C, Graph) {
    let mut resource: C = decoded(config);
    let mut graph = Graph::new(outputs);
    resource.expand(&settings(), &mut graph);
    (resource, graph)
}

/// A provider block with region, cost allocation and default tags.
pub(super) fn settings() -> Settings {
    let map = |key: &str, value: &str| value::Value::known(BTreeMap::from([(key.to_owned(), value.to_owned())]));
    Settings {
        region: value::Value::from("us-east-1"),
        default_tags: map("env", "prod"),
        cost_allocation: map("team", "search"),
    }
}

/// The graph as text: an object a paragraph, a field a line, or a line for each part of one that has parts.
pub(super) fn text(graph: &Graph) -> String {
    let mut text = String::new();
    for (key, node) in graph.nodes() {
        let after: Vec<_> = node.after.iter().map(String::as_str).collect();
        let edges = if after.is_empty() { String::new() } else { format!(" after {}", after.join(", ")) };
        let _ = writeln!(text, "{key}: {}{edges}", node.facts.kind);
        node.document().iter().for_each(|(field, value)| write_value(&mut text, field, value));
    }
    text
}

fn write_value(text: &mut String, name: &str, value: &Json) {
    let _ = match value {
        Json::Object(parts) if value::is_pending(value) => {
            let from = parts.values().map(|from| match from {
                Json::Array(from) => from.iter().filter_map(Json::as_str).collect::<Vec<_>>().join("."),
                other => other.to_string(),
            });
            writeln!(text, "  {name} <- {}", from.collect::<String>())
        }
        Json::Object(parts) => {
            return parts.iter().for_each(|(key, part)| write_value(text, &format!("{name}[{key}]"), part));
        }
        Json::Array(items)
            if items.iter().any(|item| item.is_object() || item.as_str().is_some_and(|s| s.len() > 20)) =>
        {
            let _ = writeln!(text, "  {name}:");
            items.iter().try_for_each(|item| writeln!(text, "    {item}"))
        }
        other => writeln!(text, "  {name} = {other}"),
    };
}

/// What `check` tells of a configuration: severity, attribute, summary.
pub(super) fn complaints<C: Composite>(config: &Json) -> Vec<String> {
    let resource: C = decoded(config);
    let mut complaints = Diagnostics::new();
    resource.check(&mut complaints);
    complaints
        .iter()
        .map(|told| {
            let severity = if told.severity == Severity::Error { "error" } else { "warning" };
            assert!(told.detail.contains("\n\n"), "no advice: {told:?}");
            format!("{severity} at {}: {}", told.path, told.summary)
        })
        .collect()
}

/// The kinds that resources are made of.
pub(super) const KINDS: &[KindFacts] = &[
    aws::AccessPoint::FACTS,
    aws::AutoscalingTags::FACTS,
    aws::BackupPolicy::FACTS,
    aws::Bucket::FACTS,
    aws::BucketEncryption::FACTS,
    aws::BucketLifecycle::FACTS,
    aws::BucketOwnershipControls::FACTS,
    aws::BucketPolicy::FACTS,
    aws::BucketPublicAccessBlock::FACTS,
    aws::BucketVersioning::FACTS,
    aws::FileSystem::FACTS,
    aws::FileSystemLifecycle::FACTS,
    aws::FileSystemPolicy::FACTS,
    aws::IamRole::FACTS,
    aws::LaunchTemplate::FACTS,
    aws::MountTargets::FACTS,
    aws::NodeGroup::FACTS,
    aws::IamRolePolicy::FACTS,
    aws::PodIdentityAssociation::FACTS,
    aws::SecurityGroup::FACTS,
    aws::ServiceAccountRole::FACTS,
    <kube::Object<kube::ClusterQueue> as Component>::FACTS,
    <kube::Object<kube::Deployment> as Component>::FACTS,
    <kube::Object<kube::HorizontalPodAutoscaler> as Component>::FACTS,
    <kube::Object<kube::Ingress> as Component>::FACTS,
    <kube::Object<kube::LocalQueue> as Component>::FACTS,
    <kube::Object<kube::PersistentVolume> as Component>::FACTS,
    <kube::Object<kube::PersistentVolumeClaim> as Component>::FACTS,
    <kube::Object<kube::PodDisruptionBudget> as Component>::FACTS,
    <kube::Object<kube::PodMonitor> as Component>::FACTS,
    <kube::Object<kube::ResourceFlavor> as Component>::FACTS,
    <kube::Object<kube::ScaledObject> as Component>::FACTS,
    <kube::Object<kube::Service> as Component>::FACTS,
    <kube::Object<kube::ServiceAccount> as Component>::FACTS,
    <kube::Object<kube::Topology> as Component>::FACTS,
    <kube::Object<kube::WorkloadPriorityClass> as Component>::FACTS,
    <kube::Object<kube::ExternalSecret> as Component>::FACTS,
    <kube::Object<kube::LimitRange> as Component>::FACTS,
    <kube::Object<kube::Namespace> as Component>::FACTS,
    <kube::Object<kube::NetworkPolicy> as Component>::FACTS,
    <kube::Object<kube::ResourceQuota> as Component>::FACTS,
    <kube::Object<kube::RoleBinding> as Component>::FACTS,
    <kube::Object<kube::ValidatingAdmissionPolicy> as Component>::FACTS,
    <kube::Object<kube::ValidatingAdmissionPolicyBinding> as Component>::FACTS,
    kube::NetworkEnforcement::FACTS,
    kube::TokenSecret::FACTS,
];

/// A cloud that tells of objects what AWS tells.
pub(super) fn cloud() -> FakeCloud {
    let text =
        |document: &Document, field: &str| document.get(field).and_then(Json::as_str).unwrap_or_default().to_owned();
    FakeCloud::new()
        .with_outputs(aws::IamRole::FACTS.kind, move |role| {
            object(json!({ "arn": format!("arn:aws:iam::123456789012:role/{}", text(role, "name")) }))
        })
        .with_outputs(aws::ServiceAccountRole::FACTS.kind, move |role| {
            object(json!({ "arn": format!("arn:aws:iam::123456789012:role/{}", text(role, "name")) }))
        })
        // By this the cloud knows what goes with the namespace.
        .with_outputs(<kube::Object<kube::Namespace> as Component>::FACTS.kind, move |namespace| {
            object(json!({ "namespace": text(namespace, "name") }))
        })
        .with_outputs(aws::LaunchTemplate::FACTS.kind, |template| {
            // Another content is another version.
            let content: Document =
                template.iter().filter(|(name, _)| *name != "tags").map(|(k, v)| (k.clone(), v.clone())).collect();
            object(json!({ "version": format!("{:?}", Sha256::digest(Json::Object(content).to_string()).as_slice()) }))
        })
        .with_outputs(aws::NodeGroup::FACTS.kind, move |group| {
            // The laws do not tell one slot from the other, by this suffix.
            let slot = if group.contains_key("slot") { "/b" } else { "" };
            let scaling_group = format!("eks-{}{slot}", text(group, "name"));
            object(json!({
                "status": "ACTIVE",
                "live_size": group.get("initial"),
                "autoscaling_group_names": [&scaling_group],
                // By this the cloud knows what goes with the group.
                "scaling_group": scaling_group,
            }))
        })
        .with_outputs(aws::Bucket::FACTS.kind, move |bucket| {
            let domain_name = format!("{}.s3.us-east-1.amazonaws.com", text(bucket, "name"));
            object(json!({ "region": "us-east-1", "domain_name": domain_name }))
        })
        .with_outputs(aws::FileSystem::FACTS.kind, move |system| {
            let id = format!("fs-{}", text(system, "creation_token"));
            object(json!({ "id": id, "dns_name": format!("{id}.efs.us-east-1.amazonaws.com") }))
        })
        .with_outputs(aws::MountTargets::FACTS.kind, |targets| {
            object(json!({ "zones": { "us-east-1a": { "subnet_id": targets.get("subnet_ids").and_then(|ids| ids.get(0)) } } }))
        })
        .with_outputs(<kube::Object<kube::Deployment> as Component>::FACTS.kind, |deployment| {
            let replicas = deployment.get("manifest").and_then(|manifest| manifest.pointer("/spec/replicas"));
            object(json!({ "status": { "readyReplicas": replicas }, "replicas": replicas }))
        })
        .slow(1)
}

fn object(value: Json) -> Document {
    if let Json::Object(object) = value { object } else { Document::new() }
}

/// The mark of the resource in [`cloud`].
pub(super) fn owner() -> Owner {
    Owner("mlplat/test".to_owned())
}

/// What a look says of the attributes after somebody changed a field of an object that `config` made.
pub(super) async fn drifted<C: Composite>(config: &Json, object: (&str, &str), field: &str, found: Json) -> String {
    let (cx, cloud, owner) = (InstantClock::cx(), cloud(), owner());
    let drivers = cloud.drivers(KINDS);
    let source = |outputs| expanded::<C>(config, outputs).1;
    let run = Run { drivers: &drivers, cx: &cx, owner: &owner, record: &|_| {} };
    let made = converge::converge(&run, &source, Ledger::default()).await;
    assert!(made.failures.is_empty(), "{:?}", made.failures);
    cloud.alter(object.0, object.1, |object| {
        object.document.insert(field.to_owned(), found);
    });
    let ledger = &made.ledger;
    let outputs = ledger.entries.iter().map(|(key, entry)| (key.clone(), entry.outputs.clone())).collect();
    let graph = source(outputs);
    let inspection = converge::inspect(&drivers, &cx, &owner, &graph, Some(ledger)).await.expect("no faults are due");
    let said = inspection.write_backs.iter().map(|one| format!("{} = {}", one.path, one.value));
    said.collect::<Vec<_>>().join("\n")
}

/// What an import that knows `identity` alone says of the attributes of what `config` made. As the bridge does, looks
/// again until nothing new is said.
pub(super) async fn imported<C: Composite>(config: &Json, identity: &Json) -> BTreeMap<String, Json> {
    let (cx, cloud, owner) = (InstantClock::cx(), cloud(), owner());
    let drivers = cloud.drivers(KINDS);
    let source = |outputs| expanded::<C>(config, outputs).1;
    let run = Run { drivers: &drivers, cx: &cx, owner: &owner, record: &|_| {} };
    let made = converge::converge(&run, &source, Ledger::default()).await;
    assert!(made.failures.is_empty(), "{:?}", made.failures);
    let mut said: BTreeMap<AttributePath, Json> = BTreeMap::new();
    let mut outputs = BTreeMap::new();
    for round in 0.. {
        let mut resource: C = stub(&with_attributes(identity, &said));
        let mut graph = Graph::new(outputs);
        resource.expand(&settings(), &mut graph);
        let inspection = converge::inspect(&drivers, &cx, &owner, &graph, None).await.expect("no faults are due");
        outputs = inspection.ledger.entries.into_iter().map(|(key, entry)| (key, entry.outputs)).collect();
        let before = said.clone();
        said.extend(inspection.write_backs.into_iter().map(|one| (one.path, one.value)));
        if said == before && round > 0 {
            break;
        }
        assert!(round < 4, "an import does not come to rest: {said:?}");
    }
    said.into_iter().map(|(path, value)| (path.to_string(), value)).collect()
}

fn with_attributes(identity: &Json, said: &BTreeMap<AttributePath, Json>) -> Json {
    let mut config = identity.clone();
    for (path, value) in said.iter().filter(|(_, value)| !value.is_null()) {
        let mut place = &mut config;
        for step in path.steps() {
            let value::Step::Attribute(name) = step else { panic!("{path} is written back inside a collection") };
            if place.is_null() {
                *place = Json::Object(serde_json::Map::default());
            }
            place = place.as_object_mut().expect("an object on the way").entry(name.clone()).or_insert(Json::Null);
        }
        *place = value.clone();
    }
    config
}
