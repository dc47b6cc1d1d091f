"""azure-mgmt-resourcegraph, which sees the VMs of python_vms; their end with what goes with them, and disks."""

from __future__ import annotations

from typing import Any

from azure.core.exceptions import HttpResponseError, ResourceNotFoundError

from tests.clients.operation import Suite
from tests.clients.python_vms import refused, usage

SUITE = Suite("Python SDKs")
_operation = SUITE.operation


def ask(c: Any, query: str) -> list[Any]:
    found = c.graph.resources(
        {"query": query, "subscriptions": [c.place.subscription], "options": {"resultFormat": "objectArray"}}
    )
    assert found.count == len(found.data)
    return list(found.data)


VMS = "Resources | where type =~ 'Microsoft.Compute/virtualMachines'"


@_operation("resourcegraph query")
def _(c: Any) -> None:
    rows = ask(c, f"{VMS} | where name == 'v1'")
    assert rows[0]["properties"]["hardwareProfile"]["vmSize"] == "Standard_D4s_v5"


@_operation("resourcegraph project/summarize")
def _(c: Any) -> None:
    rows = ask(c, f"{VMS} | extend size = tostring(properties.hardwareProfile.vmSize) | summarize count() by size")
    assert {row["size"]: row["count_"] for row in rows} == {"Standard_D4s_v5": 1, "Standard_D2s_v5": 1}


@_operation("resourcegraph project")
def _(c: Any) -> None:
    assert ask(c, f"{VMS} | project name, location | order by name asc")[0] == {
        "name": "v1",
        "location": c.place.location,
    }


@_operation("resourcegraph bad query")
def _(c: Any) -> None:
    try:
        ask(c, "Resources | frobnicate")
    except HttpResponseError as error:
        assert error.error.code == "BadRequest"
    else:
        raise AssertionError("it was understood")


@_operation("compute vm delete force")
def _(c: Any) -> None:
    c.compute.virtual_machines.begin_delete(c.place.nodes, "v1", force_deletion=True).result()
    c.compute.virtual_machines.begin_delete(c.place.nodes, "v2", force_deletion=True).result()
    assert usage(c, "cores") == c.kept["before"]["cores"]


@_operation("compute vm get after delete")
def _(c: Any) -> None:
    refused(lambda: c.compute.virtual_machines.get(c.place.nodes, "v1"), "ResourceNotFound")


@_operation("NIC cascaded")
def _(c: Any) -> None:
    try:
        c.network.network_interfaces.get(c.place.nodes, "n1")
    except ResourceNotFoundError:
        return
    raise AssertionError("it is still there")


@_operation("disk cascaded")
def _(c: Any) -> None:
    refused(lambda: c.compute.disks.get(c.place.nodes, "n1-os"), "ResourceNotFound")


@_operation("compute disks create")
def _(c: Any) -> None:
    body = {
        "location": c.place.location,
        "sku": {"name": "Premium_LRS"},
        "properties": {"creationData": {"createOption": "Empty"}, "diskSizeGB": 100},
    }
    disk = c.compute.disks.begin_create_or_update(c.place.group, "d", body).result()
    assert (disk.disk_state, disk.tier, disk.disk_iops_read_write) == ("Unattached", "P10", 500)
    assert disk.time_created


@_operation("compute disks update")
def _(c: Any) -> None:
    disk = c.compute.disks.begin_update(c.place.group, "d", {"properties": {"diskSizeGB": 200}}).result()
    assert (disk.disk_size_gb, disk.sku.name) == (200, "Premium_LRS")
    refused(
        lambda: c.compute.disks.begin_update(c.place.group, "d", {"properties": {"diskSizeGB": 10}}).result(),
        "OperationNotAllowed",
    )


@_operation("compute disks delete")
def _(c: Any) -> None:
    c.compute.disks.begin_delete(c.place.group, "d").result()
    assert "d" not in {disk.name for disk in c.compute.disks.list()}
