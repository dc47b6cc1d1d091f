"""Requests that make, change and delete one resource of each long-lived kind, in any order, and what has to hold afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from fakeazure.arm.messages import Response
from fakeazure.beginning import SUBSCRIPTION
from fakeazure.cloud import FakeAzure
from fakeazure.resources.compute.disks import owners
from fakeazure.timing import Timing
from tests.cloud.aks_machine import machine_body
from tests.cloud.driver import MACHINES, NETWORK, Driver
from tests.cloud.test_scale_sets import KIND as SETS
from tests.cloud.test_scale_sets import body as set_body

DISKS = "Microsoft.Compute/disks"
Change = Callable[[Driver], Response]


def attached(driver: Driver, *names: str) -> dict[str, Any]:
    """The body of a PATCH by which a VM has these data disks and no other."""
    disks = [
        {"lun": lun, "createOption": "Attach", "managedDisk": {"id": driver.path(DISKS, name)}}
        for lun, name in enumerate(names)
    ]
    return {"properties": {"storageProfile": {"dataDisks": disks}}}


def empty_disk(size: int = 8, **properties: Any) -> dict[str, Any]:
    """The body of an empty disk."""
    created = {"creationData": {"createOption": "Empty"}, "diskSizeGB": size}
    return {"location": "eastus", "properties": {**created, **properties}}


def _set(method: str, leaf: str = "", body: Callable[[Driver], dict[str, Any]] | None = None) -> Change:
    return lambda d: d.call(method, d.path(SETS, "s") + leaf, body(d) if body is not None else None)


def _vm(method: str, leaf: str = "", body: Callable[[Driver], dict[str, Any]] | None = None) -> Change:
    return lambda d: d.call(method, d.vm_path("v") + leaf, body(d) if body is not None else None)


def _aks(method: str, path: Callable[[Driver], str], body: dict[str, Any] | None = None) -> Change:
    return lambda d: d.call(method, path(d), body, MACHINES)


def _subnet(d: Driver) -> str:
    return d.path("Microsoft.Network/virtualNetworks", "w") + "/subnets/s"


def _group(d: Driver) -> str:
    return f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{d.cloud.state.settings.node_resource_group}"


def _ids(_: Driver) -> dict[str, Any]:
    return {"instanceIds": ["0"]}


CHANGES: Mapping[str, Change] = {
    "set put": _set("PUT", body=lambda d: set_body(d, 2)),
    "set put flexible": _set("PUT", body=lambda d: set_body(d, 2, orchestrationMode="Flexible")),
    "set scale": _set("PATCH", body=lambda d: {"sku": {"name": "Standard_D2s_v5", "capacity": 4}}),
    "set empty": _set("PATCH", body=lambda d: {"sku": {"name": "Standard_D2s_v5", "capacity": 0}}),
    "set delete": _set("DELETE"),
    "set delete some": _set("POST", "/delete", _ids),
    "set delete one": _set("DELETE", "/virtualMachines/0"),
    "set stop": _set("POST", "/deallocate", _ids),
    "set start": _set("POST", "/start", lambda d: {}),
    "set attach": _set("PUT", "/virtualMachines/1", lambda d: attached(d, "d")),
    "set reimage": _set("POST", "/virtualMachines/1/reimage", lambda d: {}),
    "vm put": lambda d: d.call("PUT", d.vm_path("v"), d.vm_body("v", priority="Spot")),
    "vm patch": _vm("PATCH", body=lambda d: {"tags": {"a": "b"}}),
    "vm resize": _vm("PATCH", body=lambda d: {"properties": {"hardwareProfile": {"vmSize": "Standard_D4s_v5"}}}),
    "vm delete": _vm("DELETE"),
    "vm stop": _vm("POST", "/deallocate"),
    "vm restart": _vm("POST", "/restart"),
    "vm command": _vm("POST", "/runCommand", lambda d: {"commandId": "RunShellScript"}),
    "vm evict": _vm("POST", "/simulateEviction"),
    "vm extension": _vm("PUT", "/extensions/e", lambda d: {"location": "eastus", "properties": {"publisher": "p"}}),
    "vm extension delete": _vm("DELETE", "/extensions/e"),
    "vm attach": _vm("PATCH", body=lambda d: attached(d, "d")),
    "nic put": lambda d: d.call("PUT", d.nic_path("v"), d.nic_body("v"), NETWORK),
    "nic delete": lambda d: d.call("DELETE", d.nic_path("v"), None, NETWORK),
    "disk put": lambda d: d.call("PUT", d.path(DISKS, "d"), empty_disk()),
    "disk patch": lambda d: d.call("PATCH", d.path(DISKS, "d"), {"tags": {"a": "b"}}),
    "disk delete": lambda d: d.call("DELETE", d.path(DISKS, "d")),
    "subnet put": lambda d: d.call("PUT", _subnet(d), {"properties": {"addressPrefix": "10.9.0.0/24"}}, NETWORK),
    "subnet delete": lambda d: d.call("DELETE", _subnet(d), None, NETWORK),
    "machine put": _aks("PUT", lambda d: f"{d.pool_path()}/machines/m", machine_body()),
    "machine delete": _aks("POST", lambda d: f"{d.pool_path()}/deleteMachines", {"machineNames": ["m"]}),
    "pool put": _aks("PUT", lambda d: d.pool_path("p"), {"properties": {"count": 2, "vmSize": "Standard_D2s_v5"}}),
    "pool delete": _aks("DELETE", lambda d: d.pool_path("p")),
    "machines pool delete": _aks("DELETE", lambda d: d.pool_path()),
    "cluster stop": _aks("POST", lambda d: f"{d.cluster_path()}/stop"),
    "cluster patch": _aks("PATCH", lambda d: d.cluster_path(), {"tags": {"a": "b"}}),
    "cluster delete": _aks("DELETE", lambda d: d.cluster_path()),
    "group put": lambda d: d.call("PUT", _group(d), {"location": "eastus"}),
    "group delete": lambda d: d.call("DELETE", _group(d)),
}
"""Name → the request."""


def prepared(**options: Any) -> Driver:
    """A cloud with a set, a VM, a disk, a network, a pool of VMs and a machine."""
    driver = Driver(**{"timing": Timing(resource=30), **options})
    network = {"location": "eastus", "properties": {"addressSpace": {"addressPrefixes": ["10.9.0.0/16"]}}}
    driver.call("PUT", driver.path("Microsoft.Network/virtualNetworks", "w"), network, NETWORK)
    for name in ("set put", "nic put", "vm put", "disk put", "subnet put", "pool put", "machine put"):
        CHANGES[name](driver)
    while (due := driver.cloud.next_due()) is not None and "clock" in options:
        driver.cloud.run_until(due)
    if "clock" not in options:
        driver.cloud.advance(3600)
    return driver


def wrong(cloud: FakeAzure) -> list[str]:
    """What does not fit together in a world in which nothing is going on any more, one line each."""
    state, lines = cloud.state, []
    lines += [f"{operation.kind} never ends" for operation in state.operations.running()]
    machines = {entry.id.key for entry in state.store.list("Microsoft.Compute/virtualMachines")}
    if machines != set(state.vms):
        lines.append(f"VMs {sorted(machines)}, kept {sorted(state.vms)}")
    instances = {entry.id.key for entry in state.store.list(f"{SETS}/virtualMachines")}
    if instances != set(state.instances):
        lines.append(f"instances {sorted(instances)}, kept {sorted(state.instances)}")
    counted = Counter(facts.allocation.charge.location for facts in state.vms.values())
    counted.update(allocation.charge.location for allocation in state.instances.values())
    for place in cloud.market.catalogue.regions:
        used = cloud.market.quota.used(state.settings.subscription, place, "virtualMachines")
        if used != counted[place]:
            lines.append(f"{used} machines count in {place}, {counted[place]} are there")
    for entry in state.store.all():
        if entry.document["properties"].get("provisioningState") in ("Deleting", "Creating", "Updating"):
            lines.append(f"{entry.id.type} {entry.id.name} stays {entry.document['properties']['provisioningState']}")
    return [*lines, *wrong_disks(cloud)]


def wrong_disks(cloud: FakeAzure) -> list[str]:
    """Disks whose owner does not name them, VMs and instances that name a disk that is not theirs, one line each."""
    store, lines, named = cloud.state.store, [], dict[str, set[str]]()
    for vm in (*store.list("Microsoft.Compute/virtualMachines"), *store.list(f"{SETS}/virtualMachines")):
        profile = vm.document["properties"].get("storageProfile") or {}
        for disk in (profile.get("osDisk") or {}, *(profile.get("dataDisks") or ())):
            id_ = (disk.get("managedDisk") or {}).get("id")
            if not id_:
                continue
            named.setdefault(id_.lower(), set()).add(vm.id.key)
            if store.get(id_) is None:
                lines.append(f"VM {vm.id.name} names a disk that is gone: {id_}")
    for disk in store.list(DISKS):
        users, state = {user.lower() for user in owners(disk.document)}, disk.document["properties"]["diskState"]
        if users != named.get(disk.id.key, set()):
            lines.append(f"disk {disk.id.name} belongs to {sorted(users)}, named by {named.get(disk.id.key)}")
        if state != ("Attached" if users else "Unattached"):
            lines.append(f"disk {disk.id.name} is {state}, belongs to {sorted(users)}")
    return lines
