//! EC2 launch templates: the template by name, its data by the default version.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use aws_sdk_ec2::{
    Client,
    types::{
        Filter, LaunchTemplate as SdkTemplate, LaunchTemplateBlockDeviceMappingRequest,
        LaunchTemplateEbsBlockDeviceRequest, LaunchTemplateHttpTokensState,
        LaunchTemplateInstanceMetadataOptionsRequest, LaunchTemplateTagSpecification as SdkTags,
        LaunchTemplateTagSpecificationRequest, RequestLaunchTemplateData, ResourceType, ResponseLaunchTemplateData,
        Tag, TagSpecification, VolumeType,
    },
};
use converge::{Changes, Creation, Cx, Driver, Fault, Observed, Readiness};

use crate::{
    components::aws::{LaunchTemplate, LaunchTemplateOutputs, Tags},
    drivers::{
        aws::{
            Aws,
            fault::{Absence, call},
            tags::{TagChange, marked, parted},
        },
        gather::Gather,
    },
};

pub(super) struct LaunchTemplateDriver {
    aws: Arc<Aws>,
    templates: Gather<SdkTemplate>,
}

/// Most values that a filter takes.
const NAMES: usize = 200;
const DEFAULT_VERSION: &str = "$Default";
/// What the tags of instances are put on.
const TAGGED: [ResourceType; 3] = [ResourceType::Instance, ResourceType::Volume, ResourceType::NetworkInterface];

impl LaunchTemplateDriver {
    pub(super) fn new(aws: Arc<Aws>) -> Self {
        Self { aws, templates: Gather::new(NAMES) }
    }

    async fn template(&self, cx: &Cx, name: &str) -> Result<Option<SdkTemplate>, Fault> {
        let aws = Arc::clone(&self.aws);
        let answer = move |names| {
            let aws = Arc::clone(&aws);
            async move { templates(aws.ec2().await?, names).await }
        };
        self.templates.ask(cx, name, answer).await
    }

    async fn data(&self, name: &str) -> Result<Option<ResponseLaunchTemplateData>, Fault> {
        let request = self.aws.ec2().await?.describe_launch_template_versions();
        let sent = request.launch_template_name(name).versions(DEFAULT_VERSION).send();
        let answer = call("ec2:DescribeLaunchTemplateVersions", words(name), sent).await.or_absent()?;
        let version = answer.and_then(|answer| answer.launch_template_versions?.into_iter().next());
        Ok(version.and_then(|version| version.launch_template_data))
    }

    // A new version, and that the default. Cut off between the two, the next run makes one more.
    async fn renew(&self, spec: &LaunchTemplate) -> Result<(), Fault> {
        let client = self.aws.ec2().await?;
        let request = client.create_launch_template_version().launch_template_name(&spec.name);
        let sent = request.launch_template_data(data(spec)).send();
        let answer = call("ec2:CreateLaunchTemplateVersion", words(&spec.name), sent).await?;
        let number = answer.launch_template_version.and_then(|version| version.version_number).unwrap_or_default();
        let request = client.modify_launch_template().launch_template_name(&spec.name);
        let sent = request.default_version(number.to_string()).send();
        call("ec2:ModifyLaunchTemplate", words(&spec.name), sent).await.map(drop)
    }

    async fn retag(&self, id: &str, name: &str, change: TagChange) -> Result<(), Fault> {
        let client = self.aws.ec2().await?;
        if !change.put.is_empty() {
            let sent = client.create_tags().resources(id).set_tags(Some(tag_list(&change.put))).send();
            call("ec2:CreateTags", words(name), sent).await?;
        }
        if !change.remove.is_empty() {
            let keys = change.remove.iter().map(|key| Tag::builder().key(key).build()).collect();
            let sent = client.delete_tags().resources(id).set_tags(Some(keys)).send();
            call("ec2:DeleteTags", words(name), sent).await?;
        }
        Ok(())
    }
}

impl Driver<LaunchTemplate> for LaunchTemplateDriver {
    const ACTIONS: &'static [&'static str] = &[
        "ec2:CreateLaunchTemplate",
        "ec2:CreateLaunchTemplateVersion",
        "ec2:CreateTags",
        "ec2:DeleteLaunchTemplate",
        "ec2:DeleteTags",
        "ec2:DescribeLaunchTemplateVersions",
        "ec2:DescribeLaunchTemplates",
        "ec2:ModifyLaunchTemplate",
    ];

    async fn observe(&self, cx: &Cx, spec: &LaunchTemplate) -> Result<Option<Observed<LaunchTemplate>>, Fault> {
        let (template, data) = tokio::join!(self.template(cx, &spec.name), self.data(&spec.name));
        let (Some(template), Some(data)) = (template?, data?) else { return Ok(None) };
        Ok(Some(observed(spec, template, data)))
    }

    // Without the creation's token: the name is unique already, and EC2 would answer the token of a template deleted
    // since with that template instead of making one.
    async fn create(
        &self,
        _cx: &Cx,
        spec: &LaunchTemplate,
        creation: &Creation<'_, LaunchTemplate>,
    ) -> Result<(), Fault> {
        let tags = TagSpecification::builder()
            .resource_type(ResourceType::LaunchTemplate)
            .set_tags(Some(tag_list(&marked(&spec.tags, creation.owner))))
            .build();
        let request = self.aws.ec2().await?.create_launch_template().launch_template_name(&spec.name);
        let sent = request.launch_template_data(data(spec)).tag_specifications(tags).send();
        call("ec2:CreateLaunchTemplate", words(&spec.name), sent).await.map(drop)
    }

    async fn update(
        &self,
        _cx: &Cx,
        spec: &LaunchTemplate,
        changes: &Changes<'_, LaunchTemplate>,
    ) -> Result<(), Fault> {
        let change = TagChange::of(changes, &spec.tags, &changes.found.spec.tags);
        self.retag(&changes.found.outputs.id, &spec.name, change).await?;
        if changes.fields.iter().any(|field| field != "tags") {
            self.renew(spec).await?;
        }
        Ok(())
    }

    // By the id that was seen: a template of the same name made since is somebody else's.
    async fn delete(&self, _cx: &Cx, spec: &LaunchTemplate, found: &Observed<LaunchTemplate>) -> Result<(), Fault> {
        let sent = self.aws.ec2().await?.delete_launch_template().launch_template_id(&found.outputs.id).send();
        call("ec2:DeleteLaunchTemplate", words(&spec.name), sent).await.or_absent().map(drop)
    }
}

/// The templates that are there. By filter, since one unknown name among `LaunchTemplateNames` fails them all.
async fn templates(client: &Client, names: BTreeSet<String>) -> Result<BTreeMap<String, SdkTemplate>, Fault> {
    let object = format!("launch templates {}", names.iter().map(String::as_str).collect::<Vec<_>>().join(", "));
    let filter = Filter::builder().name("launch-template-name").set_values(Some(names.into_iter().collect())).build();
    let (mut found, mut token) = (BTreeMap::new(), None);
    loop {
        let request = client.describe_launch_templates().filters(filter.clone()).set_next_token(token);
        let page = call("ec2:DescribeLaunchTemplates", &object, request.send()).await?;
        let templates = page.launch_templates.unwrap_or_default().into_iter();
        found.extend(templates.filter_map(|template| Some((template.launch_template_name.clone()?, template))));
        token = page.next_token.filter(|token| !token.is_empty());
        if token.is_none() {
            return Ok(found);
        }
    }
}

fn data(spec: &LaunchTemplate) -> RequestLaunchTemplateData {
    let signed = |number: Option<u32>| number.map(u32::cast_signed);
    let volume = LaunchTemplateEbsBlockDeviceRequest::builder()
        .volume_size(spec.volume_size_gib.cast_signed())
        .volume_type(VolumeType::from(spec.volume_type.as_str()))
        .set_iops(signed(spec.volume_iops))
        .set_throughput(signed(spec.volume_throughput_mibps))
        .delete_on_termination(true)
        .build();
    let device = LaunchTemplateBlockDeviceMappingRequest::builder().device_name(&spec.device_name).ebs(volume).build();
    let metadata = LaunchTemplateInstanceMetadataOptionsRequest::builder()
        .http_tokens(LaunchTemplateHttpTokensState::from(spec.metadata_http_tokens.as_str()))
        .http_put_response_hop_limit(spec.metadata_hop_limit.cast_signed())
        .build();
    let tags = |kind: &ResourceType| {
        let tags = tag_list(&spec.instance_tags);
        LaunchTemplateTagSpecificationRequest::builder().resource_type(kind.clone()).set_tags(Some(tags)).build()
    };
    // EC2 refuses a specification without tags.
    let tags = (!spec.instance_tags.is_empty()).then(|| TAGGED.iter().map(tags).collect());
    RequestLaunchTemplateData::builder()
        .block_device_mappings(device)
        .metadata_options(metadata)
        .set_tag_specifications(tags)
        .build()
}

fn observed(
    spec: &LaunchTemplate,
    template: SdkTemplate,
    data: ResponseLaunchTemplateData,
) -> Observed<LaunchTemplate> {
    let tags = template.tags.unwrap_or_default().into_iter();
    let (tags, ownership) = parted(tags.filter_map(|tag| Some((tag.key?, tag.value.unwrap_or_default()))));
    let outputs = LaunchTemplateOutputs {
        id: template.launch_template_id.unwrap_or_default(),
        version: template.default_version_number.unwrap_or_default().to_string(),
    };
    let found = LaunchTemplate { name: spec.name.clone(), tags, ..described(spec, data) };
    Observed { spec: found, outputs, ownership, readiness: Readiness::Ready }
}

fn described(spec: &LaunchTemplate, data: ResponseLaunchTemplateData) -> LaunchTemplate {
    let unsigned = |number: Option<i32>| number.map(i32::cast_unsigned);
    let instance_tags = instance_tags(&spec.instance_tags, &data);
    let devices = data.block_device_mappings.unwrap_or_default();
    let is_ours = |name: Option<&str>| name == Some(spec.device_name.as_str());
    let device = devices.iter().find(|device| is_ours(device.device_name())).or(devices.first());
    let volume = device.and_then(|device| device.ebs());
    let metadata = data.metadata_options;
    LaunchTemplate {
        device_name: device.and_then(|device| device.device_name()).unwrap_or_default().to_owned(),
        volume_size_gib: unsigned(volume.and_then(|volume| volume.volume_size)).unwrap_or_default(),
        volume_type: volume.and_then(|v| v.volume_type.as_ref()).map(|t| t.as_str().to_owned()).unwrap_or_default(),
        volume_iops: unsigned(volume.and_then(|volume| volume.iops)),
        volume_throughput_mibps: unsigned(volume.and_then(|volume| volume.throughput)),
        metadata_http_tokens: metadata
            .as_ref()
            .and_then(|metadata| metadata.http_tokens.as_ref())
            .map(|tokens| tokens.as_str().to_owned())
            .unwrap_or_default(),
        metadata_hop_limit: unsigned(metadata.and_then(|m| m.http_put_response_hop_limit)).unwrap_or_default(),
        instance_tags,
        ..LaunchTemplate::default()
    }
}

/// The tags of instances, volumes and interfaces, which are the same in a template of ours. Where they are not, those
/// that differ from what is wanted, so that the difference shows.
fn instance_tags(wanted: &Tags, data: &ResponseLaunchTemplateData) -> Tags {
    let of = |kind: &ResourceType| -> Tags {
        let specifications = data.tag_specifications().iter();
        let tags = specifications.filter(|one| one.resource_type() == Some(kind)).flat_map(SdkTags::tags);
        tags.filter_map(|tag| Some((tag.key.clone()?, tag.value.clone().unwrap_or_default()))).collect()
    };
    let mut found = TAGGED.iter().map(of);
    let first = found.next().unwrap_or_default();
    if first == *wanted { found.find(|tags| tags != wanted).unwrap_or(first) } else { first }
}

fn tag_list(tags: &Tags) -> Vec<Tag> {
    tags.iter().map(|(key, value)| Tag::builder().key(key).value(value).build()).collect()
}

fn words(name: &str) -> String {
    format!("launch template {name:?}")
}

#[cfg(test)]
mod tests {
    use aws_sdk_ec2::types::LaunchTemplateTagSpecification;

    use super::*;

    fn tags(value: &str) -> Tags {
        Tags::from([("team".to_owned(), value.to_owned())])
    }

    fn tagged(values: [&str; 3]) -> ResponseLaunchTemplateData {
        let specification = |(kind, value): (&ResourceType, &str)| {
            let builder = LaunchTemplateTagSpecification::builder().resource_type(kind.clone());
            builder.set_tags(Some(tag_list(&tags(value)))).build()
        };
        let all = TAGGED.iter().zip(values).map(specification).collect();
        ResponseLaunchTemplateData::builder().set_tag_specifications(Some(all)).build()
    }

    #[test]
    fn a_tag_that_differs_on_one_kind_shows() {
        assert_eq!(instance_tags(&tags("a"), &tagged(["a", "a", "a"])), tags("a"));
        assert_eq!(instance_tags(&tags("a"), &tagged(["a", "a", "b"])), tags("b"));
        assert_eq!(instance_tags(&tags("a"), &tagged(["b", "a", "a"])), tags("b"));
        assert_eq!(instance_tags(&Tags::new(), &tagged(["a", "a", "a"])), tags("a"));
    }

    #[test]
    fn a_template_without_instance_tags_has_no_specification() {
        let spec = LaunchTemplate { device_name: "/dev/xvda".to_owned(), volume_size_gib: 200, ..Default::default() };
        let data = data(&spec);
        assert!(data.tag_specifications().is_empty());
        let ebs = data.block_device_mappings().first().and_then(|device| device.ebs()).expect("a volume");
        assert_eq!((ebs.volume_size(), ebs.iops()), (Some(200), None));
    }
}
