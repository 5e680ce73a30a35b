"""Auto Scaling: groups whose instances are only counted, and an error where AWS has one.

Nodes here are not EC2 instances: a group of 64 GPUs must cost nothing.
"""

from moto.autoscaling.exceptions import ValidationError
from moto.autoscaling.models import AutoScalingBackend, FakeAutoScalingGroup, autoscaling_backends
from moto.ec2.models import ec2_backends

from .patching import new_id, override


class Node:
    """What DescribeAutoScalingGroups tells about an instance, with no machine behind it."""

    def __init__(self, group, zone, instance_type):
        self.id = self.instance_id = new_id("i")
        self.instance = self
        self.instance_type = instance_type
        self.availability_zone = zone
        self.lifecycle_state = "InService"
        self.health_status = "Healthy"
        self.protected_from_scale_in = False
        self.auto_scaling_group_name = group.name
        self.launch_template = group.launch_template


def create_group(backend, nodegroup, template):
    """The scaling group that EKS puts behind a node group; `template` is EKS's own launch template."""
    tags = {
        "eks:cluster-name": nodegroup.cluster_name,
        "eks:nodegroup-name": nodegroup.nodegroup_name,
        f"kubernetes.io/cluster/{nodegroup.cluster_name}": "owned",
        "k8s.io/cluster-autoscaler/enabled": "true",
        f"k8s.io/cluster-autoscaler/{nodegroup.cluster_name}": "owned",
    }
    scaling = autoscaling_backends[backend.account_id][backend.region_name]
    group = scaling.create_auto_scaling_group(
        name=f"eks-{nodegroup.nodegroup_name}-{nodegroup.uuid}",
        availability_zones=[],
        desired_capacity=0,
        max_size=nodegroup.scaling_config["maxSize"],
        min_size=0,
        launch_config_name=None,
        launch_template={"LaunchTemplateId": template.id, "Version": "1"},
        vpc_zone_identifier=",".join(nodegroup.subnets),
        default_cooldown=300,
        health_check_period=15,
        health_check_type="EC2",
        load_balancers=[],
        target_group_arns=[],
        placement_group=None,
        termination_policies=[],
        tags=[tag(nodegroup, key, value) for key, value in tags.items()],
        capacity_rebalance=nodegroup.capacity_type == "SPOT",
    )
    group.node_types = list(nodegroup.instance_types or [])
    return group


def tag(nodegroup, key, value):
    """A tag of the scaling group, as the API lists it."""
    name = f"eks-{nodegroup.nodegroup_name}-{nodegroup.uuid}"
    return {"Key": key, "Value": value, "ResourceId": name, "ResourceType": "auto-scaling-group", "PropagateAtLaunch": True}


def resize(group, minimum=None, maximum=None, desired=None):
    """Set the bounds and the live size; nodes appear and go at once."""
    group.min_size = group.min_size if minimum is None else minimum
    group.max_size = group.max_size if maximum is None else maximum
    group.desired_capacity = group.desired_capacity if desired is None else desired
    types = getattr(group, "node_types", None) or ["t3.medium"]
    states = group.instance_states
    while len(states) > group.desired_capacity:
        states.pop()
    while len(states) < group.desired_capacity:
        zone = group.availability_zones[len(states) % len(group.availability_zones)]
        states.append(Node(group, zone, types[len(states) % len(types)]))


def remove_group(backend, name):
    """Delete a group whose nodes are only counted."""
    autoscaling_backends[backend.account_id][backend.region_name].autoscaling_groups.pop(name, None)


def group_of(account, region, name):
    """A scaling group by name, or None."""
    return autoscaling_backends[account][region].autoscaling_groups.get(name)


@override(FakeAutoScalingGroup)
def set_desired_capacity(previous, self, new_capacity):
    if hasattr(self, "node_types"):
        return resize(self, desired=int(new_capacity))
    return previous(new_capacity)


@override(AutoScalingBackend)
def set_desired_capacity(previous, self, group_name, desired_capacity):  # noqa: F811 - another class's method
    group = known(self, group_name)
    if hasattr(group, "node_types"):
        desired = int(desired_capacity)
        if not group.min_size <= desired <= group.max_size:
            raise ValidationError(f"New SetDesiredCapacity value {desired} is outside of the size limits.")
        return resize(group, desired=desired)
    return previous(group_name, desired_capacity)


@override(AutoScalingBackend)
def create_or_update_tags(previous, self, tags):
    for item in tags:
        known(self, item["ResourceId"])
    return previous(tags)


@override(AutoScalingBackend)
def delete_tags(previous, self, tags):
    for item in tags:
        known(self, item["ResourceId"])
    return previous(tags)


def known(backend, name):
    """The group, or the error AWS has for an absent one."""
    if name not in backend.autoscaling_groups:
        raise ValidationError("AutoScalingGroup name not found - null")
    return backend.autoscaling_groups[name]


def zone_of(backend, subnet_id):
    """The availability zone of a subnet."""
    return ec2_backends[backend.account_id][backend.region_name].get_subnet(subnet_id).availability_zone
