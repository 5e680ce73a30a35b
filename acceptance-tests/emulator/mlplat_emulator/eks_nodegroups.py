"""EKS managed node groups: transitions, ordered failures, a scaling group behind each, what EKS keeps and refuses."""

from moto.autoscaling.models import autoscaling_backends
from moto.core.responses import ActionResult
from moto.ec2.models import ec2_backends
from moto.eks.models import EKSBackend
from moto.eks.responses import EKSResponse

from . import autoscaling
from .eks_checks import check_creation, check_sizes, launch_template_of
from .eks_common import cluster_of, in_use, new_update, not_found, param, polls_of, route, start, tick
from .patching import add, override
from .settings import SETTINGS

route("node-groups/(?P<nodegroupName>[^/]+)/update-version")
SETTLED = ("ACTIVE", "DEGRADED")


# === Creation ===


@override(EKSResponse, "create_nodegroup")
def create_nodegroup_response(previous, self):
    # Kept for the backend's method, whose signature does not have them.
    extras = {"update_config": param(self, "updateConfig"), "node_repair_config": param(self, "nodeRepairConfig")}
    self.eks_backend.__dict__.setdefault("extras", {})[param(self, "nodegroupName")] = extras
    return previous()


@override(EKSBackend)
def create_nodegroup(previous, self, **wanted):
    cluster = self.describe_cluster(wanted["cluster_name"])
    old, token = cluster.nodegroups.get(wanted["nodegroup_name"]), wanted.get("client_request_token")
    if old and token and old.client_request_token == token:
        return old
    if old is None:
        check_creation(self, cluster, wanted)
    nodegroup = previous(**{**wanted, "version": wanted.get("version") or cluster.version})
    complete(self, nodegroup, wanted)
    give_scaling_group(self, nodegroup)
    begin_creation(self, nodegroup)
    return nodegroup


def complete(backend, nodegroup, wanted):
    """Replace what moto invents by what EKS answers."""
    extras = backend.__dict__.get("extras", {}).pop(nodegroup.nodegroup_name, {})
    template = launch_template_of(backend, wanted)
    nodegroup.release_version = wanted.get("release_version") or f"{nodegroup.version}.0-20261101"
    nodegroup.disk_size = None if template else int(wanted.get("disk_size") or 20)
    nodegroup.remote_access = wanted.get("remote_access")
    nodegroup.resources["remoteAccessSecurityGroup"] = None
    nodegroup.scaling_config = dict(wanted.get("scaling_config") or {"minSize": 1, "maxSize": 2, "desiredSize": 2})
    nodegroup.health = {"issues": []}
    nodegroup.update_config = extras.get("update_config") or {"maxUnavailable": 1}
    nodegroup.node_repair_config = extras.get("node_repair_config")
    nodegroup.ami_type = wanted.get("ami_type") or "AL2023_x86_64_STANDARD"
    if template:
        asked = wanted["launch_template"].get("version")
        nodegroup.launch_template = {"id": template.id, "name": template.name, "version": str(template.get_version(asked or "$Default").number)}
        if template.get_version(nodegroup.launch_template["version"]).data.get("InstanceType"):
            nodegroup.instance_types = None


def give_scaling_group(backend, nodegroup):
    """EKS's own launch template and scaling group for a node group."""
    ec2 = ec2_backends[backend.account_id][backend.region_name]
    data = {"InstanceType": (nodegroup.instance_types or ["t3.medium"])[0]}
    template = ec2.create_launch_template(f"eks-{nodegroup.uuid}", "", data, {})
    template.add_tags({"eks:cluster-name": nodegroup.cluster_name, "eks:nodegroup-name": nodegroup.nodegroup_name})
    group = autoscaling.create_group(backend, nodegroup, template)
    nodegroup.own_template, nodegroup.group_name = template.id, group.name
    nodegroup.resources["autoScalingGroups"] = [{"name": group.name}]
    follow_sizes(backend, nodegroup)


def follow_sizes(backend, nodegroup):
    """Set the scaling group to the node group's sizes."""
    group, sizes = scaling_group(backend, nodegroup), nodegroup.scaling_config
    autoscaling.resize(group, sizes["minSize"], sizes["maxSize"], sizes["desiredSize"])


def scaling_group(backend, nodegroup):
    """The scaling group behind a node group."""
    return autoscaling_backends[backend.account_id][backend.region_name].autoscaling_groups[nodegroup.group_name]


def begin_creation(backend, nodegroup):
    """Start the transition, towards the failure a test ordered if there is one."""
    settings = SETTINGS.at(backend.account_id, backend.region_name)
    failure = settings.next_failure(nodegroup.cluster_name, nodegroup.nodegroup_name)
    if failure is None:
        return start(nodegroup, settings.polls, "CREATING")
    nodegroup.after_settling = lambda: nodegroup.__dict__.update(health={"issues": failure.get("issues", [])})
    return start(nodegroup, settings.polls, "CREATING", failure.get("status", "CREATE_FAILED"))


# === Description ===


def present(backend, cluster_name, nodegroup_name):
    """A node group after one poll; a deletion that is over makes it absent."""
    nodegroup = backend.describe_nodegroup(cluster_name, nodegroup_name)
    tick(nodegroup)
    # Raises for a node group that has just gone.
    nodegroup = backend.describe_nodegroup(cluster_name, nodegroup_name)
    group = scaling_group(backend, nodegroup) if nodegroup.group_name else None
    if group is not None:
        nodegroup.scaling_config["desiredSize"] = group.desired_capacity
    return nodegroup


@add(EKSResponse)
def describe_nodegroup(self):
    name = param(self, "clusterName") or param(self, "name")
    return ActionResult({"nodegroup": present(self.eks_backend, name, param(self, "nodegroupName"))})


@override(EKSBackend)
def list_nodegroups(previous, self, cluster_name, **paging):
    cluster = self.describe_cluster(cluster_name)
    for nodegroup in list(cluster.nodegroups.values()):
        if nodegroup.status == "DELETING":
            tick(nodegroup)
    return previous(cluster_name=cluster_name, **paging)


# === Change ===


def changeable(nodegroup):
    """EKS takes one change at a time."""
    if nodegroup.status not in SETTLED:
        raise in_use(f"Nodegroup cannot be updated as it is currently not in Active State: {nodegroup.status}")


@override(EKSBackend)
def update_nodegroup_config(previous, self, **changes):
    cluster = self.describe_cluster(changes["cluster_name"])
    nodegroup = self.describe_nodegroup(cluster.name, changes["nodegroup_name"])
    changeable(nodegroup)
    sizes = {**nodegroup.scaling_config, "desiredSize": scaling_group(self, nodegroup).desired_capacity, **(changes.get("scaling_config") or {})}
    check_sizes(sizes)
    update = previous(**changes)
    nodegroup.scaling_config = sizes
    follow_sizes(self, nodegroup)
    start(nodegroup, polls_of(self), "UPDATING")
    made = new_update(cluster, nodegroup, "ConfigUpdate", {})
    made["params"] = update["params"]
    return made


@add(EKSResponse)
def update_nodegroup_version(self):
    backend, cluster = self.eks_backend, cluster_of(self)
    nodegroup = backend.describe_nodegroup(cluster.name, param(self, "nodegroupName"))
    changeable(nodegroup)
    version, release, template = param(self, "version"), param(self, "releaseVersion"), param(self, "launchTemplate")
    if version or not release:
        nodegroup.version = version or cluster.version
        nodegroup.release_version = f"{nodegroup.version}.0-20261101"
    nodegroup.release_version = release or nodegroup.release_version
    if template:
        found = launch_template_of(backend, {"launch_template": template})
        if nodegroup.launch_template is None or found.id != nodegroup.launch_template["id"]:
            raise not_found("The node group was not made with this launch template")
        number = found.get_version(template.get("version") or "$Default").number
        nodegroup.launch_template = {**nodegroup.launch_template, "version": str(number)}
    start(nodegroup, polls_of(backend), "UPDATING")
    params = {"Version": nodegroup.version, "ReleaseVersion": nodegroup.release_version, "LaunchTemplateVersion": template and template.get("version")}
    return ActionResult({"update": new_update(cluster, nodegroup, "VersionUpdate", params)})


# === Deletion ===


@override(EKSBackend)
def delete_nodegroup(previous, self, cluster_name, nodegroup_name):
    nodegroup = self.describe_nodegroup(cluster_name, nodegroup_name)
    if nodegroup.status == "DELETING":
        return nodegroup
    if nodegroup.status == "UPDATING":
        raise in_use(f"Nodegroup cannot be deleted while it is {nodegroup.status}")
    ec2 = ec2_backends[self.account_id][self.region_name]
    autoscaling.remove_group(self, nodegroup.group_name)
    if nodegroup.own_template in ec2.launch_templates:
        ec2.delete_launch_template(None, nodegroup.own_template)
    nodegroup.group_name = None
    nodegroup.after_settling = lambda: previous(cluster_name, nodegroup_name)
    start(nodegroup, polls_of(self), "DELETING", "DELETING")
    return nodegroup
