//! Whether a bucket keeps old versions.

use std::sync::Arc;

use aws_sdk_s3::types::{BucketVersioningStatus, VersioningConfiguration};
use converge::{Changes, Creation, Cx, Driver, Fault, Observed};

use super::{setting, words};
use crate::{
    components::aws::BucketVersioning,
    drivers::aws::{
        Aws,
        fault::{Absence, call},
    },
};

pub(in crate::drivers::aws) struct VersioningDriver(pub(in crate::drivers::aws) Arc<Aws>);

impl Driver<BucketVersioning> for VersioningDriver {
    const ACTIONS: &'static [&'static str] = &["s3:GetBucketVersioning", "s3:PutBucketVersioning"];

    async fn observe(&self, _cx: &Cx, spec: &BucketVersioning) -> Result<Option<Observed<BucketVersioning>>, Fault> {
        let sent = self.0.s3().await?.get_bucket_versioning().bucket(&spec.bucket).send();
        let Some(found) = call("s3:GetBucketVersioning", words(&spec.bucket), sent).await.or_absent()? else {
            return Ok(None);
        };
        let enabled = found.status == Some(BucketVersioningStatus::Enabled);
        Ok(Some(setting(BucketVersioning { enabled, ..spec.clone() })))
    }

    async fn create(
        &self,
        _cx: &Cx,
        spec: &BucketVersioning,
        _creation: &Creation<'_, BucketVersioning>,
    ) -> Result<(), Fault> {
        self.put(&spec.bucket, spec.enabled).await
    }

    async fn update(
        &self,
        _cx: &Cx,
        spec: &BucketVersioning,
        _changes: &Changes<'_, BucketVersioning>,
    ) -> Result<(), Fault> {
        self.put(&spec.bucket, spec.enabled).await
    }

    async fn delete(&self, _cx: &Cx, spec: &BucketVersioning, found: &Observed<BucketVersioning>) -> Result<(), Fault> {
        if !found.spec.enabled {
            return Ok(());
        }
        self.put(&spec.bucket, false).await.or_absent().map(drop)
    }
}

impl VersioningDriver {
    async fn put(&self, bucket: &str, enabled: bool) -> Result<(), Fault> {
        let status = if enabled { BucketVersioningStatus::Enabled } else { BucketVersioningStatus::Suspended };
        let configuration = VersioningConfiguration::builder().status(status).build();
        let request = self.0.s3().await?.put_bucket_versioning().bucket(bucket);
        let sent = request.versioning_configuration(configuration).send();
        call("s3:PutBucketVersioning", words(bucket), sent).await.map(drop)
    }
}
