//! In which zones EC2 offers instance types.

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_ec2::{
    Client,
    types::{Filter, InstanceTypeOffering, LocationType},
};
use converge::Fault;

use super::{Aws, fault::call};

/// EC2's limit for the values of one filter.
const MOST_VALUES: usize = 200;

/// Availability zones by instance type.
pub type Offerings = BTreeMap<String, BTreeSet<String>>;

/// The zones of the region in which each of `types` is offered; empty for one that is offered in none.
pub async fn offerings(aws: &Aws, types: &BTreeSet<String>) -> Result<Offerings, Fault> {
    let client = aws.ec2().await?;
    let mut found: Offerings = types.iter().map(|name| (name.clone(), BTreeSet::new())).collect();
    let names: Vec<String> = types.iter().cloned().collect();
    for names in names.chunks(MOST_VALUES) {
        for (name, zone) in some(client, names).await? {
            found.entry(name).or_default().insert(zone);
        }
    }
    Ok(found)
}

async fn some(client: &Client, names: &[String]) -> Result<Vec<(String, String)>, Fault> {
    let filter = Filter::builder().name("instance-type").set_values(Some(names.to_vec())).build();
    let (mut found, mut token) = (Vec::new(), None);
    loop {
        let request = client.describe_instance_type_offerings().location_type(LocationType::AvailabilityZone);
        let sent = request.filters(filter.clone()).set_next_token(token).send();
        let page = call("ec2:DescribeInstanceTypeOfferings", "the zones of instance types", sent).await?;
        found.extend(page.instance_type_offerings.unwrap_or_default().into_iter().filter_map(place));
        token = page.next_token.filter(|token| !token.is_empty());
        if token.is_none() {
            return Ok(found);
        }
    }
}

fn place(offering: InstanceTypeOffering) -> Option<(String, String)> {
    Some((offering.instance_type?.as_str().to_owned(), offering.location?))
}
