//! What the answers of AWS say of a node group to be made. Pure.
//!
//! An error is what EKS refuses for certain. A role may be made or given policies in the same run, so of it there are
//! only doubts.

use std::collections::{BTreeMap, BTreeSet};

use converge::{Finding, Severity};
use serde_json::Value as Json;

use super::room;
use crate::{
    components::aws::NodeGroup,
    drivers::aws::{offerings::Offerings, quotas::Quota, subnets::SubnetFacts},
};

/// What AWS answered; none where it could not be asked.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// The region asked.
    pub(super) region: String,
    /// The cluster's network.
    pub(super) network: Option<String>,
    /// Those of the group's subnets that are there.
    pub(super) subnets: Option<BTreeMap<String, SubnetFacts>>,
    /// The zones that the group's instance types are offered in.
    pub(super) offered: Option<Offerings>,
    /// The role of the nodes, where somebody else made it.
    pub(super) role: Option<Role>,
    /// The quotas that its nodes count against, by code.
    pub(super) quotas: BTreeMap<String, Quota>,
}

/// A role that somebody else made.
#[derive(Debug)]
pub(super) enum Role {
    /// It is not there.
    Missing,
    /// It is there.
    There {
        /// Who may assume it.
        trust: Json,
        /// ARNs of the policies attached and names of those inside.
        policies: BTreeSet<String>,
    },
}

/// One of these lets a node join its cluster.
const WORKER_POLICIES: [&str; 2] = ["AmazonEKSWorkerNodePolicy", "AmazonEKSWorkerNodeMinimalPolicy"];

pub(super) fn judge(spec: &NodeGroup, answers: &Answers) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(subnets) = &answers.subnets {
        findings.extend(spec.subnet_ids.iter().filter(|id| !subnets.contains_key(*id)).map(|id| missing(id)));
        findings.extend(answers.network.as_ref().and_then(|network| elsewhere(spec, network, subnets)));
    }
    if let Some(offered) = &answers.offered {
        findings.extend(not_offered(answers, offered));
        findings.extend(answers.subnets.iter().flat_map(|subnets| gaps(subnets, offered)));
    }
    findings.extend(answers.role.as_ref().and_then(|role| doubt(&spec.node_role_arn, role)));
    findings.extend(room::judge(spec, &answers.region, &answers.quotas));
    findings
}

fn missing(id: &str) -> Finding {
    error(
        "subnet_ids",
        format!("The subnet {id:?} is not there"),
        "Nodes could not start in it.\n\nGive a subnet of this account in the provider's region.".to_owned(),
    )
}

fn elsewhere(spec: &NodeGroup, network: &str, subnets: &BTreeMap<String, SubnetFacts>) -> Option<Finding> {
    let others: Vec<_> = subnets
        .iter()
        .filter(|(_, subnet)| subnet.vpc_id != network)
        .map(|(id, subnet)| format!("{id} ({})", subnet.vpc_id))
        .collect();
    (!others.is_empty()).then(|| {
        error(
            "subnet_ids",
            "Subnets of the pool are not in the cluster's network".to_owned(),
            format!(
                "The EKS cluster {:?} is in {network}, and not so {}.\n\nGive subnets of the cluster's VPC.",
                spec.cluster,
                others.join(", ")
            ),
        )
    })
}

fn not_offered(answers: &Answers, offered: &Offerings) -> Option<Finding> {
    let none: Vec<_> = offered.iter().filter(|(_, zones)| zones.is_empty()).map(|(name, _)| name.as_str()).collect();
    (!none.is_empty()).then(|| {
        error(
            "instance_types",
            format!("{} not offered in the region {:?}", is(&none), answers.region),
            "EC2 offers it in none of the region's zones to this account.\n\nGive instance types that are; the data \
             source mlplat_accelerators lists them with their zones."
                .to_owned(),
        )
    })
}

// By zone of the subnets: what is not offered there.
fn gaps(subnets: &BTreeMap<String, SubnetFacts>, offered: &Offerings) -> Vec<Finding> {
    let sold: Offerings = offered
        .iter()
        .filter(|(_, zones)| !zones.is_empty())
        .map(|(name, zones)| (name.clone(), zones.clone()))
        .collect();
    let zones: BTreeSet<&str> = subnets.values().map(|subnet| subnet.zone.as_str()).collect();
    let gap = |zone: &str| {
        let lacking: Vec<_> =
            sold.iter().filter(|(_, zones)| !zones.contains(zone)).map(|(name, _)| name.as_str()).collect();
        let here: Vec<_> =
            subnets.iter().filter(|(_, subnet)| subnet.zone == zone).map(|(id, _)| id.as_str()).collect();
        match lacking.len() {
            0 => None,
            all if all == sold.len() => Some(no_type(zone, &here, &sold)),
            _ => Some(fewer_types(zone, &here, &lacking)),
        }
    };
    zones.into_iter().filter_map(gap).collect()
}

fn no_type(zone: &str, subnets: &[&str], sold: &Offerings) -> Finding {
    let names: Vec<_> = sold.keys().map(String::as_str).collect();
    let elsewhere: BTreeSet<_> = sold.values().flatten().map(String::as_str).collect();
    error(
        "subnet_ids",
        format!("{} not offered in {zone}", is(&names)),
        format!(
            "Nodes could not start in {}; EC2 offers {} in {}.\n\nLeave out subnets in {zone}, or give an instance type \
             that is offered there.",
            subnets.join(", "),
            if names.len() == 1 { "it" } else { "them" },
            elsewhere.into_iter().collect::<Vec<_>>().join(", ")
        ),
    )
}

fn fewer_types(zone: &str, subnets: &[&str], lacking: &[&str]) -> Finding {
    warning(
        "subnet_ids",
        format!("{} not offered in {zone}", is(lacking)),
        format!(
            "Nodes in {} can only be of the pool's other instance types.\n\nLeave out subnets in {zone} where that \
             matters.",
            subnets.join(", ")
        ),
    )
}

fn doubt(arn: &str, role: &Role) -> Option<Finding> {
    let (summary, detail) = match role {
        Role::Missing => (
            "is not there",
            "EKS refuses a node group without its role.\n\nGive the ARN of a role of this account, or leave \
             `node_role_arn` out and one is made. Nothing is amiss where the role is made in this run.",
        ),
        Role::There { trust, .. } if !trusts_ec2(trust) => (
            "does not trust EC2",
            "EKS refuses a role that instances cannot assume.\n\nAllow sts:AssumeRole to the service ec2.amazonaws.com in \
             its trust policy.",
        ),
        Role::There { policies, .. } if lacks_worker_policy(policies) => (
            "may not let nodes join",
            "It has neither AmazonEKSWorkerNodePolicy nor a policy of your own, so nodes would start and not join the \
             cluster.\n\nAttach AmazonEKSWorkerNodePolicy, AmazonEC2ContainerRegistryPullOnly and, unless the VPC CNI \
             has a role of its own, AmazonEKS_CNI_Policy.",
        ),
        Role::There { .. } => return None,
    };
    Some(warning("node_role_arn", format!("The node role {arn:?} {summary}"), detail.to_owned()))
}

fn trusts_ec2(trust: &Json) -> bool {
    let allows = |statement: &Json| {
        let services = statement.pointer("/Principal/Service").map(listed).unwrap_or_default();
        statement.get("Effect") == Some(&Json::from("Allow"))
            && services.iter().filter_map(|service| service.as_str()).any(|name| name.starts_with("ec2.amazonaws.com"))
    };
    trust.get("Statement").map(listed).unwrap_or_default().into_iter().any(allows)
}

// A list of one may stand as its element.
fn listed(value: &Json) -> Vec<&Json> {
    value.as_array().map_or_else(|| vec![value], |items| items.iter().collect())
}

// A policy of the user's own may allow the same.
fn lacks_worker_policy(policies: &BTreeSet<String>) -> bool {
    policies.iter().all(|policy| {
        let managed = policy.split_once(":iam::aws:policy/").map(|(_, name)| name);
        managed.is_some_and(|name| !WORKER_POLICIES.contains(&name))
    })
}

fn is(names: &[&str]) -> String {
    format!("{} {}", names.join(", "), if names.len() == 1 { "is" } else { "are" })
}

fn error(field: &'static str, summary: String, detail: String) -> Finding {
    Finding { severity: Severity::Error, at: field.into(), summary, detail }
}

fn warning(field: &'static str, summary: String, detail: String) -> Finding {
    Finding { severity: Severity::Warning, at: field.into(), summary, detail }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SUBNETS: [(&str, &str, &str); 3] = [("s-a", "2a", "vpc-1"), ("s-b", "2b", "vpc-1"), ("s-d", "2d", "vpc-1")];

    fn subnets(of: &[(&str, &str, &str)]) -> BTreeMap<String, SubnetFacts> {
        let facts = |zone: &str, vpc: &str| SubnetFacts { zone: zone.to_owned(), vpc_id: vpc.to_owned() };
        of.iter().map(|(id, zone, vpc)| ((*id).to_owned(), facts(zone, vpc))).collect()
    }

    fn offered(of: &[(&str, &[&str])]) -> Offerings {
        let zones = |zones: &[&str]| zones.iter().map(|zone| (*zone).to_owned()).collect();
        of.iter().map(|(name, offered)| ((*name).to_owned(), zones(offered))).collect()
    }

    fn told(answers: Answers) -> Vec<String> {
        let spec = NodeGroup {
            cluster: "ml".to_owned(),
            subnet_ids: SUBNETS.iter().map(|(id, ..)| (*id).to_owned()).collect(),
            node_role_arn: "arn:aws:iam::1:role/nodes".to_owned(),
            ..NodeGroup::default()
        };
        let answers = Answers { region: "us-east-2".to_owned(), ..answers };
        let word = |severity| if severity == Severity::Error { "error" } else { "warning" };
        let one = |finding: &Finding| format!("{} {}: {}", word(finding.severity), finding.at.field, finding.summary);
        judge(&spec, &answers).iter().map(one).collect()
    }

    fn of_types(types: &[(&str, &[&str])]) -> Vec<String> {
        told(Answers { subnets: Some(subnets(&SUBNETS)), offered: Some(offered(types)), ..Answers::default() })
    }

    fn of_role(role: Role) -> Vec<String> {
        told(Answers { role: Some(role), ..Answers::default() })
    }

    #[test]
    fn what_could_not_be_asked_gives_no_finding() {
        assert_eq!(told(Answers::default()), [""; 0]);
        assert_eq!(told(Answers { subnets: Some(subnets(&SUBNETS)), ..Answers::default() }), [""; 0]);
    }

    #[test]
    fn a_subnet_that_is_not_there_or_in_another_network_is_an_error() {
        let found = [("s-a", "2a", "vpc-1"), ("s-b", "2b", "vpc-2")];
        let answers =
            Answers { network: Some("vpc-1".to_owned()), subnets: Some(subnets(&found)), ..Answers::default() };
        assert_eq!(
            told(answers),
            [
                "error subnet_ids: The subnet \"s-d\" is not there",
                "error subnet_ids: Subnets of the pool are not in the cluster's network",
            ]
        );
    }

    // Report 12.
    #[test]
    fn a_zone_without_any_of_the_types_is_an_error() {
        assert_eq!(of_types(&[("g4dn.xlarge", &["2a", "2b", "2d"])]), [""; 0]);
        assert_eq!(of_types(&[("g4dn.xlarge", &["2a", "2b"])]), ["error subnet_ids: g4dn.xlarge is not offered in 2d"]);
        assert_eq!(
            of_types(&[("p4d.24xlarge", &["2c"]), ("p4de.24xlarge", &["2a", "2c"])]),
            [
                "warning subnet_ids: p4d.24xlarge is not offered in 2a",
                "error subnet_ids: p4d.24xlarge, p4de.24xlarge are not offered in 2b",
                "error subnet_ids: p4d.24xlarge, p4de.24xlarge are not offered in 2d",
            ]
        );
    }

    #[test]
    fn a_type_that_the_region_does_not_have_is_an_error_of_its_own() {
        let everywhere: &[&str] = &["2a", "2b", "2d"];
        assert_eq!(
            of_types(&[("g5.xlarge", everywhere), ("p6.large", &[])]),
            ["error instance_types: p6.large is not offered in the region \"us-east-2\""]
        );
        assert_eq!(
            of_types(&[("p6.large", &[])]),
            ["error instance_types: p6.large is not offered in the region \"us-east-2\""]
        );
    }

    #[test]
    fn a_role_that_nodes_cannot_use_is_doubted() {
        let trust = |service: Json| json!({ "Statement": { "Effect": "Allow", "Principal": { "Service": service } } });
        let ec2 = || trust(json!(["ec2.amazonaws.com", "ssm.amazonaws.com"]));
        let policies = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let there = |trust, names: &[&str]| of_role(Role::There { trust, policies: policies(names) });
        let role = "warning node_role_arn: The node role \"arn:aws:iam::1:role/nodes\"";
        let (cni, worker) =
            ("arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy", "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy");
        assert_eq!(of_role(Role::Missing), [format!("{role} is not there")]);
        assert_eq!(there(trust(json!("eks.amazonaws.com")), &[worker]), [format!("{role} does not trust EC2")]);
        assert_eq!(there(ec2(), &[]), [format!("{role} may not let nodes join")]);
        assert_eq!(there(ec2(), &[cni]), [format!("{role} may not let nodes join")]);
        assert_eq!(there(ec2(), &[cni, worker]), [""; 0]);
        assert_eq!(there(ec2(), &[cni, "arn:aws:iam::1:policy/nodes"]), [""; 0], "a policy of the user's own");
        assert_eq!(there(trust(json!("ec2.amazonaws.com.cn")), &["inline"]), [""; 0]);
    }
}
