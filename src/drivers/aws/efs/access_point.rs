//! Access points.
//!
//! They have ids only; the token that one was made with is what it is found by. Nobody can change it, unlike a tag.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    sync::Arc,
};

use aws_sdk_efs::{
    Client,
    types::{AccessPointDescription, CreationInfo, LifeCycleState, PosixUser, RootDirectory},
};
use converge::{Changes, Creation, Cx, Driver, Fault, Observed, Readiness};
use sha2::{Digest, Sha256};

use super::{readiness, retag, tag_list, words};
use crate::{
    components::aws::{AccessPoint, AccessPointOutputs},
    drivers::{
        aws::{
            Aws,
            fault::{Absence, call, unbuildable},
            tags::{TagChange, marked, parted},
        },
        gather::Gather,
    },
};

pub(in crate::drivers::aws) struct AccessPointDriver {
    aws: Arc<Aws>,
    of_file_systems: Gather<Vec<AccessPointDescription>>,
}

impl Driver<AccessPoint> for AccessPointDriver {
    const ACTIONS: &'static [&'static str] = &[
        "elasticfilesystem:CreateAccessPoint",
        "elasticfilesystem:DeleteAccessPoint",
        "elasticfilesystem:DescribeAccessPoints",
        "elasticfilesystem:TagResource",
        "elasticfilesystem:UntagResource",
    ];

    async fn observe(&self, cx: &Cx, spec: &AccessPoint) -> Result<Option<Observed<AccessPoint>>, Fault> {
        let aws = Arc::clone(&self.aws);
        let answer = move |ids| {
            let aws = Arc::clone(&aws);
            async move { access_points(aws.efs().await?, ids).await }
        };
        let points = self.of_file_systems.ask(cx, &spec.file_system_id, answer).await?.unwrap_or_default();
        let token = token(spec);
        let is_it = |point: &AccessPointDescription| {
            point.client_token() == Some(&token) && point.life_cycle_state() != Some(&LifeCycleState::Deleted)
        };
        Ok(points.into_iter().find(is_it).map(|point| observed(spec, point)))
    }

    async fn create(&self, _cx: &Cx, spec: &AccessPoint, creation: &Creation<'_, AccessPoint>) -> Result<(), Fault> {
        let user = PosixUser::builder().uid(spec.uid.into()).gid(spec.gid.into()).build().map_err(unbuildable)?;
        // The root is there already, and EFS takes no owner for it.
        let making = (spec.path != "/").then(|| {
            CreationInfo::builder()
                .owner_uid(spec.uid.into())
                .owner_gid(spec.gid.into())
                .permissions(&spec.permissions)
                .build()
                .map_err(unbuildable)
        });
        let directory = RootDirectory::builder().path(&spec.path).set_creation_info(making.transpose()?).build();
        let request = self.aws.efs().await?.create_access_point().client_token(token(spec));
        let request = request.file_system_id(&spec.file_system_id).posix_user(user).root_directory(directory);
        let sent = request.set_tags(Some(tag_list(&marked(&spec.tags, creation.owner))?)).send();
        call("elasticfilesystem:CreateAccessPoint", name_in_words(spec), sent).await.map(drop)
    }

    async fn update(&self, _cx: &Cx, spec: &AccessPoint, changes: &Changes<'_, AccessPoint>) -> Result<(), Fault> {
        let change = TagChange::of(changes, &spec.tags, &changes.found.spec.tags);
        retag(self.aws.efs().await?, &changes.found.outputs.id, &name_in_words(spec), change).await
    }

    async fn delete(&self, _cx: &Cx, spec: &AccessPoint, found: &Observed<AccessPoint>) -> Result<(), Fault> {
        let sent = self.aws.efs().await?.delete_access_point().access_point_id(&found.outputs.id).send();
        call("elasticfilesystem:DeleteAccessPoint", name_in_words(spec), sent).await.or_absent().map(drop)
    }
}

impl AccessPointDriver {
    pub(in crate::drivers::aws) fn new(aws: Arc<Aws>) -> Self {
        Self { aws, of_file_systems: Gather::new(1) }
    }
}

/// The access points of file systems, by file system. One that is gone has none.
async fn access_points(
    client: &Client,
    ids: BTreeSet<String>,
) -> Result<BTreeMap<String, Vec<AccessPointDescription>>, Fault> {
    let mut found = BTreeMap::new();
    for id in ids {
        if let Some(points) = of_file_system(client, &id).await.or_absent()? {
            found.insert(id, points);
        }
    }
    Ok(found)
}

async fn of_file_system(client: &Client, id: &str) -> Result<Vec<AccessPointDescription>, Fault> {
    let (mut points, mut token) = (Vec::new(), None);
    loop {
        let sent = client.describe_access_points().file_system_id(id).set_next_token(token).send();
        let page = call("elasticfilesystem:DescribeAccessPoints", words(id), sent).await?;
        points.extend(page.access_points.unwrap_or_default());
        token = page.next_token.filter(|token| !token.is_empty());
        if token.is_none() {
            return Ok(points);
        }
    }
}

/// The same for ever for an access point of this name. 64 characters, the most that EFS takes.
fn token(spec: &AccessPoint) -> String {
    let hash = Sha256::digest(format!("{}/{}", spec.file_system_id, spec.name).as_bytes());
    hash.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn observed(spec: &AccessPoint, point: AccessPointDescription) -> Observed<AccessPoint> {
    let tags = point.tags.unwrap_or_default().into_iter().map(|tag| (tag.key, tag.value));
    let (tags, ownership) = parted(tags);
    let number = |number: Option<i64>| number.and_then(|number| u32::try_from(number).ok()).unwrap_or_default();
    let user = point.posix_user.as_ref();
    let directory = point.root_directory.as_ref();
    let making = directory.and_then(RootDirectory::creation_info);
    let found = AccessPoint {
        file_system_id: spec.file_system_id.clone(),
        name: spec.name.clone(),
        path: directory.and_then(RootDirectory::path).unwrap_or("/").to_owned(),
        uid: number(user.map(PosixUser::uid)),
        gid: number(user.map(PosixUser::gid)),
        permissions: making.map_or(&spec.permissions, |making| &making.permissions).clone(),
        tags,
    };
    let outputs = AccessPointOutputs {
        id: point.access_point_id.unwrap_or_default(),
        arn: point.access_point_arn.unwrap_or_default(),
    };
    let readiness = point.life_cycle_state.as_ref().map_or(Readiness::Ready, readiness);
    Observed { spec: found, outputs, ownership, readiness }
}

fn name_in_words(spec: &AccessPoint) -> String {
    format!("access point {:?} of {}", spec.name, words(&spec.file_system_id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_the_same_for_ever_and_another_for_another_name() {
        let spec = |name: &str| AccessPoint {
            file_system_id: "fs-1".to_owned(),
            name: name.to_owned(),
            ..AccessPoint::default()
        };
        assert_eq!(token(&spec("ml/weights")).len(), 64);
        assert_eq!(token(&spec("ml/weights")), token(&AccessPoint { uid: 7, ..spec("ml/weights") }));
        assert_ne!(token(&spec("ml/weights")), token(&spec("ml/code")));
    }
}
