"""The control endpoint below /mlplat/: what a test asks of the emulator itself, not of AWS.

POST bodies and replies are JSON; the header x-moto-account-id names the account, `region` in the body the region.
  GET  /mlplat/health              {"ok": true}
  GET  /mlplat/inventory           everything that exists, by kind and name
  POST /mlplat/settings            {"polls": 2, "quotas": {"L-…": 8}, "capacity_blocks": ["p5.48xlarge"]}
  POST /mlplat/seed-cluster        {"name", "version", "zones", "auto_mode", "tags", "endpoint", "certificate_authority"}
  POST /mlplat/fail-nodegroup      {"cluster", "nodegroup", "status": "CREATE_FAILED", "issues": [{code, message, resourceIds}]}
  POST /mlplat/degrade-nodegroup   the same, for a node group that exists
  POST /mlplat/resize              {"cluster", "nodegroup", "desired"}: what an autoscaler does
  POST /mlplat/stranger-bucket     {"name"}: taken by another account
  POST /mlplat/kubernetes          {"endpoint", "ca"}: what every cluster answers from now on; the CA is PEM in base64
  POST /mlplat/forget              drops all an account has
"""

import json

from moto.autoscaling.models import autoscaling_backends
from moto.core.base_backend import BackendDict
from moto.eks.models import eks_backends

from . import autoscaling, eks_clusters
from .inventory import inventory
from .patching import STORES
from .settings import SETTINGS

PREFIX = "/mlplat/"


def middleware(app):
    """Answer control calls, pass AWS calls on."""

    def call(environ, start_response):
        path = environ.get("PATH_INFO", "")
        if not path.startswith(PREFIX):
            return app(environ, start_response)
        length = int(environ.get("CONTENT_LENGTH") or 0)
        body = json.loads(environ["wsgi.input"].read(length) or b"{}")
        account = environ.get("HTTP_X_MOTO_ACCOUNT_ID", "123456789012")
        try:
            status, document = "200 OK", answer(path[len(PREFIX) :], account, body.pop("region", "us-east-1"), body)
        except (KeyError, TypeError, ValueError) as error:
            status, document = "400 Bad Request", {"error": repr(error)}
        payload = json.dumps(document, default=str).encode()
        start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(payload)))])
        return [payload]

    return call


def answer(command, account, region, body):
    """Run one command."""
    if command == "health":
        return {"ok": True}
    return COMMANDS[command](account, region, **body)


def settings(account, region, **changes):
    """Change the knobs that are named."""
    knobs = SETTINGS.at(account, region)
    for name, value in changes.items():
        if name not in ("polls", "quotas", "capacity_blocks"):
            raise KeyError(name)
        setattr(knobs, name, value)
    return {"polls": knobs.polls, "quotas": knobs.quotas, "capacity_blocks": knobs.capacity_blocks}


def fail_nodegroup(account, region, **failure):
    """Order a failure for the next creation that matches."""
    SETTINGS.at(account, region).failures.append(failure)
    return {}


def degrade_nodegroup(account, region, cluster, nodegroup, status="DEGRADED", issues=()):
    """Put a node group that exists into a state."""
    item = eks_backends[account][region].clusters[cluster].nodegroups[nodegroup]
    item.settles_as, item.status, item.health = None, status, {"issues": list(issues)}
    return {}


def resize(account, region, desired, cluster=None, nodegroup=None, group=None):
    """Move the live size of a scaling group, as an autoscaler would."""
    if group is None:
        group = eks_backends[account][region].clusters[cluster].nodegroups[nodegroup].group_name
    autoscaling.resize(autoscaling_backends[account][region].autoscaling_groups[group], desired=desired)
    return {"group": group, "desired": desired}


def stranger_bucket(account, region, name):
    """Let a bucket name belong to somebody else."""
    SETTINGS.at(account, "us-east-1").stranger_buckets.add(name)
    return {}


def kubernetes(account, region, endpoint, ca):
    """Let the clusters that are there and those to come lead to a Kubernetes API server."""
    SETTINGS.at(account, region).kubernetes = {"endpoint": endpoint, "ca": ca}
    for cluster in eks_backends[account][region].clusters.values():
        eks_clusters.connect(cluster, endpoint, ca)
    return {}


def forget(account, region):
    """Drop everything an account has, in every service and region."""
    for backend in list(BackendDict._instances):
        if dict.__contains__(backend, account):
            backend[account].reset()
    for item in STORES:
        item.forget(account)
    return {}


COMMANDS = {
    "inventory": inventory,
    "settings": settings,
    "seed-cluster": eks_clusters.seed,
    "fail-nodegroup": fail_nodegroup,
    "degrade-nodegroup": degrade_nodegroup,
    "resize": resize,
    "stranger-bucket": stranger_bucket,
    "kubernetes": kubernetes,
    "forget": forget,
}
