"""What Azure fills in where a body says nothing, and what it takes away again."""

from __future__ import annotations

from typing import Any

import pytest

from fakeazure.cloud import FakeAzure
from fakeazure.journal import Call, Journal
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


@pytest.mark.parametrize(
    ("size", "tier", "iops"),
    [(1, "P1", 120), (4, "P1", 120), (5, "P2", 120), (128, "P10", 500), (129, "P15", 1100), (32767, "P80", 20000)],
)
def test_a_premium_disk_is_as_fast_as_its_tier(size: int, tier: str, iops: int) -> None:
    driver = Driver(timing=INSTANT)
    properties = {"creationData": {"createOption": "Empty"}, "diskSizeGB": size}
    body = {"location": "eastus", "sku": {"name": "Premium_LRS"}, "properties": properties}
    made = driver.call("PUT", driver.path("Microsoft.Compute/disks", "d"), body).body
    assert made is not None
    assert (made["properties"]["tier"], made["properties"]["diskIOPSReadWrite"]) == (tier, iops)
    kind = {"name": "Premium_LRS", "tier": "Premium"}
    assert (made["sku"], made["properties"]["diskSizeBytes"]) == (kind, size * 1024**3)
    assert made["properties"]["timeCreated"] == "2026-01-01T00:00:00.0000000+00:00"
    driver.cloud.advance(60)
    assert driver.call("PUT", driver.path("Microsoft.Compute/disks", "d"), made).body == made
    standard = driver.call(
        "PUT", driver.path("Microsoft.Compute/disks", "e"), {**body, "sku": {"name": "Standard_LRS"}}
    ).body
    assert standard is not None
    told = [standard["properties"].get(name) for name in ("tier", "diskIOPSReadWrite", "diskMBpsReadWrite")]
    assert told == [None, 500, 60]


@pytest.mark.parametrize("size", [0, 32768])
def test_a_disk_has_a_size(size: int) -> None:
    properties = {"creationData": {"createOption": "Empty"}, "diskSizeGB": size}
    driver = Driver()
    body = {"location": "eastus", "properties": properties}
    assert error_of(driver.call("PUT", driver.path("Microsoft.Compute/disks", "d"), body))[0] == 400


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
        assert cloud.journal.forgotten == (2 if number == 20 else 0)
    assert (len(cloud.journal), cloud.journal.last) == (19, 21)
    assert [call.name for call in cloud.journal.find(name="vm-20")] == ["VM-20"]
    assert cloud.journal.find(name="vm-00") == []


def test_a_short_journal_forgets_one_call_and_a_long_one_a_tenth() -> None:
    def filled(bound: int, calls: int) -> Journal:
        journal = Journal(most_bytes=bound)
        for number in range(calls):
            journal.add(Call(number, 0.0, "PUT", "/a/b", "b", "v", {}, {}, 201, None, {"a": "b"}))  # 4 and 10 bytes
        return journal

    assert filled(100, 1).calls[0].body == {"a": "b"}  # a tenth of the bound
    assert filled(99, 1).calls[0].body is None
    assert [filled(14 * 109, count).forgotten for count in (109, 110, 111)] == [0, 11, 11]
    short = Journal(most=3)
    for call in filled(1000, 4).calls:
        short.add(call)
    assert [call.number for call in short.calls] == [1, 2, 3]


def test_a_journal_counts_bytes_without_the_bodies_that_it_drops() -> None:
    def call(number: int, body: dict[str, Any] | None, **query: str) -> Call:
        return Call(number, 0.0, "PUT", "/a/b", "b", "v", query, {}, 201, None, body)

    journal = Journal(most_bytes=200)
    for number in range(10):
        journal.add(call(number, {"a": "b" * 30}))  # four bytes of the path are left
    assert [each.body for each in journal.calls] == [None] * 10
    for number in range(10, 18):
        journal.add(call(number, None, q="1" * 16))
    assert (len(journal), journal.forgotten) == (18, 0)
    journal.add(call(18, None, q="1" * 16))
    assert (len(journal), journal.forgotten) == (14, 5)


def test_a_clock_stands_or_goes_on() -> None:
    clock = ManualClock(5.0)
    assert [clock.advance(0), clock.advance(0.5)] == [5.0, 5.5]
    with pytest.raises(ValueError, match="does not go back"):
        clock.advance(-0.5)
