"""Resource groups, what is in them, tags and providers."""

from __future__ import annotations

from typing import Any

import pytest

from fakeazure.beginning import SUBSCRIPTION
from fakeazure.timing import Timing
from tests.cloud.driver import Driver, error_of

SUB = f"/subscriptions/{SUBSCRIPTION}"
NODES = f"{SUB}/resourceGroups/MC_rg_c_eastus"


def body_of(driver: Driver, path: str, **query: str) -> Any:
    answer = driver.call("GET", path, **query)
    assert answer.status == 200, answer.body
    return answer.body


def test_a_group_goes_with_all_that_is_in_it() -> None:
    driver = Driver(timing=Timing(resource=5))
    driver.put_vm("aks-a")
    driver.cloud.advance(10)
    driver.events.clear()
    assert driver.call("HEAD", NODES).status == 204
    answer = driver.call("DELETE", NODES)
    assert (answer.status, "Azure-AsyncOperation" in answer.headers) == (202, False)
    assert body_of(driver, NODES)["properties"]["provisioningState"] == "Deleting"
    assert driver.poll(answer, "Location").status == 202
    driver.cloud.advance(5)
    assert driver.poll(answer, "Location").status == 204
    assert driver.call("HEAD", NODES).status == 404
    assert error_of(driver.call("GET", NODES))[1] == "ResourceGroupNotFound"
    assert [type(event).__name__ for event in driver.events] == ["Deleted"]
    assert (driver.usage("cores")[0], driver.cloud.vms()) == (0, [])
    assert {entry.id.group for entry in driver.cloud.state.store.all()} == {"rg"}


def test_a_group_that_is_made_anew_has_nothing_of_the_old_one() -> None:
    driver = Driver()
    group = f"{SUB}/resourceGroups/new"
    at_group = f"{group}/providers/Microsoft.Authorization"
    role = f"{SUB}/providers/Microsoft.Authorization/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7"
    properties = {"roleDefinitionId": role, "principalId": "p"}
    deployment = {"properties": {"mode": "Incremental", "template": {"resources": []}}}

    def made() -> list[int]:
        paths = {
            group: {"location": "eastus"},
            f"{at_group}/roleAssignments/{SUBSCRIPTION}": {"properties": properties},
            f"{at_group}/policyAssignments/p": {"properties": {}},
            f"{group}/providers/Microsoft.Resources/deployments/d": deployment,
        }
        return [driver.call("PUT", path, body).status for path, body in paths.items()]

    first = made()
    assert first == [201, 201, 201, 201]
    assert driver.call("DELETE", group).status == 202
    driver.cloud.advance(600)
    assert driver.call("PUT", group, {"location": "eastus"}).status == 201
    assert _names(driver, f"{group}/providers/Microsoft.Resources/deployments") == []
    assert _names(driver, f"{at_group}/policyAssignments") == []
    assert _names(driver, f"{at_group}/roleAssignments") == []
    assert driver.call("DELETE", group).status == 202
    driver.cloud.advance(600)
    assert made() == first


def test_a_cluster_takes_its_node_resource_group_along() -> None:
    driver = Driver()
    cluster = driver.path("Microsoft.ContainerService/managedClusters", "c", group="rg")
    assert driver.call("DELETE", cluster).status == 202
    assert driver.call("HEAD", NODES).status == 404
    assert driver.call("DELETE", cluster).status == 204


def _names(driver: Driver, path: str, **query: str) -> list[str]:
    return [item["name"] for item in body_of(driver, path, **query)["value"]]


def test_filters_of_groups_and_resources_know_their_fields_in_any_case() -> None:
    driver = Driver()
    driver.call("PUT", f"{SUB}/resourceGroups/red", {"location": "eastus", "tags": {"Team": "red", "x": "Blue"}})
    driver.call("PUT", f"{SUB}/resourceGroups/blue", {"location": "eastus", "tags": {"team": "Blue"}})
    groups = f"{SUB}/resourceGroups"
    for filter_, names in {
        "tagname eq 'team'": ["red", "blue"],
        "tagName eq 'TEAM' and TagValue eq 'red'": ["red"],
        "tagname eq 'team' and tagvalue eq 'RED'": [],
        # one tag has to have both
        "tagname eq 'team' and tagvalue eq 'Blue'": ["blue"],
    }.items():
        assert _names(driver, groups, **{"$filter": filter_}) == names, filter_
    assert len(_names(driver, groups, **{"$top": "1"})) == 1
    driver.put_vm("aks-a")
    resources = f"{SUB}/resources"
    for filter_ in (
        "ResourceType eq 'microsoft.compute/VIRTUALMACHINES'",
        "startswith(NAME,'AKS-a') and location eq 'EastUS' and resourcetype eq 'Microsoft.Compute/virtualMachines'",
    ):
        assert _names(driver, resources, **{"$filter": filter_}) == ["aks-a"], filter_


@pytest.mark.parametrize("path", [f"{SUB}/resourceGroups", f"{SUB}/resources"])
@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"$filter": "garbage"}, "InvalidFilterInQueryString"),
        ({"$filter": "garbage eq 'x'"}, "InvalidFilterInQueryString"),
        ({"$top": "many"}, "InvalidRequestContent"),
        ({"$top": "-1"}, "InvalidRequestContent"),
    ],
)
def test_a_filter_that_nothing_understands_is_refused(path: str, query: dict[str, str], code: str) -> None:
    assert error_of(Driver().call("GET", path, **query))[:2] == (400, code)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("bad name!", "has these invalid characters: ' !'"),
        ("x.", "cannot end with a period"),
        ("x" * 91, "maximum length of 90"),
    ],
)
def test_names_of_groups_that_arm_refuses(name: str, text: str) -> None:
    status, code, message = error_of(Driver().call("PUT", f"{SUB}/resourceGroups/{name}", {"location": "eastus"}))
    assert (status, code, text in message) == (400, "InvalidResourceGroup", True), message


def test_groups_keep_their_place_and_change_their_tags() -> None:
    driver = Driver()
    group = f"{SUB}/resourceGroups/new"
    assert driver.call("PUT", group, {"location": "eastus", "tags": {"a": "b"}}).status == 201
    assert driver.call("PUT", group, {"location": "eastus"}).status == 200
    assert error_of(driver.call("PUT", group, {"location": "westus"}))[:2] == (409, "InvalidResourceGroupLocation")
    patched = driver.call("PATCH", group, {"tags": {"c": "d"}})
    assert patched.body is not None
    assert patched.body["tags"] == {"c": "d"}
    found = body_of(driver, f"{SUB}/resourceGroups", **{"$filter": "tagName eq 'c' and tagValue eq 'd'"})
    assert [item["name"] for item in found["value"]] == ["new"]


def test_resources_of_a_subscription_under_a_filter() -> None:
    driver = Driver()
    for wanted, names in (
        ("resourceType eq 'microsoft.network/VIRTUALNETWORKS'", ["aks-vnet-12345678"]),
        ("name eq 'Kubernetes'", ["kubernetes"]),
        ("resourceGroup eq 'RG'", ["c"]),
    ):
        found = body_of(driver, f"{SUB}/resources", **{"$filter": wanted})
        assert [item["name"] for item in found["value"]] == names
    driver.put_nic("a")
    driver.call("PATCH", driver.nic_path("a"), {"tags": {"own": "me"}})
    for wanted, tagged in (
        ("tagName eq 'own'", ["a"]),
        ("tagName eq 'own' and tagValue eq 'me'", ["a"]),
        ("tagName eq 'own' and tagValue eq 'you'", []),
        ("tagName eq 'other'", []),
    ):
        found = body_of(driver, f"{SUB}/resources", **{"$filter": wanted})
        assert [item["name"] for item in found["value"]] == tagged
    assert error_of(driver.call("GET", f"{SUB}/resources", **{"$filter": "name is"}))[1] == "InvalidFilterInQueryString"


def test_head_of_a_resource_says_whether_it_is_there() -> None:
    driver = Driver()
    driver.put_nic("a")
    assert driver.call("HEAD", driver.nic_path("a")).status == 204
    missing = driver.call("HEAD", driver.nic_path("b"))
    assert (missing.status, missing.body) == (404, None)


def test_tags_at_a_scope() -> None:
    driver = Driver()
    driver.put_nic("a")
    for scope in (driver.nic_path("a"), NODES):
        tags = f"{scope}/providers/Microsoft.Resources/tags/default"

        def send(method: str, path: str = tags, **body: Any) -> Any:
            return driver.call(method, path, body or None).body

        send("PUT", properties={"tags": {"a": "1"}})
        assert send("PATCH", operation="Merge", properties={"tags": {"b": "2"}})["properties"]["tags"] == {
            "a": "1",
            "b": "2",
        }
        assert send("PATCH", operation="Delete", properties={"tags": {"a": "1"}})["properties"]["tags"] == {"b": "2"}
        assert body_of(driver, scope)["tags"] == {"b": "2"} == send("GET")["properties"]["tags"]
        send("DELETE")
        assert body_of(driver, scope)["tags"] == {}


def test_providers_tell_the_types_that_are_served() -> None:
    driver = Driver()
    types = {
        item["resourceType"]: item for item in body_of(driver, f"{SUB}/providers/microsoft.compute")["resourceTypes"]
    }
    assert {"virtualMachines", "virtualMachines/extensions", "locations/usages", "disks"} <= set(types)
    assert types["disks"]["apiVersions"][-1] == "2015-05-01-preview"
    assert types["disks"]["locations"] == ["eastus", "westus"]
