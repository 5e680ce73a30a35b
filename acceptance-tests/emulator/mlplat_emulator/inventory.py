"""Everything that exists in one account and region, as a flat map from "service:kind/name" to what matters of it.

"Destroy leaves nothing" is then the comparison of two such maps. What AWS makes by itself (the default VPC and its
parts) is left out.
"""

from moto.autoscaling.models import autoscaling_backends
from moto.ec2.models import ec2_backends
from moto.efs.models import efs_backends
from moto.eks.models import eks_backends
from moto.iam.models import iam_backends
from moto.kms.models import kms_backends
from moto.s3.models import s3_backends

from .ec2_capacity import PLACEMENT_GROUPS, RESERVATIONS


def inventory(account, region):
    """The map, sorted by key."""
    found = {}
    for part in (buckets, identities, clusters, network, templates, scaling, capacity, file_systems, keys):
        found.update(part(account, region))
    return dict(sorted(found.items()))


def plain(tags):
    """Tags as a map, whichever way the service keeps them."""
    if isinstance(tags, dict):
        return {key: value or "" for key, value in tags.items()}
    return {item.get("Key", item.get("key")): item.get("Value", item.get("value")) or "" for item in tags or []}


def buckets(account, region):
    """Buckets with their contents counted."""
    backend = s3_backends[account]["aws"]
    for bucket in backend.buckets.values():
        versions = [item for name in bucket.keys.keys() for item in bucket.keys.getlist(name)]
        yield f"s3:bucket/{bucket.name}", {"tags": plain(backend.tagger.get_tag_dict_for_resource(bucket.arn)), "versions": len(versions), "uploads": len(bucket.multiparts)}


def identities(account, region):
    """Roles, own policies, instance profiles and OIDC providers."""
    iam = iam_backends[account]["aws"]
    for role in iam.roles.values():
        yield f"iam:role/{role.name}", {"tags": plain(role.tags), "attached": sorted(role.managed_policies), "inline": sorted(role.policies)}
    for arn, policy in iam.managed_policies.items():
        if ":iam::aws:" not in arn:
            yield f"iam:policy/{policy.name}", {"versions": len(policy.versions)}
    for profile in iam.instance_profiles.values():
        yield f"iam:instance-profile/{profile.name}", {"roles": [role.name for role in profile.roles]}
    for arn in iam.open_id_providers:
        yield f"iam:oidc-provider/{arn.partition('/')[2]}", {}


def clusters(account, region):
    """Clusters and what hangs on them."""
    for cluster in eks_backends[account][region].clusters.values():
        yield f"eks:cluster/{cluster.name}", {"status": cluster.status, "version": cluster.version, "tags": plain(cluster.tags)}
        for item in cluster.nodegroups.values():
            yield f"eks:nodegroup/{cluster.name}/{item.nodegroup_name}", nodegroup(item)
        for kind, label in (("addons", "addon"), ("access_entries", "access-entry"), ("pod_identities", "pod-identity")):
            for name, item in cluster.__dict__.get(kind, {}).items():
                yield f"eks:{label}/{cluster.name}/{name}", {"tags": plain(item["tags"])}


def nodegroup(item):
    """What matters of a node group."""
    shown = ("status", "scaling_config", "labels", "taints", "instance_types", "ami_type", "capacity_type", "launch_template", "health")
    return {**{name: getattr(item, name) for name in shown}, "tags": plain(item.tags), "group": item.group_name}


def network(account, region):
    """Networks, security groups and interfaces that somebody made."""
    ec2 = ec2_backends[account][region]
    default = {vpc.id for vpc in ec2.describe_vpcs() if vpc.is_default == "true" or vpc.is_default is True}
    for vpc in ec2.describe_vpcs():
        if vpc.id not in default:
            yield f"ec2:vpc/{vpc.id}", {"tags": plain(vpc.get_tags())}
    for subnet in ec2.describe_subnets():
        if subnet.vpc_id not in default:
            yield f"ec2:subnet/{subnet.id}", {"tags": plain(subnet.get_tags())}
    for group in ec2.describe_security_groups():
        if group.name != "default":
            rules = len(group.ingress_rules) + len(group.egress_rules)
            yield f"ec2:security-group/{group.name}", {"id": group.id, "rules": rules, "tags": plain(group.get_tags())}
    for interface in ec2.describe_network_interfaces():
        yield f"ec2:network-interface/{interface.id}", {}


def templates(account, region):
    """Launch templates."""
    for template in ec2_backends[account][region].launch_templates.values():
        versions = [version.number for version in template.versions if version]
        yield f"ec2:launch-template/{template.name}", {"versions": versions, "tags": plain(template.get_tags())}


def scaling(account, region):
    """Scaling groups with sizes and tags."""
    for group in autoscaling_backends[account][region].autoscaling_groups.values():
        sizes = {"min": group.min_size, "max": group.max_size, "desired": group.desired_capacity}
        yield f"autoscaling:group/{group.name}", {**sizes, "tags": plain(group.tags)}


def capacity(account, region):
    """Placement groups and reservations."""
    for name, item in PLACEMENT_GROUPS.at(account, region).items():
        yield f"ec2:placement-group/{name}", {"strategy": item["Strategy"], "tags": plain(item["Tags"])}
    for name, item in RESERVATIONS.at(account, region).items():
        if item["State"] != "cancelled":
            yield f"ec2:capacity-reservation/{name}", {"tags": plain(item["Tags"])}


def file_systems(account, region):
    """File systems, mount targets and access points."""
    efs = efs_backends[account][region]
    for item in efs.file_systems_by_id.values():
        yield f"efs:file-system/{item.creation_token}", {"id": item.file_system_id, "tags": plain(efs.list_tags_for_resource(item.file_system_id))}
    for name, item in efs.mount_targets_by_id.items():
        yield f"efs:mount-target/{name}", {"subnet": item.subnet_id}
    for name, item in efs.access_points.items():
        yield f"efs:access-point/{name}", {"tags": plain(efs.list_tags_for_resource(name)), "file_system": item.file_system_id}


def keys(account, region):
    """KMS keys that are not on their way out."""
    for name, item in kms_backends[account][region].keys.items():
        if item.key_state != "PendingDeletion":
            yield f"kms:key/{name}", {}
