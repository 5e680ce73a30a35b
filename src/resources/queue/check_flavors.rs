//! Whether Kueue would take the flavors of a queue, and their topologies.

use std::collections::{BTreeMap, BTreeSet};

use tf_provider::Diagnostics;
use value::Value;

use super::{Flavor, FlavorTopology, Queue, check::check_name};
use crate::resources::kubernetes::{is_qualified_name, label_syntax_fault};

/// Of the flavors of a queue.
const MOST_FLAVORS: usize = 64;
/// Of each of labels, taints and tolerations.
const MOST: usize = 8;
const MOST_LEVELS: usize = 16;
/// The label that tells single nodes apart.
const HOST: &str = "kubernetes.io/hostname";

pub(super) fn check(queue: &Queue, complaints: &mut Diagnostics) {
    let Some(flavors) = queue.flavors.get() else { return };
    if flavors.is_empty() || flavors.len() > MOST_FLAVORS {
        complaints.error(
            &queue.flavors,
            format!("The queue has {} flavors", flavors.len()),
            format!("Kueue takes at least one and at most {MOST_FLAVORS}.\n\nGive one for each kind of nodes."),
        );
    }
    let mut names = BTreeSet::new();
    for flavor in flavors {
        check_name(&flavor.name, "flavor name", complaints);
        if let Some(name) = flavor.name.get().filter(|name| !names.insert(*name)) {
            complaints.error(
                &flavor.name,
                format!("The flavor {name:?} is there twice"),
                "A flavor has one quota in a queue.\n\nKeep one of them, or give the other one another name.",
            );
        }
        match flavor.existing.get() {
            Some(true) => check_existing(flavor, complaints),
            _ => check_nodes(flavor, complaints),
        }
    }
    check_topologies(flavors, complaints);
}

// What belongs to somebody else is not described here.
fn check_existing(flavor: &Flavor, complaints: &mut Diagnostics) {
    let is_described = flavor.node_labels.get().is_some_and(|labels| !labels.is_empty())
        || flavor.taints.get().is_some_and(|taints| !taints.is_empty())
        || flavor.tolerations.get().is_some_and(|tolerations| !tolerations.is_empty())
        || flavor.topology.get().is_some();
    if is_described {
        complaints.error(
            &flavor.existing,
            "A flavor that is there already is described once more",
            "What its nodes are like is said where it is made, and nothing would come of what is said here.\n\nLeave \
             `node_labels`, `taints`, `tolerations` and `topology` out, or take `existing` away.",
        );
    }
}

fn check_nodes(flavor: &Flavor, complaints: &mut Diagnostics) {
    check_number(&flavor.node_labels, "labels", flavor.node_labels.get().map(BTreeMap::len), complaints);
    check_number(&flavor.taints, "taints", flavor.taints.get().map(BTreeSet::len), complaints);
    check_number(&flavor.tolerations, "tolerations", flavor.tolerations.get().map(Vec::len), complaints);
    let mut labels = flavor.node_labels.get().into_iter().flatten();
    if let Some((key, fault)) = labels.find_map(|(key, value)| Some((key, label_syntax_fault(key, value)?))) {
        complaints.error(&flavor.node_labels, format!("The label {key:?} cannot be used"), fault);
    }
    check_taints(flavor, complaints);
    for toleration in flavor.tolerations.get().into_iter().flatten() {
        toleration.check(complaints);
    }
    if flavor.topology.get().is_some() && has_no_labels(flavor) {
        complaints.error(
            &flavor.topology,
            "A flavor with a topology has no node labels",
            "Kueue looks for the topology on the nodes of the flavor, and without labels it does not know them.\n\nGive \
             `node_labels`, such as a pool's `node_selector`.",
        );
    }
}

fn has_no_labels(flavor: &Flavor) -> bool {
    flavor.node_labels.is_null() || flavor.node_labels.get().is_some_and(BTreeMap::is_empty)
}

fn check_number<T>(place: &Value<T>, what: &str, number: Option<usize>, complaints: &mut Diagnostics) {
    if let Some(number) = number.filter(|number| *number > MOST) {
        complaints.error(
            place,
            format!("The flavor has too many {what}: {number}"),
            format!("Kueue takes at most {MOST}.\n\nKeep those that tell its nodes from others."),
        );
    }
}

fn check_taints(flavor: &Flavor, complaints: &mut Diagnostics) {
    let mut seen = BTreeSet::new();
    for taint in flavor.taints.get().into_iter().flatten() {
        let Some(key) = taint.key.get() else { continue };
        let value = taint.value.get().map_or("", String::as_str);
        if let Some(fault) = label_syntax_fault(key, value) {
            complaints.error(&flavor.taints, format!("The taint {key:?} cannot be used"), fault);
        }
        if let Some(effect) = taint.effect.get().filter(|effect| !seen.insert((key, **effect))) {
            complaints.error(
                &flavor.taints,
                format!("The taint {key:?} is there twice with the effect {effect}"),
                "Kubernetes tells taints apart by key and effect, whatever their values are.\n\nKeep one of them.",
            );
        }
    }
}

fn check_topologies(flavors: &[Flavor], complaints: &mut Diagnostics) {
    let mut known: BTreeMap<&str, &Vec<String>> = BTreeMap::new();
    for topology in flavors.iter().filter_map(|flavor| flavor.topology.get()) {
        check_name(&topology.name, "topology name", complaints);
        let Some(levels) = topology.levels.get() else { continue };
        check_levels(topology, levels, complaints);
        let Some(name) = topology.name.get() else { continue };
        if known.insert(name, levels).is_some_and(|others| others != levels) {
            complaints.error(
                &topology.levels,
                format!("The topology {name:?} has two sets of levels"),
                "Two flavors name it, and each says something else.\n\nGive both the same levels, or two names.",
            );
        }
    }
}

fn check_levels(topology: &FlavorTopology, levels: &[String], complaints: &mut Diagnostics) {
    let mut seen = BTreeSet::new();
    let last = levels.len().saturating_sub(1);
    let reason = match () {
        () if levels.is_empty() || levels.len() > MOST_LEVELS => {
            Some(format!("There are {}, and Kueue takes 1 to {MOST_LEVELS}.", levels.len()))
        }
        () if levels.iter().take(last).any(|label| label == HOST) => {
            Some(format!("{HOST:?} is a single node, and there is nothing narrower."))
        }
        () => levels
            .iter()
            .find(|label| !is_qualified_name(label) || !seen.insert(*label))
            .map(|label| format!("{label:?} is no label of nodes, or is there twice.")),
    };
    if let Some(reason) = reason {
        complaints.error(
            &topology.levels,
            "The levels of a topology cannot be used",
            format!("{reason}\n\nGive node labels from the widest to the narrowest, such as [\"topology.kubernetes.io/zone\", {HOST:?}]."),
        );
    }
}
