"""EKS access entries and pod identity associations, which moto does not have."""

import uuid

from moto.core.responses import ActionResult, EmptyResult
from moto.core.utils import utcnow
from moto.eks.responses import EKSResponse

from .eks_common import cluster_of, in_use, lookup, param, public, route
from .patching import add, new_id

# A principal's ARN arrives percent-decoded, slashes and all.
route(
    "access-entries",
    "access-entries/(?P<principalArn>[^/]+)",
    "access-entries/(?P<principalArn>[^/]+)/access-policies",
    "access-entries/(?P<principalArn>[^/]+)/access-policies/(?P<policyArn>[^/]+)",
    "access-entries/(?P<principalArn>.+)",
    "pod-identity-associations",
    "pod-identity-associations/(?P<associationId>[^/]+)",
)


# === Access entries ===


def entry_of(response):
    """The access entry that a request names."""
    return lookup(cluster_of(response).access_entries, param(response, "principalArn"), "principalArn")


@add(EKSResponse)
def create_access_entry(self):
    cluster, principal = cluster_of(self), param(self, "principalArn")
    if principal in cluster.access_entries:
        raise in_use("The specified access entry resource is already in use on this cluster.")
    owner, name = principal.split(":")[4], principal.split("/")[-1]
    arn = cluster.arn.replace(":cluster/", ":access-entry/") + f"/role/{owner}/{name}/{uuid.uuid4()}"
    cluster.access_entries[principal] = entry = {
        "clusterName": cluster.name,
        "principalArn": principal,
        "kubernetesGroups": param(self, "kubernetesGroups") or [],
        "accessEntryArn": arn,
        "createdAt": utcnow(),
        "modifiedAt": utcnow(),
        "tags": param(self, "tags") or {},
        "username": param(self, "username") or principal,
        "type": param(self, "type") or "STANDARD",
        "_arn": arn,
        "_policies": {},
    }
    return ActionResult({"accessEntry": public(entry)})


@add(EKSResponse)
def describe_access_entry(self):
    return ActionResult({"accessEntry": public(entry_of(self))})


@add(EKSResponse)
def list_access_entries(self):
    return ActionResult({"accessEntries": list(cluster_of(self).access_entries)})


@add(EKSResponse)
def update_access_entry(self):
    entry = entry_of(self)
    entry.update({key: param(self, key) for key in ("kubernetesGroups", "username") if param(self, key) is not None})
    return ActionResult({"accessEntry": public(entry)})


@add(EKSResponse)
def delete_access_entry(self):
    del cluster_of(self).access_entries[entry_of(self)["principalArn"]]
    return EmptyResult()


@add(EKSResponse)
def associate_access_policy(self):
    entry, policy = entry_of(self), param(self, "policyArn")
    entry["_policies"][policy] = made = {"policyArn": policy, "accessScope": param(self, "accessScope"), "associatedAt": utcnow(), "modifiedAt": utcnow()}
    return ActionResult({"clusterName": entry["clusterName"], "principalArn": entry["principalArn"], "associatedAccessPolicy": made})


@add(EKSResponse)
def disassociate_access_policy(self):
    lookup(entry_of(self)["_policies"], param(self, "policyArn"), "policyArn")
    del entry_of(self)["_policies"][param(self, "policyArn")]
    return EmptyResult()


@add(EKSResponse)
def list_associated_access_policies(self):
    entry = entry_of(self)
    policies = list(entry["_policies"].values())
    return ActionResult({"clusterName": entry["clusterName"], "principalArn": entry["principalArn"], "associatedAccessPolicies": policies})


# === Pod identity ===


def association_of(response):
    """The association that a request names."""
    return lookup(cluster_of(response).pod_identities, param(response, "associationId"), "association")


@add(EKSResponse)
def create_pod_identity_association(self):
    cluster = cluster_of(self)
    wanted = (param(self, "namespace"), param(self, "serviceAccount"))
    for item in cluster.pod_identities.values():
        if (item["namespace"], item["serviceAccount"]) == wanted:
            raise in_use(f"Association already exists: {item['associationId']}")
    identifier = new_id("a")
    arn = cluster.arn.replace(":cluster/", ":podidentityassociation/") + f"/{identifier}"
    cluster.pod_identities[identifier] = made = {
        "clusterName": cluster.name,
        "namespace": wanted[0],
        "serviceAccount": wanted[1],
        "roleArn": param(self, "roleArn"),
        "associationArn": arn,
        "associationId": identifier,
        "tags": param(self, "tags") or {},
        "createdAt": utcnow(),
        "modifiedAt": utcnow(),
        "_arn": arn,
    }
    return ActionResult({"association": public(made)})


@add(EKSResponse)
def describe_pod_identity_association(self):
    return ActionResult({"association": public(association_of(self))})


@add(EKSResponse)
def list_pod_identity_associations(self):
    wanted = {key: param(self, key) for key in ("namespace", "serviceAccount") if param(self, key)}
    found = [item for item in cluster_of(self).pod_identities.values() if all(item[key] == value for key, value in wanted.items())]
    return ActionResult({"associations": [public(item) for item in found]})


@add(EKSResponse)
def update_pod_identity_association(self):
    item = association_of(self)
    item["roleArn"] = param(self, "roleArn") or item["roleArn"]
    return ActionResult({"association": public(item)})


@add(EKSResponse)
def delete_pod_identity_association(self):
    item = cluster_of(self).pod_identities.pop(association_of(self)["associationId"])
    return ActionResult({"association": public(item)})
