"""azure-mgmt-compute's VMs and extensions."""

from __future__ import annotations

from typing import Any

from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError, ResourceModifiedError

from tests.clients.operation import Suite
from tests.clients.python_network import nic_body

SUITE = Suite("Python SDKs")
_operation = SUITE.operation


def refused(call: Any, code: str, part: str = "") -> None:
    """Assert an ARM error."""
    try:
        call()
    except HttpResponseError as error:
        assert error.error.code == code, f"{error.error.code}: {error.error.message}"
        assert part in error.error.message, error.error.message
        return
    raise AssertionError(f"no {code}")


def vm_body(c: Any, nic: str, *, size: str = "Standard_D2s_v5", zone: str = "1", **more: Any) -> dict[str, Any]:
    reference = {"publisher": "Canonical", "offer": "ubuntu-24_04-lts", "sku": "server", "version": "latest"}
    nic_id = c.place.id(c.place.nodes, "Microsoft.Network/networkInterfaces", nic)
    disk = {"name": f"{nic}-os", "createOption": "FromImage", "deleteOption": "Delete", "diskSizeGB": 64}
    properties = {
        "hardwareProfile": {"vmSize": size},
        "storageProfile": {"imageReference": reference, "osDisk": disk},
        "networkProfile": {"networkInterfaces": [{"id": nic_id, "properties": {"deleteOption": "Delete"}}]},
        "osProfile": {"computerName": nic, "adminUsername": "azureuser"},
        "diagnosticsProfile": {"bootDiagnostics": {"enabled": True}},
        **more,
    }
    return {"location": c.place.location, "zones": [zone], "properties": properties}


def usage(c: Any, name: str) -> int:
    return next(item.current_value for item in c.compute.usage.list(c.place.location) if item.name.value == name)


@_operation("compute vm create (LRO polled)")
def _(c: Any) -> None:
    c.kept["before"] = {name: usage(c, name) for name in ("cores", "standardDSv5Family", "virtualMachines")}
    vm = c.compute.virtual_machines.begin_create_or_update(c.place.nodes, "v1", vm_body(c, "n1")).result()
    assert (vm.provisioning_state, vm.hardware_profile.vm_size, vm.zones) == ("Succeeded", "Standard_D2s_v5", ["1"])
    assert vm.storage_profile.image_reference.exact_version == "24.04.202511150"


@_operation("usages +2 cores +2 family +1 VM")
def _(c: Any) -> None:
    grown = {name: usage(c, name) - count for name, count in c.kept["before"].items()}
    assert grown == {"cores": 2, "standardDSv5Family": 2, "virtualMachines": 1}


@_operation("compute vm get expand=instanceView")
def _(c: Any) -> None:
    vm = c.compute.virtual_machines.get(c.place.nodes, "v1", expand="instanceView")
    assert [status.code for status in vm.instance_view.statuses] == [
        "ProvisioningState/succeeded",
        "PowerState/running",
    ]


@_operation("compute vm instance_view")
def _(c: Any) -> None:
    assert c.compute.virtual_machines.instance_view(c.place.nodes, "v1").computer_name


@_operation("compute vm list")
def _(c: Any) -> None:
    assert [vm.name for vm in c.compute.virtual_machines.list(c.place.nodes)] == ["v1"]


@_operation("compute vm list_all")
def _(c: Any) -> None:
    [vm] = c.compute.virtual_machines.list_all()
    assert vm.instance_view is None


@_operation("compute vm list_all status_only")
def _(c: Any) -> None:
    [vm] = c.compute.virtual_machines.list_all(status_only="true")
    assert vm.instance_view.statuses[1].code == "PowerState/running"


@_operation("compute vm list_by_location")
def _(c: Any) -> None:
    assert [vm.name for vm in c.compute.virtual_machines.list_by_location(c.place.location)] == ["v1"]
    assert list(c.compute.virtual_machines.list_by_location("westus")) == []


@_operation("compute vm list_available_sizes")
def _(c: Any) -> None:
    sizes = {size.name for size in c.compute.virtual_machines.list_available_sizes(c.place.nodes, "v1")}
    assert "Standard_D4s_v5" in sizes


@_operation("compute vm update tags (PATCH)")
def _(c: Any) -> None:
    vm = c.compute.virtual_machines.begin_update(c.place.nodes, "v1", {"tags": {"a": "b"}}).result()
    assert vm.tags == {"a": "b"}


@_operation("compute vm resize (PATCH hardwareProfile)")
def _(c: Any) -> None:
    body = {"properties": {"hardwareProfile": {"vmSize": "Standard_D4s_v5"}}}
    vm = c.compute.virtual_machines.begin_update(c.place.nodes, "v1", body).result()
    assert vm.hardware_profile.vm_size == "Standard_D4s_v5"
    assert usage(c, "cores") == c.kept["before"]["cores"] + 4
    refused(
        lambda: c.compute.virtual_machines.begin_update(
            c.place.nodes, "v1", {"properties": {"hardwareProfile": {"vmSize": "Standard_Nope"}}}
        ).result(),
        "InvalidParameter",
        "is not valid",
    )


@_operation("compute disk of the VM exists")
def _(c: Any) -> None:
    disk = c.compute.disks.get(c.place.nodes, "n1-os")
    assert (disk.disk_size_gb, disk.disk_state) == (64, "Attached")
    assert disk.managed_by.endswith("/virtualMachines/v1")


@_operation("compute ext create")
def _(c: Any) -> None:
    body = {
        "location": c.place.location,
        "properties": {"publisher": "p", "type": "CustomScript", "typeHandlerVersion": "2.0", "settings": {"a": 1}},
    }
    made = c.compute.virtual_machine_extensions.begin_create_or_update(c.place.nodes, "v1", "e", body).result()
    assert made.provisioning_state == "Succeeded"


@_operation("compute ext list")
def _(c: Any) -> None:
    [found] = c.compute.virtual_machine_extensions.list(c.place.nodes, "v1").value
    assert found.name == "e"


def _power(c: Any) -> str:
    return str(c.compute.virtual_machines.instance_view(c.place.nodes, "v1").statuses[1].code)


@_operation("compute vm deallocate")
def _(c: Any) -> None:
    c.compute.virtual_machines.begin_deallocate(c.place.nodes, "v1").result()
    assert _power(c) == "PowerState/deallocated"


@_operation("usages after deallocate (cores freed? real Azure keeps cores)")
def _(c: Any) -> None:
    assert usage(c, "virtualMachines") == c.kept["before"]["virtualMachines"] + 1
    assert usage(c, "cores") == c.kept["before"]["cores"] + 4


@_operation("compute vm start")
def _(c: Any) -> None:
    c.compute.virtual_machines.begin_start(c.place.nodes, "v1").result()
    assert _power(c) == "PowerState/running"


for action in ("restart", "redeploy", "reimage"):

    def _act(c: Any, action: str = action) -> None:
        getattr(c.compute.virtual_machines, f"begin_{action}")(c.place.nodes, "v1").result()
        assert _power(c) == "PowerState/running"

    _operation(f"compute vm {action}")(_act)


@_operation("compute vm run_command")
def _(c: Any) -> None:
    command = {"commandId": "RunShellScript", "script": ["true"]}
    found = c.compute.virtual_machines.begin_run_command(c.place.nodes, "v1", command).result()
    assert found.value[0].code == "ProvisioningState/succeeded"
    assert "[stdout]" in found.value[0].message


@_operation("compute vm boot diagnostics")
def _(c: Any) -> None:
    found = c.compute.virtual_machines.retrieve_boot_diagnostics_data(c.place.nodes, "v1")
    assert found.serial_console_log_blob_uri.startswith(c.place.url)


@_operation("compute vm etag If-None-Match * on existing")
def _(c: Any) -> None:
    try:
        c.compute.virtual_machines.begin_create_or_update(
            c.place.nodes, "v1", vm_body(c, "n1"), etag="x", match_condition=MatchConditions.IfMissing
        ).result()
    except HttpResponseError as error:
        assert error.status_code == 412
    else:
        raise AssertionError("it was replaced")


@_operation("compute vm wrong If-Match")
def _(c: Any) -> None:
    try:
        c.compute.virtual_machines.begin_update(
            c.place.nodes, "v1", {"tags": {}}, etag='"x"', match_condition=MatchConditions.IfNotModified
        ).result()
    except (ResourceModifiedError, HttpResponseError) as error:
        assert error.status_code == 412
    else:
        raise AssertionError("it was changed")


@_operation("compute vm create w/o NIC")
def _(c: Any) -> None:
    body = vm_body(c, "n1", networkProfile={})
    refused(
        lambda: c.compute.virtual_machines.begin_create_or_update(c.place.nodes, "v2", body).result(),
        "InvalidRequestContent",
    )


@_operation("compute vm bad size")
def _(c: Any) -> None:
    body = vm_body(c, "n1", size="Standard_Nope")
    refused(
        lambda: c.compute.virtual_machines.begin_create_or_update(c.place.nodes, "v2", body).result(),
        "InvalidParameter",
        "The value Standard_Nope provided for the VM size is not valid.",
    )


@_operation("compute vm NIC in use")
def _(c: Any) -> None:
    body = vm_body(c, "n1")
    refused(
        lambda: c.compute.virtual_machines.begin_create_or_update(c.place.nodes, "v2", body).result(),
        "InvalidParameter",
    )


@_operation("network NIC delete in use")
def _(c: Any) -> None:
    refused(
        lambda: c.network.network_interfaces.begin_delete(c.place.nodes, "n1").result(),
        "NicInUse",
        "/virtualMachines/v1",
    )


@_operation("compute vm spot")
def _(c: Any) -> None:
    c.network.network_interfaces.begin_create_or_update(c.place.nodes, "n2", nic_body(c)).result()
    body = vm_body(c, "n2", priority="Spot", evictionPolicy="Delete", billingProfile={"maxPrice": -1})
    vm = c.compute.virtual_machines.begin_create_or_update(c.place.nodes, "v2", body).result()
    assert (vm.priority, usage(c, "lowPriorityCores")) == ("Spot", 2)


@_operation("compute vm simulate_eviction")
def _(c: Any) -> None:
    c.compute.virtual_machines.simulate_eviction(c.place.nodes, "v2")
    refused(lambda: c.compute.virtual_machines.simulate_eviction(c.place.nodes, "v1"), "InvalidRequestContent")
