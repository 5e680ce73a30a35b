//! What tests of resources stand on instead of an account and a cluster: a fake cloud that knows every kind of object
//! and tells of it what AWS and Kubernetes would.
//!
//! In the crate itself for unit tests, and with the feature `testing` for those in `tests/`. Never in the provider that
//! is shipped.

use converge::{Component, Document, KindFacts, testing::FakeCloud};
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use value::Value;

use crate::{
    components::{
        aws,
        kube::{self, Object},
    },
    settings::Settings,
};

macro_rules! kinds {
    (aws: $($aws:ident),+; kube: $($kube:ident),+;) => {
        /// The kinds that resources are made of.
        pub const KINDS: &[KindFacts] = &[
            $(aws::$aws::FACTS,)+
            $(<Object<kube::$kube> as Component>::FACTS,)+
            kube::NetworkEnforcement::FACTS,
            kube::TokenSecret::FACTS,
        ];
    };
}

kinds! {
    aws: AccessPoint, AutoscalingTags, BackupPolicy, Bucket, BucketEncryption, BucketLifecycle, BucketOwnershipControls,
        BucketPolicy, BucketPublicAccessBlock, BucketVersioning, FileSystem, FileSystemLifecycle, FileSystemPolicy,
        IamRole, IamRolePolicy, LaunchTemplate, MountTargets, NodeGroup, PodIdentityAssociation, SecurityGroup,
        ServiceAccountRole;
    kube: ClusterQueue, Deployment, ExternalSecret, HorizontalPodAutoscaler, Ingress, LimitRange, LocalQueue, Namespace,
        NetworkPolicy, PersistentVolume, PersistentVolumeClaim, PodDisruptionBudget, PodMonitor, ResourceFlavor,
        ResourceQuota, RoleBinding, ScaledObject, Service, ServiceAccount, Topology, ValidatingAdmissionPolicy,
        ValidatingAdmissionPolicyBinding, WorkloadPriorityClass;
}

/// A provider block with region, cost allocation and default tags.
pub fn settings() -> Settings {
    let map = |key: &str, value: &str| Value::known([(key.to_owned(), value.to_owned())].into());
    Settings {
        region: Value::from("us-east-1"),
        default_tags: map("env", "prod"),
        cost_allocation: map("team", "search"),
    }
}

/// A cloud that tells of objects what AWS and Kubernetes tell, and where each is ready only when looked at again.
pub fn cloud() -> FakeCloud {
    on_kubernetes(storage(compute(FakeCloud::new()))).slow(1)
}

fn compute(cloud: FakeCloud) -> FakeCloud {
    cloud
        .with_outputs(aws::IamRole::FACTS.kind, role)
        .with_outputs(aws::ServiceAccountRole::FACTS.kind, role)
        .with_outputs(aws::LaunchTemplate::FACTS.kind, |template| {
            // Another content is another version.
            let content: Document =
                template.iter().filter(|(name, _)| *name != "tags").map(|(k, v)| (k.clone(), v.clone())).collect();
            object(json!({ "version": format!("{:?}", Sha256::digest(Json::Object(content).to_string()).as_slice()) }))
        })
        .with_outputs(aws::NodeGroup::FACTS.kind, |group| {
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
}

fn role(role: &Document) -> Document {
    object(json!({ "arn": format!("arn:aws:iam::123456789012:role/{}", text(role, "name")) }))
}

fn storage(cloud: FakeCloud) -> FakeCloud {
    cloud
        .with_outputs(aws::Bucket::FACTS.kind, |bucket| {
            let domain_name = format!("{}.s3.us-east-1.amazonaws.com", text(bucket, "name"));
            object(json!({ "region": "us-east-1", "domain_name": domain_name }))
        })
        .with_outputs(aws::FileSystem::FACTS.kind, |system| {
            let id = format!("fs-{}", text(system, "creation_token"));
            object(json!({ "id": id, "dns_name": format!("{id}.efs.us-east-1.amazonaws.com") }))
        })
        .with_outputs(aws::MountTargets::FACTS.kind, |targets| {
            let first = targets.get("subnet_ids").and_then(|ids| ids.get(0));
            object(json!({ "zones": { "us-east-1a": { "subnet_id": first } } }))
        })
}

fn on_kubernetes(cloud: FakeCloud) -> FakeCloud {
    let namespace = <Object<kube::Namespace> as Component>::FACTS.kind;
    // Of AWS, some name a namespace and outlast it.
    let in_namespaces = KINDS
        .iter()
        .filter(|facts| !facts.part && !facts.kind.starts_with("aws_") && facts.identity.contains(&"namespace"));
    cloud
        .with_contents(namespace, "namespace", in_namespaces.map(|facts| facts.kind))
        // By this the cloud knows what goes with the namespace.
        .with_outputs(namespace, |namespace| object(json!({ "namespace": text(namespace, "name") })))
        .with_outputs(<Object<kube::Deployment> as Component>::FACTS.kind, |deployment| {
            let replicas = deployment.get("manifest").and_then(|manifest| manifest.pointer("/spec/replicas"));
            object(json!({ "status": { "readyReplicas": replicas }, "replicas": replicas }))
        })
}

fn text(document: &Document, field: &str) -> String {
    document.get(field).and_then(Json::as_str).unwrap_or_default().to_owned()
}

fn object(value: Json) -> Document {
    if let Json::Object(object) = value { object } else { Document::new() }
}
