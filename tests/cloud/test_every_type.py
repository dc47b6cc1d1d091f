"""What holds of every resource type that has a location."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from fakeazure.routing import router
from tests.cloud.driver import Driver, error_of
from tests.cloud.test_scale_sets import body as set_body

SETS = "Microsoft.Compute/virtualMachineScaleSets"
MORE: Mapping[str, Mapping[str, Any]] = {
    "Microsoft.Compute/disks": {"properties": {"creationData": {"createOption": "Empty"}, "diskSizeGB": 8}},
    "Microsoft.Compute/availabilitySets": {},
    "Microsoft.Compute/sshPublicKeys": {},
    "Microsoft.Compute/capacityReservationGroups": {},
    "Microsoft.Network/publicIPAddresses": {"sku": {"name": "Standard"}},
    "Microsoft.Network/natGateways": {"sku": {"name": "Standard"}},
    "Microsoft.Network/applicationSecurityGroups": {},
    "Microsoft.Network/publicIPPrefixes": {"properties": {"prefixLength": 28}},
    "Microsoft.Network/privateEndpoints": {},
    "Microsoft.Network/applicationGateways": {},
    "Microsoft.Network/bastionHosts": {},
    "Microsoft.Compute/hostGroups": {"properties": {"platformFaultDomainCount": 1}},
    "Microsoft.Compute/images": {"properties": {"hyperVGeneration": "V2"}},
    "Microsoft.ContainerService/snapshots": {},
}
"""Bodies of types that a new world has none of."""


@pytest.fixture(scope="module")
def driver() -> Driver:
    made = Driver()
    made.put_vm("aks-a")
    for kind, body in {**MORE, SETS: set_body(made, 1)}.items():
        path = made.path(kind, "own")
        assert router().find("PUT", path) is not None, kind
        assert made.call("PUT", path, {"location": "eastus", **body}).status < 300, kind
    made.cloud.advance(600)
    return made


def test_a_resource_stays_where_it_is(driver: Driver) -> None:
    located = [entry for entry in driver.cloud.state.store.all() if "location" in entry.document]
    assert {entry.id.type for entry in located} >= {
        *MORE,
        SETS,
        "Microsoft.Compute/virtualMachines",
        "Microsoft.ContainerService/managedClusters",
        "Microsoft.ManagedIdentity/userAssignedIdentities",
        "Microsoft.Network/loadBalancers",
        "Microsoft.Network/networkInterfaces",
        "Microsoft.Network/networkSecurityGroups",
        "Microsoft.Network/routeTables",
        "Microsoft.Network/virtualNetworks",
    }
    moved = {}
    for entry in located:
        if router().find("PUT", str(entry.id)) is None:
            continue
        answer = driver.call("PUT", str(entry.id), {**entry.document, "location": "westus"})
        moved[entry.id.type] = error_of(answer)[:2] if answer.status >= 400 else (answer.status, "")
        assert driver.cloud.state.store.get(entry.id) == entry
    assert set(moved.values()) == {(409, "InvalidResourceLocation")}, moved


def test_a_place_may_be_spelt_otherwise(driver: Driver) -> None:
    path = driver.path("Microsoft.Network/publicIPAddresses", "own")
    assert driver.call("PUT", path, {"location": "East US", "sku": {"name": "Standard"}}).status < 300


def _same(document: Mapping[str, Any]) -> dict[str, Any]:
    """A document without the marks that every change leaves."""
    properties = {
        key: value for key, value in document["properties"].items() if key not in ("provisioningState", "eTag")
    }
    return {**{key: value for key, value in document.items() if key != "etag"}, "properties": properties}


def test_a_patch_loses_nothing_that_it_does_not_name(driver: Driver) -> None:
    state = driver.cloud.state
    patched = [entry for entry in state.store.all() if router().find("PATCH", str(entry.id)) is not None]
    assert len({entry.id.type for entry in patched}) >= 15
    for entry in patched:
        before = _same(entry.document)
        assert driver.call("PATCH", str(entry.id), {}).status < 300, entry.id.type
        driver.cloud.advance(600)
        found = state.store.get(entry.id)
        assert found is not None
        assert _same(found.document) == before, entry.id.type
        if "tags" not in entry.document:
            continue
        assert driver.call("PATCH", str(entry.id), {"tags": {"a": "b"}}).status < 300, entry.id.type
        driver.cloud.advance(600)
        found = state.store.get(entry.id)
        assert found is not None
        assert _same(found.document) == {**before, "tags": {"a": "b"}}, entry.id.type


def test_a_patch_of_a_part_leaves_its_neighbours(driver: Driver) -> None:
    path = driver.path(SETS, "own")
    before = driver.cloud.state.store.get(path)
    assert before is not None
    storage = {"osDisk": {"caching": "ReadOnly"}}
    patch = {"properties": {"virtualMachineProfile": {"storageProfile": storage}}}
    assert driver.call("PATCH", path, patch).status == 200
    after = driver.cloud.state.store.get(path)
    assert after is not None
    profile, old = (doc["properties"]["virtualMachineProfile"] for doc in (after.document, before.document))
    assert profile == {
        **old,
        "storageProfile": {
            **old["storageProfile"],
            "osDisk": {**old["storageProfile"]["osDisk"], "caching": "ReadOnly"},
        },
    }


def test_ids_are_compared_without_case(driver: Driver) -> None:
    read = [entry for entry in driver.cloud.state.store.all() if router().find("GET", str(entry.id)) is not None]
    assert len({entry.id.type for entry in read}) >= 20
    for entry in read:
        path = str(entry.id)
        assert driver.call("GET", path.upper()).body == driver.call("GET", path.lower()).body, path


def test_expand_adds_to_an_answer_and_takes_nothing_away(driver: Driver) -> None:
    for entry in driver.cloud.state.store.all():
        if router().find("GET", str(entry.id)) is None:
            continue
        plain = driver.call("GET", str(entry.id)).body
        expanded = driver.call("GET", str(entry.id), **{"$expand": "instanceView,userData"}).body
        assert plain is not None
        assert expanded is not None
        assert all(expanded["properties"][key] == value for key, value in plain["properties"].items()), entry.id.type


_SECRETS = {"adminPassword": "a secret", "customData": "c2VjcmV0", "protectedSettings": {"key": "a secret"}}


def test_no_list_and_no_read_has_a_secret_of_any_type() -> None:
    driver = Driver()
    driver.put_nic("aks-a")
    machine = driver.vm_body("aks-a")
    machine["properties"]["osProfile"] |= {"adminPassword": _SECRETS["adminPassword"]}
    driver.call("PUT", driver.vm_path("aks-a"), machine)
    extension = {
        "publisher": "p",
        "type": "t",
        "typeHandlerVersion": "1.0",
        "protectedSettings": _SECRETS["protectedSettings"],
    }
    driver.call("PUT", f"{driver.vm_path('aks-a')}/extensions/e", {"location": "eastus", "properties": extension})
    body = set_body(driver, 1)
    body["properties"]["virtualMachineProfile"]["osProfile"] |= {"adminPassword": _SECRETS["adminPassword"]}
    driver.call("PUT", driver.path(SETS, "own"), body)
    driver.cloud.advance(600)
    asked = 0
    for entry in driver.cloud.state.store.all():
        for path in (str(entry.id), str(entry.id).rpartition("/")[0]):
            if router().find("GET", path) is not None:
                asked += 1
                answer = driver.call("GET", path)
                assert "a secret" not in str(answer.body), path
                assert "IyEvYmluL2Jhc2g=" not in str(answer.body), path  # custom data
    assert asked > 20


def test_no_answer_has_a_secret_and_user_data_only_when_asked() -> None:
    driver = Driver()
    made = driver.put_vm("aks-a")
    path = driver.vm_path("aks-a")
    driver.cloud.advance(600)
    assert driver.call("PATCH", path, {"properties": {"userData": "aGk="}}).status == 200
    plain, asked = driver.call("GET", path).body, driver.call("GET", path, **{"$expand": "userData"}).body
    assert plain is not None
    assert asked is not None
    assert made.status == 201
    assert ("userData" in plain["properties"], asked["properties"]["userData"]) == (False, "aGk=")
    body = set_body(driver, 1)
    profile = body["properties"]["virtualMachineProfile"]
    profile["osProfile"] |= {"adminPassword": "a secret", "customData": "c2VjcmV0"}
    body["properties"]["additionalCapabilities"] = {}
    answer = driver.call("PUT", driver.path(SETS, "own"), body)
    read = driver.call("GET", driver.path(SETS, "own"))
    for document in (answer.body, read.body):
        assert document is not None
        told = document["properties"]["virtualMachineProfile"]["osProfile"]
        assert {"adminPassword", "customData"}.isdisjoint(told)
        assert told["computerNamePrefix"] == "node"
        assert "additionalCapabilities" not in document["properties"]
