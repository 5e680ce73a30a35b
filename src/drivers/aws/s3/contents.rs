//! What is in a bucket: counting it, and deleting it page by page.
//!
//! Deleting goes on from wherever an earlier run stopped; nothing is held but a few pages.

use std::sync::atomic::{AtomicUsize, Ordering};

use aws_sdk_s3::{
    Client,
    operation::{list_multipart_uploads::ListMultipartUploadsOutput, list_object_versions::ListObjectVersionsOutput},
    types::{Delete, MultipartUpload, ObjectIdentifier},
};
use converge::{Cx, Fault, FaultClass};
use futures::{Stream, StreamExt, TryStreamExt, stream};

use super::words;
use crate::drivers::aws::fault::{Absence, call, told, unbuildable};

/// The contents of one bucket.
pub(super) struct Contents<'a> {
    pub(super) client: &'a Client,
    pub(super) bucket: &'a str,
}

/// How much there is of what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) versions: usize,
    pub(super) markers: usize,
    pub(super) uploads: usize,
    /// Counting stopped before the end.
    pub(super) is_bounded: bool,
}

/// Calls at a time.
const AT_ONCE: usize = 8;
/// Beyond this many, the exact number says nothing more and takes minutes.
const COUNTED: usize = 10_000;

impl Contents<'_> {
    /// How much is there, up to a bound.
    pub(super) async fn count(&self, cx: &Cx) -> Result<Counts, Fault> {
        let mut counts = Counts::default();
        let mut pages = std::pin::pin!(self.version_pages(cx));
        while let Some(page) = pages.try_next().await? {
            if counts.versions + counts.markers >= COUNTED {
                counts.is_bounded = true;
                break;
            }
            counts.versions += page.versions().len();
            counts.markers += page.delete_markers().len();
        }
        let mut pages = std::pin::pin!(self.upload_pages(cx));
        while let Some(page) = pages.try_next().await? {
            if counts.uploads >= COUNTED {
                counts.is_bounded = true;
                break;
            }
            counts.uploads += page.uploads().len();
        }
        Ok(counts)
    }

    /// Deletes everything: all versions, delete markers and uploads. S3 throttles whoever deletes as fast as this; as
    /// long as something is deleted between two failures, they are no reason to give up.
    pub(super) async fn empty(&self, cx: &Cx) -> Result<(), Fault> {
        let gone = AtomicUsize::new(0);
        let emptied = self.empty_counting(cx, &gone).await;
        emptied.map_err(|fault| if gone.into_inner() > 0 { under_way(fault) } else { fault })
    }

    async fn empty_counting(&self, cx: &Cx, gone: &AtomicUsize) -> Result<(), Fault> {
        let versions = self.version_pages(cx).try_for_each_concurrent(AT_ONCE, |page| async move {
            let count = self.delete(&page).await?;
            let so_far = gone.fetch_add(count, Ordering::Relaxed) + count;
            tracing::info!(bucket = self.bucket, deleted = so_far, "emptying the bucket");
            Ok(())
        });
        versions.await?;
        let uploads = self.upload_pages(cx).map_ok(|page| stream::iter(page.uploads.unwrap_or_default()).map(Ok));
        let abort = |upload| async {
            self.abort(upload).await?;
            gone.fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        uploads.try_flatten().try_for_each_concurrent(AT_ONCE, abort).await
    }

    async fn delete(&self, page: &ListObjectVersionsOutput) -> Result<usize, Fault> {
        let objects = identifiers(page)?;
        let count = objects.len();
        if count == 0 {
            return Ok(0);
        }
        let delete = Delete::builder().set_objects(Some(objects)).quiet(true).build().map_err(unbuildable)?;
        let sent = self.client.delete_objects().bucket(self.bucket).delete(delete).send();
        let answer = call("s3:DeleteObjectVersion", words(self.bucket), sent).await?;
        match answer.errors() {
            [] => Ok(count),
            [first, others @ ..] => {
                let key = first.key().unwrap_or_default();
                let object = match others.len() {
                    0 => format!("object {key:?} of {}", words(self.bucket)),
                    count => format!("object {key:?} and {count} more of {}", words(self.bucket)),
                };
                Err(told("s3:DeleteObjectVersion", &object, first.code(), first.message()))
            }
        }
    }

    async fn abort(&self, upload: MultipartUpload) -> Result<(), Fault> {
        let request = self.client.abort_multipart_upload().bucket(self.bucket);
        let sent = request.set_key(upload.key).set_upload_id(upload.upload_id).send();
        call("s3:AbortMultipartUpload", words(self.bucket), sent).await.or_absent().map(drop)
    }

    fn version_pages(&self, cx: &Cx) -> impl Stream<Item = Result<ListObjectVersionsOutput, Fault>> {
        stream::try_unfold(Some((None, None)), move |next| async move {
            let Some((key, version)) = next else { return Ok(None) };
            let request = self.client.list_object_versions().bucket(self.bucket);
            let sent = request.set_key_marker(key).set_version_id_marker(version).send();
            let page = cx.unless_cancelled(call("s3:ListBucketVersions", words(self.bucket), sent)).await?;
            let is_last = page.is_truncated != Some(true);
            let next = (!is_last).then(|| (page.next_key_marker.clone(), page.next_version_id_marker.clone()));
            Ok(Some((page, next)))
        })
    }

    fn upload_pages(&self, cx: &Cx) -> impl Stream<Item = Result<ListMultipartUploadsOutput, Fault>> {
        stream::try_unfold(Some((None, None)), move |next| async move {
            let Some((key, upload)) = next else { return Ok(None) };
            let request = self.client.list_multipart_uploads().bucket(self.bucket);
            let sent = request.set_key_marker(key).set_upload_id_marker(upload).send();
            let page = cx.unless_cancelled(call("s3:ListBucketMultipartUploads", words(self.bucket), sent)).await?;
            let is_last = page.is_truncated != Some(true);
            let next = (!is_last).then(|| (page.next_key_marker.clone(), page.next_upload_id_marker.clone()));
            Ok(Some((page, next)))
        })
    }
}

fn under_way(fault: Fault) -> Fault {
    match fault.class {
        FaultClass::Throttled | FaultClass::Unavailable | FaultClass::MaybeSent => Fault {
            class: FaultClass::Busy,
            ..fault
        }
        .advise(
            "Run terraform destroy again: it goes on from here. A bucket this full may need a longer `timeouts` for \
                 delete.",
        ),
        _ => fault,
    }
}

fn identifiers(page: &ListObjectVersionsOutput) -> Result<Vec<ObjectIdentifier>, Fault> {
    let versions = page.versions().iter().map(|version| (version.key(), version.version_id()));
    let markers = page.delete_markers().iter().map(|marker| (marker.key(), marker.version_id()));
    versions
        .chain(markers)
        .map(|(key, version)| {
            let object = ObjectIdentifier::builder().set_key(key.map(str::to_owned));
            object.set_version_id(version.map(str::to_owned)).build().map_err(unbuildable)
        })
        .collect()
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of = |count: usize, noun: &str| match count {
            1 => format!("1 {noun}"),
            count => format!("{count} {noun}s"),
        };
        let bound = if self.is_bounded { "more than " } else { "" };
        let (versions, markers) = (of(self.versions, "object version"), of(self.markers, "delete marker"));
        write!(f, "{bound}{versions}, {markers} and {}", of(self.uploads, "unfinished upload"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_told_in_words() {
        let counts = Counts { versions: 1, markers: 2, uploads: 0, is_bounded: false };
        assert_eq!(counts.to_string(), "1 object version, 2 delete markers and 0 unfinished uploads");
        let many = Counts { versions: 10_000, is_bounded: true, ..counts };
        assert!(many.to_string().starts_with("more than 10000 object versions"), "{many}");
    }
}
