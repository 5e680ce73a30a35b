"""EKS clusters: the fields moto leaves out, transitions, client tokens, updates with an id, and seeding one."""

import base64

from moto.core.responses import ActionResult
from moto.ec2.models import ec2_backends
from moto.eks.models import Cluster, EKSBackend, eks_backends
from moto.eks.responses import EKSResponse
from moto.iam.models import iam_backends

from .eks_common import cluster_of, new_update, param, polls_of, route_top, start, tick
from .patching import add, new_id, override
from .settings import SETTINGS

route_top("cluster-versions")
VERSIONS = ("1.36", "1.35", "1.34", "1.33", "1.32")
# Not a real key: nothing answers behind it unless a test gives a Kubernetes endpoint.
FAKE_CA = base64.b64encode(b"-----BEGIN CERTIFICATE-----\nbWxwbGF0\n-----END CERTIFICATE-----\n").decode()


@override(EKSBackend)
def create_cluster(previous, self, **wanted):
    old, token = self.clusters.get(wanted["name"]), wanted.get("client_request_token")
    if old and token and old.client_request_token == token:
        return old
    cluster = previous(**{**wanted, "version": wanted.get("version") or VERSIONS[0]})
    complete(self, cluster, dict(wanted["resources_vpc_config"] or {}))
    start(cluster, polls_of(self), "CREATING")
    return cluster


def complete(backend, cluster, vpc_config):
    """Give a cluster what moto leaves out."""
    ec2 = ec2_backends[backend.account_id][backend.region_name]
    subnets = vpc_config.get("subnetIds") or []
    vpc_config.setdefault("securityGroupIds", [])
    if subnets and subnets[0] in {subnet.id for subnet in ec2.describe_subnets()}:
        vpc = ec2.get_subnet(subnets[0]).vpc_id
        name = f"eks-cluster-sg-{cluster.name}-{new_id('x', 8)[2:]}"
        group = ec2.create_security_group(name, "EKS created security group", vpc_id=vpc, tags={})
        vpc_config.update(vpcId=vpc, clusterSecurityGroupId=group.id)
    cluster.resources_vpc_config = vpc_config
    cluster.health = {"issues": []}
    cluster.identity = {"oidc": {"issuer": f"https://oidc.eks.{backend.region_name}.amazonaws.com/id/{new_id('x', 32)[2:].upper()}"}}
    connect(cluster, cluster.endpoint, FAKE_CA)
    known = SETTINGS.at(backend.account_id, backend.region_name).kubernetes
    if known:
        connect(cluster, **known)
    cluster.access_config = {"authenticationMode": "API_AND_CONFIG_MAP", "bootstrapClusterCreatorAdminPermissions": True}
    cluster.upgrade_policy = {"supportType": "EXTENDED"}
    cluster.deletion_protection = False
    cluster.access_entries, cluster.pod_identities, cluster.addons = {}, {}, {}


def connect(cluster, endpoint, ca):
    """Let a cluster answer this API server; the CA is PEM in base64."""
    cluster.endpoint, cluster.certificate_authority = endpoint, {"data": ca}


@override(EKSResponse, "create_cluster")
def create_cluster_response(previous, self):
    result = previous()
    cluster = self.eks_backend.clusters[param(self, "name")]
    cluster.access_config = {**cluster.access_config, **(param(self, "accessConfig") or {})}
    cluster.upgrade_policy = param(self, "upgradePolicy") or cluster.upgrade_policy
    cluster.deletion_protection = bool(param(self, "deletionProtection"))
    cluster.compute_config = param(self, "computeConfig")
    return result


@add(EKSResponse)
def describe_cluster(self):
    cluster = cluster_of(self)
    tick(cluster)
    return ActionResult({"cluster": cluster})


@add(EKSResponse)
def update_cluster_version(self):
    cluster = cluster_of(self)
    cluster.version = param(self, "version")
    start(cluster, polls_of(self.eks_backend), "UPDATING")
    return ActionResult({"update": new_update(cluster, cluster, "VersionUpdate", {"Version": cluster.version})})


@override(EKSResponse)
def update_cluster_config(previous, self):
    previous()
    cluster = cluster_of(self)
    cluster.access_config.update(param(self, "accessConfig") or {})
    if param(self, "deletionProtection") is not None:
        cluster.deletion_protection = bool(param(self, "deletionProtection"))
    start(cluster, polls_of(self.eks_backend), "UPDATING")
    return ActionResult({"update": new_update(cluster, cluster, "EndpointAccessUpdate", {})})


@override(EKSBackend)
def update_cluster_config(previous, self, name, resources_vpc_config=None, **rest):  # noqa: F811 - the backend's method
    old = dict(self.describe_cluster(name).resources_vpc_config)
    return previous(name=name, resources_vpc_config={**old, **(resources_vpc_config or {})}, **rest)


@override(EKSBackend)
def delete_cluster(previous, self, name):
    group = self.describe_cluster(name).resources_vpc_config.get("clusterSecurityGroupId")
    cluster = previous(name)
    if group:
        ec2_backends[self.account_id][self.region_name].delete_security_group(group_id=group)
    return cluster


@add(EKSResponse)
def describe_cluster_versions(self):
    shown = [{"clusterVersion": version, "defaultVersion": version == VERSIONS[0], "status": "STANDARD_SUPPORT"} for version in VERSIONS]
    return ActionResult({"clusterVersions": shown})


# === Seeding ===

TRUST = '{{"Version":"2012-10-17","Statement":[{{"Effect":"Allow","Principal":{{"Service":"{0}.amazonaws.com"}},"Action":"sts:AssumeRole"}}]}}'

NODE_POLICIES = ("AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly", "AmazonEKS_CNI_Policy")


def seed(account, region, name="ml-prod", version="1.36", zones=3, auto_mode=False, tags=None, endpoint=None, certificate_authority=None):
    """A ready cluster with a VPC, private subnets in as many zones, and roles for control plane and nodes.

    `endpoint` and `certificate_authority` (base64 of PEM) put a real Kubernetes API behind it.
    """
    ec2, iam = ec2_backends[account][region], iam_backends[account]["aws"]
    vpc = ec2.create_vpc("10.42.0.0/16")
    names = [zone.name for zone in ec2.describe_availability_zones()][:zones]
    subnets = [ec2.create_subnet(vpc.id, f"10.42.{index * 16}.0/20", availability_zone=zone) for index, zone in enumerate(names)]
    roles = {service: role(iam, f"{name}-{suffix}", service) for service, suffix in (("eks", "cluster"), ("ec2", "nodes"))}
    for policy in NODE_POLICIES:
        iam.attach_role_policy(f"arn:aws:iam::aws:policy/{policy}", roles["ec2"].name)
    ids = [subnet.id for subnet in subnets]
    backend = eks_backends[account][region]
    cluster = backend.create_cluster(name=name, role_arn=roles["eks"].arn, version=version, resources_vpc_config={"subnetIds": ids}, tags=tags or {})
    start(cluster, 0, "CREATING")
    cluster.endpoint = endpoint or cluster.endpoint
    if certificate_authority:
        cluster.certificate_authority = {"data": certificate_authority}
    if auto_mode:
        cluster.compute_config = {"enabled": True, "nodePools": ["general-purpose"]}
    return {
        "name": cluster.name,
        "arn": cluster.arn,
        "vpc_id": vpc.id,
        "subnet_ids": ids,
        "zones": names,
        "security_group_id": cluster.resources_vpc_config["clusterSecurityGroupId"],
        "cluster_role_arn": roles["eks"].arn,
        "node_role_arn": roles["ec2"].arn,
        "oidc_issuer": cluster.identity["oidc"]["issuer"],
    }


def role(iam, name, service):
    """A role that one AWS service may assume."""
    return iam.create_role(
        role_name=name, assume_role_policy_document=TRUST.format(service), path="/", permissions_boundary=None,
        description="", tags=[], max_session_duration="3600",
    )  # fmt: skip


# moto names the attribute differently from the API's member.
Cluster.platform_version = property(lambda self: "eks.7")
