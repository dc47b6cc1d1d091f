"""What AKS makes behind a machine: its VM, its NIC, and what the kubelet is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from fakeazure.aks.kubelet import KubeletText, reserved_memory_by_size
from fakeazure.aks.node_labels import cluster_label
from fakeazure.aks.versions import up_to
from fakeazure.catalog import Catalogue
from fakeazure.catalog.images import SNAPSHOT
from fakeazure.timing import INSTANT, Timing
from tests.cloud.aks_machine import PROFILE, get, labels_of, machine_body, put, script_of
from tests.cloud.aks_machine import properties as shown
from tests.cloud.driver import MACHINES, Driver, error_of
from tests.cloud.test_node_bootstrapping import bootstrap


def vm_of(driver: Driver, name: str = "m", **changes: Any) -> Mapping[str, Any]:
    """The VM behind a new machine; `changes` by section of the machine's properties."""
    body = machine_body(**{key: changes.pop(key) for key in ("size", "zone", "priority") if key in changes})
    for section, change in changes.items():
        before = body["properties"].get(section)
        body["properties"][section] = {**before, **change} if isinstance(change, dict) else change
    assert put(driver, name, body).status == 201
    path = shown(get(driver, name))["resourceId"]
    found = driver.call("GET", path).body
    assert found is not None
    return found


def told(driver: Driver, vm: Mapping[str, Any]) -> str:
    """The script of a VM that there is."""
    [made] = [one for one in driver.cloud.vms() if one.id == vm["id"]]
    return script_of(made.custom_data)


@pytest.mark.parametrize(("system", "size"), [({"osDiskSizeGB": 64}, 64), ({"osDiskSizeGB": 0}, 128)])
def test_the_disk_has_128_gb_unless_told(system: dict[str, Any], size: int) -> None:
    vm = vm_of(Driver(timing=INSTANT), operatingSystem=system)
    assert vm["properties"]["storageProfile"]["osDisk"]["diskSizeGB"] == size


@pytest.mark.parametrize("priority", ["Regular", "Spot"])
def test_a_spot_vm_is_deleted_and_may_cost_what_a_regular_one_does(priority: str) -> None:
    properties = vm_of(Driver(timing=INSTANT), priority=priority)["properties"]
    found = {key: properties.get(key) for key in ("priority", "evictionPolicy", "billingProfile")}
    spot = {"evictionPolicy": "Delete", "billingProfile": {"maxPrice": -1}}
    assert found == {
        "priority": priority,
        "evictionPolicy": None,
        "billingProfile": None,
        **(spot if priority == "Spot" else {}),
    }


def test_network_and_image_of_the_vm() -> None:
    driver = Driver(timing=INSTANT)
    vm = vm_of(driver)
    [nic] = vm["properties"]["networkProfile"]["networkInterfaces"]
    assert nic["properties"] == {"primary": True, "deleteOption": "Delete"}
    found = driver.call("GET", nic["id"]).body
    assert found is not None
    assert found["properties"]["enableAcceleratedNetworking"] is False
    image = vm["properties"]["storageProfile"]["imageReference"]["id"]
    assert (
        "/resourceGroups/AKS-Ubuntu/providers/Microsoft.Compute/galleries/AKSUbuntu/images/2404gen2containerd/" in image
    )
    assert image.endswith(f"/versions/{SNAPSHOT}")


def test_accelerated_networking_where_the_size_has_it() -> None:
    driver = Driver(timing=INSTANT, catalogue=Catalogue.load())
    [nic] = vm_of(driver, size="Standard_D4s_v5")["properties"]["networkProfile"]["networkInterfaces"]
    found = driver.call("GET", nic["id"]).body
    assert found is not None
    assert found["properties"]["enableAcceleratedNetworking"] is True


@pytest.mark.parametrize(
    ("network", "flags"),
    [
        ({}, ("--max-pods=250", "--cluster-dns=10.0.0.10")),
        ({"networkPluginMode": "", "dnsServiceIP": "10.2.0.10"}, ("--max-pods=30", "--cluster-dns=10.2.0.10")),
    ],
)
def test_what_the_cluster_says_of_its_network_reaches_the_kubelet(
    network: dict[str, Any], flags: tuple[str, ...]
) -> None:
    driver = Driver(timing=INSTANT, network=network)
    answer = bootstrap(driver, PROFILE)
    assert answer.body is not None
    machine, own = told(driver, vm_of(driver)), script_of(answer.body["customData"])
    for script in (machine, own):
        assert "API_SERVER_NAME=c-dns.hcp.eastus.azmk8s.io\n" in script
        assert flags[1] in script
    for flag in flags:
        assert flag in machine.replace('"', " ").split()


@pytest.mark.parametrize(("mode", "label"), [("System", "system"), ("User", "user"), (None, "user")])
def test_the_mode_of_a_machine_is_a_label(mode: str | None, label: str) -> None:
    driver = Driver(timing=INSTANT)
    assert labels_of(told(driver, vm_of(driver, mode=mode)))["kubernetes.azure.com/mode"] == label


@pytest.mark.parametrize(
    ("message", "code", "told"),
    [
        ("it is over the quota", "OperationNotAllowed", "QuotaExceeded"),
        ("it is over the quota", "Conflict", "Conflict"),
        ("it is running", "OperationNotAllowed", "OperationNotAllowed"),
    ],
)
def test_what_compute_says_of_quota_is_aks_s_quota_exceeded(message: str, code: str, told: str) -> None:
    fault = {"what": code, "message": message, "status": 409, "where": {"resource": "virtualMachines"}}
    driver = Driver({"faults": [fault]}, timing=INSTANT)
    put(driver, "m", machine_body())
    assert shown(get(driver, "m"))["status"]["provisioningError"]["code"] == told


def test_how_long_a_machine_takes() -> None:
    driver = Driver(timing=Timing(vm_create=10, machine_create=4, vm_delete=10, machine_delete=3))
    put(driver, "m", machine_body())
    states = []
    for seconds in (13, 2):
        driver.cloud.advance(seconds)
        states.append(shown(get(driver, "m"))["provisioningState"])
    assert states == ["Creating", "Succeeded"]
    answer = driver.call("POST", f"{driver.pool_path()}/deleteMachines", {"machineNames": ["m"]}, MACHINES)
    assert answer.status == 202
    driver.cloud.advance(12)
    assert len(driver.cloud.state.operations.running()) == 1
    driver.cloud.advance(2)
    assert len(driver.cloud.state.operations.running()) == 0


def test_the_longest_name_of_a_machine() -> None:
    driver = Driver(timing=INSTANT)
    found = [(length, put(driver, "m" * length, machine_body()).status) for length in range(8, 40)]
    longest = max(length for length, status in found if status == 201)
    assert longest == 34
    assert [status for length, status in found if length > longest] == [400] * (39 - longest)


@pytest.mark.parametrize(
    ("name", "label"),
    [("a" * 64, "a" * 63), ("a" * 62 + "-", "a" * 62 + "z"), ("a" * 63, "a" * 63), ("a.", "a.z"), ("a(b)", "a-b-z")],
)
def test_a_resource_group_as_a_label(name: str, label: str) -> None:
    assert cluster_label(name) == label


def test_a_pool_is_two_minor_versions_behind_at_most() -> None:
    assert up_to("1.35.0") == ["1.33.6", "1.33.7", "1.34.1", "1.34.2", "1.34.3", "1.35.0"]
    assert up_to("1.34.9") == ["1.32.10", "1.32.11", "1.33.6", "1.33.7", "1.34.1", "1.34.2", "1.34.3", "1.34.9"]


def test_a_kubelet_of_an_unknown_version_reserves_as_a_new_one_does() -> None:
    def flags(version: str) -> str:
        return KubeletText({}, (), 30, 2, 8.0, version, "10.0.0.10", "x").flags()

    assert flags("") == flags("1.29.0") == flags("1.35.0") != flags("1.28.9")


@pytest.mark.parametrize(("gib", "mebibytes"), [(4, 1024), (4.5, 1126), (8, 1843)])
def test_memory_that_is_reserved_by_size(gib: float, mebibytes: int) -> None:
    assert reserved_memory_by_size(gib) == mebibytes


def test_a_pool_grows_within_its_quota_only() -> None:
    driver = Driver({"quota": {"standardDSv5Family": 6}}, timing=INSTANT)
    path = driver.pool_path("nodes")

    def scaled(count: int) -> Any:
        return driver.call("PUT", path, {"properties": {"count": count, "vmSize": "Standard_D2s_v5"}}, MACHINES)

    assert scaled(2).status == 201
    assert driver.usage("standardDSv5Family")[0] == 4
    said = "Insufficient vcpu quota requested {}, remaining {} for family standardDSv5Family for region eastus."
    status, _, message = error_of(scaled(4))
    assert (status, message.partition(" Surge")[0]) == (400, said.format(4, 2))
    driver.cloud.market.quota.set_limit("standardDSv5Family", 2)
    assert scaled(2).status == 200, "nothing more is asked for"
    assert scaled(1).status == 200
    assert error_of(scaled(3))[2].partition(" Surge")[0] == said.format(4, 0)


def test_a_pool_without_a_count_has_one_node() -> None:
    driver = Driver(timing=INSTANT)
    made = driver.call("PUT", driver.pool_path("nodes"), {"properties": {"vmSize": "Standard_D2s_v5"}}, MACHINES)
    assert made.body is not None
    assert made.body["properties"]["count"] == 1


def test_a_pool_without_a_size_has_aks_s_default_where_it_is_sold() -> None:
    driver = Driver(timing=INSTANT, catalogue=Catalogue.load())
    made = driver.call("PUT", driver.pool_path("nodes"), {"properties": {"count": 0}}, MACHINES)
    assert made.body is not None
    assert made.body["properties"]["vmSize"] == "Standard_D4ds_v5"
