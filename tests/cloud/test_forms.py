"""A part of a resource that has another JSON form is refused, by every type alike, and what is stored has its form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from fakeazure.arm.forms import ENVELOPE, NUMBER, Form, misfit
from fakeazure.routing import router
from tests.cloud.driver import Driver, error_of
from tests.transports.wellformed import Ask, corpus

WRONG: Mapping[str, tuple[Any, ...]] = {
    "a string": (5, True, [], {}),
    "an object": ("x", 5, False, [], ["x"]),
    "a list of strings": ("1", 1, {}, [1], [None], [[]]),
    "an object of strings": ("x", 5, ["a"], {"a": 5}, {"a": {}}, {"a": None}),
}
"""Words for a form → values that have another."""
WITHIN: tuple[tuple[str, Any, str], ...] = (
    ("sku", {"name": 5}, "'name' must be a string."),
    ("sku", {"capacity": "many"}, "'capacity' must be a number."),
    ("plan", {"publisher": []}, "'publisher' must be a string."),
    ("identity", {"type": {}}, "'type' must be a string."),
    ("identity", {"userAssignedIdentities": ["x"]}, "'userAssignedIdentities' must be an object of objects."),
    ("identity", {"userAssignedIdentities": {"x": 1}}, "'userAssignedIdentities' must be an object of objects."),
    ("extendedLocation", {"name": 1}, "'name' must be a string."),
    ("properties", {"storageProfile": {"dataDisks": {"lun": 1}}}, "'dataDisks' must be a list of objects."),
    ("properties", {"storageProfile": {"dataDisks": [{"lun": "one"}]}}, "'lun' must be a number."),
    ("properties", {"hardwareProfile": "Standard_D2s_v5"}, "'hardwareProfile' must be an object."),
    ("properties", {"ipConfigurations": [{"properties": {"subnet": "s"}}]}, "'subnet' must be an object."),
)

TAKEN: tuple[tuple[str, Any], ...] = (
    ("podIdentityProfile", {"enabled": True, "userAssignedIdentities": [{"name": "n", "namespace": "d"}]}),
    (
        "podIdentityProfile",
        {"userAssignedIdentityExceptions": [{"name": "n", "podLabels": {"status": "x", "zones": "1"}}]},
    ),
    (
        "privateLinkServiceConnections",
        [{"name": "c", "properties": {"privateLinkServiceConnectionState": {"status": "Approved"}}}],
    ),
    ("replicationStatus", {"summary": [{"progress": 50}]}),
    ("applicationProfile", {"galleryApplications": [{"packageReferenceId": "/x", "tags": "a"}]}),
    ("extensionConfigs", {"k8s": {"name": {"value": "x"}}}),
    ("natRules", [{"properties": {"internalMappings": [{"addressSpace": "10.0.0.0/24"}]}}]),
    ("endpoints", [{"name": "e", "scope": {"include": []}}]),
    ("addonProfiles", {"omsagent": {"enabled": True, "config": {"location": "x", "name": "y"}}}),
)
"""Parts of `properties` as types of Azure have them, whose names have another form elsewhere."""


def changes() -> Iterator[Ask]:
    """One PUT and one PATCH of each type that has them."""
    routes: dict[tuple[str, str], Ask] = {}
    for ask in corpus():
        match = router().find(ask.method, ask.path)
        if ask.method in ("PUT", "PATCH") and match is not None and ask.body is not None:
            routes.setdefault((ask.method, match.route.pattern), ask)
    assert set(routes) == {
        (route.method, route.pattern) for route in router().routes if route.method in ("PUT", "PATCH")
    }
    yield from routes.values()


@pytest.fixture(scope="module")
def asks() -> list[Ask]:
    return list(changes())


def told(driver: Driver, ask: Ask, name: str, value: Any) -> tuple[int, str, str]:
    answer = driver.cloud.request(ask.method, ask.path, query=ask.query, body={**ask.body, name: value})
    assert answer.status == 400, (ask.method, ask.path, name, value)
    return error_of(answer)


def deserialized(reason: str) -> tuple[int, str, str]:
    return 400, "InvalidRequestContent", f"The request content was invalid and could not be deserialized: '{reason}'."


@pytest.mark.parametrize(("name", "form"), ENVELOPE.items(), ids=ENVELOPE)
def test_no_type_takes_another_form_in_its_envelope(asks: list[Ask], name: str, form: Form) -> None:
    driver = Driver()
    state = driver.cloud.state
    before = [*state.store.all()], dict(state.groups), dict(state.scoped)
    reason = deserialized(f"'{name}' must be {form.words}.")
    for ask in asks:
        for value in WRONG[form.words]:
            assert told(driver, ask, name, value) == reason
    assert ([*state.store.all()], state.groups, state.scoped) == before


@pytest.mark.parametrize(("name", "value", "reason"), WITHIN)
def test_no_type_takes_another_form_within(asks: list[Ask], name: str, value: Any, reason: str) -> None:
    driver = Driver()
    assert {told(driver, ask, name, value) for ask in asks} == {deserialized(reason)}


@pytest.mark.parametrize(("name", "value"), TAKEN, ids=[f"{name}-{number}" for number, (name, _) in enumerate(TAKEN)])
def test_names_that_have_several_forms_are_taken_in_each(name: str, value: Any) -> None:
    assert misfit({"location": "eastus", "properties": {name: value}}) is None


@pytest.mark.parametrize("value", ["1_000", " 5", "0x10", "nan", "inf", "1e999", True, [], b"5"])
def test_what_no_reader_of_json_takes_is_no_number(value: Any) -> None:
    assert not NUMBER.fits(value)


@pytest.mark.parametrize("value", [0, 64, 1.5, "65", "-1", "1.5e3"])
def test_numbers_may_be_written_as_text(value: Any) -> None:
    assert NUMBER.fits(value)


def test_null_is_as_absent_and_what_users_fill_is_theirs() -> None:
    driver = Driver()
    path = driver.path("Microsoft.Network/routeTables", "own")
    body = {"location": "eastus", **dict.fromkeys(ENVELOPE.keys() - {"location"})}
    assert driver.call("PUT", path, body).status < 300
    extension = {"settings": {"id": 5, "subnets": "all"}, "protectedSettings": {"zones": 1}}
    driver.put_vm("a")
    driver.cloud.advance(600)
    answer = driver.call("PUT", f"{driver.vm_path('a')}/extensions/e", {"location": "eastus", "properties": extension})
    assert answer.status < 300
    assert answer.body is not None
    assert answer.body["properties"]["settings"] == extension["settings"]
