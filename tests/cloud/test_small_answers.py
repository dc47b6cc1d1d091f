"""Statuses and edges of answers that clients look at."""

from __future__ import annotations

import base64

import pytest

from fakeazure import FakeAzure
from fakeazure.arm.json_text import read
from fakeazure.arm.operations import KEPT
from fakeazure.beginning import SUBSCRIPTION
from fakeazure.resources.subscriptions import NAMESPACES
from fakeazure.timing import INSTANT
from tests.cloud.aks_machine import machine_body
from tests.cloud.driver import MACHINES, Driver, error_of
from tests.cloud.test_deployments import put, template
from tests.cloud.test_resource_graph import ask, rows


def test_prices_are_found() -> None:
    assert FakeAzure().request("GET", "/api/retail/prices").status == 200


def test_usages_have_names_for_people() -> None:
    path = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/locations/eastus/usages"
    body = Driver().call("GET", path).body
    assert body is not None
    told = {one["name"]["value"]: one["name"]["localizedValue"] for one in body["value"]}
    assert [*told][:5] == [
        "availabilitySets",
        "cores",
        "virtualMachines",
        "virtualMachineScaleSets",
        "lowPriorityCores",
    ]
    assert told["cores"] == "Total Regional vCPUs"
    assert told["lowPriorityCores"] == "Total Regional Low-priority vCPUs"
    assert told["standardDSv5Family"] == "Standard DSv5 Family vCPUs"
    assert told["Standard NCASv3_T4"] == "Standard NCASv3_T4 Family vCPUs"


def test_a_deployment_is_created_and_then_updated() -> None:
    driver = Driver(timing=INSTANT)
    made = template(driver)
    assert [put(driver, made).status, put(driver, made).status] == [201, 200]


@pytest.mark.parametrize(("kind", "names"), [("leftsemi", ["aks-a"]), ("leftanti", ["aks-b"])])
def test_rows_that_have_a_partner_and_those_that_have_none(kind: str, names: list[str]) -> None:
    driver = Driver(timing=INSTANT)
    for name in ("aks-a", "aks-b"):
        driver.put_nic(name)
    nics = "Resources | where type == 'microsoft.network/networkinterfaces'"
    query = f"{nics} | join kind={kind} ({nics} | where name == 'aks-a' | project name) on name | project name"
    assert [row["name"] for row in rows(ask(driver, query))] == names


def test_containers_are_those_of_the_subscriptions_that_are_asked_for() -> None:
    driver = Driver(timing=INSTANT)
    query = {"query": "ResourceContainers", "options": {"resultFormat": "objectArray"}}
    path = "/providers/Microsoft.ResourceGraph/resources"
    everything = rows(driver.call("POST", path, query, "2024-04-01"))
    mine = rows(driver.call("POST", path, {**query, "subscriptions": [SUBSCRIPTION]}, "2024-04-01"))
    assert {row["type"] for row in mine} == {
        "microsoft.resources/subscriptions",
        "microsoft.resources/subscriptions/resourcegroups",
    }
    assert mine == everything


GONE = [
    "Microsoft.Compute/virtualMachines",
    "Microsoft.Compute/disks",
    "Microsoft.Compute/virtualMachineScaleSets",
    "Microsoft.Compute/capacityReservationGroups",
    "Microsoft.Network/networkInterfaces",
    "Microsoft.Network/virtualNetworks",
    "Microsoft.Network/publicIPAddresses",
    "Microsoft.ManagedIdentity/userAssignedIdentities",
    "Microsoft.ContainerService/managedClusters",
    "Microsoft.Resources/deployments",
]


@pytest.mark.parametrize("kind", GONE)
def test_what_is_not_there_is_gone_already(kind: str) -> None:
    answer = Driver().call("DELETE", Driver().path(kind, "nope"))
    assert (answer.status, answer.body) == (204, None)


def test_the_parts_of_what_is_there_are_gone_already() -> None:
    driver = Driver(timing=INSTANT)
    driver.put_vm("aks-a")
    pool = driver.pool_path().rpartition("/")[0]
    for path in (f"{driver.vm_path('aks-a')}/extensions/nope", f"{pool}/nope"):
        assert driver.call("DELETE", path).status == 204


def test_a_subnet_needs_its_network() -> None:
    driver = Driver(timing=INSTANT)
    path = driver.path("Microsoft.Network/virtualNetworks", "nowhere/subnets/s")
    refused = driver.call("PUT", path, {"properties": {"addressPrefix": "10.0.0.0/24"}})
    assert error_of(refused)[:2] == (404, "ParentResourceNotFound")


def test_lists_and_objects_are_nested_together() -> None:
    deep = b'{"a":[' * 4 + b"]}" * 4
    with pytest.raises(ValueError, match="MaxDepth of 7"):
        read(deep, 7)
    assert read(deep, 8) is not None


def test_reading_needs_no_registration() -> None:
    driver = Driver(timing=INSTANT)
    driver.cloud.state.subscriptions[SUBSCRIPTION].add("Microsoft.Network")
    assert driver.call("GET", driver.path("Microsoft.Network/networkInterfaces")).status == 200
    assert error_of(driver.put_nic("a"))[:2] == (409, "MissingSubscriptionRegistration")


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_a_provider_is_registered_in_resource_managers_versions(namespace: str) -> None:
    """`Providers_Register` stands in Resource Manager's own specification, 2021-04-01 among its versions."""
    driver = Driver()
    path = f"/subscriptions/{SUBSCRIPTION}/providers/{namespace}"
    for method, wanted in (("POST", f"{path}/register"), ("GET", path)):
        assert driver.call(method, wanted, None, "2021-04-01").status == 200


def test_a_deletion_that_is_over_has_no_output() -> None:
    driver = Driver(timing=INSTANT)
    driver.put_vm("aks-a")
    answer = driver.call("DELETE", driver.vm_path("aks-a"))
    poll = answer.headers["Azure-AsyncOperation"].partition("//")[2].partition("/")[2]
    path, _, query = poll.partition("?")
    asked = dict(pair.split("=", 1) for pair in query.split("&"))
    body = driver.cloud.request("GET", f"/{path}", query=asked).body
    assert body is not None
    assert (body["status"], "properties" in body) == ("Succeeded", False)


def test_role_definitions_by_name() -> None:
    driver = Driver()
    path = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions"
    everything = driver.call("GET", path).body
    named = driver.call("GET", path, **{"$filter": "roleName eq 'Reader'"}).body
    assert everything is not None
    assert named is not None
    assert len(everything["value"]) > 1
    assert [item["properties"]["roleName"] for item in named["value"]] == ["Reader"]
    [reader] = named["value"]
    one = driver.call("GET", f"{path}/{reader['name']}")
    assert (one.status, one.body) == (200, reader)
    assert error_of(driver.call("GET", f"{path}/{SUBSCRIPTION}"))[:2] == (400, "RoleDefinitionDoesNotExist")


def test_only_what_microsoft_compute_accepts_can_be_notified_about() -> None:
    """Azure-AsyncNotification stands in azure-mgmt-compute's recordings, and in none of the other services'."""
    driver = Driver()
    answers = {
        "compute": driver.put_vm("aks-a"),
        "containerservice": driver.call("PUT", f"{driver.pool_path()}/machines/m", machine_body(), MACHINES),
    }
    assert all("Azure-AsyncOperation" in answer.headers for answer in answers.values())
    told = {name: answer.headers.get("Azure-AsyncNotification") for name, answer in answers.items()}
    assert told == {"compute": "Enabled", "containerservice": None}


def test_a_pair_of_keys_has_3072_bits() -> None:
    """learn.microsoft.com, sshPublicKeys/generateKeyPair: RSA of 3072 bits."""
    driver = Driver()
    path = driver.path("Microsoft.Compute/sshPublicKeys", "k")
    driver.call("PUT", path, {"location": "eastus"})
    body = driver.call("POST", f"{path}/generateKeyPair").body
    assert body is not None
    kind, content, _ = body["publicKey"].split()
    parts, rest = [], base64.b64decode(content)
    while rest:
        length = int.from_bytes(rest[:4], "big")
        parts.append(rest[4 : 4 + length])
        rest = rest[4 + length :]
    assert (kind, parts[0], len(parts[2].lstrip(b"\0")) * 8) == ("ssh-rsa", b"ssh-rsa", 3072)


def test_clients_are_told_how_long_to_wait_between_polls() -> None:
    silent, telling = Driver(), Driver(retry_after=7)
    for driver, wait in ((silent, None), (telling, "7")):
        made = driver.put_vm("aks-a")
        assert [one.headers.get("Retry-After") for one in (made, driver.poll(made))] == [wait, wait]
        driver.cloud.advance(60)
        assert driver.poll(made).headers.get("Retry-After") is None


def test_the_oldest_operations_that_are_over_are_forgotten() -> None:
    """A tenth of those that are remembered at a time; one that runs stays."""
    operations = Driver().cloud.state.operations

    def begun(seconds: float | None) -> str:
        return operations.start(
            "PUT x",
            subscription=SUBSCRIPTION,
            namespace="Microsoft.Compute",
            location="eastus",
            seconds=seconds,
            finish=lambda: None,
        ).id

    running, over = begun(None), [begun(0) for _ in range(KEPT)]
    assert [operations.get(id_) is not None for id_ in over] == [False] * (KEPT // 10) + [True] * (KEPT - KEPT // 10)
    assert operations.get(running) is not None
