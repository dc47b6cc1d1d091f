"""The references of templates to parameters, variables, resources and groups, and their linked templates."""

from __future__ import annotations

from typing import Any

import pytest

from fakeazure.resources.deployments.template_expressions import TemplateError, evaluate
from fakeazure.timing import INSTANT
from tests.cloud.driver import Driver, error_of
from tests.cloud.test_template_features import DEPLOYMENTS, SUB, TABLES, deploy, nested, table, tables, values

GROUP = f"{SUB}/resourceGroups/rg"
SPEC = f"{GROUP}/providers/Microsoft.Resources/templateSpecs/s"
CLUSTERS = "Microsoft.ContainerService/managedClusters"


def outputs(**expressions: str) -> dict[str, Any]:
    return {name: {"value": value} for name, value in expressions.items()}


def test_a_default_asks_for_a_parameter_that_stands_behind_it() -> None:
    parameters = {
        "label": {"type": "string", "defaultValue": "[toLower(parameters('VMNAME'))]"},
        "vmName": {"type": "string", "defaultValue": "Machine"},
    }
    shown = deploy(
        Driver(timing=INSTANT),
        {"parameters": parameters, "resources": [], "outputs": outputs(a="[parameters('label')]")},
    )
    assert values(shown) == {"a": "machine"}
    assert list(shown["parameters"]) == ["label", "vmName"]


@pytest.mark.parametrize("part", ["parameters", "variables"])
def test_what_asks_for_itself_is_refused(part: str) -> None:
    circle: Any = {name: f"[{part}('{other}')]" for name, other in (("a", "b"), ("b", "a"))}
    if part == "parameters":
        circle = {name: {"type": "string", "defaultValue": value} for name, value in circle.items()}
    shown = deploy(Driver(), {part: circle, "resources": [table("[variables('a')]")] if part == "variables" else []})
    assert "it refers to itself" in shown


def test_variables_and_given_parameters_are_called_in_any_case() -> None:
    template = {
        "parameters": {"vmName": {"type": "string"}},
        "variables": {
            "storageAccountName": "x",
            "copy": [{"name": "Many", "count": 2, "input": "[copyIndex('Many')]"}],
        },
        "resources": [],
        "outputs": outputs(a="[variables('storageaccountname')]", b="[variables('many')]", c="[parameters('vmname')]"),
    }
    assert values(deploy(Driver(timing=INSTANT), template, VMNAME="m")) == {"a": "x", "b": [0, 1], "c": "m"}


def test_a_type_may_end_in_a_slash() -> None:
    driver = Driver(timing=INSTANT)
    first = {**table("t"), "type": f"{TABLES}/"}
    second = table("u", dependsOn=[f"[resourceId('{TABLES}/', 't')]"])
    assert deploy(driver, {"resources": [second, first]})["provisioningState"] == "Succeeded"
    assert {"t", "u"} <= set(tables(driver))


def test_a_symbol_is_no_name_of_another_resource() -> None:
    """The third is called as the first one's symbol is."""
    driver = Driver(timing=INSTANT)
    resources = {
        "network": table("a"),
        "b": table("b", dependsOn=["network"]),
        "c": table("network", dependsOn=["b", "network"]),
    }
    assert deploy(driver, {"languageVersion": "2.0", "resources": resources})["provisioningState"] == "Succeeded"
    assert {"a", "b", "network"} <= set(tables(driver))


def test_a_group_is_waited_for_and_read_by_the_id_that_bicep_writes() -> None:
    driver = Driver(timing=INSTANT)
    id_ = "subscriptionResourceId('Microsoft.Resources/resourceGroups', 'new')"
    group = {
        "type": "Microsoft.Resources/resourceGroups",
        "apiVersion": "2021-04-01",
        "name": "new",
        "location": "eastus",
    }
    inner = nested("n", {"resources": [table("t")]}, resourceGroup="new", dependsOn=[f"[{id_}]"])
    template = {"resources": [inner, group], "outputs": outputs(a=f"[reference({id_}, '2021-04-01', 'full').location]")}
    assert values(deploy(driver, template, at=SUB)) == {"a": "eastus"}
    assert tables(driver, "new") == ["t"]


def test_the_lists_that_a_resource_has_are_called_by_their_names() -> None:
    driver = Driver(timing=INSTANT)
    pools = [{"name": "system", "count": 1, "vmSize": "Standard_D2s_v5", "mode": "System"}]
    cluster = {
        "type": CLUSTERS,
        "apiVersion": "2025-05-01",
        "name": "aks",
        "location": "eastus",
        "properties": {"agentPoolProfiles": pools},
    }
    called = f"listClusterAdminCredential(resourceId('{CLUSTERS}', 'aks'), '2025-05-01').kubeconfigs[0].name"
    template = {"resources": [cluster], "outputs": outputs(a=f"[{called}]")}
    assert values(deploy(driver, template)) == {"a": "clusterAdmin"}


def test_a_list_of_what_is_not_emulated_says_so() -> None:
    account = "resourceId('Microsoft.Storage/storageAccounts', 'a')"
    output = outputs(a=f"[listKeys({account}, '2022-09-01').keys[0].value]")
    shown = deploy(Driver(timing=INSTANT), {"resources": [], "outputs": output})
    assert (shown["provisioningState"], shown["error"]["code"]) == ("Failed", "NotEmulated")
    with pytest.raises(TemplateError, match="'listKeys' is not valid here"):
        evaluate("[listKeys('a', 'b')]", {})


def test_an_extension_of_bicep_is_not_emulated() -> None:
    driver = Driver()
    body = {"mode": "Incremental", "template": {"resources": [{"import": "kubernetes", "type": "apps/Deployment@v1"}]}}
    answer = driver.call("PUT", f"{GROUP}/providers/{DEPLOYMENTS}/d", {"properties": body})
    assert error_of(answer)[:2] == (501, "NotEmulated")
    assert "kubernetes" in error_of(answer)[2]


@pytest.mark.parametrize("text", ["{'one': 'a'}", '{"one": "a", /* b */}', "{one: 'a'}"])
def test_functions_read_json_as_arm_does(text: str) -> None:
    quoted = text.replace("'", "''")
    assert evaluate(f"[json('{quoted}').one]", {}) == "a"
    assert evaluate(f"[base64ToJson(base64('{quoted}')).one]", {}) == "a"


def spec(driver: Driver, template: dict[str, Any], **more: Any) -> None:
    assert driver.call("PUT", SPEC, {"location": "eastus"}, "2022-02-01").status == 201
    body = {"location": "eastus", "properties": {"mainTemplate": template, **more}}
    assert driver.call("PUT", f"{SPEC}/versions/1", body, "2022-02-01").status == 201


def link(driver: Driver, name: str = "d", **link_: Any) -> Any:
    path = f"{GROUP}/providers/{DEPLOYMENTS}/{name}"
    answer = driver.call("PUT", path, {"properties": {"mode": "Incremental", "templateLink": link_}})
    if answer.status >= 400:
        return error_of(answer)
    shown = driver.call("GET", path).body
    assert shown is not None
    return shown["properties"]


def test_a_deployment_links_to_a_template_spec_and_within_it() -> None:
    driver = Driver(timing=INSTANT)
    inner = nested("n", {})
    inner["properties"] = {"mode": "Incremental", "templateLink": {"relativePath": "parts/one.json"}}
    parts = [{"path": "parts/one.json", "template": {"resources": [table("t")]}}]
    spec(driver, {"resources": [inner]}, linkedTemplates=parts)
    shown = link(driver, id=f"{SPEC}/versions/1")
    assert (shown["provisioningState"], shown["templateLink"]) == ("Succeeded", {"id": f"{SPEC}/versions/1"})
    assert "t" in tables(driver)


def test_a_link_to_nothing_is_refused() -> None:
    driver = Driver(timing=INSTANT)
    assert link(driver, id=f"{SPEC}/versions/2")[:2] == (404, "TemplateSpecVersionNotFound")
    spec(driver, {"resources": []})
    assert link(driver, id=f"{SPEC}/versions/1", relativePath="none.json")[1] == "InvalidTemplate"
    without = driver.call("PUT", f"{SPEC}/versions/2", {"location": "eastus", "properties": {}}, "2022-02-01")
    assert error_of(without)[0] == 400
