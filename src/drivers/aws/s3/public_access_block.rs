//! The switches that keep a bucket from becoming public.

use std::sync::Arc;

use aws_sdk_s3::types::PublicAccessBlockConfiguration;
use converge::{Changes, Creation, Cx, Driver, Fault, Observed};

use super::{setting, words};
use crate::{
    components::aws::BucketPublicAccessBlock,
    drivers::aws::{
        Aws,
        fault::{Absence, call},
    },
};

pub(in crate::drivers::aws) struct PublicAccessBlockDriver(pub(in crate::drivers::aws) Arc<Aws>);

impl Driver<BucketPublicAccessBlock> for PublicAccessBlockDriver {
    const ACTIONS: &'static [&'static str] = &["s3:GetBucketPublicAccessBlock", "s3:PutBucketPublicAccessBlock"];

    async fn observe(
        &self,
        _cx: &Cx,
        spec: &BucketPublicAccessBlock,
    ) -> Result<Option<Observed<BucketPublicAccessBlock>>, Fault> {
        let sent = self.0.s3().await?.get_public_access_block().bucket(&spec.bucket).send();
        let answer = call("s3:GetBucketPublicAccessBlock", words(&spec.bucket), sent).await.or_absent()?;
        let found = answer.and_then(|answer| answer.public_access_block_configuration);
        Ok(found.map(|found| {
            setting(BucketPublicAccessBlock {
                bucket: spec.bucket.clone(),
                block_public_acls: found.block_public_acls.unwrap_or_default(),
                ignore_public_acls: found.ignore_public_acls.unwrap_or_default(),
                block_public_policy: found.block_public_policy.unwrap_or_default(),
                restrict_public_buckets: found.restrict_public_buckets.unwrap_or_default(),
            })
        }))
    }

    async fn create(
        &self,
        _cx: &Cx,
        spec: &BucketPublicAccessBlock,
        _creation: &Creation<'_, BucketPublicAccessBlock>,
    ) -> Result<(), Fault> {
        self.put(spec).await
    }

    async fn update(
        &self,
        _cx: &Cx,
        spec: &BucketPublicAccessBlock,
        _changes: &Changes<'_, BucketPublicAccessBlock>,
    ) -> Result<(), Fault> {
        self.put(spec).await
    }

    async fn delete(
        &self,
        _cx: &Cx,
        spec: &BucketPublicAccessBlock,
        _found: &Observed<BucketPublicAccessBlock>,
    ) -> Result<(), Fault> {
        let sent = self.0.s3().await?.delete_public_access_block().bucket(&spec.bucket).send();
        call("s3:PutBucketPublicAccessBlock", words(&spec.bucket), sent).await.or_absent().map(drop)
    }
}

impl PublicAccessBlockDriver {
    async fn put(&self, spec: &BucketPublicAccessBlock) -> Result<(), Fault> {
        let configuration = PublicAccessBlockConfiguration::builder()
            .block_public_acls(spec.block_public_acls)
            .ignore_public_acls(spec.ignore_public_acls)
            .block_public_policy(spec.block_public_policy)
            .restrict_public_buckets(spec.restrict_public_buckets)
            .build();
        let request = self.0.s3().await?.put_public_access_block().bucket(&spec.bucket);
        let sent = request.public_access_block_configuration(configuration).send();
        call("s3:PutBucketPublicAccessBlock", words(&spec.bucket), sent).await.map(drop)
    }
}
