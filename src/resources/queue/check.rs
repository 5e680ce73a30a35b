//! Whether Kueue would take a queue, and whether anything could ever run in it.

use std::collections::BTreeMap;

use tf_provider::Diagnostics;
use value::Value;

use super::{Preemption, Queue, Reclaim, check_flavors, check_quota};
use crate::resources::kubernetes::{NameRule, label_fault, name_fault};

/// The name is the value of a label on every object of the queue, and jobs name LocalQueues and priorities in labels.
const LABEL_LIMIT: usize = 63;

/// What Kueue leaves alone whatever a selector says.
const LEFT_ALONE: [&str; 2] = ["kube-system", "kueue-system"];

pub(super) fn check(queue: &Queue, complaints: &mut Diagnostics) {
    check_names(queue, complaints);
    check_flavors::check(queue, complaints);
    check_quota::check(queue, complaints);
    if let Some(preemption) = queue.preemption.get() {
        check_preemption(queue, preemption, complaints);
    }
    check_namespaces(queue, complaints);
    check_priorities(&queue.priorities, complaints);
    if let Some(fault) = queue.labels.get().and_then(label_fault) {
        complaints.error(&queue.labels, "A label cannot be used", fault);
    }
}

fn check_names(queue: &Queue, complaints: &mut Diagnostics) {
    if queue.cluster.get().is_some_and(String::is_empty) {
        complaints.error(
            &queue.cluster,
            "The cluster's name is empty",
            "An empty text is not the same as none.\n\nLeave `cluster` out for the provider's `kubernetes` block.",
        );
    }
    if let Some((name, fault)) = queue.name.get().and_then(|name| Some((name, label_name_fault(name)?))) {
        complaints.error(&queue.name, format!("The queue name {name:?} cannot be used"), fault);
    }
    check_name(&queue.cohort, "cohort name", complaints);
}

/// Complains of a name that is no DNS subdomain.
pub(super) fn check_name(value: &Value<String>, of: &str, complaints: &mut Diagnostics) {
    if let Some((name, fault)) = value.get().and_then(|name| Some((name, name_fault(name, NameRule::Subdomain)?))) {
        complaints.error(value, format!("The {of} {name:?} cannot be used"), fault);
    }
}

// What is wrong with a name that is also the value of a label.
fn label_name_fault(name: &str) -> Option<String> {
    let is_too_long = name.len() > LABEL_LIMIT;
    name_fault(name, NameRule::Subdomain).or_else(|| {
        is_too_long.then(|| {
            format!(
                "It has {} characters, and it is also the value of a label.\n\nUse at most {LABEL_LIMIT}.",
                name.chars().count()
            )
        })
    })
}

fn check_preemption(queue: &Queue, preemption: &Preemption, complaints: &mut Diagnostics) {
    let Some(borrow) = preemption.borrow_within_cohort.get() else { return };
    if preemption.reclaim_within_cohort.get() == Some(&Reclaim::Never) {
        complaints.error(
            &preemption.borrow_within_cohort,
            "Workloads that borrow may evict others, and those within their quota may not",
            "Kueue refuses this: it needs `reclaim_within_cohort` for it.\n\nGive \
             `preemption.reclaim_within_cohort` \"LowerPriority\" or \"Any\", or leave `borrow_within_cohort` out.",
        );
    }
    if queue.cohort.is_null() {
        complaints.warn(
            &preemption.borrow_within_cohort,
            "Nobody lends to this queue",
            "Workloads borrow from queues of the same cohort, and this one has none.\n\nGive `cohort`, or leave \
             `borrow_within_cohort` out.",
        );
    }
    check_priority(&borrow.max_priority_threshold, borrow.max_priority_threshold.get().copied(), complaints);
}

fn check_namespaces(queue: &Queue, complaints: &mut Diagnostics) {
    let namespaces = &queue.namespaces;
    for (namespace, local_queue) in namespaces.get().into_iter().flatten() {
        if let Some(fault) = name_fault(namespace, NameRule::Label(LABEL_LIMIT)) {
            complaints.error(namespaces, format!("The namespace {namespace:?} cannot be used"), fault);
        }
        if let Some(fault) = label_name_fault(local_queue) {
            complaints.error(namespaces, format!("The name of a LocalQueue {local_queue:?} cannot be used"), fault);
        }
        if LEFT_ALONE.contains(&namespace.as_str()) {
            complaints.warn(
                namespaces,
                format!("Nothing in {namespace:?} is ever queued"),
                "Kueue leaves its own namespace and that of the system alone.\n\nName the namespaces of those who run \
                 jobs.",
            );
        }
    }
    let is_nobody = namespaces.is_null() || namespaces.get().is_some_and(BTreeMap::is_empty);
    if is_nobody && queue.cohort.is_null() {
        complaints.warn(
            namespaces,
            "Nobody may use the queue",
            "Only namespaces that are named may, and none is; there is no cohort to lend to either.\n\nName some in \
             `namespaces`, each with the name of its LocalQueue.",
        );
    }
}

fn check_priorities(priorities: &Value<BTreeMap<String, i64>>, complaints: &mut Diagnostics) {
    for (name, priority) in priorities.get().into_iter().flatten() {
        if let Some(fault) = label_name_fault(name) {
            complaints.error(priorities, format!("The priority's name {name:?} cannot be used"), fault);
        }
        check_priority(priorities, Some(*priority), complaints);
    }
}

fn check_priority<T>(place: &Value<T>, priority: Option<i64>, complaints: &mut Diagnostics) {
    if let Some(priority) = priority.filter(|priority| i32::try_from(*priority).is_err()) {
        complaints.error(
            place,
            format!("The priority {priority} is out of range"),
            format!("Kueue has 32 bits for it.\n\nGive a whole number from {} to {}.", i32::MIN, i32::MAX),
        );
    }
}
