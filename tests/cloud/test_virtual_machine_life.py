"""A VM from PUT to gone: states, operations, events, what goes with it."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from fakeazure.arm.messages import Response
from fakeazure.events import CreationFailed, Deleted, ExtensionInstalled, PoweredOff, PoweredOn, Preempting
from fakeazure.timing import INSTANT, Timing
from tests.cloud.driver import COMPUTE, Driver, error_of


def test_operations_are_polled_where_compute_says() -> None:
    """`…/operations/GUID?p=GUID&api-version=…`, as in the recordings of azure-mgmt-compute 23.1.0."""
    driver = Driver()
    made, other = driver.put_vm("aks-a"), driver.put_vm("aks-b")
    place = r"https://[^/]+/subscriptions/[^/]+/providers/Microsoft.Compute/locations/eastus/operations/[0-9a-f-]{36}"
    found = [
        re.fullmatch(rf"{place}\?p=([0-9a-f-]{{36}})&api-version={COMPUTE}", one.headers["Azure-AsyncOperation"])
        for one in (made, other)
    ]
    parts = {match and match.group(1) for match in found}
    assert len(parts) == 1
    assert made.headers["Azure-AsyncNotification"] == "Enabled"
    driver.cloud.advance(10)
    gone = driver.call("DELETE", driver.vm_path("aks-a"))
    assert gone.status == 202
    assert re.fullmatch(rf"{place}\?p={parts.pop()}&monitor=true&api-version={COMPUTE}", gone.headers["Location"])


def test_accepted_as_creating_then_succeeds_and_powers_on() -> None:
    driver = Driver()
    answer = driver.put_vm("aks-a")
    assert answer.status == 201
    assert answer.body is not None
    assert answer.body["properties"]["provisioningState"] == "Creating"
    assert driver.poll(answer).body == {
        "name": answer.headers["Azure-AsyncOperation"].split("/")[-1].split("?")[0],
        "status": "InProgress",
        "startTime": "2026-01-01T00:00:00.0000000+00:00",
    }
    assert driver.events == []
    assert driver.cloud.next_due() == driver.cloud.now() + driver.cloud.state.timing.vm_create
    driver.cloud.advance(driver.cloud.state.timing.vm_create)
    done = driver.poll(answer).body
    assert done is not None
    assert (done["status"], done["endTime"]) == ("Succeeded", "2026-01-01T00:00:10.0000000+00:00")
    shown = driver.get_vm("aks-a").body
    assert shown is not None
    assert shown["properties"]["provisioningState"] == "Succeeded"
    [event] = driver.events
    assert isinstance(event, PoweredOn)
    assert (event.vm.name, event.vm.size, event.vm.zone, event.vm.priority) == (
        "aks-a",
        "Standard_D2s_v5",
        "1",
        "Regular",
    )
    assert event.vm.custom_data == "IyEvYmluL2Jhc2g="
    assert event.vm.provider_id == f"azure://{driver.vm_path('aks-a').replace('MC_rg_c_eastus', 'mc_rg_c_eastus')}"


def test_instant_world_is_over_with_the_answer() -> None:
    driver = Driver(timing=INSTANT)
    answer = driver.put_vm("aks-a")
    assert answer.status == 201
    assert "Azure-AsyncOperation" not in answer.headers
    assert answer.body is not None
    assert answer.body["properties"]["provisioningState"] == "Succeeded"
    assert [type(event) for event in driver.events] == [PoweredOn]
    assert driver.delete_vm("aks-a").status == 202
    assert driver.get_vm("aks-a").status == 404
    assert driver.cloud.next_due() is None


def test_document_echoes_the_body_but_hides_custom_data() -> None:
    driver = Driver()
    driver.put_vm("aks-a", zone="")
    body = driver.get_vm("aks-a").body
    assert body is not None
    assert "zones" not in body  # regional
    assert "customData" not in body["properties"]["osProfile"]
    profile = body["properties"]["osProfile"]
    assert (profile["allowExtensionOperations"], profile["requireGuestProvisionSignal"]) == (True, True)
    sent = driver.vm_body("aks-a")["properties"]["storageProfile"]["imageReference"]
    assert body["properties"]["storageProfile"]["imageReference"] == sent  # image drift compares it byte for byte
    assert body["properties"]["timeCreated"] == "2026-01-01T00:00:00.0000000+00:00"


def test_sizes_compare_without_case() -> None:
    driver = Driver(timing=INSTANT)
    assert driver.put_vm("aks-a", size="standard_d4S_V5").status == 201
    assert driver.usage("standardDSv5Family")[0] == 4
    assert error_of(driver.put_vm("aks-b", size="Standard_D4s_v50"))[1] == "InvalidParameter"


def test_the_disk_of_a_vm_is_a_resource_unless_it_is_ephemeral() -> None:
    driver = Driver(timing=INSTANT)
    for name, size, settings in (
        ("aks-a", "Standard_D2s_v5", None),
        ("aks-b", "Standard_D2ds_v5", {"option": "Local"}),
    ):
        body = driver.vm_body(name, size=size)
        disk = body["properties"]["storageProfile"]["osDisk"]
        disk |= {"diskSizeGB": 30} | ({"diffDiskSettings": settings, "caching": "ReadOnly"} if settings else {})
        driver.put_nic(name)
        answer = driver.call("PUT", driver.vm_path(name), body)
        assert answer.body is not None
        managed = answer.body["properties"]["storageProfile"]["osDisk"]["managedDisk"]
        path = driver.path("Microsoft.Compute/disks", name)
        assert managed.get("id") == (None if settings else path)
        assert driver.call("GET", path).status == (404 if settings else 200)


def test_delete_takes_nic_disk_and_quota_with_it() -> None:
    driver = Driver()
    driver.put_vm("aks-a", size="Standard_D4s_v5")
    driver.cloud.advance(10)
    disk = driver.path("Microsoft.Compute/disks", "aks-a")
    assert driver.call("GET", disk).status == 200
    assert driver.usage("standardDSv5Family")[0] == 4
    answer = driver.delete_vm("aks-a")
    assert answer.status == 202
    assert {"Azure-AsyncOperation", "Location"} <= set(answer.headers)
    assert driver.poll(answer, "Location").status == 202
    body = driver.get_vm("aks-a").body
    assert body is not None
    assert body["properties"]["provisioningState"] == "Deleting"
    assert driver.usage("standardDSv5Family")[0] == 4  # released when the delete finishes
    driver.cloud.advance(10)
    assert driver.poll(answer, "Location").status == 204
    assert driver.get_vm("aks-a").status == 404
    assert driver.call("GET", driver.nic_path("aks-a")).status == 404
    assert driver.call("GET", disk).status == 404
    assert driver.usage("standardDSv5Family")[0] == 0
    assert [type(event) for event in driver.events] == [PoweredOn, Deleted]
    assert driver.delete_vm("aks-a").status == 204


def test_delete_preempts_a_running_creation() -> None:
    driver = Driver()
    created = driver.put_vm("aks-a")
    driver.cloud.advance(5)
    driver.delete_vm("aks-a")
    driver.cloud.advance(60)
    body = driver.poll(created).body
    assert body is not None
    assert body["status"] == "Canceled"
    assert [type(event) for event in driver.events] == [Deleted]
    assert driver.cloud.next_due() is None


def test_second_delete_joins_the_first() -> None:
    driver = Driver()
    driver.put_vm("aks-a")
    driver.cloud.advance(10)
    first, second = driver.delete_vm("aks-a"), driver.delete_vm("aks-a")
    assert first.headers["Azure-AsyncOperation"] == second.headers["Azure-AsyncOperation"]
    driver.cloud.advance(10)
    assert [type(event) for event in driver.events] == [PoweredOn, Deleted]


def test_failure_at_the_end_leaves_a_failed_vm_that_keeps_its_quota() -> None:
    driver = Driver({"faults": [{"what": "AllocationFailed", "at": "end"}]})
    answer = driver.put_vm("aks-a")
    assert answer.status == 201
    driver.cloud.advance(10)
    body = driver.poll(answer).body
    assert body is not None
    assert (body["status"], body["error"]["code"]) == ("Failed", "AllocationFailed")
    shown = driver.get_vm("aks-a", **{"$expand": "instanceView"}).body
    assert shown is not None
    assert shown["properties"]["provisioningState"] == "Failed"
    [status] = shown["properties"]["instanceView"]["statuses"]
    assert status["code"] == "ProvisioningState/failed/AllocationFailed"
    assert driver.usage("cores")[0] == 2
    [event] = driver.events
    assert isinstance(event, CreationFailed)
    assert event.code == "AllocationFailed"
    nic = driver.call("DELETE", driver.nic_path("aks-a"))
    assert error_of(nic)[:2] == (400, "NicInUse")
    driver.delete_vm("aks-a")
    driver.cloud.advance(10)
    assert driver.usage("cores")[0] == 0


def test_stuck_operation_never_ends_but_can_be_deleted() -> None:
    driver = Driver({"faults": [{"what": "Stuck"}]})
    answer = driver.put_vm("aks-a")
    driver.cloud.advance(7200)
    body = driver.poll(answer).body
    assert body is not None
    assert body["status"] == "InProgress"
    driver.delete_vm("aks-a")
    driver.cloud.advance(10)
    assert driver.get_vm("aks-a").status == 404
    assert driver.usage("cores")[0] == 0


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"zone": "2"}, "zones"),
        ({"zone": ""}, "zones"),
        ({"priority": "Spot"}, "priority"),
    ],
)
def test_put_on_an_existing_vm_may_not_move_it(change: dict[str, str], name: str) -> None:
    driver = Driver()
    driver.put_vm("aks-a")
    answer = driver.call("PUT", driver.vm_path("aks-a"), driver.vm_body("aks-a", **change))
    assert error_of(answer) == (409, "PropertyChangeNotAllowed", f"Changing property '{name}' is not allowed.")


@pytest.mark.parametrize(
    ("method", "change", "name"),
    [
        ("PATCH", {"zones": None}, "zones"),  # a null takes away (RFC 7386)
        ("PATCH", {"zones": []}, "zones"),
        ("PUT", {"zones": None}, None),  # as Kubernetes' cloud provider leaves them out
        ("PUT", {"properties": {"priority": ""}}, "priority"),  # which makes a Regular VM
        ("PUT", {"properties": {"priority": "Regular"}}, "priority"),
        ("PUT", {"properties": {"priority": "Low"}}, None),  # which makes a Spot VM
        ("PUT", {"properties": {"priority": None}}, None),
    ],
)
def test_what_a_zonal_spot_vm_is_changed_by(method: str, change: dict[str, Any], name: str | None) -> None:
    driver = Driver()
    driver.put_vm("aks-a", zone="2", priority="Spot")
    driver.cloud.advance(10)
    answer = driver.call(method, driver.vm_path("aks-a"), {"location": "eastus", **change})
    if name is None:
        assert answer.status == 200
    else:
        assert error_of(answer) == (409, "PropertyChangeNotAllowed", f"Changing property '{name}' is not allowed.")


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_a_disk_is_attached_by_a_body_that_names_nothing_else(method: str) -> None:
    """So does Kubernetes' cloud provider, by PUT, to Spot VMs in a zone as well."""
    driver = Driver()
    driver.put_vm("aks-a", zone="2", priority="Spot")
    driver.cloud.advance(10)
    disk = driver.path("Microsoft.Compute/disks", "data")
    creation = {"creationData": {"createOption": "Empty"}, "diskSizeGB": 8}
    assert driver.call("PUT", disk, {"location": "eastus", "zones": ["2"], "properties": creation}).status == 202
    driver.cloud.advance(10)
    before = driver.get_vm("aks-a").body
    attached = {"lun": 3, "name": "data", "createOption": "Attach", "managedDisk": {"id": disk}}
    body = {"location": "eastus", "properties": {"storageProfile": {"dataDisks": [attached]}}}
    assert driver.call(method, driver.vm_path("aks-a"), body).status == 200
    driver.cloud.advance(10)
    after = driver.get_vm("aks-a").body
    assert before is not None
    assert after is not None
    assert [item["lun"] for item in after["properties"]["storageProfile"].pop("dataDisks")] == [3]
    before["properties"]["storageProfile"].pop("dataDisks")
    assert {**before, "etag": None} == {**after, "etag": None}


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_resize_moves_quota_and_starts_the_vm_again(method: str) -> None:
    driver = Driver(azure={"quota": {"cores": 4}})
    driver.put_vm("aks-a", zone="1")
    driver.cloud.advance(10)
    driver.events.clear()

    def to(size: str) -> Response:
        if method == "PATCH":
            return driver.resize_vm("aks-a", size)
        return driver.call(method, driver.vm_path("aks-a"), driver.vm_body("aks-a", size=size))

    assert to("Standard_D4s_v5").status == 200
    assert driver.cloud.vm("aks-a").size == "Standard_D4s_v5"
    assert (driver.usage("cores")[0], driver.usage("virtualMachines")[0]) == (4, 1)
    assert [type(event).__name__ for event in driver.events] == ["PoweredOff", "PoweredOn"]
    assert to("Standard_E2s_v5").body is not None
    assert (driver.usage("cores")[0], driver.usage("standardESv5Family")[0], driver.usage("standardDSv5Family")[0]) == (
        2,
        2,
        0,
    )
    assert error_of(to("Standard_Nope"))[:2] == (400, "InvalidParameter")


def test_refused_resize_changes_nothing() -> None:
    driver = Driver(azure={"quota": {"cores": 2}})
    driver.put_vm("aks-a")
    answer = driver.resize_vm("aks-a", "Standard_D4s_v5")
    assert error_of(answer)[:2] == (409, "OperationNotAllowed")
    assert "Current Usage: 2, Additional Required: 2" in error_of(answer)[2]
    assert (driver.cloud.vm("aks-a").size, driver.usage("cores")[0]) == ("Standard_D2s_v5", 2)


def test_same_put_again_and_patch_of_tags_are_200() -> None:
    driver = Driver()
    driver.put_vm("aks-a")
    again = driver.call("PUT", driver.vm_path("aks-a"), driver.vm_body("aks-a"))
    assert again.status == 200
    patched = driver.call("PATCH", driver.vm_path("aks-a"), {"tags": {"k": "v"}})
    assert patched.status == 200
    assert patched.body is not None
    assert patched.body["tags"] == {"k": "v"}
    assert driver.usage("virtualMachines")[0] == 1


def test_power_cycle() -> None:
    driver = Driver()
    driver.put_vm("aks-a")
    driver.cloud.advance(10)
    driver.call("POST", f"{driver.vm_path('aks-a')}/powerOff")
    driver.cloud.advance(5)
    view = driver.call("GET", f"{driver.vm_path('aks-a')}/instanceView").body
    assert view is not None
    assert [status["code"] for status in view["statuses"]] == ["ProvisioningState/succeeded", "PowerState/stopped"]
    driver.call("POST", f"{driver.vm_path('aks-a')}/start")
    driver.cloud.advance(5)
    assert [type(event) for event in driver.events] == [PoweredOn, PoweredOff, PoweredOn]
    last = driver.events[-1]
    assert isinstance(last, PoweredOn)
    assert last.restarted


def test_spot_eviction_gives_notice_then_takes_the_vm() -> None:
    driver = Driver()
    driver.put_vm("aks-a", priority="Spot")
    driver.cloud.advance(10)
    assert driver.call("POST", f"{driver.vm_path('aks-a')}/simulateEviction").status == 204
    notice = driver.events[-1]
    assert isinstance(notice, Preempting)
    assert notice.not_before - notice.at == Timing().eviction_notice
    driver.cloud.advance(30)
    gone = driver.events[-1]
    assert isinstance(gone, Deleted)
    assert gone.evicted
    assert driver.usage("lowPriorityCores")[0] == 0


def test_on_demand_vm_cannot_be_evicted() -> None:
    driver = Driver()
    driver.put_vm("aks-a")
    with pytest.raises(ValueError, match="only a spot VM"):
        driver.cloud.evict("aks-a")
    with pytest.raises(LookupError, match="no VM aks-b"):
        driver.cloud.evict("aks-b")


def test_extension_runs_with_its_secret_and_never_shows_it() -> None:
    driver = Driver()
    path = f"{driver.vm_path('aks-a')}/extensions/cse-agent-karpenter"
    body = {"properties": {"type": "CustomScript", "protectedSettings": {"commandToExecute": "run"}}}
    assert error_of(driver.call("PUT", path, body))[:2] == (404, "ParentResourceNotFound")
    driver.put_vm("aks-a")
    driver.cloud.advance(10)
    answer = driver.call("PUT", path, body)
    assert answer.status == 201
    assert answer.body is not None
    assert answer.body["id"] == path
    assert "protectedSettings" not in answer.body["properties"]
    driver.cloud.advance(3)
    event = driver.events[-1]
    assert isinstance(event, ExtensionInstalled)
    assert event.protected_settings == {"commandToExecute": "run"}
    shown = driver.get_vm("aks-a").body
    assert shown is not None
    assert [item["name"] for item in shown["resources"]] == ["cse-agent-karpenter"]
    assert driver.call("PATCH", path, {"tags": {"a": "b"}}).status == 200
    driver.delete_vm("aks-a")
    driver.cloud.advance(10)
    assert driver.call("GET", path).status == 404


def test_vanished_vm_is_gone_at_once() -> None:
    driver = Driver()
    driver.put_vm("aks-a")
    driver.cloud.advance(10)
    driver.cloud.vanish("aks-a")
    assert driver.get_vm("aks-a").status == 404
    assert [type(event) for event in driver.events] == [PoweredOn, Deleted]


def test_lists_and_snapshots_show_what_exists() -> None:
    driver = Driver()
    for name in ("aks-a", "aks-b"):
        driver.put_vm(name)
    path = driver.path("Microsoft.Compute/virtualMachines")
    body = driver.call("GET", path, None, COMPUTE).body
    assert body is not None
    assert [item["name"] for item in body["value"]] == ["aks-a", "aks-b"]
    assert [vm.name for vm in driver.cloud.vms()] == ["aks-a", "aks-b"]
    assert driver.cloud.vm("AKS-A").name == "aks-a"


def test_a_deletion_that_an_eviction_overtakes_succeeds() -> None:
    driver = Driver(timing=Timing(vm_create=0, vm_delete=60, eviction_notice=30))
    driver.put_vm("spot", priority="Spot")
    driver.cloud.run_until()
    driver.cloud.evict("spot")
    answer = driver.delete_vm("spot")
    driver.cloud.advance(31)
    assert driver.cloud.vms() == []
    url = urlsplit(answer.headers["Azure-AsyncOperation"])
    polled = driver.cloud.request("GET", url.path, query=dict(parse_qsl(url.query)))
    assert (polled.body or {})["status"] == "Succeeded"
    driver.cloud.advance(60)
