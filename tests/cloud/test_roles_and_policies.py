"""Roles of one's own, and policies with what they are assigned as."""

from __future__ import annotations

from typing import Any

import pytest

from fakeazure.beginning import SUBSCRIPTION
from fakeazure.timing import INSTANT
from tests.cloud.driver import Driver, error_of
from tests.cloud.test_template_features import deploy, values

SUB = f"/subscriptions/{SUBSCRIPTION}"
GROUP = f"{SUB}/resourceGroups/rg"
ROLES = f"{SUB}/providers/Microsoft.Authorization/roleDefinitions"
ROLE = "11111111-1111-1111-1111-111111111111"


def test_a_custom_role_is_made_found_assigned_and_deleted() -> None:
    driver = Driver()
    path = f"{GROUP}/providers/Microsoft.Authorization/roleDefinitions/{ROLE}"
    body = {"properties": {"roleName": "Own", "permissions": [{"actions": ["*/read"]}], "assignableScopes": [GROUP]}}
    assert error_of(driver.call("GET", path))[1] == "RoleDefinitionDoesNotExist"
    made = driver.call("PUT", path, body)
    assert made.status == 201
    assert made.body is not None
    assert (made.body["id"], made.body["properties"]["type"]) == (f"{ROLES}/{ROLE}", "CustomRole")
    listed = driver.call("GET", ROLES, **{"$filter": "type eq 'CustomRole'"}).body
    assert listed == {"value": [made.body]}
    assigned = f"{GROUP}/providers/Microsoft.Authorization/roleAssignments/a"
    properties = {"roleDefinitionId": made.body["id"], "principalId": "p"}
    assert driver.call("PUT", assigned, {"properties": properties}).status == 201
    other = path.replace("1111-1111-1111", "1111-2222-1111")
    assert error_of(driver.call("PUT", other, body))[:2] == (409, "RoleDefinitionWithSameNameExists")
    assert driver.call("PUT", path, body).status == 201
    assert driver.call("DELETE", path).status == 200
    assert driver.call("DELETE", path).status == 204


def test_a_role_needs_a_name_and_an_id_of_its_own() -> None:
    driver = Driver()
    assert error_of(driver.call("PUT", f"{ROLES}/{ROLE}", {"properties": {}}))[0] == 400
    reader = "acdd72a7-3385-48ef-bd42-f606fba81ae7"
    assert error_of(driver.call("PUT", f"{ROLES}/{reader}", {"properties": {"roleName": "x"}}))[0] == 400


def test_a_template_refers_to_the_role_that_it_makes() -> None:
    role = {
        "type": "Microsoft.Authorization/roleDefinitions",
        "apiVersion": "2022-04-01",
        "name": ROLE,
        "properties": {"roleName": "Own", "permissions": [], "assignableScopes": ["[resourceGroup().id]"]},
    }
    id_ = f"resourceId('Microsoft.Authorization/roleDefinitions', '{ROLE}')"
    output = {"a": {"type": "string", "value": f"[reference({id_}, '2022-04-01').roleName]"}}
    assert values(deploy(Driver(timing=INSTANT), {"resources": [role], "outputs": output})) == {"a": "Own"}


def test_an_assignment_of_a_policy_has_an_identity_where_it_asks_for_one() -> None:
    driver = Driver()
    policies = f"{SUB}/providers/Microsoft.Authorization"
    for kind in ("policyDefinitions", "policySetDefinitions"):
        made = driver.call("PUT", f"{policies}/{kind}/p", {"properties": {"displayName": "P"}})
        assert made.status == 201
        assert made.body is not None
        assert made.body["properties"]["policyType"] == "Custom"
        read = driver.call("GET", f"{policies}/{kind}/p")
        assert (read.status, read.body) == (200, made.body)
        assert driver.call("DELETE", f"{policies}/{kind}/p").status == 200
        assert error_of(driver.call("GET", f"{policies}/{kind}/p"))[0] == 404
    body = {"location": "eastus", "identity": {"type": "SystemAssigned"}, "properties": {"policyDefinitionId": "p"}}
    shown = driver.call("PUT", f"{policies}/policyAssignments/a", body).body
    assert shown is not None
    assert shown["location"] == "eastus"
    assert len(shown["identity"]["principalId"]) == 36
    plain = driver.call("PUT", f"{policies}/policyAssignments/b", {"properties": {"policyDefinitionId": "p"}}).body
    assert plain is not None
    assert {"identity", "location"}.isdisjoint(plain)


@pytest.mark.parametrize("junk", ["zz", 5, [], [{}], True])
def test_a_policy_of_another_form_is_refused_before_any_list_meets_it(junk: Any) -> None:
    driver = Driver(timing=INSTANT)
    at = f"{SUB}/providers/Microsoft.Authorization"
    for kind in ("policyDefinitions", "policySetDefinitions", "policyAssignments"):
        refused = error_of(driver.call("PUT", f"{at}/{kind}/e", {"properties": {"metadata": junk}}))
        assert refused[:2] == (400, "InvalidRequestContent")
        assert "'metadata' must be an object" in refused[2]
        assert driver.call("GET", f"{at}/{kind}").body == {"value": []}


def test_no_stored_document_makes_a_list_at_a_scope_fail() -> None:
    """Each part that requests bring, of every form: what a PUT takes, every list and filter takes."""
    parts = (
        "metadata",
        "policyType",
        "policyDefinitionId",
        "parameters",
        "policyRule",
        "scope",
        "roleName",
        "level",
        "x",
    )
    at, taken = f"{SUB}/providers/Microsoft.Authorization", 0
    kinds = (
        "policyDefinitions",
        "policySetDefinitions",
        "policyAssignments",
        "locks",
        "roleDefinitions",
        "roleAssignments",
    )
    filters = ("", "atScope()", "policyType eq 'a'", "category eq 'a'", "policyDefinitionId eq 'a'", "type eq 'a'")
    for kind in kinds:
        needed = {"level": "ReadOnly"} if kind == "locks" else {"roleDefinitionId": "r", "principalId": "p"}
        for part in parts:
            for junk in ("zz", 5, None, [], ["x"], [{}], {}, {"category": {}}, {"category": 5}, True):
                driver = Driver(timing=INSTANT)
                body = {"properties": {"roleName": "r", **needed, part: junk}}
                taken += driver.call("PUT", f"{at}/{kind}/{ROLE}", body).status < 300
                assert driver.call("GET", f"{at}/{kind}").status == 200, (kind, part, junk)
                for text in filters:
                    answer = driver.call("GET", f"{at}/{kind}", **{"$filter": text})
                    assert answer.status == 200 or answer.error_code == "InvalidFilterInQueryString", (kind, part, junk)
    assert taken > 100
