//! What the file system's tags remember, because no API tells it: so an import finds every attribute.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json, json};
use value::{Back, Value};

use super::{SharedFilesystem, Volume, volumes::Whole};
use crate::{
    components::aws::Tags,
    resources::{
        Adopt, arn,
        tags::{self, texts},
        together,
    },
};

/// Remembers `allow_destroy_with_data`.
const DESTROY: &str = "mlplat:allow-destroy-with-data";
/// Remembers `kms_key_arn`: EFS names a key of its own too.
const KMS_KEY: &str = "mlplat:kms-key-arn";
/// Remembers `cluster`.
const CLUSTER: &str = "mlplat:cluster";
/// Remembers `adopt`.
const ADOPT: &str = "mlplat:adopt";
/// Remembers one of `volumes`: `mlplat:volume:<namespace>/<name>` = `<path> <size> <uid>:<gid> <rw|ro>`.
const VOLUME: &str = "mlplat:volume:";

/// Most characters of a volume's namespace and name together: a tag's key has 128.
pub(super) const LONGEST_VOLUME: usize = 128 - VOLUME.len() - 1;

/// The tags and what they remember of the file system, whose defaults are filled in.
pub(super) fn marked(filesystem: &SharedFilesystem, tags: &Value<Tags>) -> Value<Tags> {
    let destroy =
        filesystem.allow_destroy_with_data.and_then(|allowed| Value::from(allowed.then(|| "true".to_owned())));
    let adopt = filesystem.adopt.map(|adopt| adopt.as_str().to_owned());
    let adopt = adopt.and_then(|adopt| Value::from((adopt != "never").then(|| adopt.clone())));
    let tags = tags::marked(tags, DESTROY, &destroy);
    let tags = tags::marked(&tags, KMS_KEY, &filesystem.kms_key_arn);
    let tags = tags::marked(&tags, CLUSTER, &filesystem.cluster);
    let tags = tags::marked(&tags, ADOPT, &adopt);
    with_volumes(filesystem, &tags)
        .mirrored(&filesystem.allow_destroy_with_data, tags::remembered(DESTROY, |is| Some(Json::from(is == "true"))))
        .mirrored(
            &filesystem.kms_key_arn,
            tags::remembered(KMS_KEY, |text| arn::is_kms_key(text).then(|| Json::from(text))),
        )
        .mirrored(&filesystem.cluster, tags::remembered(CLUSTER, |text| Some(Json::from(text))))
        .mirrored(&filesystem.adopt, tags::remembered(ADOPT, |text| Adopt::from_word(text).map(|_| Json::from(text))))
        .mirrored(&filesystem.volumes, |found| volumes(found).map_or(Back::Unsaid, Back::Is))
}

fn with_volumes(filesystem: &SharedFilesystem, tags: &Value<Tags>) -> Value<Tags> {
    let volumes = filesystem.volumes.and_then(|volumes| together(volumes.iter().map(Volume::whole)));
    tags.with(&volumes, |tags, volumes| {
        let mut tags = tags.cloned().unwrap_or_default();
        let written = volumes.into_iter().flatten().map(|volume| (format!("{VOLUME}{}", volume.id()), value(volume)));
        tags.extend(written);
        tags
    })
    .blamed_on(tags)
}

fn value(volume: &Whole) -> String {
    let access = if volume.read_only { "ro" } else { "rw" };
    format!("{} {} {}:{} {access}", volume.path, volume.size_gib, volume.uid, volume.gid)
}

fn volumes(found: &Json) -> Option<Json> {
    let tags = texts(found)?;
    let volumes = tags.iter().filter_map(|(key, value)| volume(key.strip_prefix(VOLUME)?, value));
    Some(volumes.collect::<Json>())
}

fn volume(id: &str, value: &str) -> Option<Json> {
    let (namespace, name) = id.split_once('/')?;
    let words: Vec<&str> = value.split(' ').collect();
    let [path, size_gib, user, access] = words.as_slice() else { return None };
    let (uid, gid) = user.split_once(':')?;
    let number = |text: &str| text.parse::<u32>().ok();
    let mut volume = Map::new();
    volume.extend([
        ("namespace".to_owned(), json!(namespace)),
        ("name".to_owned(), json!(name)),
        ("path".to_owned(), json!(path)),
        ("size_gib".to_owned(), json!(number(size_gib)?)),
        ("read_only".to_owned(), json!(*access == "ro")),
        ("uid".to_owned(), json!(number(uid)?)),
        ("gid".to_owned(), json!(number(gid)?)),
    ]);
    Some(Json::Object(volume))
}

/// Whether a path can be written in a tag's value as it is.
pub(super) fn is_writable(path: &str) -> bool {
    path.chars().all(|c| c.is_alphanumeric() || "_.:/=+-@".contains(c))
}

/// The ids of volumes, for checks that count them.
pub(super) fn ids(volumes: &BTreeSet<Volume>) -> impl Iterator<Item = String> + '_ {
    volumes.iter().filter_map(|volume| Some(format!("{}/{}", volume.namespace.get()?, volume.name.get()?)))
}
