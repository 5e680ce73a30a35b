//! Security groups and their rules for traffic that comes in.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use aws_sdk_ec2::{
    Client,
    types::{
        Filter, IpPermission, IpRange, Ipv6Range, PrefixListId, ResourceType, SecurityGroup as SdkGroup, Tag,
        TagSpecification, UserIdGroupPair,
    },
};
use converge::{Changes, Creation, Cx, Driver, Fault, FaultClass, Observed, Readiness};

use crate::{
    components::aws::{IngressRule, OWNER_TAG, SecurityGroup, SecurityGroupOutputs, Tags},
    drivers::{
        aws::{
            Aws,
            fault::{Absence, call},
            subnets::{all_subnets, networks},
            tags::{TagChange, marked, parted},
        },
        gather::Gather,
    },
};

/// Most values that a filter takes.
const NAMES: usize = 200;

pub(super) struct SecurityGroupDriver {
    aws: Arc<Aws>,
    groups: Gather<SdkGroup>,
}

impl Driver<SecurityGroup> for SecurityGroupDriver {
    const ACTIONS: &'static [&'static str] = &[
        "ec2:AuthorizeSecurityGroupIngress",
        "ec2:CreateSecurityGroup",
        "ec2:CreateTags",
        "ec2:DeleteSecurityGroup",
        "ec2:DeleteTags",
        "ec2:DescribeSecurityGroups",
        "ec2:DescribeSubnets",
        "ec2:RevokeSecurityGroupIngress",
    ];

    async fn observe(&self, cx: &Cx, spec: &SecurityGroup) -> Result<Option<Observed<SecurityGroup>>, Fault> {
        let aws = Arc::clone(&self.aws);
        let answer = move |names| {
            let aws = Arc::clone(&aws);
            async move { groups(aws.ec2().await?, names).await }
        };
        Ok(self.groups.ask(cx, &spec.name, answer).await?.map(|group| observed(spec, group)))
    }

    async fn create(
        &self,
        _cx: &Cx,
        spec: &SecurityGroup,
        creation: &Creation<'_, SecurityGroup>,
    ) -> Result<(), Fault> {
        let client = self.aws.ec2().await?;
        let vpc_id = network(client, spec).await?;
        let tags = TagSpecification::builder()
            .resource_type(ResourceType::SecurityGroup)
            .set_tags(Some(tag_list(&marked(&spec.tags, creation.owner))))
            .build();
        let request = client.create_security_group().group_name(&spec.name).description(&spec.description);
        let sent = request.vpc_id(vpc_id).tag_specifications(tags).send();
        let made = call("ec2:CreateSecurityGroup", words(&spec.name), sent).await?;
        authorize(client, made.group_id.as_deref().unwrap_or_default(), spec, spec.ingress.iter()).await
    }

    async fn update(&self, _cx: &Cx, spec: &SecurityGroup, changes: &Changes<'_, SecurityGroup>) -> Result<(), Fault> {
        let (client, found) = (self.aws.ec2().await?, &changes.found.spec);
        let id = &changes.found.outputs.id;
        retag(client, id, spec, TagChange::of(changes, &spec.tags, &found.tags)).await?;
        if changes.fields.contains("ingress") {
            // First what is to come, so that no client is cut off between the two.
            authorize(client, id, spec, spec.ingress.difference(&found.ingress)).await?;
            revoke(client, id, spec, found.ingress.difference(&spec.ingress)).await?;
        }
        Ok(())
    }

    async fn delete(&self, _cx: &Cx, spec: &SecurityGroup, found: &Observed<SecurityGroup>) -> Result<(), Fault> {
        let sent = self.aws.ec2().await?.delete_security_group().group_id(&found.outputs.id).send();
        call("ec2:DeleteSecurityGroup", words(&spec.name), sent).await.or_absent().map(drop)
    }
}

impl SecurityGroupDriver {
    pub(super) fn new(aws: Arc<Aws>) -> Self {
        Self { aws, groups: Gather::new(NAMES) }
    }
}

/// The groups that are there, whatever network they are in. Of several of one name, one that carries a mark.
async fn groups(client: &Client, names: BTreeSet<String>) -> Result<BTreeMap<String, SdkGroup>, Fault> {
    let object = format!("security groups {}", names.iter().map(String::as_str).collect::<Vec<_>>().join(", "));
    let filter = Filter::builder().name("group-name").set_values(Some(names.into_iter().collect())).build();
    let (mut found, mut token) = (BTreeMap::new(), None);
    loop {
        let request = client.describe_security_groups().filters(filter.clone()).set_next_token(token);
        let page = call("ec2:DescribeSecurityGroups", &object, request.send()).await?;
        for group in page.security_groups.unwrap_or_default() {
            let Some(name) = group.group_name.clone() else { continue };
            if is_marked(&group) || !found.contains_key(&name) {
                found.insert(name, group);
            }
        }
        token = page.next_token.filter(|token| !token.is_empty());
        if token.is_none() {
            return Ok(found);
        }
    }
}

fn is_marked(group: &SdkGroup) -> bool {
    group.tags().iter().any(|tag| tag.key() == Some(OWNER_TAG))
}

async fn network(client: &Client, spec: &SecurityGroup) -> Result<String, Fault> {
    let subnets = all_subnets(client, &spec.subnet_ids).await?;
    let networks: Vec<_> = networks(&subnets).into_iter().collect();
    match networks.as_slice() {
        [vpc_id] => Ok((*vpc_id).to_owned()),
        several => {
            let message = format!("its subnets are in {} networks: {}", several.len(), several.join(", "));
            Err(Fault::new(FaultClass::Invalid, words(&spec.name), message).advise("Give subnets of one VPC."))
        }
    }
}

async fn authorize<'r>(
    client: &Client,
    id: &str,
    spec: &SecurityGroup,
    rules: impl Iterator<Item = &'r IngressRule>,
) -> Result<(), Fault> {
    let permissions: Vec<_> = rules.map(permission).collect();
    if permissions.is_empty() {
        return Ok(());
    }
    let sent = client.authorize_security_group_ingress().group_id(id).set_ip_permissions(Some(permissions)).send();
    match call("ec2:AuthorizeSecurityGroupIngress", words(&spec.name), sent).await {
        // Somebody else added the rule meanwhile.
        Err(fault) if fault.class == FaultClass::AlreadyExists => Ok(()),
        outcome => outcome.map(drop),
    }
}

async fn revoke<'r>(
    client: &Client,
    id: &str,
    spec: &SecurityGroup,
    rules: impl Iterator<Item = &'r IngressRule>,
) -> Result<(), Fault> {
    let permissions: Vec<_> = rules.map(permission).collect();
    if permissions.is_empty() {
        return Ok(());
    }
    let sent = client.revoke_security_group_ingress().group_id(id).set_ip_permissions(Some(permissions)).send();
    call("ec2:RevokeSecurityGroupIngress", words(&spec.name), sent).await.or_absent().map(drop)
}

async fn retag(client: &Client, id: &str, spec: &SecurityGroup, change: TagChange) -> Result<(), Fault> {
    if !change.put.is_empty() {
        let sent = client.create_tags().resources(id).set_tags(Some(tag_list(&change.put))).send();
        call("ec2:CreateTags", words(&spec.name), sent).await?;
    }
    if !change.remove.is_empty() {
        let keys = change.remove.iter().map(|key| Tag::builder().key(key).build()).collect();
        let sent = client.delete_tags().resources(id).set_tags(Some(keys)).send();
        call("ec2:DeleteTags", words(&spec.name), sent).await?;
    }
    Ok(())
}

fn observed(spec: &SecurityGroup, group: SdkGroup) -> Observed<SecurityGroup> {
    let tags = group.tags.unwrap_or_default().into_iter();
    let (tags, ownership) = parted(tags.filter_map(|tag| Some((tag.key?, tag.value.unwrap_or_default()))));
    let ingress = group.ip_permissions.unwrap_or_default().into_iter().flat_map(rules).collect();
    let outputs =
        SecurityGroupOutputs { id: group.group_id.unwrap_or_default(), vpc_id: group.vpc_id.unwrap_or_default() };
    Observed { spec: SecurityGroup { ingress, tags, ..spec.clone() }, outputs, ownership, readiness: Readiness::Ready }
}

fn permission(rule: &IngressRule) -> IpPermission {
    let permission =
        IpPermission::builder().ip_protocol(&rule.protocol).set_from_port(rule.from_port).set_to_port(rule.to_port);
    let source = &rule.source;
    match source {
        _ if source.starts_with("sg-") => {
            permission.user_id_group_pairs(UserIdGroupPair::builder().group_id(source).build())
        }
        _ if source.starts_with("pl-") => {
            permission.prefix_list_ids(PrefixListId::builder().prefix_list_id(source).build())
        }
        _ if source.contains(':') => permission.ipv6_ranges(Ipv6Range::builder().cidr_ipv6(source).build()),
        _ => permission.ip_ranges(IpRange::builder().cidr_ip(source).build()),
    }
    .build()
}

fn rules(permission: IpPermission) -> Vec<IngressRule> {
    let groups = permission.user_id_group_pairs.unwrap_or_default().into_iter().filter_map(|pair| pair.group_id);
    let lists = permission.prefix_list_ids.unwrap_or_default().into_iter().filter_map(|list| list.prefix_list_id);
    let ranges = permission.ip_ranges.unwrap_or_default().into_iter().filter_map(|range| range.cidr_ip);
    let v6_ranges = permission.ipv6_ranges.unwrap_or_default().into_iter().filter_map(|range| range.cidr_ipv6);
    let protocol = permission.ip_protocol.unwrap_or_default();
    let sources = groups.chain(lists).chain(ranges).chain(v6_ranges);
    let rule = |source| IngressRule {
        source,
        protocol: protocol.clone(),
        from_port: permission.from_port,
        to_port: permission.to_port,
    };
    sources.map(rule).collect()
}

fn tag_list(tags: &Tags) -> Vec<Tag> {
    tags.iter().map(|(key, value)| Tag::builder().key(key).value(value).build()).collect()
}

fn words(name: &str) -> String {
    format!("security group {name:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_comes_back_as_it_was_sent() {
        for source in ["sg-1", "pl-1", "10.0.0.0/8", "fd00::/8"] {
            let rule = IngressRule {
                source: source.to_owned(),
                protocol: "tcp".to_owned(),
                from_port: Some(2049),
                to_port: Some(2049),
            };
            assert_eq!(rules(permission(&rule)), [rule]);
        }
    }

    #[test]
    fn a_rule_of_several_sources_is_several_rules() {
        let permission = IpPermission::builder()
            .ip_protocol("-1")
            .user_id_group_pairs(UserIdGroupPair::builder().group_id("sg-1").build())
            .ip_ranges(IpRange::builder().cidr_ip("0.0.0.0/0").build())
            .build();
        let sources: Vec<_> = rules(permission).into_iter().map(|rule| rule.source).collect();
        assert_eq!(sources, ["sg-1", "0.0.0.0/0"]);
    }
}
