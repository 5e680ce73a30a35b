//! What EC2 tells of subnets that somebody else owns.

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_ec2::{Client, types::Filter};
use converge::{Fault, FaultClass};

use super::fault::call;

/// A subnet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SubnetFacts {
    /// The availability zone it is in.
    pub(super) zone: String,
    /// The network it is in.
    pub(super) vpc_id: String,
}

/// The subnets that are there. By filter, since one unknown id among `SubnetIds` fails them all.
pub(super) async fn subnets(client: &Client, ids: &BTreeSet<String>) -> Result<BTreeMap<String, SubnetFacts>, Fault> {
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let filter = Filter::builder().name("subnet-id").set_values(Some(ids.iter().cloned().collect())).build();
    let (mut found, mut token) = (BTreeMap::new(), None);
    loop {
        let sent = client.describe_subnets().filters(filter.clone()).set_next_token(token).send();
        let page = call("ec2:DescribeSubnets", words(ids), sent).await?;
        found.extend(page.subnets.unwrap_or_default().into_iter().filter_map(|subnet| {
            let (zone, vpc_id) = (subnet.availability_zone?, subnet.vpc_id?);
            Some((subnet.subnet_id?, SubnetFacts { zone, vpc_id }))
        }));
        token = page.next_token.filter(|token| !token.is_empty());
        if token.is_none() {
            return Ok(found);
        }
    }
}

/// As [`subnets`], all of them.
pub(super) async fn all_subnets(
    client: &Client,
    ids: &BTreeSet<String>,
) -> Result<BTreeMap<String, SubnetFacts>, Fault> {
    let found = subnets(client, ids).await?;
    let missing: BTreeSet<String> = ids.iter().filter(|id| !found.contains_key(*id)).cloned().collect();
    if missing.is_empty() {
        return Ok(found);
    }
    let message = format!("{} not there", if missing.len() == 1 { "it is" } else { "they are" });
    Err(Fault::new(FaultClass::Invalid, words(&missing), message)
        .advise("Give subnets of this account in the provider's region."))
}

/// The networks that subnets are in.
pub(super) fn networks(subnets: &BTreeMap<String, SubnetFacts>) -> BTreeSet<&str> {
    subnets.values().map(|subnet| subnet.vpc_id.as_str()).collect()
}

fn words(ids: &BTreeSet<String>) -> String {
    let noun = if ids.len() == 1 { "subnet" } else { "subnets" };
    format!("{noun} {}", ids.iter().map(String::as_str).collect::<Vec<_>>().join(", "))
}
