"""EKS add-ons, which moto does not have: versions, creation, updates, configuration schemas."""

import json
import uuid

from moto.core.responses import ActionResult
from moto.core.utils import utcnow
from moto.eks.responses import EKSResponse

from .eks_common import cluster_of, in_use, invalid, lookup, new_update, param, public, route, route_top
from .patching import add

route("addons", "addons/(?P<addonName>[^/]+)", "addons/(?P<addonName>[^/]+)/update")
route_top("addons/supported-versions", "addons/configuration-schemas")
VERSIONS = {
    "aws-efs-csi-driver": ["v2.1.1-eksbuild.1", "v2.1.0-eksbuild.1"],
    "aws-ebs-csi-driver": ["v1.50.0-eksbuild.1"],
    "vpc-cni": ["v1.20.0-eksbuild.1"],
    "coredns": ["v1.12.1-eksbuild.2"],
    "kube-proxy": ["v1.33.0-eksbuild.2"],
    "eks-pod-identity-agent": ["v1.3.8-eksbuild.2"],
    "eks-node-monitoring-agent": ["v1.4.0-eksbuild.2"],
}


def addon_of(response):
    """The add-on that a request names."""
    return lookup(cluster_of(response).addons, param(response, "addonName"), "addon")


@add(EKSResponse)
def create_addon(self):
    cluster, name = cluster_of(self), param(self, "addonName")
    if name in cluster.addons:
        raise in_use("Addon already exists.")
    if name not in VERSIONS:
        raise invalid(f"Addon {name} specified is not supported")
    arn = cluster.arn.replace(":cluster/", ":addon/") + f"/{name}/{uuid.uuid4()}"
    cluster.addons[name] = made = {
        "addonName": name,
        "clusterName": cluster.name,
        "status": "ACTIVE",
        "addonVersion": param(self, "addonVersion") or VERSIONS[name][0],
        "health": {"issues": []},
        "addonArn": arn,
        "createdAt": utcnow(),
        "modifiedAt": utcnow(),
        "serviceAccountRoleArn": param(self, "serviceAccountRoleArn"),
        "configurationValues": param(self, "configurationValues"),
        "tags": param(self, "tags") or {},
        "_arn": arn,
    }
    return ActionResult({"addon": {**public(made), "status": "CREATING"}})


@add(EKSResponse)
def describe_addon(self):
    return ActionResult({"addon": public(addon_of(self))})


@add(EKSResponse)
def list_addons(self):
    return ActionResult({"addons": list(cluster_of(self).addons)})


@add(EKSResponse)
def update_addon(self):
    addon = addon_of(self)
    changes = ("addonVersion", "serviceAccountRoleArn", "configurationValues")
    addon.update({key: param(self, key) for key in changes if param(self, key) is not None})
    return ActionResult({"update": new_update(cluster_of(self), None, "AddonUpdate", {"AddonVersion": addon["addonVersion"]})})


@add(EKSResponse)
def delete_addon(self):
    addon = cluster_of(self).addons.pop(addon_of(self)["addonName"])
    return ActionResult({"addon": {**public(addon), "status": "DELETING"}})


@add(EKSResponse)
def describe_addon_versions(self):
    kubernetes = param(self, "kubernetesVersion") or "1.36"
    wanted = param(self, "addonName")
    return ActionResult({"addons": [supported(name, kubernetes) for name in VERSIONS if wanted in (None, name)]})


def supported(name, kubernetes):
    """One add-on as DescribeAddonVersions lists it; the first version is the default."""

    def version(index, number):
        fit = {"clusterVersion": kubernetes, "platformVersions": ["*"], "defaultVersion": index == 0}
        return {"addonVersion": number, "architecture": ["amd64", "arm64"], "compatibilities": [fit]}

    return {"addonName": name, "type": "infra", "addonVersions": [version(*pair) for pair in enumerate(VERSIONS[name])]}


@add(EKSResponse)
def describe_addon_configuration(self):
    name, version = param(self, "addonName"), param(self, "addonVersion")
    schema = json.dumps({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"})
    return ActionResult({"addonName": name, "addonVersion": version, "configurationSchema": schema})
