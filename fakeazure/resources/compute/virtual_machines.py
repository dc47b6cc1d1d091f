"""`Microsoft.Compute/virtualMachines`: the requests. What happens to the VM afterwards is in `vm_lifecycle`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from fakeazure.arm.bodies import body_of, items, merged, pairs, section, text, texts
from fakeazure.arm.errors import ArmError, Failure
from fakeazure.arm.etags import check_etag
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.linked_ids import linked_id
from fakeazure.arm.lists import wanted_by
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.operations import no_effect
from fakeazure.arm.paging import page
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.guids import guid_of
from fakeazure.market.facts import Size
from fakeazure.market.match import Subject
from fakeazure.resources import deletion, images
from fakeazure.resources.compute import vm_checks, vm_disks, vm_lifecycle
from fakeazure.resources.compute.vm_lifecycle import FULL_TYPE, NAMESPACE, TYPE
from fakeazure.resources.compute.vm_views import shown, without_empty, without_secrets
from fakeazure.resources.identities import ids_of, system_assigned
from fakeazure.resources.network import network_interfaces
from fakeazure.state import State
from fakeazure.timers import timestamp

_GROUP = f"/subscriptions/{{subscription}}/resourceGroups/{{group}}/providers/{FULL_TYPE}"
ONE = f"{_GROUP}/{{vm}}"
_SET = "virtualMachineScaleSet/id"
_OF_MACHINES: Mapping[str, bool] = MappingProxyType({_SET: True})
"""The fields of a filter on VMs (azure-rest-api-specs, ComputeRP: `'virtualMachineScaleSet/id' eq ID`)."""
_PRIORITIES = {"regular": "Regular", "spot": "Spot", "low": "Spot", "": "Regular"}


def vm_id(state: State, request: Request) -> ResourceId:
    """The VM that a request names."""
    return state.id_of(request, NAMESPACE, (TYPE, "vm"))


def known_size(state: State, name: str, location: str) -> Size:
    """The size in a region. Raises `InvalidParameter` that lists the sizes there."""
    size = state.market.size(name, location)
    if size is None:
        region = state.market.region(location)
        sizes = ",".join(record["name"] for record in region.skus) if region is not None else ""
        raise refuse("InvalidVmSize", target="vmSize", size=name, sizes=sizes)
    return size


def document_of(
    state: State, id_: ResourceId, body: Mapping[str, Any], location: str, most: float = 0
) -> dict[str, Any]:
    """The ARM document of a PUT body: what only the platform may see (custom data) is not in it.

    `most` is how many data disks the size takes, 0 for as many as any.
    """
    properties = section(body, "properties")
    profile = section(properties, "osProfile")
    storage = section(properties, "storageProfile")
    rendered = {
        **without_empty(properties),
        "vmId": guid_of(f"{id_.key}/{state.guids()}"),
        "provisioningState": "Creating",
        "timeCreated": timestamp(state.now()),
        "priority": _PRIORITIES.get(text(properties, "priority").lower(), "Regular"),
    }
    if profile:
        rendered["osProfile"] = {
            "allowExtensionOperations": True,
            "requireGuestProvisionSignal": True,
            **without_secrets(profile),
        }
    if storage:
        storage_profile = vm_disks.completed(state, id_, storage, None, most)
        if disk := section(storage_profile, "osDisk"):
            storage_profile["osDisk"] = {**images.os_disk(state, section(storage, "imageReference")), **disk}
        rendered["storageProfile"] = {**storage_profile, **images.exact(storage)}
    document: dict[str, Any] = {
        "id": str(id_),
        "name": id_.name,
        "type": FULL_TYPE,
        "location": location,
        "tags": pairs(body, "tags"),
        "etag": f'"{state.guids()}"',
        "properties": rendered,
    }
    if zones := texts(body, "zones"):
        document["zones"] = list(zones)
    if body.get("identity"):
        document["identity"] = _identity(state, id_, section(body, "identity"))
    return document


def _identity(state: State, id_: ResourceId, identity: Mapping[str, Any]) -> dict[str, Any]:
    """The identities of a VM with their ids: the system's own belongs to the VM."""
    users = {name: ids_of(state, name) for name in section(identity, "userAssignedIdentities")}
    rendered: dict[str, Any] = {**identity, "userAssignedIdentities": users}
    if "systemassigned" in text(identity, "type").lower():
        rendered |= system_assigned(state, id_)
    return rendered


def _put(state: State, request: Request) -> Response:
    id_ = vm_id(state, request)
    body = body_of(request)
    location = state.location_of(body, FULL_TYPE, id_)
    old = state.store.get(id_)
    check_etag(request, old.document if old is not None else None)
    if old is not None:
        return _replace(state, request, id_, body)
    properties = section(body, "properties")
    size = known_size(state, text(section(properties, "hardwareProfile"), "vmSize"), location)
    nics = _nics(state, id_, properties)
    document = document_of(state, id_, body, location, size.number("MaxDataDiskCount"))
    zone = _zone(document)
    custom_data = text(section(properties, "osProfile"), "customData")
    image = _image(state, section(section(properties, "storageProfile"), "imageReference"), location)
    for problem in (
        vm_checks.image_mismatch(size, image),
        vm_checks.os_disk_mismatch(
            size,
            section(section(properties, "storageProfile"), "osDisk"),
            guest_state=vm_checks.has_guest_state(properties),
        ),
        vm_checks.feature_mismatch(size, properties, zone),
    ):
        if problem is not None:
            raise ArmError(problem)
    _check_reservation_group(state, vm_lifecycle.group_of(document))
    subject = vm_lifecycle.subject_of(state, document, nics, size.family)
    allocation = state.market.allocate(size, subject, subscription=id_.subscription, id_=str(id_), now=state.now())
    if isinstance(allocation, Failure):
        if state.timing.nic_reserved > 0:  # else snapshots would grow by reservations that are over
            for nic in nics:
                state.nic_reservations[nic.key] = (str(id_), state.now() + state.timing.nic_reserved)
        raise ArmError(allocation)
    operation = vm_lifecycle.create(state, vm_lifecycle.Order(id_, document, custom_data, nics), allocation)
    return state.operations.accepted(201, operation, request.api_version, shown(state, state.found(id_).document))


def _check_reservation_group(state: State, group: str) -> None:
    """Refuse a capacity reservation group that is not there."""
    if not group:
        return
    id_ = linked_id(group, "properties.capacityReservation.capacityReservationGroup.id")
    state.found(replace(id_, namespace=NAMESPACE, types=("capacityReservationGroups",)))


def _image(state: State, reference: Mapping[str, Any], location: str) -> images.Image:
    """Return the image that a VM boots from. Refuses an image that nobody publishes."""
    image = images.find(state, reference)
    if image is not None:
        return image
    wanted = reference.get("communityGalleryImageId") or reference.get("id")
    if wanted is None:
        urn = ":".join(text(reference, part) for part in ("publisher", "offer", "sku", "version"))
        raise refuse("PlatformImageNotFound", target="imageReference", image=urn)
    raise refuse("GalleryImageNotFound", image=wanted, location=location)


def _zone(document: Mapping[str, Any]) -> str:
    zones = document.get("zones") or ()
    if len(zones) > 1:
        raise refuse("InvalidRequestContent", reason="a virtual machine is in one zone at most", target="zones")
    return str(zones[0]) if zones else ""


def _nics(state: State, id_: ResourceId, properties: Mapping[str, Any]) -> tuple[ResourceId, ...]:
    nics = []
    for item in items(section(properties, "networkProfile"), "networkInterfaces"):
        section(item, "properties")
        reference = text(item, "id")
        entry = state.store.get(reference)
        if entry is None or entry.id.type != network_interfaces.FULL_TYPE:
            raise refuse("InvalidResourceReference", reference=reference, id=id_)
        deletion.check_use(entry, "Update VM")
        nic = entry.id
        reserved = network_interfaces.reserved_for(state, nic)
        if reserved is not None and reserved.lower() != id_.key:
            raise refuse("NicReservedForAnotherVm", user=reserved)
        nics.append(nic)
    if not nics:
        raise refuse("InvalidRequestContent", reason="a virtual machine needs a network interface")
    taken = vm_lifecycle.attached_elsewhere(state, nics, id_)
    if taken is not None:
        raise refuse("NetworkInterfaceInUse", id=taken[0], user=taken[1])
    return tuple(nics)


def _replace(state: State, request: Request, id_: ResourceId, body: Mapping[str, Any]) -> Response:
    """Change a VM by a PUT, in which a null is as absent. What the body leaves out stays: Kubernetes' cloud provider attaches a disk by
    location and data disks alone (cloud-provider-azure pkg/provider/azure_controller_standard.go).
    """
    _check_place(state.found(id_).document, {name: value for name, value in body.items() if value is not None})
    return _change(state, request, id_, body)


def _check_place(old: Mapping[str, Any], body: Mapping[str, Any]) -> None:
    """Refuse other zones than a VM has, null among them, and another priority."""
    zones, properties = list(old.get("zones") or ()), section(body, "properties")
    priority = old["properties"]["priority"]
    stated = priority if properties.get("priority") is None else text(properties, "priority")
    for name, before, after in (
        ("zones", zones, list(texts(body, "zones")) if "zones" in body else zones),
        ("priority", priority, _PRIORITIES.get(stated.lower(), "Regular")),
    ):
        if before != after:
            raise refuse("PropertyChangeNotAllowed", target=name, property=name)


def _patch(state: State, request: Request) -> Response:
    id_ = vm_id(state, request)
    old, body = state.found(id_).document, body_of(request)
    check_etag(request, old)
    _check_place(old, body)
    return _change(state, request, id_, _with_identities(old, body))


def _with_identities(old: Mapping[str, Any], body: Mapping[str, Any]) -> Mapping[str, Any]:
    """A PATCH with the VM's user-assigned identities beside its own: it adds them, and only null takes one away."""
    users = section(body, "identity").get("userAssignedIdentities")
    if not users:
        return body
    merged = {**section(section(old, "identity"), "userAssignedIdentities"), **users}
    users_left = {name: value for name, value in merged.items() if value is not None}
    return {**body, "identity": {**section(body, "identity"), "userAssignedIdentities": users_left}}


_KEPT = ("vmId", "provisioningState", "timeCreated", "priority", "osProfile", "instanceView", "hardwareProfile")
"""Properties that a change leaves as they are, or that have rules of their own."""


def _change(state: State, request: Request, id_: ResourceId, body: Mapping[str, Any]) -> Response:
    document = dict(state.found(id_).document)
    properties = section(body, "properties")
    if (
        "capacityReservation" in properties
        and vm_lifecycle.group_of(body).lower() != vm_lifecycle.group_of(document).lower()
    ):
        raise refuse("ReservationGroupChange", target="capacityReservation")
    wanted = text(section(properties, "hardwareProfile"), "vmSize")
    size = known_size(state, wanted, document["location"]) if wanted else state.vms[id_.key].allocation.size
    changed = _changed(state, id_, document["properties"], properties, size)
    if "tags" in body:
        document["tags"] = pairs(body, "tags")
    if body.get("identity"):
        document["identity"] = _identity(state, id_, section(body, "identity"))
    if size.name.lower() != document["properties"]["hardwareProfile"]["vmSize"].lower():
        vm_lifecycle.resize(state, id_, size)
        changed["hardwareProfile"] = {"vmSize": size.name}
    before = section(document["properties"], "storageProfile")
    document |= {"properties": {**document["properties"], **changed}, "etag": f'"{state.guids()}"'}
    state.store.put(id_, document)
    vm_disks.settle(state, id_, before)
    operation = state.begin(
        Subject("PATCH", TYPE, id_.name, location=document["location"]),
        id_,
        location=document["location"],
        seconds=state.timing.vm_update,
        finish=no_effect,
    )
    return state.operations.accepted(200, operation, request.api_version, shown(state, state.found(id_).document))


def _changed(
    state: State, id_: ResourceId, before: Mapping[str, Any], changes: Mapping[str, Any], size: Size
) -> dict[str, Any]:
    """The properties of a VM that a change names, each merged with what it was. Refuses disks that cannot be attached."""
    changed: dict[str, Any] = {}
    for name, value in changes.items():
        if name not in _KEPT and value is not None:
            old = before.get(name)
            changed[name] = merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    if "storageProfile" in changed:
        storage, old = section(changes, "storageProfile"), section(before, "storageProfile")
        most = size.number("MaxDataDiskCount")
        changed["storageProfile"] = vm_disks.completed(state, id_, storage, old, most)
    return changed


def _get(state: State, request: Request) -> Response:
    id_ = vm_id(state, request)
    document = state.found(id_).document
    extensions = [entry.document for entry in state.store.children(id_, "extensions")]
    if extensions:
        document = {**document, "resources": extensions}
    return Response(200, body=shown(state, document, request.query.get("$expand", "")))


def _instance_view(state: State, request: Request) -> Response:
    return Response(200, body=vm_lifecycle.instance_view(state, vm_id(state, request)))


def _list(state: State, request: Request) -> Response:
    """The VMs of a group, of the subscription, of a region or of a scale set; `statusOnly` and `$expand` tell how each one is."""
    wanted = wanted_by(request, _OF_MACHINES)
    group = request.params.get("group")
    if group is not None:
        state.group(request.params["subscription"], group)
    place = state.check_place(request, "locations/virtualMachines") if "location" in request.params else None
    entries = state.store.list(FULL_TYPE, subscription=request.params["subscription"], group=group)
    items = [
        entry.document
        for entry in entries
        if (place is None or entry.document["location"] == place)
        and wanted({_SET: text(section(entry.document["properties"], "virtualMachineScaleSet"), "id")})
    ]
    expand = request.query.get("$expand", "")
    if request.query.get("statusOnly", "").lower() == "true":
        expand += ",instanceView"
    items = [shown(state, document, expand) for document in items]
    return page(request, items, size=state.settings.page_size, base_url=state.settings.base_url)


def _delete(state: State, request: Request) -> Response:
    id_ = vm_id(state, request)
    if state.store.get(id_) is None:
        return Response(204)
    operation = vm_lifecycle.delete(state, id_)
    return state.operations.accepted(202, operation, request.api_version)


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield Route("PUT", ONE, _put)
    yield Route("GET", ONE, _get)
    yield Route("PATCH", ONE, _patch)
    yield Route("DELETE", ONE, _delete)
    yield Route("GET", f"{ONE}/instanceView", _instance_view)
    yield Route("GET", _GROUP, _list)
    yield Route("GET", f"/subscriptions/{{subscription}}/providers/{FULL_TYPE}", _list)
    place = f"/subscriptions/{{subscription}}/providers/{NAMESPACE}/locations/{{location}}"
    yield Route("GET", f"{place}/virtualMachines", _list)
