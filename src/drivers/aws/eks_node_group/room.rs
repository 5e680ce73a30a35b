//! Whether the account's quotas of virtual processors hold the nodes of a group. Pure.
//!
//! Quotas count what the whole account runs, so a quota that is large enough promises nothing. One that is too small
//! for the group alone is certain.

use std::collections::{BTreeMap, BTreeSet};

use converge::{Finding, Severity};

use crate::{
    catalog::{InstanceType, find},
    components::aws::NodeGroup,
    drivers::aws::quotas::Quota,
};

/// The quotas that the group's instance types count against. None where that is not known of one of them, or where
/// nothing counts: a capacity block is paid for and granted beforehand.
pub(super) fn codes(spec: &NodeGroup) -> BTreeSet<&'static str> {
    let types = || spec.instance_types.iter().map(|name| code(spec, find(name)?));
    if types().any(|code| code.is_none()) { BTreeSet::new() } else { types().flatten().collect() }
}

fn code(spec: &NodeGroup, kind: &InstanceType) -> Option<&'static str> {
    match spec.capacity_type.as_str() {
        "ON_DEMAND" => kind.vcpu_quota_code,
        "SPOT" => kind.spot_vcpu_quota_code,
        _ => None,
    }
}

pub(super) fn judge(spec: &NodeGroup, region: &str, quotas: &BTreeMap<String, Quota>) -> Option<Finding> {
    let codes = codes(spec);
    let held = codes
        .iter()
        .map(|code| nodes(spec, code, quotas.get(*code)?))
        .try_fold(0_u32, |all, nodes| nodes.map(|nodes| all.saturating_add(nodes)))?;
    let begin = spec.initial.max(spec.min);
    let (severity, field, summary) = match held {
        _ if codes.is_empty() || held >= spec.max => return None,
        0 => (
            Severity::Error,
            "instance_types",
            "The account's quota of vCPUs does not hold one node of the pool".to_owned(),
        ),
        held if held < begin => (
            Severity::Error,
            "instance_types",
            format!("The account's quota of vCPUs holds {held} nodes of the pool, which begins with {begin}"),
        ),
        held => (
            Severity::Warning,
            "max",
            format!("The account's quota of vCPUs holds {held} nodes of the pool, which may grow to {}", spec.max),
        ),
    };
    let detail = detail(spec, region, quotas)?;
    Some(Finding { severity, at: field.into(), summary, detail })
}

// How many nodes the quota holds, of the smallest type that counts against it.
fn nodes(spec: &NodeGroup, of: &str, quota: &Quota) -> Option<u32> {
    let kinds = spec.instance_types.iter().filter_map(|name| find(name)).filter(|kind| code(spec, kind) == Some(of));
    let vcpus = kinds.map(|kind| kind.vcpus).filter(|vcpus| *vcpus > 0).min()?;
    Some(whole(quota.value / f64::from(vcpus)))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float saturates at the type's bounds")]
fn whole(number: f64) -> u32 {
    number as u32
}

fn detail(spec: &NodeGroup, region: &str, quotas: &BTreeMap<String, Quota>) -> Option<String> {
    // The type that EKS tries first.
    let first = find(spec.instance_types.first()?)?;
    let code = code(spec, first)?;
    let Quota { name, value } = quotas.get(code)?;
    let needed = u64::from(spec.max) * u64::from(first.vcpus);
    Some(format!(
        "The EC2 quota {code} ({name}) is {value} vCPUs in {region}, and {} nodes of {} need {needed}; what else the \
         account runs counts as well. EC2 refuses nodes beyond it (VcpuLimitExceeded).\n\nAsk for more: `aws \
         service-quotas request-service-quota-increase --service-code ec2 --quota-code {code} --desired-value {needed}`. \
         Or give instance types of another family, or a smaller `size`.",
        spec.max, first.name
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(types: &[&str], capacity: &str, size: (u32, u32, u32), quotas: &[(&str, f64)]) -> Option<String> {
        let spec = NodeGroup {
            instance_types: types.iter().map(|name| (*name).to_owned()).collect(),
            capacity_type: capacity.to_owned(),
            min: size.0,
            initial: size.1,
            max: size.2,
            ..NodeGroup::default()
        };
        let quota = |value: f64| Quota { name: "Running On-Demand G and VT instances".to_owned(), value };
        let quotas = quotas.iter().map(|(code, value)| ((*code).to_owned(), quota(*value))).collect();
        let finding = judge(&spec, "us-east-1", &quotas)?;
        Some(format!("{:?} {}: {}. {}", finding.severity, finding.at.field, finding.summary, finding.detail))
    }

    const G: &str = "L-DB2E81BA";

    // Report 18.
    #[test]
    fn a_quota_of_nothing_is_an_error_that_names_what_is_needed() {
        let told = told(&["g6e.12xlarge"], "ON_DEMAND", (0, 0, 4), &[(G, 0.0)]).unwrap();
        assert!(
            told.starts_with("Error instance_types: The account's quota of vCPUs does not hold one node"),
            "{told}"
        );
        for part in [
            "L-DB2E81BA (Running On-Demand G and VT instances) is 0 vCPUs in us-east-1",
            "need 192",
            "--desired-value 192",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
    }

    #[test]
    fn a_quota_below_the_first_nodes_is_an_error_and_below_the_most_a_doubt() {
        let of = |size, vcpus| told(&["g5.xlarge", "g5.2xlarge"], "ON_DEMAND", size, &[(G, vcpus)]);
        assert!(of((1, 3, 9), 8.0).unwrap().starts_with("Error instance_types: The account's quota of vCPUs holds 2"));
        assert!(of((1, 2, 9), 8.0).unwrap().starts_with("Warning max: The account's quota of vCPUs holds 2 nodes"));
        assert_eq!(of((1, 2, 9), 36.0), None);
    }

    #[test]
    fn types_of_several_quotas_add_up_and_spot_has_its_own() {
        let types = ["g5.xlarge", "p3.2xlarge"];
        assert_eq!(told(&types, "ON_DEMAND", (0, 0, 3), &[(G, 4.0), ("L-417A185B", 16.0)]), None);
        assert!(told(&types, "ON_DEMAND", (0, 0, 4), &[(G, 4.0), ("L-417A185B", 16.0)]).is_some());
        assert_eq!(told(&["g5.xlarge"], "SPOT", (0, 0, 4), &[(G, 0.0), ("L-3819A6DF", 16.0)]), None);
    }

    #[test]
    fn what_is_not_known_gives_no_finding() {
        assert_eq!(told(&["g5.xlarge"], "ON_DEMAND", (0, 0, 4), &[]), None);
        assert_eq!(told(&["g5.xlarge", "x9.huge"], "ON_DEMAND", (0, 0, 4), &[(G, 0.0)]), None);
        assert_eq!(told(&["g5.xlarge"], "CAPACITY_BLOCK", (0, 0, 4), &[(G, 0.0)]), None);
        assert_eq!(told(&[], "ON_DEMAND", (0, 0, 4), &[(G, 0.0)]), None);
    }
}
