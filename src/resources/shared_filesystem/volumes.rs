//! The objects of a volume: an access point, a persistent volume and a claim.
//!
//! The volume and the claim do not wait for each other, though they are bound: so either is made again alone. A claim
//! that somebody deletes leaves a volume that Kubernetes binds to no other claim, and only a new one takes its place.
//! Neither can be turned to another access point, so the volume has the id of its own in its name: with another one
//! both are made again.

use converge::{Graph, Handle};
use serde_json::{Value as Json, json};
use value::{Pending, Value};

use super::{SharedFilesystem, Volume};
use crate::{
    components::{
        aws::{AccessPointDraft, AccessPointOutputs, FileSystem, FileSystemOutputs, Tags},
        kube::{ObjectDraft, PersistentVolume, PersistentVolumeClaim},
    },
    resources::kubernetes::Common,
};

/// The name of the EFS CSI driver.
const CSI_DRIVER: &str = "efs.csi.aws.com";
/// Permissions of a directory that an access point makes. Its owner is whom everybody is.
const PERMISSIONS: &str = "0755";
/// What a claim asks for. Its size cannot be changed, and a volume's can: so the claim asks for the least and is given
/// the volume's size, which it shows.
const LEAST: &str = "1Gi";

/// The keys of a volume's objects.
pub(super) struct Keys {
    pub(super) access_point: String,
    pub(super) volume: String,
    pub(super) claim: String,
}

/// A volume of which everything is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Whole {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) path: String,
    pub(super) size_gib: u32,
    pub(super) read_only: bool,
    pub(super) uid: u32,
    pub(super) gid: u32,
}

/// What the objects of all volumes have in common.
pub(super) struct Shared<'a> {
    pub(super) file_system: &'a Handle<FileSystem>,
    pub(super) tags: &'a Value<Tags>,
    pub(super) common: &'a Common,
}

// === impl Volume ===

impl Volume {
    /// With what was left out, which [`super::expand`] fills in before.
    pub(super) fn whole(&self) -> Value<Whole> {
        let whole = || {
            Some(Whole {
                namespace: self.namespace.get()?.clone(),
                name: self.name.get()?.clone(),
                path: self.path.get()?.clone(),
                size_gib: *self.size_gib.get()?,
                read_only: *self.read_only.get()?,
                uid: *self.uid.get()?,
                gid: *self.gid.get()?,
            })
        };
        whole().map_or_else(|| Value::pending(Pending::Config), Value::known)
    }

    /// The keys of its objects; none while its name is not known.
    pub(super) fn keys(&self) -> Option<Keys> {
        let id = format!("{}_{}", self.namespace.get()?, self.name.get()?);
        Some(Keys {
            access_point: format!("access_point_{id}"),
            volume: format!("volume_{id}"),
            claim: format!("claim_{id}"),
        })
    }
}

// === impl Whole ===

impl Whole {
    /// `namespace/name`.
    pub(super) fn id(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }
}

/// In Kubernetes' words.
pub(super) fn access_mode(read_only: bool) -> &'static str {
    if read_only { "ReadOnlyMany" } else { "ReadWriteMany" }
}

/// Adds the objects of a volume and gives the access point's id.
pub(super) fn add(
    filesystem: &SharedFilesystem,
    volume: &Volume,
    shared: &Shared<'_>,
    graph: &mut Graph,
) -> Option<Value<String>> {
    let keys = volume.keys()?;
    let whole = volume.whole();
    let access_point = graph.add(keys.access_point, access_point(filesystem, &whole, shared));
    let file_system_id = shared.file_system.output(FileSystemOutputs::ID);
    let access_point_id = access_point.output(AccessPointOutputs::ID);
    let handle = file_system_id
        .with(&access_point_id, |file_system, access_point| format!("{}::{}", owned(file_system), owned(access_point)));
    let volume_name = filesystem.name.with(&whole, |filesystem, whole| {
        whole.map(|whole| volume_name(&owned(filesystem), whole)).unwrap_or_default()
    });
    let volume_name = volume_name.with(&access_point_id, |name, point| format!("{}.{}", owned(name), owned(point)));
    let manifest = handle.with(&whole, |handle, whole| whole.map(|whole| volume_manifest(&owned(handle), whole)));
    let manifest = manifest.and_then(|manifest| Value::from(manifest.clone())).blamed_on(&filesystem.volumes);
    let object: ObjectDraft<PersistentVolume> = shared.common.object(&volume_name, manifest);
    graph.add(keys.volume, object);
    add_claim(filesystem, &whole, &volume_name, (keys.claim, shared.common), graph);
    Some(access_point_id)
}

fn access_point(filesystem: &SharedFilesystem, whole: &Value<Whole>, shared: &Shared<'_>) -> AccessPointDraft {
    let name = whole.map(Whole::id);
    let tags = shared.tags.with(&name, |tags, name| {
        let mut tags = tags.cloned().unwrap_or_default();
        tags.insert("Name".to_owned(), owned(name));
        tags
    });
    AccessPointDraft {
        file_system_id: shared.file_system.output(FileSystemOutputs::ID),
        name,
        path: whole.map(|whole| whole.path.clone()).blamed_on(&filesystem.volumes),
        uid: whole.map(|whole| whole.uid).blamed_on(&filesystem.volumes),
        gid: whole.map(|whole| whole.gid).blamed_on(&filesystem.volumes),
        permissions: Value::from(PERMISSIONS),
        tags: tags.blamed_on(&filesystem.tags),
    }
}

fn add_claim(
    filesystem: &SharedFilesystem,
    whole: &Value<Whole>,
    volume_name: &Value<String>,
    (key, common): (String, &Common),
    graph: &mut Graph,
) {
    let manifest = volume_name
        .with(whole, |volume, whole| whole.map(|whole| claim_manifest(&owned(volume), whole)))
        .and_then(|manifest| Value::from(manifest.clone()))
        .blamed_on(&filesystem.volumes);
    let name = whole.map(|whole| whole.name.clone());
    let mut object: ObjectDraft<PersistentVolumeClaim> = common.object(&name, manifest);
    object.namespace = whole.map(|whole| whole.namespace.clone());
    graph.add(key, object);
}

// With the access point's id unique in the cluster.
fn volume_name(filesystem: &str, whole: &Whole) -> String {
    format!("mlplat.{filesystem}.{}.{}", whole.namespace, whole.name)
}

fn volume_manifest(handle: &str, whole: &Whole) -> Json {
    json!({ "spec": {
        "accessModes": [access_mode(whole.read_only)],
        "capacity": { "storage": format!("{}Gi", whole.size_gib) },
        "claimRef": {
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": whole.namespace, "name": whole.name,
        },
        "csi": {
            "driver": CSI_DRIVER,
            "readOnly": whole.read_only,
            "volumeAttributes": { "encryptInTransit": "true" },
            "volumeHandle": handle,
        },
        // What is in the directory stays, whatever becomes of the volume.
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": "",
        "volumeMode": "Filesystem",
    } })
}

fn claim_manifest(volume: &str, whole: &Whole) -> Json {
    json!({ "spec": {
        "accessModes": [access_mode(whole.read_only)],
        "resources": { "requests": { "storage": LEAST } },
        // Without it a cluster's default class would make a volume of its own.
        "storageClassName": "",
        "volumeMode": "Filesystem",
        "volumeName": volume,
    } })
}

fn owned(text: Option<&String>) -> String {
    text.cloned().unwrap_or_default()
}
