"""Lists that take `$filter` and `$top` (azure-rest-api-specs): what they leave, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from fakeazure.beginning import SUBSCRIPTION
from fakeazure.timing import INSTANT
from tests.cloud.driver import Driver, error_of
from tests.cloud.test_scale_sets import body as set_body

SUB = f"/subscriptions/{SUBSCRIPTION}"
GROUP = f"{SUB}/resourceGroups/MC_rg_c_eastus"
SETS = "Microsoft.Compute/virtualMachineScaleSets"
FILTERED = (
    f"{SUB}/resourceGroups",
    f"{SUB}/resources",
    f"{GROUP}/resources",
    f"{SUB}/providers/Microsoft.Compute/skus",
    f"{SUB}/providers/Microsoft.Compute/virtualMachines",
    f"{GROUP}/providers/Microsoft.Compute/virtualMachines",
    f"{GROUP}/providers/{SETS}/s/virtualMachines",
    f"{SUB}/providers/Microsoft.Resources/deployments",
    f"{GROUP}/providers/Microsoft.Resources/deployments",
    f"{SUB}/providers/Microsoft.Authorization/roleAssignments",
    f"{GROUP}/providers/Microsoft.Authorization/roleAssignments",
    f"{SUB}/providers/Microsoft.Authorization/roleDefinitions",
)


def names(driver: Driver, path: str, **query: str) -> list[str]:
    answer = driver.call("GET", path, **query)
    assert answer.status == 200, answer.body
    assert answer.body is not None
    return sorted(document["name"] for document in answer.body["value"])


@pytest.fixture(scope="module")
def driver() -> Driver:
    made = Driver(timing=INSTANT)
    made.put_vm("aks-a")
    for name, mode in (("s", "Uniform"), ("f", "Flexible")):
        body = set_body(made, 2)
        body["properties"]["orchestrationMode"] = mode
        assert made.call("PUT", made.path(SETS, name), body).status == 201
    return made


@pytest.mark.parametrize("path", FILTERED)
@pytest.mark.parametrize("text", ["garbage", "garbage eq", "(", "name like 'x'"])
def test_a_filter_that_nothing_understands_is_refused(driver: Driver, path: str, text: str) -> None:
    assert error_of(driver.call("GET", path, **{"$filter": text}))[:2] == (400, "InvalidFilterInQueryString")


@pytest.mark.parametrize("id_", ["'{id}'", "{id}"])
def test_the_vms_of_a_flexible_set_are_found(driver: Driver, id_: str) -> None:
    written = id_.replace("{id}", driver.path(SETS, "f").upper())
    for path in (GROUP, SUB):
        vms = f"{path}/providers/Microsoft.Compute/virtualMachines"
        listed = names(driver, vms, **{"$filter": f"'virtualMachineScaleSet/id' eq {written}"})
        assert len(listed) == 2
        assert all(name.startswith("f_") for name in listed)
        assert len(names(driver, vms)) == 3


def test_instances_are_found_by_their_model_and_state(driver: Driver) -> None:
    path = driver.path(SETS, "s")
    driver.call("PATCH", path, {"properties": {"virtualMachineProfile": {"licenseType": "x"}}})
    driver.call("POST", f"{path}/manualupgrade", {"instanceIds": ["1"]})
    instances = f"{path}/virtualMachines"
    assert names(driver, instances, **{"$filter": "properties/latestModelApplied eq true"}) == ["s_1"]
    assert names(driver, instances, **{"$filter": "properties/latestModelApplied eq false"}) == ["s_0"]
    running = "startswith(instanceView/statuses/code, 'PowerState') eq true"
    assert names(driver, instances, **{"$filter": running}) == ["s_0", "s_1"]


def test_resources_are_found_by_a_part_of_their_name(driver: Driver) -> None:
    found = names(driver, f"{SUB}/resources", **{"$filter": "substringof('aks-vnet', name)"})
    assert found == ["aks-vnet-12345678"]


def test_the_newest_deployments_by_state() -> None:
    driver = Driver(timing=INSTANT)
    deployments = f"{GROUP}/providers/Microsoft.Resources/deployments"
    template: dict[str, Any] = {"contentVersion": "1.0.0.0", "resources": []}
    for name in ("a", "b", "c"):
        body = {"properties": {"mode": "Incremental", "template": template}}
        assert driver.call("PUT", f"{deployments}/{name}", body, "2022-09-01").status == 201
    succeeded = {"$filter": "provisioningState eq 'succeeded'"}
    assert names(driver, deployments, **succeeded) == ["a", "b", "c"]
    assert names(driver, deployments, **{"$filter": "provisioningState eq 'Failed'"}) == []
    assert len(names(driver, deployments, **{"$top": "2"})) == 2


@pytest.mark.parametrize("path", ["", "virtualMachines", "virtualMachines/0"])
def test_the_user_data_of_a_set_is_shown_when_asked_for(path: str) -> None:
    driver = Driver(timing=INSTANT)
    body = set_body(driver, 1)
    body["properties"]["virtualMachineProfile"]["userData"] = "aGk="
    set_ = driver.path(SETS, "s")
    made = driver.call("PUT", set_, body)
    assert "aGk=" not in str(made.body)
    patched = driver.call("PATCH", set_, {"tags": {"a": "b"}})
    assert "aGk=" not in str(patched.body)
    for where in (f"{set_}/{path}".rstrip("/"), set_.rpartition("/")[0]):
        assert "aGk=" not in str(driver.call("GET", where).body)
    asked = driver.call("GET", f"{set_}/{path}".rstrip("/"), **{"$expand": "userData"})
    assert str(asked.body).count("aGk=") == 1
