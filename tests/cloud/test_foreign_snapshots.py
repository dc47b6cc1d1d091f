"""A snapshot that somebody else has written is refused in one line, or makes a world that answers and whose timers run."""

from __future__ import annotations

import pytest

from fakeazure.routing import router
from tests.cloud.foreign import ABSENT, broken, drawn, saved, tried, whole_world

WITHOUT_STORE = {
    "Microsoft.Authorization/locks",
    "Microsoft.Authorization/policyAssignments",
    "Microsoft.Authorization/policyDefinitions",
    "Microsoft.Authorization/policySetDefinitions",
    "Microsoft.Authorization/roleAssignments",
    "Microsoft.Authorization/roleDefinitions",
    "Microsoft.Network/loadBalancers/backendAddressPools",
    "Microsoft.Network/loadBalancers/inboundNatRules",
    "Microsoft.Resources/deployments",
    "Microsoft.Resources/subscriptions/resourceGroups",
    "Microsoft.Resources/tags/default",
}
"""Types that are kept elsewhere, or as a part of another resource."""


def test_every_type_is_in_the_world() -> None:
    types = {entry.id.type.lower() for entry in whole_world().cloud.state.store.all()}
    made = {f"{route.namespace}/{route.type}".lower() for route in router().routes if route.method == "PUT"}
    assert made - types <= {name.lower() for name in WITHOUT_STORE}, made - types
    fields = saved().document["fields"]
    assert all(fields[name] for name in ("vms", "groups", "assignments", "scoped", "addresses", "deployments"))


def test_a_resource_of_a_deployment_has_a_name() -> None:
    restored, _ = tried(("tables", "deployments", 0, "steps", 0, "id", "names"), [])
    assert not restored


@pytest.mark.parametrize("name", ["mode", "provisioningState"])
@pytest.mark.parametrize("value", [ABSENT, None, 5], ids=["absent", "null", "a number"])
def test_a_deployment_has_a_mode_and_a_state(name: str, value: object) -> None:
    assert tried(("tables", "deployments", 0, "properties", name), value) == (False, [])


def test_the_world_itself_does_no_harm() -> None:
    assert list(broken(whole_world().cloud)) == []


def test_another_value_is_refused_or_harmless() -> None:
    outcomes = [(place, value, *tried(place, value)) for place, value in drawn(7, 60)]
    assert [outcome for outcome in outcomes if outcome[3]] == []
    assert 10 < sum(restored for _, _, restored, _ in outcomes) < 50


@pytest.mark.parametrize("field", ["vms", "instances", "addresses"])
def test_a_resource_without_what_is_known_beside_its_document_is_refused(field: str) -> None:
    keys = [place for place in saved().places if place[:2] == ("fields", field) and len(place) == 3]
    outcomes = {place: tried(place, ABSENT) for place in keys}
    assert outcomes
    assert {place: outcome for place, outcome in outcomes.items() if outcome != (False, [])} == {}
