//! Who owns the objects of a bucket.

use std::sync::Arc;

use aws_sdk_s3::types::{ObjectOwnership, OwnershipControls, OwnershipControlsRule};
use converge::{Changes, Creation, Cx, Driver, Fault, Observed};

use super::{setting, words};
use crate::{
    components::aws::BucketOwnershipControls,
    drivers::aws::{
        Aws,
        fault::{Absence, call, unbuildable},
    },
};

pub(in crate::drivers::aws) struct OwnershipControlsDriver(pub(in crate::drivers::aws) Arc<Aws>);

impl Driver<BucketOwnershipControls> for OwnershipControlsDriver {
    const ACTIONS: &'static [&'static str] = &["s3:GetBucketOwnershipControls", "s3:PutBucketOwnershipControls"];

    async fn observe(
        &self,
        _cx: &Cx,
        spec: &BucketOwnershipControls,
    ) -> Result<Option<Observed<BucketOwnershipControls>>, Fault> {
        let sent = self.0.s3().await?.get_bucket_ownership_controls().bucket(&spec.bucket).send();
        let answer = call("s3:GetBucketOwnershipControls", words(&spec.bucket), sent).await.or_absent()?;
        let rule = answer.and_then(|answer| answer.ownership_controls?.rules.into_iter().next());
        Ok(rule.map(|rule| {
            setting(BucketOwnershipControls {
                bucket: spec.bucket.clone(),
                object_ownership: rule.object_ownership.as_str().to_owned(),
            })
        }))
    }

    async fn create(
        &self,
        _cx: &Cx,
        spec: &BucketOwnershipControls,
        _creation: &Creation<'_, BucketOwnershipControls>,
    ) -> Result<(), Fault> {
        self.put(spec).await
    }

    async fn update(
        &self,
        _cx: &Cx,
        spec: &BucketOwnershipControls,
        _changes: &Changes<'_, BucketOwnershipControls>,
    ) -> Result<(), Fault> {
        self.put(spec).await
    }

    async fn delete(
        &self,
        _cx: &Cx,
        spec: &BucketOwnershipControls,
        _found: &Observed<BucketOwnershipControls>,
    ) -> Result<(), Fault> {
        let sent = self.0.s3().await?.delete_bucket_ownership_controls().bucket(&spec.bucket).send();
        call("s3:PutBucketOwnershipControls", words(&spec.bucket), sent).await.or_absent().map(drop)
    }
}

impl OwnershipControlsDriver {
    async fn put(&self, spec: &BucketOwnershipControls) -> Result<(), Fault> {
        let ownership = ObjectOwnership::from(spec.object_ownership.as_str());
        let rule = OwnershipControlsRule::builder().object_ownership(ownership).build().map_err(unbuildable)?;
        let controls = OwnershipControls::builder().rules(rule).build().map_err(unbuildable)?;
        let request = self.0.s3().await?.put_bucket_ownership_controls().bucket(&spec.bucket);
        let sent = request.ownership_controls(controls).send();
        call("s3:PutBucketOwnershipControls", words(&spec.bucket), sent).await.map(drop)
    }
}
