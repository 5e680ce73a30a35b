"""Service Quotas: the EC2 accelerator quotas, changeable through the control endpoint, and requests for more.

A request is recorded as pending and never granted.
"""

import json

import moto.servicequotas.models as models
from moto.servicequotas.exceptions import NoSuchResource
from moto.servicequotas.responses import ServiceQuotasResponse

from .patching import add, new_id, store
from .settings import SETTINGS

EC2 = {
    "L-417A185B": ("Running On-Demand P instances", 768.0),
    "L-7212CCBC": ("All P4, P3 and P2 Spot Instance Requests", 384.0),
    "L-C4BD4855": ("All P5 Spot Instance Requests", 192.0),
    "L-DB2E81BA": ("Running On-Demand G and VT instances", 768.0),
    "L-3819A6DF": ("All G and VT Spot Instance Requests", 768.0),
    "L-1945791B": ("Running On-Demand Inf instances", 128.0),
    "L-2C3B7624": ("Running On-Demand Trn instances", 256.0),
}
REQUESTS = store(list)


def listed(response, code, defaults=False):
    """All quotas of one service."""
    if code == "vpc":
        return models.VPC_DEFAULT_QUOTAS
    changed = {} if defaults else SETTINGS.of(response).quotas
    return [quota(response, key, name, changed.get(key, value)) for key, (name, value) in EC2.items()] if code == "ec2" else []


def quota(response, code, name, value):
    """One EC2 quota as the API shows it."""
    return {
        "ServiceCode": "ec2",
        "ServiceName": "Amazon Elastic Compute Cloud (Amazon EC2)",
        "QuotaArn": f"arn:aws:servicequotas:{response.region}:{response.current_account}:ec2/{code}",
        "QuotaCode": code,
        "QuotaName": name,
        "Value": value,
        "Unit": "None",
        "Adjustable": True,
        "GlobalQuota": False,
    }


def one(response, defaults):
    """The quota a request names."""
    params = json.loads(response.body)
    for item in listed(response, params["ServiceCode"], defaults):
        if item["QuotaCode"] == params["QuotaCode"]:
            return item
    raise NoSuchResource


@add(ServiceQuotasResponse)
def get_service_quota(self):
    return json.dumps({"Quota": one(self, defaults=False)})


@add(ServiceQuotasResponse)
def get_aws_default_service_quota(self):
    return json.dumps({"Quota": one(self, defaults=True)})


@add(ServiceQuotasResponse)
def list_service_quotas(self):
    return json.dumps({"Quotas": listed(self, json.loads(self.body)["ServiceCode"])})


@add(ServiceQuotasResponse)
def request_service_quota_increase(self):
    item, wanted = one(self, defaults=False), json.loads(self.body)["DesiredValue"]
    made = {**{key: item[key] for key in ("ServiceCode", "QuotaCode", "QuotaName")}, "Id": new_id("request"), "DesiredValue": wanted, "Status": "PENDING"}
    REQUESTS.of(self).append(made)
    return json.dumps({"RequestedQuota": made})


@add(ServiceQuotasResponse)
def list_requested_service_quota_change_history(self):
    return json.dumps({"RequestedQuotas": REQUESTS.of(self)})
