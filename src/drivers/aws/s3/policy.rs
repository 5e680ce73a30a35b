//! A bucket's policy.

use std::sync::Arc;

use converge::{Changes, Creation, Cx, Driver, Fault, Observed};
use serde_json::Value as Json;

use super::{setting, words};
use crate::{
    components::aws::{BucketPolicy, policy::as_spelled},
    drivers::aws::{
        Aws,
        fault::{Absence, call},
    },
};

pub(in crate::drivers::aws) struct PolicyDriver(pub(in crate::drivers::aws) Arc<Aws>);

impl Driver<BucketPolicy> for PolicyDriver {
    const ACTIONS: &'static [&'static str] = &["s3:DeleteBucketPolicy", "s3:GetBucketPolicy", "s3:PutBucketPolicy"];

    async fn observe(&self, _cx: &Cx, spec: &BucketPolicy) -> Result<Option<Observed<BucketPolicy>>, Fault> {
        let sent = self.0.s3().await?.get_bucket_policy().bucket(&spec.bucket).send();
        let answer = call("s3:GetBucketPolicy", words(&spec.bucket), sent).await.or_absent()?;
        Ok(answer.and_then(|answer| answer.policy).map(|text| {
            // Text that is no JSON stands as it is, and so differs from any policy of ours.
            let found = serde_json::from_str(&text).unwrap_or(Json::String(text));
            setting(BucketPolicy { document: as_spelled(found, &spec.document), ..spec.clone() })
        }))
    }

    async fn create(&self, _cx: &Cx, spec: &BucketPolicy, _creation: &Creation<'_, BucketPolicy>) -> Result<(), Fault> {
        self.put(spec).await
    }

    async fn update(&self, _cx: &Cx, spec: &BucketPolicy, _changes: &Changes<'_, BucketPolicy>) -> Result<(), Fault> {
        self.put(spec).await
    }

    async fn delete(&self, _cx: &Cx, spec: &BucketPolicy, _found: &Observed<BucketPolicy>) -> Result<(), Fault> {
        let sent = self.0.s3().await?.delete_bucket_policy().bucket(&spec.bucket).send();
        call("s3:DeleteBucketPolicy", words(&spec.bucket), sent).await.or_absent().map(drop)
    }
}

impl PolicyDriver {
    async fn put(&self, spec: &BucketPolicy) -> Result<(), Fault> {
        let request = self.0.s3().await?.put_bucket_policy().bucket(&spec.bucket);
        let sent = request.policy(spec.document.to_string()).send();
        call("s3:PutBucketPolicy", words(&spec.bucket), sent).await.map(drop)
    }
}
