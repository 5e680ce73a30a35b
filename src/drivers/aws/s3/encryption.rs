//! How a bucket encrypts objects at rest.

use std::sync::Arc;

use aws_sdk_s3::types::{
    ServerSideEncryption, ServerSideEncryptionByDefault, ServerSideEncryptionConfiguration, ServerSideEncryptionRule,
};
use converge::{Changes, Creation, Cx, Driver, Fault, FaultClass, Observed};

use super::{setting, words};
use crate::{
    components::aws::BucketEncryption,
    drivers::aws::{
        Aws,
        fault::{Absence, call, unbuildable},
    },
};

pub(in crate::drivers::aws) struct EncryptionDriver(pub(in crate::drivers::aws) Arc<Aws>);

const DEFAULT_ALGORITHM: &str = "AES256";

impl Driver<BucketEncryption> for EncryptionDriver {
    const ACTIONS: &'static [&'static str] = &["s3:GetEncryptionConfiguration", "s3:PutEncryptionConfiguration"];

    async fn observe(&self, _cx: &Cx, spec: &BucketEncryption) -> Result<Option<Observed<BucketEncryption>>, Fault> {
        let sent = self.0.s3().await?.get_bucket_encryption().bucket(&spec.bucket).send();
        let rule = match call("s3:GetEncryptionConfiguration", words(&spec.bucket), sent).await {
            Ok(found) => found.server_side_encryption_configuration.and_then(|found| found.rules.into_iter().next()),
            Err(fault) if fault.code.as_deref() == Some("ServerSideEncryptionConfigurationNotFoundError") => None,
            Err(fault) if fault.class == FaultClass::NotFound => return Ok(None),
            Err(fault) => return Err(fault),
        };
        Ok(Some(setting(encryption(&spec.bucket, rule))))
    }

    async fn create(
        &self,
        _cx: &Cx,
        spec: &BucketEncryption,
        _creation: &Creation<'_, BucketEncryption>,
    ) -> Result<(), Fault> {
        self.put(spec).await
    }

    async fn update(
        &self,
        _cx: &Cx,
        spec: &BucketEncryption,
        _changes: &Changes<'_, BucketEncryption>,
    ) -> Result<(), Fault> {
        self.put(spec).await
    }

    async fn delete(
        &self,
        _cx: &Cx,
        spec: &BucketEncryption,
        _found: &Observed<BucketEncryption>,
    ) -> Result<(), Fault> {
        let sent = self.0.s3().await?.delete_bucket_encryption().bucket(&spec.bucket).send();
        call("s3:PutEncryptionConfiguration", words(&spec.bucket), sent).await.or_absent().map(drop)
    }
}

impl EncryptionDriver {
    async fn put(&self, spec: &BucketEncryption) -> Result<(), Fault> {
        let default = ServerSideEncryptionByDefault::builder()
            .sse_algorithm(ServerSideEncryption::from(spec.algorithm.as_str()))
            .set_kms_master_key_id(spec.kms_key_arn.clone())
            .build()
            .map_err(unbuildable)?;
        let rule = ServerSideEncryptionRule::builder()
            .apply_server_side_encryption_by_default(default)
            .bucket_key_enabled(spec.bucket_key)
            .build();
        let configuration = ServerSideEncryptionConfiguration::builder().rules(rule).build().map_err(unbuildable)?;
        let request = self.0.s3().await?.put_bucket_encryption().bucket(&spec.bucket);
        let sent = request.server_side_encryption_configuration(configuration).send();
        call("s3:PutEncryptionConfiguration", words(&spec.bucket), sent).await.map(drop)
    }
}

fn encryption(bucket: &str, rule: Option<ServerSideEncryptionRule>) -> BucketEncryption {
    let bucket_key = rule.as_ref().and_then(|rule| rule.bucket_key_enabled).unwrap_or_default();
    let default = rule.and_then(|rule| rule.apply_server_side_encryption_by_default);
    let algorithm = default.as_ref().map_or(DEFAULT_ALGORITHM, |default| default.sse_algorithm.as_str()).to_owned();
    let kms_key_arn = default.and_then(|default| default.kms_master_key_id);
    BucketEncryption { bucket: bucket.to_owned(), algorithm, kms_key_arn, bucket_key }
}
