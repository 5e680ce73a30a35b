//! The file system itself.

use std::sync::Arc;

use aws_sdk_efs::types::{FileSystemDescription, LifeCycleState, PerformanceMode, ThroughputMode};
use converge::{Changes, Creation, Cx, Driver, Fault, FaultClass, Observed};

use super::{readiness, retag, tag_list, words};
use crate::{
    components::aws::{FileSystem, FileSystemOutputs},
    drivers::aws::{
        Aws,
        fault::{Absence, call},
        tags::{TagChange, marked, parted},
    },
};

/// What an empty file system measures.
const EMPTY_BYTES: i64 = 6 * 1024;

pub(in crate::drivers::aws) struct FileSystemDriver(pub(in crate::drivers::aws) Arc<Aws>);

impl Driver<FileSystem> for FileSystemDriver {
    const ACTIONS: &'static [&'static str] = &[
        "elasticfilesystem:CreateFileSystem",
        "elasticfilesystem:DeleteFileSystem",
        "elasticfilesystem:DescribeFileSystems",
        "elasticfilesystem:TagResource",
        "elasticfilesystem:UntagResource",
        "elasticfilesystem:UpdateFileSystem",
    ];

    async fn observe(&self, _cx: &Cx, spec: &FileSystem) -> Result<Option<Observed<FileSystem>>, Fault> {
        let (request, token) = (self.0.efs().await?.describe_file_systems(), &spec.creation_token);
        let request = if is_id(token) { request.file_system_id(token) } else { request.creation_token(token) };
        let answer = call("elasticfilesystem:DescribeFileSystems", words(token), request.send()).await;
        let found = answer.or_absent()?.and_then(|answer| answer.file_systems?.into_iter().next());
        let found = found.filter(|found| found.life_cycle_state != LifeCycleState::Deleted);
        let region = self.0.region().await?;
        Ok(found.map(|found| observed(spec, found, region)))
    }

    async fn create(&self, _cx: &Cx, spec: &FileSystem, creation: &Creation<'_, FileSystem>) -> Result<(), Fault> {
        let request = self
            .0
            .efs()
            .await?
            .create_file_system()
            .creation_token(&spec.creation_token)
            .performance_mode(PerformanceMode::GeneralPurpose)
            .encrypted(spec.encrypted)
            .set_kms_key_id(spec.kms_key_arn.clone())
            .throughput_mode(ThroughputMode::from(spec.throughput_mode.as_str()))
            .set_provisioned_throughput_in_mibps(spec.provisioned_mibps.map(f64::from))
            .set_tags(Some(tag_list(&marked(&spec.tags, creation.owner))?));
        call("elasticfilesystem:CreateFileSystem", words(&spec.creation_token), request.send()).await.map(drop)
    }

    async fn update(&self, _cx: &Cx, spec: &FileSystem, changes: &Changes<'_, FileSystem>) -> Result<(), Fault> {
        let client = self.0.efs().await?;
        let (id, object) = (&changes.found.outputs.id, words(&spec.creation_token));
        retag(client, id, &object, TagChange::of(changes, &spec.tags, &changes.found.spec.tags)).await?;
        if changes.fields.contains("throughput_mode") || changes.fields.contains("provisioned_mibps") {
            let request = client
                .update_file_system()
                .file_system_id(id)
                .throughput_mode(ThroughputMode::from(spec.throughput_mode.as_str()))
                .set_provisioned_throughput_in_mibps(spec.provisioned_mibps.map(f64::from));
            call("elasticfilesystem:UpdateFileSystem", object, request.send()).await?;
        }
        Ok(())
    }

    async fn delete(&self, _cx: &Cx, spec: &FileSystem, found: &Observed<FileSystem>) -> Result<(), Fault> {
        self.may_delete(spec, found)?;
        let sent = self.0.efs().await?.delete_file_system().file_system_id(&found.outputs.id).send();
        let object = words(&spec.creation_token);
        call("elasticfilesystem:DeleteFileSystem", object, sent).await.or_absent().map(drop)
    }

    fn may_delete(&self, spec: &FileSystem, found: &Observed<FileSystem>) -> Result<(), Fault> {
        let size = found.outputs.size_bytes;
        if spec.delete_with_data || size <= EMPTY_BYTES {
            return Ok(());
        }
        let object = words(&spec.creation_token);
        let message = format!("{object} ({}) holds {}", found.outputs.id, in_words(size));
        Err(Fault::new(FaultClass::HoldsData, object, message).advise(
            "Copy what you need, then set `allow_destroy_with_data = true`, run terraform apply, and destroy again; or \
             keep the file system with terraform state rm. EFS measures about once an hour, so files deleted since may \
             still count.",
        ))
    }
}

// An import may know a file system by its id. What is found then tells the token.
fn is_id(token: &str) -> bool {
    token.starts_with("fs-")
}

fn observed(spec: &FileSystem, found: FileSystemDescription, region: &str) -> Observed<FileSystem> {
    let (tags, ownership) = parted(found.tags.into_iter().map(|tag| (tag.key, tag.value)));
    let outputs = FileSystemOutputs {
        arn: found.file_system_arn.unwrap_or_default(),
        dns_name: dns_name(&found.file_system_id, region),
        size_bytes: found.size_in_bytes.map(|size| size.value).unwrap_or_default(),
        id: found.file_system_id,
    };
    let found_spec = FileSystem {
        creation_token: found.creation_token,
        encrypted: found.encrypted.unwrap_or_default(),
        kms_key_arn: found.kms_key_id,
        throughput_mode: found.throughput_mode.map(|mode| mode.as_str().to_owned()).unwrap_or_default(),
        provisioned_mibps: found.provisioned_throughput_in_mibps.map(whole),
        delete_with_data: spec.delete_with_data,
        tags,
    };
    Observed { spec: found_spec, outputs, ownership, readiness: readiness(&found.life_cycle_state) }
}

// EFS takes fractions, and this provider does not write any.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "EFS has at most a few thousand")]
fn whole(mibps: f64) -> u32 {
    mibps.round() as u32
}

fn dns_name(id: &str, region: &str) -> String {
    let domain = if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" };
    format!("{id}.efs.{region}.{domain}")
}

fn in_words(bytes: i64) -> String {
    const UNITS: [(i64, &str); 4] = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS.iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => {
            let tenths = bytes.saturating_mul(10) / unit;
            format!("{}.{} {name} of data", tenths / 10, tenths % 10)
        }
        None => format!("{bytes} bytes of data"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_told_in_the_largest_unit_that_fits() {
        assert_eq!(in_words(500), "500 bytes of data");
        assert_eq!(in_words(12 * 1024), "12.0 KiB of data");
        assert_eq!(in_words(894 << 30), "894.0 GiB of data");
        assert_eq!(in_words((3 << 40) / 2), "1.5 TiB of data");
    }

    #[test]
    fn the_host_name_follows_the_partition() {
        assert_eq!(dns_name("fs-1", "eu-west-1"), "fs-1.efs.eu-west-1.amazonaws.com");
        assert_eq!(dns_name("fs-1", "cn-north-1"), "fs-1.efs.cn-north-1.amazonaws.com.cn");
    }
}
