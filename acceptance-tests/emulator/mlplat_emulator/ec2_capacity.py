"""EC2 capacity: placement groups, on-demand capacity reservations, capacity blocks, spot placement scores.

moto has none of these. Capacity is granted at once; what is offered as a block is set through the control endpoint.
"""

from datetime import datetime, timedelta, timezone

from moto.core.responses import ActionResult
from moto.ec2.models import ec2_backends
from moto.ec2.responses import EC2Response

from .ec2_templates import fault
from .patching import add, new_id, store
from .settings import SETTINGS

PLACEMENT_GROUPS = store(dict)
RESERVATIONS = store(dict)


def tags_of(response, kind):
    """The tags a request gives for one kind of resource."""
    specs = response._get_param("TagSpecifications", []) or []
    return [tag for spec in specs if spec.get("ResourceType") == kind for tag in spec.get("Tags", [])]


def filters_of(response):
    """Filters as a plain dictionary."""
    return {item["Name"]: item.get("Values", []) for item in response._get_param("Filters", []) or []}


def kept(items, filters, fields):
    """Those items whose fields match every filter; `tag:` filters look into the tags."""

    def value(item, name):
        if name.startswith("tag:"):
            return next((tag["Value"] for tag in item.get("Tags", []) if tag["Key"] == name[4:]), None)
        return item.get(fields.get(name, ""))

    return [item for item in items if all(str(value(item, name)) in values for name, values in filters.items())]


@add(EC2Response)
def create_placement_group(self):
    groups, name = PLACEMENT_GROUPS.of(self), self._get_param("GroupName")
    if name in groups:
        raise fault("InvalidPlacementGroup.Duplicate", f"The placement group '{name}' already exists.")
    identifier = new_id("pg")
    groups[name] = {
        "GroupName": name,
        "GroupId": identifier,
        "State": "available",
        "Strategy": self._get_param("Strategy") or "cluster",
        "PartitionCount": self._get_int_param("PartitionCount"),
        "SpreadLevel": self._get_param("SpreadLevel"),
        "GroupArn": f"arn:aws:ec2:{self.region}:{self.current_account}:placement-group/{name}",
        "Tags": tags_of(self, "placement-group"),
    }
    return ActionResult({"PlacementGroup": groups[name]})


@add(EC2Response)
def describe_placement_groups(self):
    groups = PLACEMENT_GROUPS.of(self)
    names, identifiers = self._get_param("GroupNames", []) or [], self._get_param("GroupIds", []) or []
    absent = [name for name in names if name not in groups]
    if absent:
        raise fault("InvalidPlacementGroup.Unknown", f"The placement group '{absent[0]}' is unknown.")
    found = [g for g in groups.values() if (not names or g["GroupName"] in names) and (not identifiers or g["GroupId"] in identifiers)]
    fields = {"group-name": "GroupName", "strategy": "Strategy", "state": "State"}
    return ActionResult({"PlacementGroups": kept(found, filters_of(self), fields)})


@add(EC2Response)
def delete_placement_group(self):
    name = self._get_param("GroupName")
    if PLACEMENT_GROUPS.of(self).pop(name, None) is None:
        raise fault("InvalidPlacementGroup.Unknown", f"The placement group '{name}' is unknown.")
    return ActionResult({})


def reservation(response, **fields):
    """A capacity reservation with the fields that all kinds share."""
    identifier = new_id("cr")
    made = {
        "CapacityReservationId": identifier,
        "OwnerId": response.current_account,
        "CapacityReservationArn": f"arn:aws:ec2:{response.region}:{response.current_account}:capacity-reservation/{identifier}",
        "InstancePlatform": "Linux/UNIX",
        "Tenancy": "default",
        "State": "active",
        "EbsOptimized": False,
        "EphemeralStorage": False,
        "CreateDate": datetime.now(timezone.utc),
        "Tags": tags_of(response, "capacity-reservation"),
        **fields,
    }
    RESERVATIONS.of(response)[identifier] = made
    return made


@add(EC2Response)
def create_capacity_reservation(self):
    count = self._get_int_param("InstanceCount") or 1
    made = reservation(
        self,
        InstanceType=self._get_param("InstanceType"),
        AvailabilityZone=self._get_param("AvailabilityZone"),
        TotalInstanceCount=count,
        AvailableInstanceCount=count,
        InstanceMatchCriteria=self._get_param("InstanceMatchCriteria") or "open",
        EndDateType=self._get_param("EndDateType") or "unlimited",
        EndDate=self._get_param("EndDate"),
        ReservationType="default",
    )
    return ActionResult({"CapacityReservation": made})


@add(EC2Response)
def describe_capacity_reservations(self):
    reservations, wanted = RESERVATIONS.of(self), self._get_param("CapacityReservationIds", []) or []
    for identifier in wanted:
        known_reservation(self, identifier)
    found = [item for key, item in reservations.items() if not wanted or key in wanted]
    fields = {"instance-type": "InstanceType", "availability-zone": "AvailabilityZone", "state": "State"}
    return ActionResult({"CapacityReservations": kept(found, filters_of(self), fields)})


def known_reservation(response, identifier):
    """A reservation by id, or the error AWS has."""
    found = RESERVATIONS.of(response).get(identifier)
    if found is None:
        raise fault("InvalidCapacityReservationId.NotFound", f"The capacity reservation '{identifier}' does not exist.")
    return found


@add(EC2Response)
def modify_capacity_reservation(self):
    item = known_reservation(self, self._get_param("CapacityReservationId"))
    count = self._get_int_param("InstanceCount")
    if count:
        item["AvailableInstanceCount"] += count - item["TotalInstanceCount"]
        item["TotalInstanceCount"] = count
    return ActionResult({"Return": True})


@add(EC2Response)
def cancel_capacity_reservation(self):
    item = known_reservation(self, self._get_param("CapacityReservationId"))
    item.update(State="cancelled", AvailableInstanceCount=0)
    return ActionResult({"Return": True})


@add(EC2Response)
def describe_capacity_block_offerings(self):
    offered = SETTINGS.of(self).capacity_blocks or [self._get_param("InstanceType") or "p5.48xlarge"]
    zones = ec2_backends[self.current_account][self.region].describe_availability_zones()
    hours = self._get_int_param("CapacityDurationHours") or 24
    start = datetime.now(timezone.utc).replace(minute=30, second=0, microsecond=0) + timedelta(days=1)
    wanted, count = self._get_param("InstanceType"), self._get_int_param("InstanceCount") or 1
    offerings = [
        {
            "CapacityBlockOfferingId": f"cb-{instance_type}-{count}-{hours}",
            "InstanceType": instance_type,
            "AvailabilityZone": zones[0].name,
            "InstanceCount": count,
            "StartDate": start,
            "EndDate": start + timedelta(hours=hours),
            "CapacityBlockDurationHours": hours,
            "UpfrontFee": f"{31.464 * hours * count:.4f}",
            "CurrencyCode": "USD",
            "Tenancy": "default",
        }
        for instance_type in offered
        if wanted in (None, instance_type)
    ]
    return ActionResult({"CapacityBlockOfferings": offerings})


@add(EC2Response)
def purchase_capacity_block(self):
    _, instance_type, count, hours = self._get_param("CapacityBlockOfferingId").split("-")
    zones = ec2_backends[self.current_account][self.region].describe_availability_zones()
    start = datetime.now(timezone.utc) + timedelta(days=1)
    made = reservation(
        self,
        InstanceType=instance_type,
        AvailabilityZone=zones[0].name,
        TotalInstanceCount=int(count),
        AvailableInstanceCount=0,
        InstanceMatchCriteria="targeted",
        EndDateType="limited",
        StartDate=start,
        EndDate=start + timedelta(hours=int(hours)),
        ReservationType="capacity-block",
        State="scheduled",
    )
    return ActionResult({"CapacityReservation": made})


@add(EC2Response)
def get_spot_placement_scores(self):
    zones = ec2_backends[self.current_account][self.region].describe_availability_zones()
    scores = [{"Region": self.region, "AvailabilityZoneId": zone.zone_id, "Score": 9 - index} for index, zone in enumerate(zones)]
    return ActionResult({"SpotPlacementScores": scores})
