"""EC2 launch templates: tags kept apart, versions merged and deleted, client tokens, errors for absent ids.

Also the two EC2 gaps of no other module: wildcards in instance-type offerings.
"""

import copy
import fnmatch

from moto.core.responses import ActionResult
from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models.instance_types import InstanceTypeOfferingBackend
from moto.ec2.models.launch_templates import LaunchTemplate, LaunchTemplateBackend
from moto.ec2.responses.launch_templates import LaunchTemplates

from .patching import add, override

MANY = 10_000


def fault(code, message):
    """An EC2 error with a code."""
    return EC2ClientError(code, message)


# moto copies the tags into `self.tags` once; tags changed by CreateTags must show.
LaunchTemplate.tags = property(lambda self: self.get_tags(), lambda self, _: None)


@override(LaunchTemplates)
def _get_int_param(previous, self, name, if_none=None):
    # moto answers the first 15 templates and no token.
    return previous(name, MANY if (name, if_none) == ("MaxResults", 15) else if_none)


@override(LaunchTemplates)
def create_launch_template(previous, self):
    name, token = self._get_param("LaunchTemplateName"), self._get_param("ClientToken")
    backend = self.ec2_backend
    old = backend.launch_templates.get(backend.launch_template_name_to_ids.get(name))
    if old is not None and token and getattr(old, "client_token", None) == token:
        return ActionResult({"LaunchTemplate": summary(self, old)})
    wanted = copy.deepcopy(self._get_param("LaunchTemplateData", {}).get("TagSpecifications"))
    result = previous()
    template = backend.launch_templates[backend.launch_template_name_to_ids[name]]
    template.client_token = token
    # The template's own tags are not part of its data.
    data = template.versions[0].data
    data.pop("TagSpecifications", None)
    if wanted:
        data["TagSpecifications"] = wanted
    return result


def summary(response, template):
    """A launch template as the describes show it."""
    return {
        "CreateTime": template.create_time,
        "CreatedBy": f"arn:aws:iam::{response.current_account}:root",
        "DefaultVersionNumber": template.default_version_number,
        "LatestVersionNumber": template.latest_version_number,
        "LaunchTemplateId": template.id,
        "LaunchTemplateName": template.name,
        "Tags": template.tags,
    }


@override(LaunchTemplates)
def create_launch_template_version(previous, self):
    template = named(self)
    token = self._get_param("ClientToken")
    if token and token in template.__dict__.setdefault("version_tokens", {}):
        return version_result(self, template, template.version_tokens[token])
    source = self._get_param("SourceVersion")
    data = copy.deepcopy(self._get_param("LaunchTemplateData", {}))
    if source:
        data = {**copy.deepcopy(template.get_version(source).data), **data}
    version = template.create_version(data, self._get_param("VersionDescription"))
    if token:
        template.version_tokens[token] = version
    return version_result(self, template, version)


def version_result(response, template, version):
    """The reply of CreateLaunchTemplateVersion."""
    return ActionResult({"LaunchTemplateVersion": described(response, template, version)})


def described(response, template, version):
    """One version as the API shows it."""
    return {
        "CreateTime": version.create_time,
        "CreatedBy": f"arn:aws:iam::{response.current_account}:root",
        "DefaultVersion": template.is_default(version),
        "LaunchTemplateData": version.data,
        "LaunchTemplateId": template.id,
        "LaunchTemplateName": template.name,
        "VersionDescription": version.description,
        "VersionNumber": version.number,
    }


def named(response):
    """The template that a request names by id or name."""
    identifier, name = response._get_param("LaunchTemplateId"), response._get_param("LaunchTemplateName")
    if identifier:
        return by_id(response.ec2_backend, identifier)
    return response.ec2_backend.get_launch_template_by_name(name)


def by_id(backend, identifier):
    """A template by id, or the error AWS has."""
    if identifier not in backend.launch_templates:
        raise fault("InvalidLaunchTemplateId.NotFound", f"The specified launch template, with template ID {identifier}, does not exist.")
    return backend.launch_templates[identifier]


@add(LaunchTemplates)
def delete_launch_template_versions(self):
    template, deleted, failed = named(self), [], []
    for number in self._get_param("Versions", []):
        version = next((v for v in template.versions if v and str(v.number) == str(number)), None)
        item = {"LaunchTemplateId": template.id, "LaunchTemplateName": template.name, "VersionNumber": int(number)}
        if version is None:
            failed.append({**item, "ResponseError": {"Code": "launchTemplateVersionDoesNotExist", "Message": "absent"}})
        elif template.is_default(version):
            failed.append({**item, "ResponseError": {"Code": "unexpectedError", "Message": "the default version stays"}})
        else:
            # Numbers are positions in moto's list: leave a hole.
            template.versions[version.number - 1] = None
            deleted.append(item)
    return ActionResult(
        {"SuccessfullyDeletedLaunchTemplateVersions": deleted, "UnsuccessfullyDeletedLaunchTemplateVersions": failed}
    )


@override(LaunchTemplate)
def get_version(previous, self, num):
    version = previous(num)
    if version is None:
        raise fault("InvalidLaunchTemplateId.VersionNotFound", f"Could not find launch template version {num} of {self.id}.")
    return version


@override(LaunchTemplate)
def latest_version(previous, self):
    return [version for version in self.versions if version][-1]


@override(LaunchTemplates)
def describe_launch_template_versions(previous, self):
    if self._get_param("LaunchTemplateId"):
        by_id(self.ec2_backend, self._get_param("LaunchTemplateId"))
    names = [self._get_param("LaunchTemplateId"), self._get_param("LaunchTemplateName"), self._get_param("Versions")]
    if any(names[:2]) and not names[2]:
        template = named(self)
        versions = [described(self, template, version) for version in template.versions if version]
        return ActionResult({"LaunchTemplateVersions": versions})
    return previous()


@override(LaunchTemplateBackend)
def describe_launch_templates(previous, self, template_names=None, template_ids=None, filters=None):
    for identifier in template_ids or []:
        by_id(self, identifier)
    for name in template_names or []:
        if name not in self.launch_template_name_to_ids:
            message = f"At least one of the launch templates specified in the request does not exist: {name}"
            raise fault("InvalidLaunchTemplateName.NotFoundException", message)
    return previous(template_names=template_names, template_ids=template_ids, filters=filters)


@override(LaunchTemplateBackend)
def delete_launch_template(previous, self, name, tid):
    if tid:
        by_id(self, tid)
    return previous(name, tid)


@override(InstanceTypeOfferingBackend)
def matches_filters(previous, self, offering, filters, location_type):
    filters = dict(filters)
    patterns = filters.pop("instance-type", None)
    if patterns and not any(fnmatch.fnmatchcase(offering["InstanceType"], pattern) for pattern in patterns):
        return False
    return previous(offering, filters, location_type)
