"""What Azure fills in where a body says nothing, and what it takes away again."""

from __future__ import annotations

from typing import Any

import pytest

from fakeazure.cloud import FakeAzure
from fakeazure.journal import Journal
from fakeazure.market.spec import lay_over
from fakeazure.timers import ManualClock
from fakeazure.timing import INSTANT
from tests.cloud.driver import CATALOGUE, Driver, error_of


@pytest.mark.parametrize(
    ("kind", "filled"),
    [
        ("Microsoft.Network/natGateways", {"idleTimeoutInMinutes": 4}),
        ("Microsoft.Compute/availabilitySets", {"platformUpdateDomainCount": 5, "virtualMachines": []}),
        ("Microsoft.Compute/proximityPlacementGroups", {"proximityPlacementGroupType": "Standard"}),
    ],
)
def test_what_is_filled_in(kind: str, filled: dict[str, Any]) -> None:
    driver = Driver(timing=INSTANT)
    made = driver.call("PUT", driver.path(kind, "one"), {"location": "eastus"}).body
    assert made is not None
    assert {name: made["properties"][name] for name in filled} == filled


def test_disks_of_images_have_thirty_gigabytes() -> None:
    driver = Driver(timing=INSTANT)
    properties = {"creationData": {"createOption": "FromImage", "imageReference": {"id": "x"}}}
    made = driver.call(
        "PUT", driver.path("Microsoft.Compute/disks", "d"), {"location": "eastus", "properties": properties}
    )
    assert made.body is not None
    assert made.body["properties"]["diskSizeGB"] == 30
    body = driver.vm_body("aks-a")
    del body["properties"]["storageProfile"]["osDisk"]["diskSizeGB"]
    driver.put_nic("aks-a")
    driver.call("PUT", driver.vm_path("aks-a"), body)
    disk = driver.call("GET", driver.path("Microsoft.Compute/disks", "aks-a")).body
    assert disk is not None
    assert disk["properties"]["diskSizeGB"] == 30


def test_a_gateway_needs_its_address() -> None:
    driver = Driver(timing=INSTANT)
    address = driver.path("Microsoft.Network/publicIPAddresses", "a")
    body = {"location": "eastus", "properties": {"publicIpAddresses": [{"id": address}]}}
    refused = driver.call("PUT", driver.path("Microsoft.Network/natGateways", "g"), body)
    assert error_of(refused)[1] == "InvalidResourceReference"
    driver.call("PUT", address, {"location": "eastus", "sku": {"name": "Standard"}})
    assert driver.call("PUT", driver.path("Microsoft.Network/natGateways", "g"), body).status == 201


def test_rules_that_a_group_no_longer_names_are_gone() -> None:
    driver = Driver(timing=INSTANT)
    path = driver.path("Microsoft.Network/networkSecurityGroups", "g")

    def rule(name: str, priority: int) -> dict[str, Any]:
        ways = {"direction": "Inbound", "access": "Allow", "protocol": "*", "priority": priority}
        ports = {"sourcePortRange": "*", "destinationPortRange": "*"}
        places = {"sourceAddressPrefix": "*", "destinationAddressPrefix": "*"}
        return {"name": name, "properties": {**ways, **ports, **places}}

    def names() -> list[str]:
        body = driver.call("GET", f"{path}/securityRules").body
        assert body is not None
        return [one["name"] for one in body["value"]]

    driver.call("PUT", path, {"location": "eastus", "properties": {"securityRules": [rule("a", 100), rule("b", 200)]}})
    assert names() == ["a", "b"]
    driver.call("PUT", path, {"location": "eastus", "properties": {"securityRules": [rule("b", 200)]}})
    assert names() == ["b"]
    driver.call("PUT", path, {"location": "eastus", "properties": {}})
    assert names() == ["b"]


def test_extensions_are_put_again_listed_and_deleted() -> None:
    driver = Driver(timing=INSTANT)
    driver.put_vm("aks-a")
    all_ = f"{driver.vm_path('aks-a')}/extensions"
    body = {"location": "eastus", "properties": {"publisher": "p", "type": "t", "typeHandlerVersion": "1.0"}}
    assert [driver.call("PUT", f"{all_}/e", body).status for _ in range(2)] == [201, 200]
    assert [driver.call("DELETE", f"{all_}/e").status for _ in range(2)] == [200, 204]


def test_a_key_has_a_form() -> None:
    driver = Driver(timing=INSTANT)
    path = driver.path("Microsoft.Compute/sshPublicKeys", "k")
    for key, code in (("ssh-ed25519 AAAA me", 201), ("nonsense", 400)):
        answer = driver.call("PUT", path, {"location": "eastus", "properties": {"publicKey": key}})
        assert answer.status == code


def test_a_market_changes_while_it_runs() -> None:
    closed = {"size": "Standard_D2s_v5", "location": "eastus", "reason": "NotAvailableForSubscription"}
    driver = Driver({"restrictions": [closed], "capacity": [{"size": "Standard_D4s_v5", "vms": 0}]}, timing=INSTANT)
    market = driver.cloud.market
    assert driver.put_vm("a").status == 409
    lay_over(market, {"quota": {"cores": 100}}, now=0)
    assert (driver.put_vm("a").status, len(market.stock.shelves)) == (409, 1)
    lay_over(market, {"restrictions": [], "capacity": []}, now=0)
    assert (driver.put_vm("a").status, market.stock.shelves) == (201, [])
    lay_over(market, {"quota": {"eastus/cores": 7}}, now=0)
    assert (driver.usage("cores"), driver.usage("cores", "westus")[1]) == ((2, 7), 100)
    lay_over(
        market, {"capacity": [{"size": "Standard_D2s_v5", "vms": 0}, {"size": "Standard_E2s_v5", "vms": 5}]}, now=0
    )
    lay_over(market, {"capacity": [{"size": "Standard_D2s_v5", "vms": 9}]}, now=0)
    assert sorted(shelf.left for shelf in market.stock.shelves) == [5, 9]


def test_a_journal_forgets_a_tenth_and_finds_names_in_any_case() -> None:
    cloud = FakeAzure(catalogue=CATALOGUE, journal=Journal(most=20))
    driver = Driver()
    for number in range(21):
        cloud.request("GET", driver.vm_path(f"VM-{number:02}"), query={"api-version": "2025-04-01"})
    assert (len(cloud.journal), cloud.journal.forgotten, cloud.journal.last) == (19, 2, 21)
    assert [call.name for call in cloud.journal.find(name="vm-20")] == ["VM-20"]
    assert cloud.journal.find(name="vm-00") == []


def test_a_clock_stands_or_goes_on() -> None:
    clock = ManualClock(5.0)
    assert [clock.advance(0), clock.advance(0.5)] == [5.0, 5.5]
    with pytest.raises(ValueError, match="does not go back"):
        clock.advance(-0.5)
