//! Settings of a file system: lifecycle, backup, policy.

use std::{collections::BTreeMap, sync::Arc};

use aws_sdk_efs::types::{
    BackupPolicy as SdkBackup, LifecyclePolicy, Status, TransitionToArchiveRules, TransitionToIaRules,
    TransitionToPrimaryStorageClassRules,
};
use converge::{Changes, Component, Creation, Cx, Driver, Fault, Observed, Ownership, Readiness};
use serde_json::Value as Json;

use super::words;
use crate::{
    components::aws::{
        BackupPolicy, FileSystemLifecycle, FileSystemPolicy, TO_ARCHIVE, TO_IA, TO_PRIMARY, policy::as_spelled,
    },
    drivers::aws::{
        Aws,
        fault::{Absence, call, unbuildable},
    },
};

pub(in crate::drivers::aws) struct LifecycleDriver(pub(in crate::drivers::aws) Arc<Aws>);
pub(in crate::drivers::aws) struct BackupDriver(pub(in crate::drivers::aws) Arc<Aws>);
pub(in crate::drivers::aws) struct PolicyDriver(pub(in crate::drivers::aws) Arc<Aws>);

impl Driver<FileSystemLifecycle> for LifecycleDriver {
    const ACTIONS: &'static [&'static str] =
        &["elasticfilesystem:DescribeLifecycleConfiguration", "elasticfilesystem:PutLifecycleConfiguration"];

    async fn observe(
        &self,
        _cx: &Cx,
        spec: &FileSystemLifecycle,
    ) -> Result<Option<Observed<FileSystemLifecycle>>, Fault> {
        let id = &spec.file_system_id;
        let sent = self.0.efs().await?.describe_lifecycle_configuration().file_system_id(id).send();
        let answer = call("elasticfilesystem:DescribeLifecycleConfiguration", words(id), sent).await.or_absent()?;
        Ok(answer.map(|answer| {
            let rules = answer.lifecycle_policies.unwrap_or_default();
            let transitions = rules.iter().flat_map(transitions).collect();
            setting(FileSystemLifecycle { file_system_id: id.clone(), transitions })
        }))
    }

    async fn create(
        &self,
        _cx: &Cx,
        spec: &FileSystemLifecycle,
        _creation: &Creation<'_, FileSystemLifecycle>,
    ) -> Result<(), Fault> {
        self.put(&spec.file_system_id, &spec.transitions).await
    }

    async fn update(
        &self,
        _cx: &Cx,
        spec: &FileSystemLifecycle,
        _changes: &Changes<'_, FileSystemLifecycle>,
    ) -> Result<(), Fault> {
        self.put(&spec.file_system_id, &spec.transitions).await
    }

    async fn delete(
        &self,
        _cx: &Cx,
        spec: &FileSystemLifecycle,
        _found: &Observed<FileSystemLifecycle>,
    ) -> Result<(), Fault> {
        self.put(&spec.file_system_id, &BTreeMap::new()).await.or_absent().map(drop)
    }
}

impl LifecycleDriver {
    async fn put(&self, id: &str, transitions: &BTreeMap<String, String>) -> Result<(), Fault> {
        let rules = transitions.iter().map(|(class, when)| rule(class, when)).collect();
        let request = self.0.efs().await?.put_lifecycle_configuration().file_system_id(id);
        let sent = request.set_lifecycle_policies(Some(rules)).send();
        call("elasticfilesystem:PutLifecycleConfiguration", words(id), sent).await.map(drop)
    }
}

// EFS takes one transition in each rule.
fn rule(class: &str, when: &str) -> LifecyclePolicy {
    let rule = LifecyclePolicy::builder();
    match class {
        TO_IA => rule.transition_to_ia(TransitionToIaRules::from(when)),
        TO_ARCHIVE => rule.transition_to_archive(TransitionToArchiveRules::from(when)),
        _ => rule.transition_to_primary_storage_class(TransitionToPrimaryStorageClassRules::from(when)),
    }
    .build()
}

fn transitions(rule: &LifecyclePolicy) -> Vec<(String, String)> {
    let parts = [
        (TO_IA, rule.transition_to_ia().map(TransitionToIaRules::as_str)),
        (TO_ARCHIVE, rule.transition_to_archive().map(TransitionToArchiveRules::as_str)),
        (TO_PRIMARY, rule.transition_to_primary_storage_class().map(TransitionToPrimaryStorageClassRules::as_str)),
    ];
    parts.into_iter().filter_map(|(class, when)| Some((class.to_owned(), when?.to_owned()))).collect()
}

impl Driver<BackupPolicy> for BackupDriver {
    const ACTIONS: &'static [&'static str] =
        &["elasticfilesystem:DescribeBackupPolicy", "elasticfilesystem:PutBackupPolicy"];

    async fn observe(&self, _cx: &Cx, spec: &BackupPolicy) -> Result<Option<Observed<BackupPolicy>>, Fault> {
        let id = &spec.file_system_id;
        let sent = self.0.efs().await?.describe_backup_policy().file_system_id(id).send();
        let status = match call("elasticfilesystem:DescribeBackupPolicy", words(id), sent).await {
            Ok(answer) => answer.backup_policy.map(|policy| policy.status),
            // As long as nobody has said anything.
            Err(fault) if fault.code.as_deref() == Some("PolicyNotFound") => None,
            Err(fault) => return Err(fault).or_absent(),
        };
        let enabled = matches!(status, Some(Status::Enabled | Status::Enabling));
        Ok(Some(setting(BackupPolicy { enabled, ..spec.clone() })))
    }

    async fn create(&self, _cx: &Cx, spec: &BackupPolicy, _creation: &Creation<'_, BackupPolicy>) -> Result<(), Fault> {
        self.put(&spec.file_system_id, spec.enabled).await
    }

    async fn update(&self, _cx: &Cx, spec: &BackupPolicy, _changes: &Changes<'_, BackupPolicy>) -> Result<(), Fault> {
        self.put(&spec.file_system_id, spec.enabled).await
    }

    async fn delete(&self, _cx: &Cx, spec: &BackupPolicy, found: &Observed<BackupPolicy>) -> Result<(), Fault> {
        if !found.spec.enabled {
            return Ok(());
        }
        self.put(&spec.file_system_id, false).await.or_absent().map(drop)
    }
}

impl BackupDriver {
    async fn put(&self, id: &str, enabled: bool) -> Result<(), Fault> {
        let status = if enabled { Status::Enabled } else { Status::Disabled };
        let policy = SdkBackup::builder().status(status).build().map_err(unbuildable)?;
        let sent = self.0.efs().await?.put_backup_policy().file_system_id(id).backup_policy(policy).send();
        call("elasticfilesystem:PutBackupPolicy", words(id), sent).await.map(drop)
    }
}

impl Driver<FileSystemPolicy> for PolicyDriver {
    const ACTIONS: &'static [&'static str] = &[
        "elasticfilesystem:DeleteFileSystemPolicy",
        "elasticfilesystem:DescribeFileSystemPolicy",
        "elasticfilesystem:PutFileSystemPolicy",
    ];

    async fn observe(&self, _cx: &Cx, spec: &FileSystemPolicy) -> Result<Option<Observed<FileSystemPolicy>>, Fault> {
        let id = &spec.file_system_id;
        let sent = self.0.efs().await?.describe_file_system_policy().file_system_id(id).send();
        let answer = call("elasticfilesystem:DescribeFileSystemPolicy", words(id), sent).await.or_absent()?;
        Ok(answer.and_then(|answer| answer.policy).map(|text| {
            // Text that is no JSON stands as it is, and so differs from any policy of ours.
            let found = serde_json::from_str(&text).unwrap_or(Json::String(text));
            setting(FileSystemPolicy { document: as_spelled(found, &spec.document), ..spec.clone() })
        }))
    }

    async fn create(
        &self,
        _cx: &Cx,
        spec: &FileSystemPolicy,
        _creation: &Creation<'_, FileSystemPolicy>,
    ) -> Result<(), Fault> {
        self.put(spec).await
    }

    async fn update(
        &self,
        _cx: &Cx,
        spec: &FileSystemPolicy,
        _changes: &Changes<'_, FileSystemPolicy>,
    ) -> Result<(), Fault> {
        self.put(spec).await
    }

    async fn delete(
        &self,
        _cx: &Cx,
        spec: &FileSystemPolicy,
        _found: &Observed<FileSystemPolicy>,
    ) -> Result<(), Fault> {
        let id = &spec.file_system_id;
        let sent = self.0.efs().await?.delete_file_system_policy().file_system_id(id).send();
        call("elasticfilesystem:DeleteFileSystemPolicy", words(id), sent).await.or_absent().map(drop)
    }
}

impl PolicyDriver {
    async fn put(&self, spec: &FileSystemPolicy) -> Result<(), Fault> {
        let id = &spec.file_system_id;
        let request = self.0.efs().await?.put_file_system_policy().file_system_id(id);
        let sent = request.policy(spec.document.to_string()).send();
        call("elasticfilesystem:PutFileSystemPolicy", words(id), sent).await.map(drop)
    }
}

fn setting<C: Component<Outputs = ()>>(spec: C) -> Observed<C> {
    Observed { spec, outputs: (), ownership: Ownership::Inherited, readiness: Readiness::Ready }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transition_comes_back_as_it_was_sent() {
        for (class, when) in [(TO_IA, "AFTER_30_DAYS"), (TO_ARCHIVE, "AFTER_90_DAYS"), (TO_PRIMARY, "AFTER_1_ACCESS")] {
            assert_eq!(transitions(&rule(class, when)), [(class.to_owned(), when.to_owned())]);
        }
    }
}
