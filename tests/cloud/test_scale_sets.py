"""Scale sets: instances that count, scale, go, and are refused as VMs are."""

from __future__ import annotations

from typing import Any

import pytest

from fakeazure.seed import subnet_id
from fakeazure.timing import INSTANT
from tests.cloud.driver import IMAGE, Driver, error_of

KIND = "Microsoft.Compute/virtualMachineScaleSets"


def body(driver: Driver, capacity: int, **properties: Any) -> dict[str, Any]:
    inner = {"ipConfigurations": [{"name": "ip", "properties": {"subnet": {"id": subnet_id(driver.cloud.state)}}}]}
    profile = {
        "storageProfile": {
            "imageReference": {"communityGalleryImageId": IMAGE},
            "osDisk": {"createOption": "FromImage"},
        },
        "networkProfile": {"networkInterfaceConfigurations": [{"name": "nic", "properties": inner}]},
        "osProfile": {"computerNamePrefix": "node"},
    }
    return {
        "location": "eastus",
        "zones": ["1", "2"],
        "sku": {"name": "Standard_D2s_v5", "capacity": capacity},
        "properties": {"virtualMachineProfile": profile, **properties},
    }


def names(driver: Driver) -> list[str]:
    found = driver.call("GET", f"{driver.path(KIND, 's')}/virtualMachines").body
    assert found is not None
    return [one["name"] for one in found["value"]]


@pytest.mark.parametrize("mode", ["Uniform", "Flexible"])
def test_instances_count_and_scale(mode: str) -> None:
    driver = Driver(timing=INSTANT, azure={"quota": {"cores": 8}})
    path = driver.path(KIND, "s")
    assert driver.call("PUT", path, body(driver, 2, orchestrationMode=mode)).status == 201
    assert (len(names(driver)), driver.usage("cores")[0]) == (2, 4)
    assert len(driver.cloud.vms()) == (2 if mode == "Flexible" else 0)
    assert driver.call("PATCH", path, {"sku": {"capacity": 4}}).status == 200
    assert driver.usage("cores")[0] == 8
    refused = driver.call("PATCH", path, {"sku": {"capacity": 6}})
    assert error_of(refused)[:2] == (409, "OperationNotAllowed")
    shown = driver.call("GET", path).body
    assert shown is not None
    assert (shown["sku"]["capacity"], len(names(driver)), driver.usage("cores")[0]) == (4, 4, 8)
    driver.call("PATCH", path, {"sku": {"capacity": 1}})
    assert (len(names(driver)), driver.usage("cores")[0]) == (1, 2)
    assert driver.call("DELETE", path).status == 202
    assert (driver.usage("cores")[0], driver.usage("virtualMachines")[0], driver.cloud.vms()) == (0, 0, [])


def test_making_a_set_takes_as_long_as_a_machine_and_scaling_as_a_change() -> None:
    driver = Driver()
    path = driver.path(KIND, "s")
    made = driver.call("PUT", path, body(driver, 1))
    assert driver.poll(made).body["status"] == "InProgress"
    scaled = driver.call("PATCH", path, {"sku": {"capacity": 2}})
    assert "Azure-AsyncOperation" not in scaled.headers  # it is done


def test_instances_have_ids_zones_and_power() -> None:
    driver = Driver(timing=INSTANT)
    path = driver.path(KIND, "s")
    driver.call("PUT", path, body(driver, 3))
    assert names(driver) == ["s_0", "s_1", "s_2"]
    found = driver.call("GET", f"{path}/virtualMachines/1", **{"$expand": "instanceView"})
    assert found.status == 200
    one = found.body
    assert one is not None
    assert (one["zones"], one["properties"]["osProfile"]["computerName"]) == (["2"], "node000001")
    assert one["properties"]["instanceView"]["statuses"][1]["code"] == "PowerState/running"
    driver.call("POST", f"{path}/deallocate", {"instanceIds": ["1"]})
    codes = [
        (driver.call("GET", f"{path}/virtualMachines/{number}/instanceView").body or {})["statuses"][1]["code"]
        for number in range(3)
    ]
    assert codes == ["PowerState/running", "PowerState/deallocated", "PowerState/running"]
    assert driver.call("POST", f"{path}/delete", {"instanceIds": ["0", "2"]}).status == 202
    shown = driver.call("GET", path).body
    assert shown is not None
    assert (names(driver), shown["sku"]["capacity"]) == (["s_1"], 1)
    driver.call("PATCH", path, {"sku": {"capacity": 2}})
    assert names(driver) == ["s_1", "s_3"]
    assert error_of(driver.call("GET", f"{path}/virtualMachines/9"))[0] == 404


def test_refused_set_leaves_nothing() -> None:
    driver = Driver({"quota": {"cores": 2}}, timing=INSTANT)
    assert error_of(driver.call("PUT", driver.path(KIND, "s"), body(driver, 2)))[0] == 409
    assert driver.call("GET", driver.path(KIND, "s")).status == 404
    assert driver.usage("cores")[0] == 0


def test_a_set_that_is_made_anew_counts_its_instances_from_zero() -> None:
    driver = Driver(timing=INSTANT)
    for _ in range(2):
        driver.call("PUT", driver.path(KIND, "s"), body(driver, 2))
        assert names(driver) == ["s_0", "s_1"]
        driver.call("DELETE", driver.path(KIND, "s"))


def test_a_group_takes_its_sets_along() -> None:
    driver = Driver(timing=INSTANT)
    driver.call("PUT", driver.path(KIND, "s"), body(driver, 2))
    names_ = driver.cloud.state.settings
    driver.call("DELETE", f"/subscriptions/{names_.subscription}/resourceGroups/{names_.node_resource_group}")
    assert driver.usage("cores")[0] == 0
