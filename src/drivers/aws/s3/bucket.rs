//! The bucket itself.

use std::sync::Arc;

use aws_sdk_s3::{
    Client,
    types::{BucketLocationConstraint, CreateBucketConfiguration, Tag, Tagging},
};
use converge::{Changes, Creation, Cx, Driver, Fault, FaultClass, Observed, Readiness};

use super::{contents::Contents, words};
use crate::{
    components::aws::{Bucket, BucketOutputs, Tags},
    drivers::aws::{
        Aws,
        fault::{Absence, call, unbuildable},
        tags::{TagChange, marked, parted},
    },
};

pub(in crate::drivers::aws) struct BucketDriver(pub(in crate::drivers::aws) Arc<Aws>);

/// The region that S3 does not want to hear named.
const FIRST_REGION: &str = "us-east-1";

impl Driver<Bucket> for BucketDriver {
    const ACTIONS: &'static [&'static str] = &[
        "s3:AbortMultipartUpload",
        "s3:CreateBucket",
        "s3:DeleteBucket",
        "s3:DeleteBucketPolicy",
        "s3:DeleteObject",
        "s3:DeleteObjectVersion",
        "s3:GetBucketTagging",
        "s3:ListBucketMultipartUploads",
        "s3:ListBucketVersions",
        "s3:PutBucketTagging",
        "s3:TagResource",
    ];

    async fn observe(&self, _cx: &Cx, spec: &Bucket) -> Result<Option<Observed<Bucket>>, Fault> {
        let Some(tags) = tags(self.0.s3().await?, &spec.name).await? else { return Ok(None) };
        let (tags, ownership) = parted(tags);
        // A bucket of another region does not answer here, so it is in this one.
        let outputs = outputs(&spec.name, self.0.region().await?);
        Ok(Some(Observed { spec: Bucket { tags, ..spec.clone() }, outputs, ownership, readiness: Readiness::Ready }))
    }

    async fn create(&self, _cx: &Cx, spec: &Bucket, creation: &Creation<'_, Bucket>) -> Result<(), Fault> {
        let (client, region) = (self.0.s3().await?, self.0.region().await?);
        let wanted = marked(&spec.tags, creation.owner);
        let location = (region != FIRST_REGION).then(|| BucketLocationConstraint::from(region));
        let configuration = CreateBucketConfiguration::builder()
            .set_location_constraint(location)
            .set_tags(Some(tag_list(&wanted)?))
            .build();
        let sent = client.create_bucket().bucket(&spec.name).create_bucket_configuration(configuration).send();
        call("s3:CreateBucket", words(&spec.name), sent).await?;
        // A server that does not know tags at creation ignores them. In us-east-1 S3 also answers "made" to who has
        // the bucket already: then it is not ours to mark, and the engine's next look tells whose it is.
        match tags(client, &spec.name).await?.unwrap_or_default() {
            found if found.is_empty() => put_tags(client, &spec.name, &wanted).await,
            _ => Ok(()),
        }
    }

    async fn update(&self, _cx: &Cx, spec: &Bucket, changes: &Changes<'_, Bucket>) -> Result<(), Fault> {
        let change = TagChange::of(changes, &spec.tags, &changes.found.spec.tags);
        if change.is_empty() {
            return Ok(());
        }
        let client = self.0.s3().await?;
        // S3 takes all tags at once and refuses to lose AWS's own: those of others are read again, right before.
        let found = tags(client, &spec.name).await?.unwrap_or_default();
        put_tags(client, &spec.name, &change.applied_to(found)).await
    }

    async fn delete(&self, cx: &Cx, spec: &Bucket, _found: &Observed<Bucket>) -> Result<(), Fault> {
        let client = self.0.s3().await?;
        let contents = Contents { client, bucket: &spec.name };
        if spec.empty_before_delete {
            // The policy may keep anybody from deleting what is in the bucket, its owner too.
            let sent = client.delete_bucket_policy().bucket(&spec.name).send();
            call("s3:DeleteBucketPolicy", words(&spec.name), sent).await.or_absent()?;
            contents.empty(cx).await?;
        }
        let sent = client.delete_bucket().bucket(&spec.name).send();
        match call("s3:DeleteBucket", words(&spec.name), sent).await.or_absent() {
            Err(fault) if fault.class != FaultClass::HoldsData => Err(fault),
            // Somebody wrote meanwhile: once more.
            Err(fault) if spec.empty_before_delete => Err(Fault { class: FaultClass::Busy, ..fault }),
            Err(fault) => Err(holds_data(&contents, cx, fault).await),
            Ok(_) => Ok(()),
        }
    }
}

async fn holds_data(contents: &Contents<'_>, cx: &Cx, fault: Fault) -> Fault {
    let message = match contents.count(cx).await {
        Ok(counts) => format!("{} holds {counts}", words(contents.bucket)),
        // Not even allowed to count: the refusal itself is what matters.
        Err(_) => fault.message.clone(),
    };
    let advice = "Copy what you need, then set `allow_destroy_with_data = true`, run terraform apply, and destroy \
                  again; or keep the bucket with terraform state rm.";
    Fault { message, ..fault }.advise(advice)
}

/// All tags; none where there is no bucket.
async fn tags(client: &Client, bucket: &str) -> Result<Option<Tags>, Fault> {
    let sent = client.get_bucket_tagging().bucket(bucket).send();
    match call("s3:GetBucketTagging", words(bucket), sent).await {
        Ok(found) => Ok(Some(found.tag_set.into_iter().map(|tag| (tag.key, tag.value)).collect())),
        Err(fault) if fault.code.as_deref() == Some("NoSuchTagSet") => Ok(Some(Tags::new())),
        Err(fault) => Err(fault).or_absent(),
    }
}

async fn put_tags(client: &Client, bucket: &str, tags: &Tags) -> Result<(), Fault> {
    let tagging = Tagging::builder().set_tag_set(Some(tag_list(tags)?)).build().map_err(unbuildable)?;
    let sent = client.put_bucket_tagging().bucket(bucket).tagging(tagging).send();
    call("s3:PutBucketTagging", words(bucket), sent).await.map(drop)
}

fn tag_list(tags: &Tags) -> Result<Vec<Tag>, Fault> {
    tags.iter().map(|(key, value)| Tag::builder().key(key).value(value).build().map_err(unbuildable)).collect()
}

fn outputs(name: &str, region: &str) -> BucketOutputs {
    let (partition, domain) = match region {
        _ if region.starts_with("cn-") => ("aws-cn", "amazonaws.com.cn"),
        _ if region.starts_with("us-gov-") => ("aws-us-gov", "amazonaws.com"),
        _ => ("aws", "amazonaws.com"),
    };
    BucketOutputs {
        id: name.to_owned(),
        arn: format!("arn:{partition}:s3:::{name}"),
        region: region.to_owned(),
        domain_name: format!("{name}.s3.{region}.{domain}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_partition() {
        let usual = outputs("b", "eu-west-1");
        assert_eq!(
            (usual.arn.as_str(), usual.domain_name.as_str()),
            ("arn:aws:s3:::b", "b.s3.eu-west-1.amazonaws.com")
        );
        let china = outputs("b", "cn-north-1");
        assert_eq!(china.arn, "arn:aws-cn:s3:::b");
        assert_eq!(china.domain_name, "b.s3.cn-north-1.amazonaws.com.cn");
    }
}
