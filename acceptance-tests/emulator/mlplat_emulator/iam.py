"""IAM: the AWS-managed policies of cluster nodes, without loading moto's 1,300; a policy in use cannot go.

The documents are stubs: nothing here evaluates permissions.
"""

import json

from moto.iam.exceptions import DeleteConflictException
from moto.iam.models import AWSManagedPolicy, IAMBackend

from .patching import override

NAMES = {
    "AmazonEBSCSIDriverPolicy": "/service-role/",
    "AmazonEC2ContainerRegistryPullOnly": "/",
    "AmazonEC2ContainerRegistryReadOnly": "/",
    "AmazonEFSCSIDriverPolicy": "/service-role/",
    "AmazonEKSClusterPolicy": "/",
    "AmazonEKSWorkerNodePolicy": "/",
    "AmazonEKSWorkerNodeMinimalPolicy": "/",
    "AmazonEKS_CNI_Policy": "/",
    "AmazonSSMManagedInstanceCore": "/",
}
DOCUMENT = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}


@override(IAMBackend)
def _init_aws_policies(previous, self):
    loaded = previous()
    known = {policy.name for policy in loaded}
    return loaded + [managed(self, name, path) for name, path in NAMES.items() if name not in known]


def managed(backend, name, path):
    """One AWS-managed policy as moto keeps them."""
    data = {
        "DefaultVersionId": "v1",
        "Path": path,
        "Document": json.loads(json.dumps(DOCUMENT)),
        "CreateDate": "2019-01-01T00:00:00+00:00",
        "UpdateDate": "2019-01-01T00:00:00+00:00",
    }
    return AWSManagedPolicy.from_data(name, backend.account_id, backend.region_name, data)


@override(IAMBackend)
def delete_policy(previous, self, policy_arn):
    policy = self.get_policy(policy_arn)
    users = [role.name for role in self.roles.values() if policy.arn in role.managed_policies]
    if users:
        raise DeleteConflictException(f"Cannot delete a policy attached to entities: {', '.join(users)}.")
    return previous(policy_arn)
