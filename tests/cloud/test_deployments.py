"""Deployments: a template's resources in their order, its expressions, its failures."""

from __future__ import annotations

from typing import Any

import pytest

from fakeazure.resources.deployments.template_expressions import TemplateError, evaluate
from fakeazure.timing import Timing
from tests.cloud.driver import Driver, error_of

ADDRESS = "reference(variables('nic')).ipConfigurations[0].properties.privateIPAddress"
NIC = "Microsoft.Network/networkInterfaces"


def resource(type_: str, name: str, version: str, *after: str, **body: Any) -> dict[str, Any]:
    given = {
        "type": type_,
        "name": name,
        "apiVersion": version,
        "location": "[parameters('place')]",
        "dependsOn": list(after),
    }
    return {**given, **body}


def template(driver: Driver, size: str = "Standard_D2s_v5") -> dict[str, Any]:
    vm = driver.vm_body("unused", size=size)["properties"]
    vm["networkProfile"] = {"networkInterfaces": [{"id": f"[resourceId('{NIC}', variables('nic'))]"}]}
    vm["osProfile"]["adminPassword"] = "[parameters('secret')]"
    inner = {"subnet": {"id": driver.nic_body("x")["properties"]["ipConfigurations"][0]["properties"]["subnet"]["id"]}}
    properties = {"ipConfigurations": [{"name": "ip", "properties": inner}]}
    return {
        "parameters": {"place": {"type": "string", "defaultValue": "[resourceGroup().location]"}, "secret": {"type": "secureString"}},
        "variables": {"nic": "[concat(deployment().name, '-nic')]"},
        "resources": [
            resource("Microsoft.Compute/virtualMachines", "v", "2025-04-01", f"[concat('{NIC}/', variables('nic'))]", properties=vm),
            resource(NIC, "[variables('nic')]", "2022-01-01", properties=properties),
            resource("Microsoft.Compute/disks", "never", "2025-01-02", condition="[equals(1, 2)]"),
        ],
        "outputs": {"address": {"type": "string", "value": "[" + ADDRESS + "]"}},
    }  # fmt: skip


def put(driver: Driver, made: dict[str, Any], name: str = "d", **parameters: Any) -> Any:
    given = {key: {"value": value} for key, value in ({"secret": "s"} | parameters).items()}
    body = {"properties": {"mode": "incremental", "template": made, "parameters": given}}
    return driver.call("PUT", driver.path("Microsoft.Resources/deployments", name), body)


def operations(driver: Driver, fact: str, name: str = "d") -> list[Any]:
    """One fact of each operation."""
    body = driver.call("GET", driver.path("Microsoft.Resources/deployments", name) + "/operations").body
    assert body is not None
    return [one["properties"][fact] for one in body["value"]]


def shown(driver: Driver, name: str = "d") -> Any:
    body = driver.call("GET", driver.path("Microsoft.Resources/deployments", name)).body
    assert body is not None
    return body["properties"]


def test_resources_come_in_the_order_of_their_dependencies() -> None:
    driver = Driver()
    answer = put(driver, template(driver))
    assert answer.status == 201
    assert shown(driver)["provisioningState"] == "Running"
    assert [call.resource for call in driver.cloud.journal.find(method="PUT")][:2] == [
        "networkInterfaces",
        "virtualMachines",
    ]
    driver.cloud.advance(11)
    found = shown(driver)
    assert found["provisioningState"] == "Succeeded"
    assert found["outputs"]["address"]["value"].startswith("10.224.")
    assert "value" not in found["parameters"]["secret"]
    assert [item["id"].rpartition("/")[2] for item in found["outputResources"]] == ["v", "d-nic"]
    poll = driver.poll(answer).body
    assert poll is not None
    assert poll["status"] == "Succeeded"
    assert driver.cloud.vm("v").size == "Standard_D2s_v5"


def test_a_failure_is_told_with_what_failed() -> None:
    driver = Driver(azure={"quota": {"cores": 1}}, timing=Timing(nic=2))
    answer = put(driver, template(driver))
    driver.cloud.advance(5)
    assert shown(driver)["provisioningState"] == "Failed"
    poll = driver.poll(answer).body
    assert poll is not None
    assert (poll["status"], poll["error"]["code"]) == ("Failed", "DeploymentFailed")
    assert [detail["code"] for detail in poll["error"]["details"]] == ["OperationNotAllowed"]
    assert operations(driver, "provisioningState") == ["Failed", "Succeeded"]


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"resources": [resource("Microsoft.Compute/disks", "[frob()]", "2025-01-02")]}, "'frob' is not valid"),
        ({"resources": [resource("Microsoft.Compute/disks", "a/b", "2025-01-02")]}, "invalid name"),
        ({"resources": [resource("Microsoft.Compute/disks", "a", "2025-01-02", copy={"count": 2})]}, "copy loops"),
        ({"parameters": {"missing": {"type": "string"}}}, "'missing' is not provided"),
    ],
)
def test_templates_that_cannot_be_are_refused(change: dict[str, Any], part: str) -> None:
    driver = Driver()
    status, code, message = error_of(put(driver, {**template(driver), **change}))
    assert (status, code) == (400, "InvalidTemplate")
    assert part in message
    assert error_of(driver.call("GET", driver.path("Microsoft.Resources/deployments", "d")))[1] == "DeploymentNotFound"


def test_circles_end() -> None:
    driver = Driver()
    disks = [
        resource("Microsoft.Compute/disks", one, "2025-01-02", other, location="eastus") for one, other in ("ab", "ba")
    ]
    put(driver, {"resources": disks})
    assert "Circular dependency" in shown(driver)["error"]["details"][0]["message"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain", "plain"),
        ("[[escaped]", "[escaped]"),
        ("[concat('a', 'b''c', 1)]", "ab'c1"),
        ("[format('{0}-{1}', 'x', 2)]", "x-2"),
        ("[if(equals(toLower('A'), 'a'), createArray(1, 2)[1], 0)]", 2),
        ("[length(split('a,b', ','))]", 2),
        ("[union(createArray(1, 2), createArray(2, 3), createArray(1, 4))]", [1, 2, 3, 4]),
        ("[union(createObject('a', 1, 'b', 1), createObject('b', 2))]", {"a": 1, "b": 2}),
        ("[createObject('k', 'v').k]", "v"),
        ("[uniqueString('a')]", evaluate("[uniqueString('a')]", {})),
    ],
)
def test_expressions(text: str, value: Any) -> None:
    assert evaluate({"x": [text]}, {}) == {"x": [value]}


@pytest.mark.parametrize(
    "text", ["[concat(]", "[1 2]", "[nope('a')]", "[substring(1, 2)]", "[" + "not(" * 500 + "1]", "[createArray(1)[5]]"]
)
def test_expression_mistakes(text: str) -> None:
    with pytest.raises(TemplateError):
        evaluate(text, {})


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ("'Microsoft.Network/virtualNetworks/subnets', 'a', 'b'", "{own}/resourceGroups/MC_rg_c_eastus"),
        ("'other', 'Microsoft.Network/virtualNetworks/subnets', 'a', 'b'", "{own}/resourceGroups/other"),
        (
            "'sub', 'other', 'Microsoft.Network/virtualNetworks/subnets', 'a', 'b'",
            "/subscriptions/sub/resourceGroups/other",
        ),
    ],
)
def test_ids_are_of_the_group_and_subscription_that_are_named(given: str, place: str) -> None:
    """learn.microsoft.com, resourceId([subscriptionId], [resourceGroupName], resourceType, resourceName1, [resourceName2], ...)."""
    driver = Driver()
    put(driver, {"resources": [], "outputs": {"id": {"type": "string", "value": f"[resourceId({given})]"}}})
    driver.cloud.advance(11)
    found = shown(driver)["outputs"]["id"]["value"]
    start = place.format(own=f"/subscriptions/{driver.cloud.state.settings.subscription}")
    assert found.lower() == f"{start}/providers/Microsoft.Network/virtualNetworks/a/subnets/b".lower()
