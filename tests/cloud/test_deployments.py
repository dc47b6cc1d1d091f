"""Deployments: a template's resources in their order, its expressions, its failures."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakeazure.resources.deployments.template_expressions import FUNCTIONS, TemplateError, evaluate
from fakeazure.timing import INSTANT, Timing
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
    standing = {"secret": "s"} if "secret" in (made.get("parameters") or ()) else {}
    given = {key: {"value": value} for key, value in (standing | parameters).items()}
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
        (
            {"resources": [resource("Microsoft.Compute/disks", "a", "2025-01-02", copy={"name": "l", "count": 2})]},
            "defined multiple times",
        ),
        (
            {"resources": [resource("Microsoft.Compute/disks", "a", "2025-01-02", copy={"name": "l", "count": 801})]},
            "from 0 to 800",
        ),
        (
            {"resources": [resource("Microsoft.Compute/disks", "[string(copyIndex())]", "2025-01-02")]},
            "with copy specified",
        ),
        ({"parameters": {"missing": {"type": "string"}}}, "'missing' is not provided"),
    ],
)
def test_templates_that_cannot_be_are_refused(change: dict[str, Any], part: str) -> None:
    driver = Driver()
    status, code, message = error_of(put(driver, {**template(driver), **change}))
    assert (status, code) == (400, "InvalidTemplate")
    assert part in message
    assert error_of(driver.call("GET", driver.path("Microsoft.Resources/deployments", "d")))[1] == "DeploymentNotFound"


DISK = "Microsoft.Compute/disks"


def disks(*dependencies: tuple[str, Any]) -> dict[str, Any]:
    """A template of disks, each with what it depends on."""
    made = [resource(DISK, name, "2025-01-02", location="eastus") for name, _ in dependencies]
    return {"resources": [{**one, "dependsOn": after} for one, (_, after) in zip(made, dependencies, strict=True)]}


def with_name(name: Any) -> dict[str, Any]:
    return {"resources": [resource(DISK, name, "2025-01-02", location="eastus")]}


def with_parameter(expression: str, **more: Any) -> dict[str, Any]:
    return {"resources": [], "parameters": {"p": {"type": "string", "defaultValue": expression}}, **more}


CIRCLE = "Circular dependency detected on resource: '/subscriptions/"


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (disks(("a", ["b"]), ("b", ["a"])), CIRCLE),
        (disks(("a", ["a"])), CIRCLE),
        (disks(*((f"d{n}", [f"d{(n + 1) % 700}"]) for n in range(700))), CIRCLE),
        (disks(("a", ["Microsoft.Compute/disks/b"])), "The resource 'microsoft.compute/disks/b' is not defined in the template."),
        (disks(("a", 5)), "the value of 'dependsOn' is of type 'Integer', expected 'Array'"),
        (disks(("a", [5])), "the value of 'dependsOn' is of type 'Integer', expected 'String'"),
        (disks(("a", []), ("A", [])), "The resource 'Microsoft.Compute/disks/A' is defined multiple times in a template."),
        (disks(*((f"d{n}", []) for n in range(801))), "The number of template resources limit exceeded. Limit: '800' and actual: '801'."),
        (with_name(None), "has an invalid name"),
        (with_name([1]), "the value of 'name' is of type 'Array', expected 'String'"),
        (with_name({"a": 1}), "the value of 'name' is of type 'Object', expected 'String'"),
        (with_name("[createArray('a')]"), "the value of 'name' is of type 'Array', expected 'String'"),
        (with_name("[json('NaN')]"), "The template language function 'json' expects its parameter to be JSON."),
        ({"resources": [{**resource(DISK, "a", "x"), "condition": "yes"}]}, "'condition' is of type 'String', expected 'Boolean'"),
        (with_parameter("[variables('a')]", variables={"a": "[variables('a')]"}), "The template variable 'a' is not valid"),
        (with_parameter("[createObject('a', 1)]"), "Template parameter JToken type is not valid. Expected 'String, Uri'. Actual 'Object'."),
        (with_parameter("[resourceId('a')]"), "Unable to evaluate template language function 'resourceId': function requires fully"),
        (with_parameter("[resourceId()]"), "The template language function 'resourceId' was invoked with '0' parameter(s)"),
        ({"resources": [], "variables": {f"v{n}": 1 for n in range(513)}}, "The number of template variables limit exceeded."),
    ],
)  # fmt: skip
def test_templates_that_cannot_be_deployed_are_refused_at_once(made: dict[str, Any], words: str) -> None:
    driver = Driver()
    status, code, message = error_of(put(driver, made))
    assert (status, code) == (400, "InvalidTemplate")
    assert message.startswith(f"Deployment template validation failed: '{words[:10]}") or words in message
    assert words in message
    assert not driver.cloud.state.deployments
    assert not driver.cloud.state.operations.running()


def test_outputs_have_the_type_that_they_declare() -> None:
    driver = Driver(timing=INSTANT)
    outputs = {
        "number": {"type": "int", "value": "[string(1)]"},
        "text": {"type": "string", "value": "[first(createArray())]"},
        "list": {"type": "array", "value": "[createArray(1)]"},
        "absent": {"type": "string", "nullable": True, "value": None},
    }
    put(driver, {"resources": [], "outputs": outputs})
    properties = shown(driver)
    error = properties["error"]
    assert (properties["provisioningState"], error["code"]) == ("Failed", "DeploymentOutputEvaluationFailed")
    assert error["message"].startswith("Unable to evaluate template outputs: 'number,text'. ")
    assert [(detail["target"], detail["message"].partition(" Please")[0]) for detail in error["details"]] == [
        (name, f"The template output '{name}' is not valid: Template output JToken type is not valid. {words}")
        for name, words in (
            ("number", "Expected 'Integer'. Actual 'String'."),
            ("text", "Expected 'String, Uri'. Actual 'Null'."),
        )
    ]
    put(driver, {"resources": [], "outputs": {name: outputs[name] for name in ("list", "absent")}})
    assert shown(driver)["outputs"] == {
        "list": {"type": "Array", "value": [1]},
        "absent": {"type": "String", "value": None},
    }


def test_what_depends_on_a_failure_is_not_made() -> None:
    driver = Driver(timing=INSTANT)
    made = disks(("first", []), ("second", ["first"]))
    made["resources"][0]["properties"] = {"creationData": {"createOption": "Empty"}, "diskSizeGB": -1}
    made["resources"][1]["properties"] = {"creationData": {"createOption": "Empty"}, "diskSizeGB": 4}
    put(driver, made)
    assert shown(driver)["provisioningState"] == "Failed"
    assert not list(driver.cloud.state.store.list(DISK))


def test_many_resources_that_wait_for_each_other_are_made_in_order() -> None:
    driver = Driver(timing=INSTANT)
    made = disks(*((f"d{n:03}", [f"d{other:03}" for other in range(max(0, n - 100), n)]) for n in range(300)))
    for one in made["resources"]:
        one |= {"location": "eastus", "properties": {"creationData": {"createOption": "Empty"}, "diskSizeGB": 4}}
    made["resources"].reverse()
    put(driver, made)
    assert shown(driver)["provisioningState"] == "Succeeded"
    assert [entry.id.name for entry in driver.cloud.state.store.list(DISK)] == [f"d{n:03}" for n in range(300)]


def test_a_group_remembers_its_newest_deployments() -> None:
    driver = Driver(timing=INSTANT)
    for number in range(803):
        put(driver, {"resources": [], "outputs": {}}, f"n{number}")
    body = driver.call("GET", driver.path("Microsoft.Resources/deployments")).body
    assert body is not None
    assert [one["name"] for one in body["value"]] == [f"n{number}" for number in range(3, 803)]


def doubled(
    first: str, times: int, *, expression: str = "[concat(variables('v{n}'), variables('v{n}'))]"
) -> dict[str, Any]:
    """Variables of which each is twice the one before."""
    variables = {f"v{n + 1}": expression.replace("{n}", str(n)) for n in range(times)}
    return {"v0": first, **variables}


def test_each_variable_is_evaluated_once() -> None:
    driver = Driver(timing=INSTANT)
    outputs = {"o": {"type": "int", "value": "[length(variables('v16'))]"}}
    put(driver, {"resources": [], "variables": doubled("aa", 16), "outputs": outputs})
    assert shown(driver)["outputs"]["o"]["value"] == 2**17  # 65,000 evaluations of the first otherwise


@pytest.mark.parametrize(
    ("expression", "variables"),
    [
        ("[variables('v60')]", doubled("aaaaaaaaaa", 60)),
        ("[variables('v60')]", doubled("x", 60, expression="[createArray(variables('v{n}'), variables('v{n}'))]")),
        ("[variables('v400')]", {f"v{n}": f"[variables('v{n - 1}')]" if n else "a" for n in range(401)}),
        ("[" + "concat(variables('a'), " * 40 + "'')" + ")" * 40 + "]", {"a": "a" * 1_000_000}),
        ("[replace(variables('a'), 'a', variables('a'))]", {"a": "a" * 100_000}),
        ("[format('" + "{0}" * 6000 + "', variables('a'))]", {"a": "a" * 100_000}),
        ("[join(range(0, 10000), variables('a'))]", {"a": "a" * 100_000}),
        ("[string(variables('v12'))]", doubled("x" * 9000, 12, expression="[createArray(variables('v{n}'), variables('v{n}'))]")),
        ("[concat(" + ", ".join(["'a'"] * 9000) + ")]", {}),
        ("[" + "not(" * 3000 + "true()" + ")" * 3000 + "]", {}),
    ],
    ids=["text", "arrays", "chain", "concat", "replace", "format", "join", "string", "length", "depth"],
)  # fmt: skip
def test_expressions_that_come_to_too_much_are_refused(expression: str, variables: dict[str, Any]) -> None:
    driver = Driver()
    made = {
        "resources": [],
        "variables": variables,
        "parameters": {"p": {"type": "string", "defaultValue": expression}},
    }
    status, code, _ = error_of(put(driver, made))
    assert (status, code) == (400, "InvalidTemplate")


def test_a_template_of_many_expressions_is_refused() -> None:
    driver = Driver()
    outputs = {f"o{n}": {"type": "array", "value": ["[add(1, add(2, 3))]"] * 1000} for n in range(60)}
    put(driver, {"resources": [], "outputs": outputs})
    assert "more steps to evaluate than are allowed" in str(shown(driver)["error"])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[div(7, -2)]", -3),
        ("[mod(-7, 2)]", -1),
        ("[div(9007199254740993, 1)]", 9007199254740993),
        ("[mul(3037000499, 3037000499)]", 9223372030926249001),
        ("[int(' 12 ')]", 12),
        ("[max(createArray(1, 3, 2))]", 3),
        ("[contains(createArray(1), true())]", False),
        ("[equals(1, true())]", False),
        ("[json('{\"a\": [1, null]}').a]", [1, None]),
        ("[range(5, 0)]", []),
        ("[split('a;b,c', createArray(';', ','))]", ["a", "b", "c"]),
        ("[bool('TRUE')]", True),
        ("[lessOrEquals('a', 'a')]", True),
        ("[coalesce(null(), null())]", None),
        ("[base64ToString(base64('é'))]", "é"),
        ("[bool('1')]", False),
        ("[bool(-2)]", True),
        ("[equals(createArray(1), createArray(true()))]", False),
        ("[contains(createArray(createObject('a', 1)), createObject('a', true()))]", False),
        ("[intersection(createObject('a', 1, 'b', 2), createObject('a', true(), 'b', 2))]", {"b": 2}),
        ("[indexOf(createArray(createArray(1)), createArray(true()))]", -1),
        ("[string(createObject('a', 'ü'))]", '{"a":"ü"}'),
        ("[first(createArray())]", None),
        ("[last('')]", ""),
        ("[format('{{\"a\": \"{0}\"}}', 'x')]", '{"a": "x"}'),
        (
            "[format('{0}, {1}. Formatted number: {2:N0}', 'Hello', 'User', 8175133)]",
            "Hello, User. Formatted number: 8,175,133",
        ),
        ("[format('{0,4}|{0,-4}|{0:D3}|{0:X4}|{0:000}|{0:F1}|{1:D3}', 42, 'a')]", "  42|42  |042|002A|042|42.0|a"),
        ("[format('{0:x}', -1)]", "ffffffffffffffff"),
        ("[dateTimeAdd('2020-04-07 04:03:02Z', 'P3Y', 'yyyy-M-d H:m:s')]", "2023-4-7 4:3:2"),
        ("[dateTimeAdd('2020-04-07 14:53:14Z', 'P1D', 'R')]", "Wed, 08 Apr 2020 14:53:14 GMT"),
    ],
)
def test_functions_follow_arms_rules(text: str, value: Any) -> None:
    assert evaluate(text, {}) == value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[div(1, 0)]", "'div' was invoked with a divisor of zero"),
        ("[mod(1, 0)]", "'mod' was invoked with a divisor of zero"),
        ("[mul('a', 100000000000)]", "expects its parameter to be an integer. The provided value is of type 'String'"),
        ("[mul(createArray(1), 10)]", "expects its parameter to be an integer. The provided value is of type 'Array'"),
        ("[mul(9223372036854775807, 2)]", "too large or too small for an Int64"),
        ("[add(99999999999999999999, 1)]", "too large or too small for an Int64"),
        ("[add(true(), 1)]", "The provided value is of type 'Boolean'"),
        ("[length(5)]", "expects its parameter to be a string, an array or an object"),
        ("[max('a', 1)]", "expects integers"),
        ("[createObject(1, 2)]", "expects pairs of a string and a value"),
        ("[createObject(null(), 1)]", "expects pairs of a string and a value"),
        ("[createArray(1)[true()]]", "The language expression property 'True' doesn't exist"),
        ("[json('NaN')]", "expects its parameter to be JSON"),
        ("[json('[1e999]')]", "expects its parameter to be JSON"),
        ("[json('" + "[" * 100_000 + "')]", "length limit exceeded"),
        ("[json('" + "[" * 5000 + "')]", "expects its parameter to be JSON"),
        ("[replace('a', '', 'b')]", "a string that is not empty"),
        ("[split('a', '')]", "a delimiter that is not empty"),
        ("[format('{99999999999999}')]", "has no parameter for"),
        ("[range(0, -5)]", "from 0 to 10000"),
        ("[range('a', 5)]", "expects its parameter to be an integer"),
        ("[int('1_0')]", "a string that is an integer"),
        ("[substring('abc', 2, 5)]", "out of range"),
        ("[coalesce()]", "was invoked with '0' parameter(s)"),
        ("[toLower('a', 'b')]", "was invoked with '2' parameter(s)"),
        ("[less('a', 1)]", "two parameters of one type"),
        ("[base64ToString('%')]", "base64 of UTF-8"),
        ("[format('{')]", "'{{' and '}}' for braces"),
        ("[format('{0:C}', 1)]", "a format of numbers that is not emulated: 'C'"),
        ("[format('{0,9999999}', 1)]", "a width that is too large"),
        ("[float('nan')]", "a string that is a number"),
        ("[float('1e999')]", "a string that is a number"),
        ("[lambda('x', 1)]", "The template function 'lambda' is not valid here"),
        (
            "[createArray(lambda('x', 1))]",
            "expects its parameter to be a value. The provided value is of type 'Lambda'",
        ),
        ("[map(createArray(1), lambda('x', lambda('y', 1)))]", "The template function 'lambda' is not valid here"),
    ],
)
def test_functions_refuse_in_arms_form(text: str, words: str) -> None:
    with pytest.raises(TemplateError, match=re.escape(words)):
        evaluate(text, {})


LITERALS = (
    "'a'",
    "''",
    "'[{0}]'",
    "0",
    "-1",
    "9223372036854775807",
    "null()",
    "true()",
    "createObject('a', 1)",
    "json('1.5')",
    "'1e999'",
    "lambda('x', lambdaVariables('x'))",
)


def call(name: str, arguments: list[str], tail: str) -> str:
    return f"{name}({', '.join(arguments)}){tail}"


def calls(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    tails = st.sampled_from(["", "", "[0]", ".a"])
    return st.builds(call, st.sampled_from(sorted(FUNCTIONS)), st.lists(inner, max_size=4), tails)


@settings(max_examples=300, deadline=None)
@given(st.recursive(st.sampled_from(LITERALS), calls, max_leaves=12))
def test_any_expression_is_a_value_or_a_refusal(text: str) -> None:
    try:
        found = evaluate(f"[{text}]", {})
    except TemplateError:
        return
    json.dumps(found, allow_nan=False)


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
