//! The child objects of a queue, and its defaults and outputs.

use std::collections::BTreeMap;

use converge::{Graph, Handle};
use serde_json::Value as Json;
use tf_provider::Attributes;
use value::{Pending, Value};

use super::{Flavor, FlavorTopology, Queue, blame, manifest};
use crate::{
    components::kube::{
        ClusterQueue, Labels, LocalQueue, Object, ObjectOutputs, ResourceFlavor, Topology, WorkloadPriorityClass,
    },
    resources::kubernetes::{self, Common, is_settled},
    settings::Settings,
};

/// The label value of [`tags::WORKLOAD_TYPE`](crate::resources::tags::WORKLOAD_TYPE).
const WORKLOAD: &str = "batch";

pub(super) fn expand(queue: &mut Queue, settings: &Settings, graph: &mut Graph) {
    let memory = kubernetes::memory(&manifest::with_amounts_spelled(queue));
    let is_stub = queue.flavors.is_null();
    if !is_stub {
        queue.fill_defaults();
    }
    let common = Common {
        cluster: queue.cluster.clone(),
        namespace: Value::null(),
        labels: kubernetes::labels(settings, &queue.name, WORKLOAD, &queue.labels),
        adopt: queue.adopt.clone(),
    };
    let cluster_queue = add_cluster_queue(queue, &common, memory, is_stub, graph);
    // An import's first look: what else there is follows from what the ClusterQueue remembers.
    if is_stub {
        return;
    }
    add_flavors(queue, &common, &cluster_queue, graph);
    add_priorities(queue, &common, graph);
    add_local_queues(queue, common, &cluster_queue, graph);
    set_outputs(queue, &cluster_queue);
}

fn add_cluster_queue(
    queue: &Queue,
    common: &Common,
    memory: Value<Labels>,
    is_stub: bool,
    graph: &mut Graph,
) -> Handle<Object<ClusterQueue>> {
    // What is remembered is all that it is made from.
    let manifest = if is_stub {
        Value::null()
    } else {
        kubernetes::manifest(memory.is_known(), || manifest::cluster_queue(&manifest::with_amounts_spelled(queue)))
    };
    let mut draft = common.object::<ClusterQueue>(&queue.name, blame::cluster_queue(manifest, queue));
    draft.annotations = memory;
    graph.add("cluster_queue", draft)
}

fn add_flavors(queue: &Queue, common: &Common, cluster_queue: &Handle<Object<ClusterQueue>>, graph: &mut Graph) {
    let topologies = add_topologies(queue, common, graph);
    for (at, flavor) in graph.shape(&queue.flavors).into_iter().flatten().enumerate() {
        let (name, existing) = (graph.shape(&flavor.name), graph.shape(&flavor.existing));
        let (Some(name), None | Some(false)) = (name, existing) else { continue };
        let manifest = kubernetes::manifest(is_flavor_settled(flavor), || manifest::flavor(flavor));
        let draft =
            common.object::<ResourceFlavor>(&flavor.name, blame::flavor(manifest, queue.flavors.path().index(at)));
        let handle = graph.add(format!("flavor_{name}"), draft);
        graph.after(cluster_queue, &handle);
        let topology = flavor.topology.get().and_then(|topology| topologies.get(topology.name.get()?));
        if let Some(topology) = topology {
            graph.after(&handle, topology);
        }
    }
}

fn is_flavor_settled(flavor: &Flavor) -> bool {
    is_settled(&flavor.node_labels)
        && is_settled(&flavor.taints)
        && is_settled(&flavor.tolerations)
        && is_settled(&flavor.topology)
}

// Several flavors may name one; it is made where one of them says what it is like.
fn add_topologies(queue: &Queue, common: &Common, graph: &mut Graph) -> BTreeMap<String, Handle<Object<Topology>>> {
    let mut topologies = BTreeMap::new();
    for flavor in graph.shape(&queue.flavors).into_iter().flatten() {
        let Some(FlavorTopology { name, levels }) = graph.shape(&flavor.topology) else { continue };
        if levels.is_null() {
            continue;
        }
        if let Some(key) = graph.shape(name) {
            let draft = common.object::<Topology>(name, levels.map(|levels| manifest::topology(levels)));
            topologies.insert(key.clone(), graph.add(format!("topology_{key}"), draft));
        }
    }
    topologies
}

fn add_priorities(queue: &Queue, common: &Common, graph: &mut Graph) {
    for (name, value) in graph.shape(&queue.priorities).into_iter().flatten() {
        let manifest = Value::known(manifest::priority(*value)).blamed_at("", queue.priorities.path().key(name));
        let draft = common.object::<WorkloadPriorityClass>(&Value::from(name.as_str()), manifest);
        graph.add(format!("priority_{name}"), draft);
    }
}

fn add_local_queues(
    queue: &Queue,
    mut common: Common,
    cluster_queue: &Handle<Object<ClusterQueue>>,
    graph: &mut Graph,
) {
    for (namespace, name) in graph.shape(&queue.namespaces).into_iter().flatten() {
        common.namespace = Value::from(namespace.as_str()).blamed_on(&queue.namespaces);
        let manifest = kubernetes::manifest(queue.name.is_known(), || manifest::local_queue(queue));
        let name = Value::from(name.as_str()).blamed_on(&queue.namespaces);
        let draft = common.object::<LocalQueue>(&name, manifest.blamed_on(&queue.name));
        let handle = graph.add(format!("local_queue_{namespace}"), draft);
        graph.after(&handle, cluster_queue);
    }
}

fn set_outputs(queue: &mut Queue, cluster_queue: &Handle<Object<ClusterQueue>>) {
    let status = cluster_queue.output(ObjectOutputs::STATUS);
    let count = |name: &'static str| status.map(|status: &Json| status[name].as_i64().unwrap_or(0));
    queue.pending_workloads = count("pendingWorkloads");
    queue.admitted_workloads = count("admittedWorkloads");
    let flavors = queue.flavors.get();
    queue.covered_resources = match flavors {
        Some(flavors) if flavors.iter().all(|flavor| flavor.quota.is_known()) => {
            Value::known(manifest::covered(queue).into_iter().map(str::to_owned).collect())
        }
        _ => Value::pending(Pending::Config),
    };
}
