//! A bucket's lifecycle configuration.

use std::sync::Arc;

use aws_sdk_s3::types::{
    AbortIncompleteMultipartUpload, BucketLifecycleConfiguration, ExpirationStatus, LifecycleExpiration,
    LifecycleRule as SdkRule, LifecycleRuleFilter, NoncurrentVersionExpiration,
};
use converge::{Changes, Creation, Cx, Driver, Fault, FaultClass, Observed};

use super::{setting, words};
use crate::{
    components::aws::{BucketLifecycle, LifecycleRule},
    drivers::aws::{
        Aws,
        fault::{Absence, call, unbuildable},
    },
};

pub(in crate::drivers::aws) struct LifecycleDriver(pub(in crate::drivers::aws) Arc<Aws>);

impl Driver<BucketLifecycle> for LifecycleDriver {
    const ACTIONS: &'static [&'static str] = &["s3:GetLifecycleConfiguration", "s3:PutLifecycleConfiguration"];

    async fn observe(&self, _cx: &Cx, spec: &BucketLifecycle) -> Result<Option<Observed<BucketLifecycle>>, Fault> {
        let sent = self.0.s3().await?.get_bucket_lifecycle_configuration().bucket(&spec.bucket).send();
        let answer = call("s3:GetLifecycleConfiguration", words(&spec.bucket), sent).await.or_absent()?;
        Ok(answer.map(|answer| {
            let rules = answer.rules.unwrap_or_default().into_iter().map(found).collect();
            setting(BucketLifecycle { bucket: spec.bucket.clone(), rules })
        }))
    }

    async fn create(
        &self,
        _cx: &Cx,
        spec: &BucketLifecycle,
        _creation: &Creation<'_, BucketLifecycle>,
    ) -> Result<(), Fault> {
        self.put(spec).await
    }

    async fn update(
        &self,
        _cx: &Cx,
        spec: &BucketLifecycle,
        _changes: &Changes<'_, BucketLifecycle>,
    ) -> Result<(), Fault> {
        self.put(spec).await
    }

    async fn delete(&self, _cx: &Cx, spec: &BucketLifecycle, _found: &Observed<BucketLifecycle>) -> Result<(), Fault> {
        let sent = self.0.s3().await?.delete_bucket_lifecycle().bucket(&spec.bucket).send();
        call("s3:PutLifecycleConfiguration", words(&spec.bucket), sent).await.or_absent().map(drop)
    }
}

impl LifecycleDriver {
    async fn put(&self, spec: &BucketLifecycle) -> Result<(), Fault> {
        let rules = spec.rules.iter().map(wanted).collect::<Result<Vec<_>, _>>()?;
        let configuration =
            BucketLifecycleConfiguration::builder().set_rules(Some(rules)).build().map_err(unbuildable)?;
        let request = self.0.s3().await?.put_bucket_lifecycle_configuration().bucket(&spec.bucket);
        let sent = request.lifecycle_configuration(configuration).send();
        call("s3:PutLifecycleConfiguration", words(&spec.bucket), sent).await.map(drop)
    }
}

fn wanted(rule: &LifecycleRule) -> Result<SdkRule, Fault> {
    let abort = rule
        .abort_incomplete_uploads_after_days
        .map(|days| AbortIncompleteMultipartUpload::builder().days_after_initiation(days.cast_signed()).build());
    let noncurrent = rule
        .noncurrent_expire_after_days
        .map(|days| NoncurrentVersionExpiration::builder().noncurrent_days(days.cast_signed()).build());
    let status = if rule.enabled { ExpirationStatus::Enabled } else { ExpirationStatus::Disabled };
    SdkRule::builder()
        .id(&rule.id)
        .status(status)
        // Always a filter: the older field beside it would apply the rule to all keys where it is misread.
        .filter(LifecycleRuleFilter::builder().prefix(&rule.prefix).build())
        .set_expiration(expiration(rule)?)
        .set_noncurrent_version_expiration(noncurrent)
        .set_abort_incomplete_multipart_upload(abort)
        .build()
        .map_err(unbuildable)
}

fn expiration(rule: &LifecycleRule) -> Result<Option<LifecycleExpiration>, Fault> {
    let expiration = LifecycleExpiration::builder();
    match (rule.expire_after_days, rule.expire_delete_markers) {
        (None, false) => Ok(None),
        (Some(days), false) => Ok(Some(expiration.days(days.cast_signed()).build())),
        (None, true) => Ok(Some(expiration.expired_object_delete_marker(true).build())),
        (Some(_), true) => {
            let message = "S3 takes either days or delete markers in one rule: they need a rule each";
            Err(Fault::new(FaultClass::Bug, format!("lifecycle rule {:?}", rule.id), message))
        }
    }
}

fn found(rule: SdkRule) -> LifecycleRule {
    let days = |days: Option<i32>| days.map(i32::cast_unsigned);
    let other = other(&rule);
    let filter_prefix = rule.filter.and_then(|filter| filter.prefix.or(filter.and.and_then(|and| and.prefix)));
    #[expect(deprecated, reason = "rules made long ago have their prefix here")]
    let prefix = filter_prefix.or(rule.prefix).unwrap_or_default();
    let noncurrent = rule.noncurrent_version_expiration.and_then(|noncurrent| noncurrent.noncurrent_days);
    let abort = rule.abort_incomplete_multipart_upload.and_then(|abort| abort.days_after_initiation);
    LifecycleRule {
        id: rule.id.unwrap_or_default(),
        enabled: rule.status == ExpirationStatus::Enabled,
        prefix,
        expire_after_days: days(rule.expiration.as_ref().and_then(|expiration| expiration.days)),
        expire_delete_markers: rule.expiration.and_then(|e| e.expired_object_delete_marker).unwrap_or_default(),
        noncurrent_expire_after_days: days(noncurrent),
        abort_incomplete_uploads_after_days: days(abort),
        other,
    }
}

// What of a rule this provider never writes.
fn other(rule: &SdkRule) -> Option<String> {
    let filter = rule.filter.as_ref();
    let parts = [
        (rule.transitions.as_ref().is_some_and(|list| !list.is_empty()), "transitions"),
        (rule.noncurrent_version_transitions.as_ref().is_some_and(|list| !list.is_empty()), "noncurrent transitions"),
        (filter.is_some_and(|filter| filter.tag.is_some()), "a filter by tag"),
        (filter.is_some_and(|filter| filter.and.is_some()), "a filter of several conditions"),
        (
            filter.is_some_and(|f| f.object_size_greater_than.is_some() || f.object_size_less_than.is_some()),
            "a filter by size",
        ),
        (rule.expiration.as_ref().is_some_and(|expiration| expiration.date.is_some()), "an expiration date"),
        (
            rule.noncurrent_version_expiration.as_ref().is_some_and(|e| e.newer_noncurrent_versions.is_some()),
            "a number of noncurrent versions to keep",
        ),
    ];
    let words: Vec<_> = parts.into_iter().filter(|(is_there, _)| *is_there).map(|(_, words)| words).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

#[cfg(test)]
mod tests {
    use aws_sdk_s3::types::{Tag, Transition};

    use super::*;

    fn rule() -> LifecycleRule {
        LifecycleRule {
            id: "checkpoints".to_owned(),
            enabled: true,
            prefix: "checkpoints/".to_owned(),
            expire_after_days: Some(30),
            noncurrent_expire_after_days: Some(1),
            abort_incomplete_uploads_after_days: Some(7),
            ..LifecycleRule::default()
        }
    }

    #[test]
    fn a_rule_comes_back_as_it_was_sent() {
        for rule in [
            rule(),
            LifecycleRule { enabled: false, prefix: String::new(), ..rule() },
            LifecycleRule { expire_after_days: None, expire_delete_markers: true, ..rule() },
            LifecycleRule { expire_after_days: None, noncurrent_expire_after_days: None, ..rule() },
        ] {
            assert_eq!(found(wanted(&rule).expect("a valid rule")), rule);
        }
    }

    #[test]
    fn a_prefix_is_read_wherever_it_stands() {
        let bare = || SdkRule::builder().id("checkpoints").status(ExpirationStatus::Enabled);
        let empty = bare().filter(LifecycleRuleFilter::builder().build()).build().expect("complete");
        assert_eq!(found(empty), LifecycleRule { id: "checkpoints".to_owned(), enabled: true, ..Default::default() });
        #[expect(deprecated, reason = "as rules made long ago have it")]
        let legacy = bare().prefix("old/").build().expect("complete");
        assert_eq!(found(legacy).prefix, "old/");
    }

    #[test]
    fn what_we_do_not_write_makes_a_rule_differ() {
        let tag = Tag::builder().key("k").value("v").build().expect("complete");
        let theirs = SdkRule::builder()
            .status(ExpirationStatus::Enabled)
            .filter(LifecycleRuleFilter::builder().tag(tag).build())
            .transitions(Transition::builder().days(30).build())
            .build()
            .expect("complete");
        assert_eq!(found(theirs).other.as_deref(), Some("transitions, a filter by tag"));
    }

    #[test]
    fn days_and_delete_markers_in_one_rule_are_a_bug() {
        let fault = wanted(&LifecycleRule { expire_delete_markers: true, ..rule() }).expect_err("S3 refuses it");
        assert_eq!(fault.class, FaultClass::Bug);
    }
}
