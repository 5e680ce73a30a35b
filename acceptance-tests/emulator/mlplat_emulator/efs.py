"""EFS: the calls moto lacks (update, protection, backup and resource policies), tokens that mean something.

A file system and its mount targets are available at once.
"""

import json

from moto.efs.exceptions import EFSError, FileSystemNotFound
from moto.efs.models import EFSBackend, FileSystem
from moto.efs.responses import EFSResponse
from moto.efs.urls import response, url_paths

from .patching import add, override

for suffix in ("file-systems/replication-configurations", "file-systems/<file_system_id>/protection", "account-preferences"):
    url_paths[f"/2015-02-01/{suffix}"] = response.dispatch
JSON = {"Content-Type": "application/json"}


class Fault(EFSError):
    """An error with a code, a status and the members some EFS errors carry."""

    def __init__(self, status, error_type, message, **members):
        super().__init__(error_type, message)
        self.code = status
        self.description = json.dumps({"ErrorCode": error_type, "Message": message, "message": message, **members})


def known(backend, identifier):
    """The file system, by id."""
    if identifier not in backend.file_systems_by_id:
        raise FileSystemNotFound(identifier)
    return backend.file_systems_by_id[identifier]


def file_system_of(answer):
    """The file system that a request names."""
    return known(answer.efs_backend, answer._get_param("FileSystemId"))


def reply(document, status=200):
    """A JSON reply."""
    return json.dumps(document), {**JSON, "status": status}


@override(FileSystem)
def info_json(previous, self):
    shown = previous()
    protection = getattr(self, "protection", "ENABLED")
    return {**shown, "FileSystemProtection": {"ReplicationOverwriteProtection": protection}}


@override(EFSBackend)
def create_file_system(previous, self, creation_token, **rest):
    for old in self.file_systems_by_id.values():
        if old.creation_token == creation_token:
            message = f"File system '{old.file_system_id}' already exists with creation token '{creation_token}'"
            raise Fault(409, "FileSystemAlreadyExists", message, FileSystemId=old.file_system_id)
    return previous(creation_token, **rest)


@add(EFSResponse)
def update_file_system(self):
    item = file_system_of(self)
    item.throughput_mode = self._get_param("ThroughputMode") or item.throughput_mode
    provisioned = self._get_param("ProvisionedThroughputInMibps")
    if item.throughput_mode == "provisioned":
        item.provisioned_throughput_in_mibps = provisioned or item.provisioned_throughput_in_mibps
    else:
        item.provisioned_throughput_in_mibps = None
    return reply(item.info_json(), 202)


@add(EFSResponse)
def update_file_system_protection(self):
    item = file_system_of(self)
    item.protection = self._get_param("ReplicationOverwriteProtection") or "ENABLED"
    return reply({"ReplicationOverwriteProtection": item.protection})


@add(EFSResponse)
def put_backup_policy(self):
    item, policy = file_system_of(self), self._get_param("BackupPolicy")
    item._backup = policy["Status"] in ("ENABLED", "ENABLING")
    item._backup_was_set = True
    return reply({"BackupPolicy": {"Status": "ENABLED" if item._backup else "DISABLED"}})


@override(EFSBackend)
def describe_backup_policy(previous, self, file_system_id):
    item = known(self, file_system_id)
    if not item._backup and getattr(item, "_backup_was_set", False):
        return {"Status": "DISABLED"}
    return previous(file_system_id)


@add(EFSResponse)
def delete_file_system_policy(self):
    file_system_of(self).file_system_policy = None
    return reply({})


@override(EFSBackend)
def describe_file_system_policy(previous, self, file_system_id):
    known(self, file_system_id)
    return previous(file_system_id)


@add(EFSResponse)
def describe_replication_configurations(self):
    identifier = self._get_param("FileSystemId")
    if identifier:
        known(self.efs_backend, identifier)
        raise Fault(404, "ReplicationNotFound", f"File system {identifier} has no replication configuration")
    return reply({"Replications": []})


@add(EFSResponse)
def describe_account_preferences(self):
    preference = {"ResourceIdType": "LONG_ID", "Resources": ["FILE_SYSTEM", "MOUNT_TARGET"]}
    return reply({"ResourceIdPreference": preference})


@override(EFSBackend)
def create_access_point(previous, self, client_token, **rest):
    known(self, rest["file_system_id"])
    for old in self.access_points.values():
        if old.client_token == client_token:
            message = f"Access point already exists with client token {client_token}"
            raise Fault(409, "AccessPointAlreadyExists", message, AccessPointId=old.access_point_id)
    return previous(client_token, **rest)


@override(EFSBackend)
def delete_access_point(previous, self, access_point_id):
    if access_point_id not in self.access_points:
        self.describe_access_points(access_point_id, None)
    return previous(access_point_id)


@override(EFSBackend)
def delete_file_system(previous, self, file_system_id):
    known(self, file_system_id)
    if any(point.file_system_id == file_system_id for point in self.access_points.values()):
        raise Fault(409, "FileSystemInUse", "Must delete all access points before deleting file system.")
    return previous(file_system_id)
