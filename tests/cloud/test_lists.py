"""Lists that take `$filter` and `$top` (azure-rest-api-specs): what they leave, and what is refused."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlsplit

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
    f"{SUB}/providers/Microsoft.Authorization/locks",
    f"{GROUP}/providers/Microsoft.Authorization/policyAssignments",
    f"{SUB}/providers/Microsoft.Authorization/policyDefinitions",
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
@pytest.mark.parametrize("text", ["garbage", "garbage eq", "(", "name like 'x'", "name eq nan", "name eq １"])
def test_a_filter_that_nothing_understands_is_refused(driver: Driver, path: str, text: str) -> None:
    assert error_of(driver.call("GET", path, **{"$filter": text}))[:2] == (400, "InvalidFilterInQueryString")


def test_what_is_missing_is_null(driver: Driver) -> None:
    everything = names(driver, f"{SUB}/resources")
    assert names(driver, f"{SUB}/resources", **{"$filter": "name eq null"}) == []
    assert names(driver, f"{SUB}/resources", **{"$filter": "name ne null"}) == everything
    assert names(driver, f"{SUB}/resources", **{"$filter": "name gt null or name le null"}) == []
    without = names(driver, f"{SUB}/resources", **{"$filter": "plan/publisher eq null"})
    assert without == everything


@pytest.mark.parametrize("text", ["contains(name, null)", "substringof(5, name)", "startswith(name, true)"])
def test_only_a_text_is_part_of_a_text(driver: Driver, text: str) -> None:
    refusal = error_of(driver.call("GET", f"{SUB}/resources", **{"$filter": text}))
    assert refusal[:2] == (400, "InvalidFilterInQueryString")
    assert "is not a text" in refusal[2]


PAGED = (
    f"{SUB}/resourceGroups",
    f"{SUB}/resources",
    f"{SUB}/providers/Microsoft.Resources/deployments",
    f"{SUB}/providers/Microsoft.Authorization/policyDefinitions",
    f"{GROUP}/providers/Microsoft.Network/privateDnsZones",
    f"{SUB}/providers/Microsoft.Compute/locations/eastus/publishers/Canonical/artifacttypes/vmimage/offers/ubuntu-24_04-lts/"
    "skus/server/versions",
)


@pytest.mark.parametrize("path", PAGED)
@pytest.mark.parametrize("top", ["１", "1_0", "+1", "-1", " 1", "x", "", "1.0"])
def test_a_number_of_items_is_written_in_ascii_digits(driver: Driver, path: str, top: str) -> None:
    assert error_of(driver.call("GET", path, **{"$top": top}))[:2] == (400, "InvalidRequestContent")


@pytest.mark.parametrize("path", PAGED)
def test_a_number_of_items_has_32_bits(driver: Driver, path: str) -> None:
    everything = driver.call("GET", path)
    for top in ("1000000000", "2147483647", "0000000002147483647"):
        answer = driver.call("GET", path, **{"$top": top})
        assert (answer.status, answer.body, answer.array) == (200, everything.body, everything.array)
    for top in ("2147483648", "9" * 5000):
        assert error_of(driver.call("GET", path, **{"$top": top}))[:2] == (400, "InvalidRequestContent")


def test_the_list_of_federated_credentials_has_pages() -> None:
    driver = Driver(timing=INSTANT)
    identity = driver.path("Microsoft.ManagedIdentity/userAssignedIdentities", "i")
    assert driver.call("PUT", identity, {"location": "eastus"}).status == 201
    credentials = f"{identity}/federatedIdentityCredentials"
    for name in ("a", "b", "c"):
        properties = {"issuer": "https://x/", "subject": name, "audiences": ["api://AzureADTokenExchange"]}
        assert driver.call("PUT", f"{credentials}/{name}", {"properties": properties}).status == 201
    assert names(driver, credentials) == ["a", "b", "c"]
    first = driver.call("GET", credentials, **{"$top": "2"}).body
    assert first is not None
    assert [document["name"] for document in first["value"]] == ["a", "b"]
    rest = dict(parse_qsl(urlsplit(first["nextLink"]).query))
    assert rest["$top"] == "2"
    assert names(driver, credentials, **{name: value for name, value in rest.items() if name != "api-version"}) == ["c"]
    assert names(driver, credentials, **{"$top": "0"}) == []


def test_policies_are_found_by_what_they_are_about() -> None:
    driver = Driver(timing=INSTANT)
    at = f"{SUB}/providers/Microsoft.Authorization"
    for name in ("p", "q"):
        driver.call("PUT", f"{at}/policyAssignments/{name}", {"properties": {"policyDefinitionId": f"/of/{name}"}})
        driver.call("PUT", f"{at}/policyDefinitions/{name}", {"properties": {"metadata": {"category": name}}})
    below = f"{GROUP}/providers/Microsoft.Authorization/policyAssignments"
    driver.call("PUT", f"{below}/below", {"properties": {"policyDefinitionId": "/of/p"}})
    assignments = f"{at}/policyAssignments"
    assert names(driver, assignments) == ["below", "p", "q"]
    assert names(driver, assignments, **{"$filter": "atScope()"}) == ["p", "q"]
    assert names(driver, below, **{"$filter": "atScope()"}) == ["below", "p", "q"]
    assert names(driver, below, **{"$filter": "atExactScope()"}) == ["below"]
    assert names(driver, assignments, **{"$filter": "policyDefinitionId eq '/OF/p'"}) == ["below", "p"]
    assert len(names(driver, assignments, **{"$top": "2"})) == 2
    assert names(driver, f"{at}/policyDefinitions", **{"$filter": "category eq 'q'"}) == ["q"]
    assert names(driver, f"{at}/policyDefinitions", **{"$filter": "policyType eq 'BuiltIn'"}) == []


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
