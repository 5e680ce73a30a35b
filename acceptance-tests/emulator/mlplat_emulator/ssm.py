"""SSM: the public parameters of EKS-optimised and Bottlerocket images, made up and always the same."""

import hashlib
import re

from moto.ssm.models import Parameter, SimpleSystemManagerBackend

from .patching import override

EKS = re.compile(
    r"/aws/service/eks/optimized-ami/(?P<version>1\.\d+)/"
    r"(amazon-linux-2023/(x86_64|arm64)/(standard|nvidia|neuron)|amazon-linux-2(-gpu|-arm64)?)/"
    r"(?:recommended|amazon-eks-node-[\w.-]+)/(?P<what>image_id|image_name|release_version)$"
)
BOTTLEROCKET = re.compile(
    r"/aws/service/bottlerocket/aws-k8s-(?P<version>1\.\d+)(-nvidia)?/(x86_64|arm64)/"
    r"(latest|[\d.]+)/(?P<what>image_id|image_version)$"
)


def made_up(name, region):
    """The value of a public image parameter, or None where AWS has no such parameter."""
    match = EKS.match(name) or BOTTLEROCKET.match(name)
    if match is None:
        return None
    digest = hashlib.sha256((region + name.rsplit("/", 1)[0]).encode()).hexdigest()[:17]
    return {
        "image_id": f"ami-{digest}",
        "image_name": f"amazon-eks-node-{digest}",
        "release_version": f"{match['version']}.0-20261101",
        "image_version": "1.50.0-abcdef01",
    }[match["what"]]


def parameter(backend, name, value):
    """A parameter as moto keeps them."""
    return Parameter(
        account_id=backend.account_id, name=name, value=value, parameter_type="String", description="",
        allowed_pattern=None, keyid=None, last_modified_date=1.0, version=1, data_type="text", labels=[],
        source_result=None, tier="Standard", policies=None,
    )  # fmt: skip


@override(SimpleSystemManagerBackend)
def get_parameters(previous, self, names):
    values = {name: made_up(name, self.region_name) for name in names}
    found = previous([name for name, value in values.items() if value is None])
    return found | {name: parameter(self, name, value) for name, value in values.items() if value is not None}


@override(SimpleSystemManagerBackend)
def get_parameter(previous, self, name):
    value = made_up(name, self.region_name)
    return previous(name) if value is None else parameter(self, name, value)
