"""What EKS refuses when a node group is made or resized. Only checks: nothing here changes anything."""

import re

from moto.ec2.models import ec2_backends
from moto.ec2.models.instance_types import INSTANCE_TYPES
from moto.iam.models import iam_backends

from .eks_common import invalid

IMAGES = {
    "AL2_x86_64", "AL2_x86_64_GPU", "AL2_ARM_64", "CUSTOM", "BOTTLEROCKET_ARM_64", "BOTTLEROCKET_x86_64",
    "BOTTLEROCKET_ARM_64_FIPS", "BOTTLEROCKET_x86_64_FIPS", "BOTTLEROCKET_ARM_64_NVIDIA", "BOTTLEROCKET_x86_64_NVIDIA",
    "WINDOWS_CORE_2019_x86_64", "WINDOWS_FULL_2019_x86_64", "WINDOWS_CORE_2022_x86_64", "WINDOWS_FULL_2022_x86_64",
    "AL2023_x86_64_STANDARD", "AL2023_ARM_64_STANDARD", "AL2023_x86_64_NEURON", "AL2023_x86_64_NVIDIA", "AL2023_ARM_64_NVIDIA",
}  # fmt: skip
EFFECTS = {"NO_SCHEDULE", "NO_EXECUTE", "PREFER_NO_SCHEDULE"}
CAPACITY = {"ON_DEMAND", "SPOT", "CAPACITY_BLOCK"}
RESERVED = re.compile(r"^([^/]+\.)?(kubernetes\.io|k8s\.io|eks\.amazonaws\.com)/")
NAME = re.compile(r"^[0-9A-Za-z][A-Za-z0-9_-]{0,62}$")


def check_creation(backend, cluster, wanted):
    """Raise what EKS would for these parameters."""
    check_words(wanted)
    check_sizes(wanted.get("scaling_config") or {"minSize": 1, "maxSize": 2, "desiredSize": 2})
    check_subnets(backend, cluster, wanted["subnets"])
    check_role(backend, wanted["node_role"])
    check_template(launch_template_of(backend, wanted), wanted)
    check_types(wanted)


def check_words(wanted):
    """Names, enumerations, labels and taints."""
    if not NAME.match(wanted["nodegroup_name"]):
        raise invalid("The nodegroup name must match ^[0-9A-Za-z][A-Za-z0-9-_]* and have at most 63 characters")
    if wanted.get("ami_type") not in IMAGES | {None}:
        raise invalid(f"The following supplied amiType does not exist: {wanted['ami_type']}")
    if wanted.get("capacity_type") not in CAPACITY | {None}:
        raise invalid(f"The following supplied capacityType does not exist: {wanted['capacity_type']}")
    for key in wanted.get("labels") or {}:
        if RESERVED.match(key):
            raise invalid(f"Label cannot contain reserved prefixes [kubernetes.io/, k8s.io/, eks.amazonaws.com/]: {key}")
    for taint in wanted.get("taints") or []:
        if taint.get("effect") not in EFFECTS:
            raise invalid(f"Taint effect is not one of {sorted(EFFECTS)}: {taint.get('effect')}")


def check_sizes(sizes):
    """min <= desired <= max, and at least one node at most."""
    low, live, high = sizes.get("minSize", 0), sizes.get("desiredSize", 0), sizes.get("maxSize", 1)
    if low > live:
        raise invalid(f"Minimum capacity {low} can't be greater than desired size {live}")
    if live > high:
        raise invalid(f"desired capacity {live} can't be greater than max size {high}")
    if high < 1:
        raise invalid("maxSize must be at least 1")


def check_subnets(backend, cluster, subnets):
    """Every subnet exists and lies in the cluster's network."""
    known = {subnet.id: subnet.vpc_id for subnet in ec2_backends[backend.account_id][backend.region_name].describe_subnets()}
    for subnet in subnets:
        if subnet not in known:
            raise invalid(f"The subnet ID '{subnet}' does not exist (Service: AmazonEC2; Status Code: 400; Error Code: InvalidSubnetID.NotFound)")
        if cluster.resources_vpc_config.get("vpcId") not in (None, known[subnet]):
            raise invalid("Subnets must be in the same VPC as the cluster")


def check_role(backend, arn):
    """The node role exists."""
    roles = {role.arn for role in iam_backends[backend.account_id][backend.partition].roles.values()}
    if arn not in roles:
        raise invalid(f"The role with name {arn.rsplit('/', 1)[-1]} cannot be found (Service: AmazonIdentityManagement; Error Code: NoSuchEntity)")


def launch_template_of(backend, wanted):
    """The launch template that the parameters name, or None."""
    named = wanted.get("launch_template")
    if not named:
        return None
    ec2 = ec2_backends[backend.account_id][backend.region_name]
    identifier = named.get("id") or ec2.launch_template_name_to_ids.get(named.get("name"))
    if identifier not in ec2.launch_templates:
        raise invalid(f"Launch template {named.get('id') or named.get('name')} does not exist")
    return ec2.launch_templates[identifier]


def check_template(template, wanted):
    """What must not be said in two places, and what a template must leave to EKS."""
    if template is None:
        return
    data = template.get_version(wanted["launch_template"].get("version") or "$Default").data
    if data.get("InstanceType") and wanted.get("instance_types"):
        raise invalid("Cannot specify instance types in launch template and API request")
    if wanted.get("disk_size"):
        raise invalid("Disk size must be specified within the launch template.")
    if data.get("ImageId") and wanted.get("ami_type") not in (None, "CUSTOM"):
        raise invalid("You cannot specify an AMI Type when specifying an image id in your launch template")
    if data.get("IamInstanceProfile"):
        raise invalid("Launch template should not specify an instance profile. The noderole in your request will be used.")
    if any(interface.get("SubnetId") for interface in data.get("NetworkInterfaces") or []):
        raise invalid("Network interface subnet IDs cannot be specified within the launch template.")


def check_types(wanted):
    """Instance types exist and have the image's architecture."""
    types, image = wanted.get("instance_types") or [], wanted.get("ami_type") or ""
    absent = sorted(name for name in types if name not in INSTANCE_TYPES)
    if absent:
        raise invalid(f"The following supplied instance types do not exist: [{', '.join(absent)}]")
    architecture = "arm64" if "_ARM_64" in image else "x86_64"
    if not image or image == "CUSTOM":
        return
    for name in types:
        if architecture not in INSTANCE_TYPES[name]["ProcessorInfo"]["SupportedArchitectures"]:
            raise invalid(f"[{name}] is not a valid instance type for requested amiType {image}")
