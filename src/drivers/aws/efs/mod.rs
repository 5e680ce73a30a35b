//! An EFS file system and what belongs to it, one driver each.
//!
//! Lifecycle and backup have no absence in EFS: they are there as long as the file system is, and deleting them sets
//! the default. Neither they, nor the policy, nor mount targets can carry a mark; the file system's counts.

mod access_point;
mod file_system;
mod mount_targets;
mod settings;
mod zones;

pub(super) use access_point::AccessPointDriver;
pub(super) use file_system::FileSystemDriver;
pub(super) use mount_targets::MountTargetsDriver;
pub(super) use settings::{BackupDriver, LifecycleDriver, PolicyDriver};

use aws_sdk_efs::{
    Client,
    types::{LifeCycleState, Tag},
};
use converge::{Fault, Readiness};

use super::{
    fault::{call, unbuildable},
    tags::TagChange,
};
use crate::components::aws::Tags;

async fn retag(client: &Client, id: &str, object: &str, change: TagChange) -> Result<(), Fault> {
    if !change.put.is_empty() {
        let sent = client.tag_resource().resource_id(id).set_tags(Some(tag_list(&change.put)?)).send();
        call("elasticfilesystem:TagResource", object, sent).await?;
    }
    if !change.remove.is_empty() {
        let keys = change.remove.into_iter().collect();
        let sent = client.untag_resource().resource_id(id).set_tag_keys(Some(keys)).send();
        call("elasticfilesystem:UntagResource", object, sent).await?;
    }
    Ok(())
}

fn tag_list(tags: &Tags) -> Result<Vec<Tag>, Fault> {
    tags.iter().map(|(key, value)| Tag::builder().key(key).value(value).build().map_err(unbuildable)).collect()
}

fn readiness(state: &LifeCycleState) -> Readiness {
    match state {
        LifeCycleState::Available => Readiness::Ready,
        LifeCycleState::Error => Readiness::broken("EFS could not make it, and does not say why"),
        state => Readiness::Waiting(state.as_str().to_owned()),
    }
}

/// A file system in words.
fn words(id: &str) -> String {
    format!("file system {id:?}")
}
