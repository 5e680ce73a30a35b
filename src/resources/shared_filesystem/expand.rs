//! The child objects of a shared file system, and its defaults and outputs.

use std::collections::{BTreeMap, BTreeSet};

use converge::{Graph, Handle};
use serde_json::{Value as Json, json};
use tf_provider::Attributes;
use value::{Back, Value};

use super::{
    MountTarget, SharedFilesystem, ThroughputMode, marks,
    volumes::{self, Shared},
};
use crate::{
    components::aws::{
        self, BackupPolicyDraft, FileSystem, FileSystemDraft, FileSystemLifecycleDraft, FileSystemOutputs,
        FileSystemPolicyDraft, IngressRule, MountTargetsDraft, MountTargetsOutputs, SecurityGroup, SecurityGroupDraft,
        SecurityGroupOutputs, TO_IA, TO_PRIMARY, Tags,
    },
    resources::{
        kubernetes::{self, Common},
        tags,
    },
    settings::Settings,
};

/// The tag and label value of [`tags::WORKLOAD_TYPE`].
const WORKLOAD: &str = "shared-storage";

/// The port that NFS listens on.
const NFS: i32 = 2049;

pub(super) fn expand(filesystem: &mut SharedFilesystem, settings: &Settings, graph: &mut Graph) {
    filesystem.fill_defaults();
    let stamps = stamps(filesystem, settings);
    let efs = add_file_system(filesystem, &stamps, graph);
    add_settings(filesystem, &efs, graph);
    let group = add_security_group(filesystem, &stamps, graph);
    add_mount_targets(filesystem, &efs, &group, graph);
    add_volumes(filesystem, settings, (&efs, &stamps), graph);
    filesystem.file_system_id = efs.output(FileSystemOutputs::ID);
    filesystem.arn = efs.output(FileSystemOutputs::ARN);
    filesystem.dns_name = efs.output(FileSystemOutputs::DNS_NAME);
    filesystem.security_group_id = group.output(SecurityGroupOutputs::ID);
}

// Beside the usual ones, the name that consoles show.
fn stamps(filesystem: &SharedFilesystem, settings: &Settings) -> Value<Tags> {
    tags::stamps(settings, &Value::from(WORKLOAD)).with(&filesystem.name, |stamps, name| {
        let mut stamps = stamps.cloned().unwrap_or_default();
        stamps.extend(name.map(|name| ("Name".to_owned(), name.clone())));
        stamps
    })
}

fn add_file_system(filesystem: &SharedFilesystem, stamps: &Value<Tags>, graph: &mut Graph) -> Handle<FileSystem> {
    let tags = tags::merged(&filesystem.tags, stamps);
    let mode = filesystem.throughput.and_then(|throughput| throughput.mode.clone());
    let mibps = filesystem.throughput.and_then(|throughput| throughput.mibps.clone());
    let draft = FileSystemDraft {
        creation_token: filesystem.name.clone(),
        encrypted: Value::known(true),
        kms_key_arn: filesystem.kms_key_arn.map(String::clone),
        throughput_mode: mode.map(|mode| mode.as_str().to_owned()).mirrored(&mode, |found| {
            // Of a mode that this version does not know, `components` tells.
            let known = found.as_str().and_then(ThroughputMode::from_word);
            known.map_or(Back::Unsaid, |_| Back::Is(found.clone()))
        }),
        provisioned_mibps: mibps,
        delete_with_data: filesystem.allow_destroy_with_data.map(|allowed| *allowed),
        tags: marks::marked(filesystem, &tags).mirrored(&filesystem.tags, tags::without_stamps(stamps)),
    };
    graph.add("file_system", draft)
}

fn add_settings(filesystem: &SharedFilesystem, efs: &Handle<FileSystem>, graph: &mut Graph) {
    let file_system_id = || efs.output(FileSystemOutputs::ID);
    graph.add(
        "lifecycle",
        FileSystemLifecycleDraft { file_system_id: file_system_id(), transitions: transitions(filesystem) },
    );
    graph.add("backup", BackupPolicyDraft { file_system_id: file_system_id(), enabled: filesystem.backup.clone() });
    let document = efs.output(FileSystemOutputs::ARN).map(|arn| policy(arn));
    graph.add("policy", FileSystemPolicyDraft { file_system_id: file_system_id(), document });
}

// With the rule that moves files back: weights that are read at all are read again.
fn transitions(filesystem: &SharedFilesystem) -> Value<BTreeMap<String, String>> {
    let days = &filesystem.transition_to_ia_after_days;
    let transitions = days.with(&Value::<()>::null(), |days, _| {
        days.map_or_else(BTreeMap::new, |days| {
            let (unit, back) = (if *days == 1 { "DAY" } else { "DAYS" }, "AFTER_1_ACCESS".to_owned());
            BTreeMap::from([(TO_IA.to_owned(), format!("AFTER_{days}_{unit}")), (TO_PRIMARY.to_owned(), back)])
        })
    });
    transitions.mirrored(days, |found| {
        let rule = found.get(TO_IA).and_then(Json::as_str);
        let days = rule.and_then(|rule| rule.strip_prefix("AFTER_")?.split('_').next()?.parse::<u32>().ok());
        Back::Is(days.map_or(Json::Null, Json::from))
    })
}

// As EFS has it without a policy, for whoever reaches a mount target; but over TLS only.
fn policy(arn: &str) -> Json {
    json!({ "Version": "2012-10-17", "Statement": [
        {
            "Sid": "AllowMounts", "Effect": "Allow", "Principal": { "AWS": "*" }, "Resource": arn,
            "Action": [
                "elasticfilesystem:ClientMount",
                "elasticfilesystem:ClientRootAccess",
                "elasticfilesystem:ClientWrite",
            ],
            "Condition": { "Bool": { "elasticfilesystem:AccessedViaMountTarget": "true" } },
        },
        {
            "Sid": "DenyInsecureTransport", "Effect": "Deny", "Principal": { "AWS": "*" }, "Resource": arn,
            "Action": "*",
            "Condition": { "Bool": { "aws:SecureTransport": "false" } },
        },
    ] })
}

fn add_security_group(filesystem: &SharedFilesystem, stamps: &Value<Tags>, graph: &mut Graph) -> Handle<SecurityGroup> {
    let clients = &filesystem.client_security_group_ids;
    let ingress = clients.map(|clients| clients.iter().map(|client| nfs_from(client)).collect::<BTreeSet<_>>());
    let draft = SecurityGroupDraft {
        name: filesystem.name.map(|name| format!("mlplat-efs-{name}")),
        description: filesystem.name.map(|name| format!("NFS to the shared file system {name}")),
        subnet_ids: filesystem.subnet_ids.map(BTreeSet::clone),
        ingress: ingress.mirrored(clients, |found| Back::Is(nfs_clients(found))),
        tags: tags::merged(&filesystem.tags, stamps),
    };
    graph.add("security_group", draft)
}

fn nfs_from(client: &str) -> IngressRule {
    let (protocol, port) = ("tcp".to_owned(), Some(NFS));
    IngressRule { source: client.to_owned(), protocol, from_port: port, to_port: port }
}

// The groups among the sources. Whatever else may come in is drift of the group, and no attribute's.
fn nfs_clients(found: &Json) -> Json {
    let rules: BTreeSet<IngressRule> = serde_json::from_value(found.clone()).unwrap_or_default();
    let clients = rules.into_iter().filter(|rule| rule.source.starts_with("sg-") && *rule == nfs_from(&rule.source));
    clients.map(|rule| rule.source).collect()
}

fn add_mount_targets(
    filesystem: &mut SharedFilesystem,
    efs: &Handle<FileSystem>,
    group: &Handle<SecurityGroup>,
    graph: &mut Graph,
) {
    let targets = graph.add(
        "mount_targets",
        MountTargetsDraft {
            file_system_id: efs.output(FileSystemOutputs::ID),
            subnet_ids: filesystem.subnet_ids.clone(),
            security_group_ids: group.output(SecurityGroupOutputs::ID).map(|id| BTreeSet::from([id.clone()])),
        },
    );
    filesystem.mount_targets = targets
        .output(MountTargetsOutputs::ZONES)
        .map(|zones| zones.iter().map(|(zone, at)| (zone.clone(), told(at))).collect());
}

fn told(target: &aws::MountTarget) -> MountTarget {
    MountTarget {
        id: Value::known(target.id.clone()),
        ip: Value::known(target.ip.clone()),
        subnet_id: Value::known(target.subnet_id.clone()),
    }
}

fn add_volumes(
    filesystem: &mut SharedFilesystem,
    settings: &Settings,
    (efs, stamps): (&Handle<FileSystem>, &Value<Tags>),
    graph: &mut Graph,
) {
    let volumes = graph.shape(&filesystem.volumes).cloned().unwrap_or_default();
    let common = Common {
        cluster: filesystem.cluster.map(String::clone),
        namespace: Value::null(),
        labels: kubernetes::labels(settings, &filesystem.name, WORKLOAD, &Value::null()),
        adopt: filesystem.adopt.map(|adopt| *adopt),
    };
    let tags = tags::merged(&filesystem.tags, stamps);
    let shared = Shared { file_system: efs, tags: &tags, common: &common };
    let mut ids = Value::known(BTreeMap::new());
    for volume in &volumes {
        // Their names are in the keys of the objects.
        let (namespace, name) = (graph.shape(&volume.namespace).cloned(), graph.shape(&volume.name).cloned());
        let (Some(namespace), Some(name)) = (namespace, name) else { continue };
        let Some(id) = volumes::add(filesystem, volume, &shared, graph) else { continue };
        ids = ids.with(&id, |ids: Option<&BTreeMap<String, String>>, id| {
            let mut ids = ids.cloned().unwrap_or_default();
            ids.extend(id.map(|id| (format!("{namespace}/{name}"), id.clone())));
            ids
        });
    }
    filesystem.access_points = ids;
}
