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
