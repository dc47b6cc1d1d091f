"""What templates have beside resources: copy loops, nested deployments, functions of their own, symbols; scopes, what-if, outputs."""

from __future__ import annotations

from typing import Any

import pytest

from fakeazure.beginning import SUBSCRIPTION
from fakeazure.resources.deployments.template_expressions import TemplateError, evaluate
from fakeazure.timing import INSTANT, Timing
from tests.cloud.driver import Driver, error_of

SUB = f"/subscriptions/{SUBSCRIPTION}"
TABLES = "Microsoft.Network/routeTables"
DEPLOYMENTS = "Microsoft.Resources/deployments"


def table(name: str, **more: Any) -> dict[str, Any]:
    return {"type": TABLES, "apiVersion": "2022-01-01", "name": name, "location": "eastus", "properties": {}, **more}


def nested(name: str, template: dict[str, Any], *, scope: str = "inner", **more: Any) -> dict[str, Any]:
    properties = {"mode": "Incremental", "template": template, **more.pop("properties", {})}
    if scope:
        properties["expressionEvaluationOptions"] = {"scope": scope}
    return {"type": DEPLOYMENTS, "apiVersion": "2022-09-01", "name": name, "properties": properties, **more}


def deploy(
    driver: Driver, template: dict[str, Any], name: str = "d", *, at: str = "", mode: str = "Incremental", **given: Any
) -> Any:
    path = f"{at or f'{SUB}/resourceGroups/rg'}/providers/{DEPLOYMENTS}/{name}"
    parameters = {key: {"value": value} for key, value in given.items()}
    body: dict[str, Any] = {"properties": {"mode": mode, "template": template, "parameters": parameters}}
    if at == SUB:
        body["location"] = "eastus"
    answer = driver.call("PUT", path, body)
    if answer.status >= 400:
        return error_of(answer)[2]
    driver.cloud.advance(600)
    found = driver.call("GET", path).body
    assert found is not None
    return found["properties"]


def tables(driver: Driver, group: str = "rg") -> list[str]:
    found = driver.call("GET", f"{SUB}/resourceGroups/{group}/providers/{TABLES}").body
    assert found is not None
    return [one["name"] for one in found["value"]]


def values(properties: Any) -> dict[str, Any]:
    assert properties["provisioningState"] == "Succeeded", properties.get("error")
    return {name: output["value"] for name, output in properties["outputs"].items()}


@pytest.mark.parametrize(
    ("declared", "value", "words"),
    [
        ({"type": "string", "minLength": 3}, "ab", "Length of the value should be greater than or equal to '3'."),
        ({"type": "securestring", "maxLength": 1}, "ab", "Length of the value should be less than or equal to '1'."),
        ({"type": "array", "maxLength": 1}, [1, 2], "Length of the value should be less than or equal to '1'."),
        ({"type": "int", "minValue": 3}, 2, "The value should be greater than or equal to '3'."),
        ({"type": "int", "maxValue": 3}, 4, "The value should be less than or equal to '3'."),
    ],
)
def test_a_parameter_is_held_to_its_bounds(declared: dict[str, Any], value: Any, words: str) -> None:
    driver = Driver(timing=INSTANT)
    template = {"parameters": {"p": declared}, "resources": []}
    assert f"The provided value for the template parameter 'p' is not valid. {words}" in deploy(
        driver, template, p=value
    )
    for bound in ("minLength", "maxLength", "minValue", "maxValue"):
        if bound in declared:
            declared[bound] = len(value) if isinstance(value, str | list) else value
    assert deploy(driver, template, p=value)["provisioningState"] == "Succeeded"


def test_a_parameter_that_a_template_has_not_is_refused() -> None:
    driver = Driver(timing=INSTANT)
    template: dict[str, Any] = {"parameters": {"a": {"type": "int"}, "b": {"type": "int"}}, "resources": []}
    refusal = deploy(driver, template, A=1, b=2, c=3, d=4)
    assert "The template parameters 'c, d' in the parameters file are not valid" in refusal
    assert "The only supported parameters for this template are 'a, b'." in refusal
    inner = nested("inner", {"parameters": {}, "resources": []}, properties={"parameters": {"c": {"value": 1}}})
    assert "The template parameters 'c'" in str(deploy(driver, {"resources": [inner]}))


def test_a_resource_is_copied_and_can_be_waited_for_by_the_name_of_its_loop() -> None:
    driver = Driver(timing=INSTANT)
    template = {
        "parameters": {"count": {"type": "int"}},
        "variables": {"copy": [{"name": "names", "count": 3, "input": "[concat('n', copyIndex('names', 1))]"}]},
        "resources": [
            table("last", dependsOn=["tables"]),
            table(
                "[variables('names')[copyIndex()]]",
                copy={"name": "tables", "count": "[parameters('count')]"},
                tags={"number": "[string(copyIndex('tables', 10))]"},
            ),
        ],
        "outputs": {
            "ids": {
                "type": "array",
                "copy": {"count": 2, "input": "[resourceId('a.b/c', variables('names')[copyIndex()])]"},
            },
            "tag": {
                "type": "string",
                "value": f"[reference(resourceId('{TABLES}', 'n3'), '2022-01-01', 'full').tags.number]",
            },
        },
    }
    found = values(deploy(driver, template, count=3))
    assert tables(driver) == ["n1", "n2", "n3", "last"]
    assert found["tag"] == "12"
    assert [id_.rpartition("/")[2] for id_ in found["ids"]] == ["n1", "n2"]


def test_a_property_is_copied() -> None:
    driver = Driver(timing=INSTANT)
    rules = {"name": "subnets", "count": 2, "input": {"name": "[format('s{0}', copyIndex('subnets'))]"}}
    rules["input"]["properties"] = {"addressPrefix": "[cidrSubnet('10.1.0.0/16', 24, copyIndex('subnets'))]"}  # type: ignore[index]
    properties = {"addressSpace": {"addressPrefixes": ["10.1.0.0/16"]}, "copy": [rules]}
    network = table("v", type="Microsoft.Network/virtualNetworks", properties=properties)
    output = {
        "value": "[map(reference('v').subnets, lambda('s', lambdaVariables('s').properties.addressPrefix))]",
        "type": "array",
    }
    assert values(deploy(driver, {"resources": [network], "outputs": {"prefixes": output}})) == {
        "prefixes": ["10.1.0.0/24", "10.1.1.0/24"]
    }


def test_rounds_of_a_serial_loop_wait_for_those_before() -> None:
    driver = Driver(timing=Timing(vm_create=60))
    driver.put_nic("aks-0")
    driver.put_nic("aks-1")
    vm = driver.vm_body("aks-0")
    vm["properties"]["networkProfile"]["networkInterfaces"][0]["id"] = (
        f"[concat('{driver.nic_path('aks-')}', copyIndex())]"
    )
    for part in (vm["properties"]["storageProfile"]["osDisk"], vm["properties"]["osProfile"]):
        part.pop("name", None)
    resource = {
        "type": "Microsoft.Compute/virtualMachines",
        "apiVersion": "2025-04-01",
        "name": "[concat('aks-', copyIndex())]",
    }
    resource |= {
        "location": "eastus",
        "properties": vm["properties"],
        "copy": {"name": "l", "count": 2, "mode": "Serial"},
    }
    path = driver.path(DEPLOYMENTS, "d")
    assert (
        driver.call("PUT", path, {"properties": {"mode": "Incremental", "template": {"resources": [resource]}}}).status
        == 201
    )
    assert [one.name for one in driver.cloud.vms()] == ["aks-0"]
    driver.cloud.advance(120)
    assert [one.name for one in driver.cloud.vms()] == ["aks-0", "aks-1"]


@pytest.mark.parametrize(("scope", "name"), [("inner", "inside"), ("outer", "outside"), ("", "outside")])
def test_a_nested_deployment_has_a_scope_of_its_own_or_that_around_it(scope: str, name: str) -> None:
    driver = Driver(timing=INSTANT)
    inner = {
        "parameters": {"tag": {"type": "string", "defaultValue": "unused"}},
        "resources": [table("[parameters('tag')]")],
        "outputs": {"name": {"type": "string", "value": "[parameters('tag')]"}},
    }
    template = {
        "parameters": {"tag": {"type": "string"}},
        "resources": [nested("in", inner, scope=scope, properties={"parameters": {"tag": {"value": "inside"}}})],
        "outputs": {"name": {"type": "string", "value": "[reference('in').outputs.name.value]"}},
    }
    assert values(deploy(driver, template, tag="outside")) == {"name": name}
    assert tables(driver) == [name]


def test_a_nested_deployment_that_fails_fails_the_one_around_it() -> None:
    driver = Driver(timing=INSTANT)
    inner = {"resources": [table("t", location="nowhere")]}
    failed = deploy(driver, {"resources": [nested("in", inner), table("after", dependsOn=["in"])]})
    assert failed["provisioningState"] == "Failed"
    [detail] = failed["error"]["details"]
    assert detail["details"][0]["code"] == "LocationNotAvailableForResourceType"
    assert tables(driver) == []


def test_a_subscription_gets_groups_roles_and_what_is_in_the_groups() -> None:
    driver = Driver(timing=INSTANT)
    role = "b24988ac-6180-42a0-ab88-20f7382dd24c"
    template = {
        "resources": [
            {
                "type": "Microsoft.Resources/resourceGroups",
                "apiVersion": "2024-03-01",
                "name": "made",
                "location": "eastus",
            },
            nested("in", {"resources": [table("t")]}, resourceGroup="made", dependsOn=["made"]),
            {
                "type": "Microsoft.Authorization/roleAssignments",
                "apiVersion": "2022-04-01",
                "name": "[guid(subscription().id, 'x')]",
                "properties": {
                    "roleDefinitionId": f"[subscriptionResourceId('Microsoft.Authorization/roleDefinitions', '{role}')]",
                    "principalId": "11111111-2222-3333-4444-555555555555",
                },
            },
        ],
        "outputs": {"group": {"type": "string", "value": "[subscription().subscriptionId]"}},
    }
    assert values(deploy(driver, template, at=SUB)) == {"group": SUBSCRIPTION}
    assert tables(driver, "made") == ["t"]
    assert len(driver.cloud.state.assignments) == 1
    listed = driver.call("GET", f"{SUB}/providers/{DEPLOYMENTS}").body
    assert listed is not None
    assert [(one["name"], one["location"]) for one in listed["value"]] == [("d", "eastus")]


def test_symbols_existing_resources_and_references_without_depends_on() -> None:
    driver = Driver(timing=INSTANT)
    network = "aks-vnet-12345678"
    template = {
        "languageVersion": "2.0",
        "resources": {
            "uses": table("uses", tags={"of": "[reference('made').provisioningState]"}),
            "net": table(
                network, type="Microsoft.Network/virtualNetworks", existing=True, resourceGroup="MC_rg_c_eastus"
            ),
            "made": table("made"),
            "many": table("[format('many{0}', copyIndex())]", copy={"name": "many", "count": 2}, dependsOn=["made"]),
        },
        "outputs": {
            "space": {"type": "string", "value": "[reference('net').addressSpace.addressPrefixes[0]]"},
            "many": {"type": "int", "value": "[length(references('many', 'full'))]"},
            "safe": {"type": "string", "nullable": True, "value": "[tryGet(reference('net'), 'no', 'such')]"},
        },
    }
    assert values(deploy(driver, template)) == {"space": "10.224.0.0/12", "many": 2, "safe": None}
    assert set(tables(driver)) == {"made", "uses", "many0", "many1"}


def test_a_template_declares_functions() -> None:
    members = {
        name: {"parameters": [{"name": "x", "type": "int"}], "output": {"type": "int", "value": f"[{value}]"}}
        for name, value in (
            ("twice", "mul(parameters('x'), 2)"),
            ("four", "__bicep.twice(__bicep.twice(parameters('x')))"),
        )
    }
    template = {
        "functions": [{"namespace": "__bicep", "members": members}],
        "resources": [],
        "outputs": {"n": {"type": "int", "value": "[__bicep.four(5)]"}},
    }
    assert values(deploy(Driver(), template)) == {"n": 20}


def test_what_if_tells_changes_and_makes_none() -> None:
    driver = Driver(timing=INSTANT)
    for name in ("same", "other", "changed"):
        driver.call(
            "PUT", f"{SUB}/resourceGroups/rg/providers/{TABLES}/{name}", {"location": "eastus", "tags": {"a": "b"}}
        )
    wanted = [table("same", tags={"a": "b"}), table("changed", tags={"a": "c"}), table("new")]
    path = f"{SUB}/resourceGroups/rg/providers/{DEPLOYMENTS}/d"
    for mode, left in (("Incremental", "Ignore"), ("Complete", "Delete")):
        body = {"properties": {"mode": mode, "template": {"resources": wanted}}}
        answer = driver.call("POST", f"{path}/whatIf", body)
        told = driver.poll(answer, "Location").body
        assert told is not None
        found = {one["resourceId"].rpartition("/")[2]: one for one in told["properties"]["changes"]}
        assert {name: one["changeType"] for name, one in found.items()} == {
            "same": "NoChange",
            "changed": "Modify",
            "new": "Create",
            "other": left,
            "c": left,  # the world's own cluster
        }
        assert found["changed"]["delta"] == [
            {"path": "tags.a", "propertyChangeType": "Modify", "before": "b", "after": "c"}
        ]
    assert tables(driver) == ["same", "other", "changed"]


def test_a_complete_deployment_deletes_what_it_does_not_name() -> None:
    driver = Driver(timing=INSTANT)
    for name in ("kept", "gone"):
        driver.call("PUT", f"{SUB}/resourceGroups/rg/providers/{TABLES}/{name}", {"location": "eastus"})
    deploy(driver, {"resources": [table("kept")]}, mode="Complete")
    assert tables(driver) == ["kept"]


def test_a_deployment_that_runs_is_not_replaced_and_can_be_cancelled() -> None:
    driver = Driver(timing=Timing(vm_create=600))
    driver.put_nic("aks-a")
    body = driver.vm_body("aks-a")
    vm = {"type": "Microsoft.Compute/virtualMachines", "apiVersion": "2025-04-01", "name": "aks-a", **body}
    path = driver.path(DEPLOYMENTS, "d")
    wanted = {"properties": {"mode": "Incremental", "template": {"resources": [vm, table("t", dependsOn=["aks-a"])]}}}
    assert driver.call("PUT", path, wanted).status == 201
    assert error_of(driver.call("PUT", path, wanted))[:2] == (409, "DeploymentActive")
    assert driver.call("POST", f"{path}/cancel").status == 204
    assert error_of(driver.call("POST", f"{path}/cancel"))[0] == 409
    driver.cloud.advance(3600)
    shown = driver.call("GET", path).body
    assert shown is not None
    assert shown["properties"]["provisioningState"] == "Canceled"
    assert "t" not in tables(driver, "MC_rg_c_eastus")


def test_a_link_is_not_followed() -> None:
    driver = Driver()
    path = driver.path(DEPLOYMENTS, "d")
    body = {"properties": {"mode": "Incremental", "templateLink": {"uri": "https://example.com/t.json"}}}
    status, code, message = error_of(driver.call("PUT", path, body))
    assert (status, code) == (400, "InvalidTemplate")
    assert "does not fetch" in message


@pytest.mark.parametrize("values_", [["x"], "a", None])
def test_a_value_that_is_not_allowed_is_refused(values_: Any) -> None:
    parameter = {"type": "string", "allowedValues": ["x"]}
    told = deploy(Driver(), {"parameters": {"p": parameter}, "resources": []}, p=values_)
    assert "parameter" in told


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("cidrSubnet('10.144.0.0/20', 24, 1)", "10.144.1.0/24"),
        ("cidrSubnet('fd00::/48', 64, 2)", "fd00:0:0:2::/64"),
        ("cidrHost('10.144.3.0/24', 0)", "10.144.3.1"),
        ("parseCidr('10.144.0.0/20').lastUsable", "10.144.15.254"),
        ("filter(createArray(1, 2, 3), lambda('x', greater(lambdaVariables('x'), 1)))", [2, 3]),
        ("map(range(0, 2), lambda('x', 'i', add(lambdaVariables('x'), lambdaVariables('i'))))", [0, 2]),
        ("reduce(createArray(1, 2, 3), 0, lambda('a', 'b', add(lambdaVariables('a'), lambdaVariables('b'))))", 6),
        ("sort(createArray(3, 1, 2), lambda('a', 'b', less(lambdaVariables('a'), lambdaVariables('b'))))", [1, 2, 3]),
        ("toObject(createArray('a', 'b'), lambda('x', lambdaVariables('x')), lambda('x', 1))", {"a": 1, "b": 1}),
        (
            "groupBy(createArray('ab', 'ac', 'b'), lambda('x', first(lambdaVariables('x'))))",
            {"a": ["ab", "ac"], "b": ["b"]},
        ),
        ("items(createObject('b', 1, 'a', 2))", [{"key": "a", "value": 2}, {"key": "b", "value": 1}]),
        (
            "union(createObject('a', createObject('x', 1)), createObject('a', createObject('y', 2)))",
            {"a": {"x": 1, "y": 2}},
        ),
        ("intersection(createArray(1, 2, 3), createArray(3, 2))", [2, 3]),
        ("if(true(), 1, reference('nothing'))", 1),
        ("tryGet(createArray(createObject('a', 1)), 0, 'A')", 1),
        ("indexOf('abcb', 'B')", 1),
        ("lastIndexOf(createArray(1, 2, 1), 1)", 2),
        ("padLeft(7, 3, '0')", "007"),
        ("uri('https://a/b/c.json', 'd.json')", "https://a/b/d.json"),
        ("uriComponent('a b/c')", "a%20b%2Fc"),
        ("base64ToJson(base64('{\"a\": 1}')).a", 1),
        ("dataUriToString(dataUri('hello'))", "hello"),
        ("dateTimeAdd('2020-01-31T00:00:00Z', 'P1M', 'yyyy-MM-dd')", "2020-02-29"),
        ("dateTimeAdd('20200101T000000Z', '-PT1H')", "2019-12-31T23:00:00Z"),
        ("dateTimeToEpoch('2020-01-01T00:00:00Z')", 1577836800),
        ("flatten(createArray(createArray(1), createArray(2)))", [1, 2]),
        ("shallowMerge(createArray(createObject('a', 1), createObject('b', 2)))", {"a": 1, "b": 2}),
        ("mapValues(createObject('a', 1), lambda('v', add(lambdaVariables('v'), 1)))", {"a": 2}),
    ],
)
def test_functions_that_bicep_writes(text: str, value: Any) -> None:
    assert evaluate(f"[{text}]", {}) == value


@pytest.mark.parametrize(
    "text",
    ["cidrSubnet('10.0.0.0/24', 16, 0)", "cidrSubnet('x', 24, 0)", "cidrHost('10.0.0.0/30', 9)", "lambdaVariables('x')", "fail('no')",
     "map(createArray(1), 2)", "lambda()", "filter(createArray(1), lambda('x', 1))", "a.b(1)", "if(1, 2, 3)"],
)  # fmt: skip
def test_functions_refuse_what_they_cannot_take(text: str) -> None:
    with pytest.raises(TemplateError):
        evaluate(f"[{text}]", {})
