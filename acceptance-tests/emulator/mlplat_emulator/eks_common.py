"""What the EKS modules share: errors, transitions that last some polls, updates, tags on anything with an ARN.

Nothing here patches an operation of one kind of object.
"""

import json
import uuid

import moto.eks.urls as urls
from moto.core.responses import ActionResult
from moto.core.utils import utcnow
from moto.eks.exceptions import (
    InvalidParameterException,
    ResourceInUseException,
    ResourceNotFoundException,
)
from moto.eks.models import EKSBackend
from moto.eks.responses import EKSResponse

from .patching import add
from .settings import SETTINGS

CLUSTER = "{0}/clusters/(?P<name>[^/]+)/"


def route(*suffixes):
    """Route paths below a cluster to moto's dispatcher, which picks the operation by botocore's model."""
    for suffix in suffixes:
        urls.url_paths[f"{CLUSTER}{suffix}$"] = urls.response.dispatch


def route_top(*paths):
    """Route paths that belong to no cluster."""
    for path in paths:
        urls.url_paths["{0}/" + path + "$"] = urls.response.dispatch


route("updates", "updates/(?P<updateId>[^/]+)")


def not_found(message):
    """A ResourceNotFoundException."""
    return ResourceNotFoundException(clusterName=None, nodegroupName=None, fargateProfileName=None, addonName=None, message=message)


def in_use(message):
    """A ResourceInUseException."""
    return ResourceInUseException(clusterName=None, nodegroupName=None, addonName=None, message=message)


def invalid(message):
    """An InvalidParameterException."""
    return InvalidParameterException(clusterName=None, nodegroupName=None, fargateProfileName=None, addonName=None, message=message)


def param(response, name):
    """A request parameter, None where absent."""
    return response._get_param(name)


def cluster_of(response):
    """The cluster that a request is about."""
    return response.eks_backend.describe_cluster(name=param(response, "name") or param(response, "clusterName"))


def polls_of(backend):
    """How many polls a transition lasts in this account."""
    return SETTINGS.at(backend.account_id, backend.region_name).polls


# === Transitions ===


def start(thing, polls, transient, then="ACTIVE"):
    """Put a cluster or node group into a state that lasts that many polls."""
    thing.polls_left, thing.settles_as = polls, then
    thing.status = transient if polls else then
    if not polls:
        settle(thing)


def tick(thing):
    """One poll: the transition is seen once more, or is over."""
    if getattr(thing, "settles_as", None) is None:
        return
    if thing.polls_left > 0:
        thing.polls_left -= 1
    else:
        settle(thing)


def settle(thing):
    """End a transition and do what waited for it."""
    thing.status, thing.settles_as = thing.settles_as, None
    after, thing.after_settling = getattr(thing, "after_settling", None), None
    if after:
        after()


# === Updates ===


def new_update(cluster, thing, kind, params):
    """Record an update of `thing` (a cluster, node group or None); it ends when the transition does."""
    update = {
        "id": str(uuid.uuid4()),
        "status": "InProgress",
        "type": kind,
        "createdAt": utcnow(),
        "errors": [],
        "params": [{"type": key, "value": value if isinstance(value, str) else json.dumps(value)} for key, value in params.items() if value is not None],
    }
    cluster.__dict__.setdefault("updates", {})[update["id"]] = (update, thing)
    refresh(update, thing)
    return update


def refresh(update, thing):
    """An update is successful when its thing is no longer in transition."""
    if getattr(thing, "settles_as", None) is None and update["status"] == "InProgress":
        update["status"] = "Successful"


@add(EKSResponse)
def describe_update(self):
    found = cluster_of(self).__dict__.get("updates", {}).get(param(self, "updateId"))
    if found is None:
        raise not_found(f"No update found for ID: {param(self, 'updateId')}")
    update, thing = found
    tick(thing)
    refresh(update, thing)
    return ActionResult({"update": update})


@add(EKSResponse)
def list_updates(self):
    nodegroup = param(self, "nodegroupName")
    updates = cluster_of(self).__dict__.get("updates", {})
    ids = [key for key, (_, thing) in updates.items() if getattr(thing, "nodegroup_name", None) == nodegroup]
    return ActionResult({"updateIds": ids})


# === Tags ===


def holders(backend):
    """Every object with an ARN, with its tags: (arn, tags)."""
    for cluster in backend.clusters.values():
        yield cluster.arn, cluster.tags
        for nodegroup in cluster.nodegroups.values():
            yield nodegroup.arn, nodegroup.tags
        for kind in ("addons", "access_entries", "pod_identities"):
            for item in cluster.__dict__.get(kind, {}).values():
                yield item["_arn"], item["tags"]


def tags_of(backend, arn):
    """The tags of the object with this ARN."""
    for found, tags in holders(backend):
        if found == arn:
            return tags
    raise not_found("The specified resource could not be found")


@add(EKSBackend)
def tag_resource(self, resource_arn, tags):
    tags_of(self, resource_arn).update(tags)


@add(EKSBackend)
def list_tags_for_resource(self, resource_arn):
    return tags_of(self, resource_arn)


@add(EKSResponse)
def untag_resource(self):
    # The keys repeat in the query; moto reads them as one string.
    keys = self.querystring.get("tagKeys") or []
    tags = tags_of(self.eks_backend, self._extract_arn_from_path())
    for key in [keys] if isinstance(keys, str) else keys:
        tags.pop(key, None)
    return ActionResult({})


# === Plain objects ===


def public(item):
    """What the API shows of a dictionary-shaped object."""
    return {key: value for key, value in item.items() if not key.startswith("_")}


def lookup(items, key, what):
    """An object by key, or ResourceNotFoundException."""
    if key not in items:
        raise not_found(f"The specified {what} resource could not be found: {key}.")
    return items[key]
