//! Which subnets serve which zones. Pure.

use std::collections::{BTreeMap, BTreeSet};

use crate::drivers::aws::subnets::SubnetFacts;

/// A mount target that is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) id: String,
    pub(super) zone: String,
    pub(super) subnet_id: String,
    /// It is on its way out.
    pub(super) is_leaving: bool,
}

/// What to do so that each wanted zone has one mount target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Moves {
    /// Subnets to make one in.
    pub(super) create: Vec<String>,
    /// Ids of those to delete.
    pub(super) delete: Vec<String>,
    /// Zones where one has to be gone before another can be made.
    pub(super) blocked: Vec<String>,
}

/// The moves from `targets` to one in each zone of `wanted`. A mount target in a wanted subnet stays; of the subnets
/// of a zone without one, the first is taken.
pub(super) fn moves(wanted: &BTreeMap<String, SubnetFacts>, targets: &[Target]) -> Moves {
    let mut moves = Moves::default();
    let mut first_of: BTreeMap<&str, &str> = BTreeMap::new();
    for (subnet, facts) in wanted {
        first_of.entry(&facts.zone).or_insert(subnet);
    }
    for (zone, subnet) in first_of {
        let here: Vec<_> = targets.iter().filter(|target| target.zone == zone).collect();
        match () {
            () if here.is_empty() => moves.create.push(subnet.to_owned()),
            () if here.iter().any(|target| !target.is_leaving && wanted.contains_key(&target.subnet_id)) => {}
            () => moves.blocked.push(zone.to_owned()),
        }
    }
    let stays = |target: &&Target| target.is_leaving || wanted.contains_key(&target.subnet_id);
    moves.delete = targets.iter().filter(|target| !stays(target)).map(|target| target.id.clone()).collect();
    moves
}

/// The subnets that `targets` serve, as a component has them: of those wanted all in a zone with a mount target in a
/// wanted subnet, and those of other mount targets. `zone_of` knows the wanted ones without a mount target.
pub(super) fn served(
    wanted: &BTreeSet<String>,
    zone_of: &BTreeMap<String, SubnetFacts>,
    targets: &[Target],
) -> BTreeSet<String> {
    let staying = || targets.iter().filter(|target| !target.is_leaving);
    let zones: BTreeSet<&str> =
        staying().filter(|target| wanted.contains(&target.subnet_id)).map(|target| target.zone.as_str()).collect();
    let is_served = |subnet: &&String| zone_of.get(*subnet).is_some_and(|facts| zones.contains(facts.zone.as_str()));
    staying().map(|target| target.subnet_id.clone()).chain(wanted.iter().filter(is_served).cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // "a1" is a subnet in zone "a".
    fn subnets(names: &[&str]) -> BTreeMap<String, SubnetFacts> {
        let facts = |name: &str| SubnetFacts { zone: name[..1].to_owned(), vpc_id: "vpc-1".to_owned() };
        names.iter().map(|name| ((*name).to_owned(), facts(name))).collect()
    }

    // "a1" is a mount target in that subnet, "a1-" one that is leaving it.
    fn targets(names: &[&str]) -> Vec<Target> {
        let target = |name: &&str| Target {
            id: format!("fsmt-{name}"),
            zone: name[..1].to_owned(),
            subnet_id: name.trim_end_matches('-').to_owned(),
            is_leaving: name.ends_with('-'),
        };
        names.iter().map(target).collect()
    }

    #[track_caller]
    fn check(wanted: &[&str], there: &[&str], create: &[&str], delete: &[&str], blocked: &[&str]) {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let expected = Moves { create: texts(create), delete: texts(delete), blocked: texts(blocked) };
        assert_eq!(moves(&subnets(wanted), &targets(there)), expected);
    }

    // hashicorp/terraform-provider-aws#2525, magma/magma#4609: a second mount target in a zone is an error.
    #[test]
    fn subnets_a1_a2_b1_get_two_mount_targets() {
        check(&["a1", "a2", "b1"], &[], &["a1", "b1"], &[], &[]);
    }

    #[test]
    fn what_is_there_stays_though_another_subnet_of_its_zone_comes_first() {
        check(&["a1", "a2", "b1"], &["a2"], &["b1"], &[], &[]);
        check(&["a1", "a2", "b1"], &["a2", "b1"], &[], &[], &[]);
    }

    #[test]
    fn a_new_zone_gets_one_and_a_zone_no_longer_wanted_loses_it() {
        check(&["a1", "b1", "c1"], &["a1", "b1"], &["c1"], &[], &[]);
        check(&["a1"], &["a1", "b1"], &[], &["fsmt-b1"], &[]);
    }

    #[test]
    fn in_another_subnet_of_the_zone_it_is_made_when_the_old_one_is_gone() {
        check(&["a2"], &["a1"], &[], &["fsmt-a1"], &["a"]);
        check(&["a2"], &["a1-"], &[], &[], &["a"]);
        check(&["a2"], &[], &["a2"], &[], &[]);
    }

    #[test]
    fn one_that_is_leaving_a_wanted_subnet_is_made_again() {
        check(&["a1"], &["a1-"], &[], &[], &["a"]);
    }

    #[track_caller]
    fn check_served(wanted: &[&str], there: &[&str], expected: &[&str]) {
        let names = wanted.iter().map(|name| (*name).to_owned()).collect();
        let served = served(&names, &subnets(wanted), &targets(there));
        assert_eq!(served.iter().map(String::as_str).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_serves_the_wanted_zones_and_nothing_else_is_no_drift() {
        check_served(&["a1", "a2", "b1"], &["a2", "b1"], &["a1", "a2", "b1"]);
        check_served(&["a1", "a2", "b1"], &["b1"], &["b1"]);
        check_served(&["a1"], &["a1", "b1"], &["a1", "b1"]);
        check_served(&["a2"], &["a1"], &["a1"]);
        check_served(&["a1"], &["a1-"], &[]);
        check_served(&[], &["a1", "b1"], &["a1", "b1"]);
    }
}
