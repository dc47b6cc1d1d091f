"""SKU records of what is no virtual machine, as `az vm list-skus --resource-type disks` asks for them."""

from __future__ import annotations

from typing import Any

import pytest

from fakeazure.beginning import SUBSCRIPTION
from tests.cloud.driver import Driver

SKUS = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/skus"


def skus(region: str, kind: str) -> list[dict[str, Any]]:
    answer = Driver().call("GET", SKUS, **{"$filter": f"location eq '{region}'"})
    assert answer.body is not None
    return [record for record in answer.body["value"] if record["resourceType"] == kind]


def figures(record: dict[str, Any]) -> dict[str, str]:
    return {pair["name"]: pair["value"] for pair in record["capabilities"]}


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        # azuredisk-csi-driver, pkg/optimization: what it reads of such a record
        ("P4", ("Premium_LRS", "32", "16", "120", "25", "3", "3500", "170")),
        ("P30", ("Premium_LRS", "1024", "512", "5000", "200", "5", None, None)),
        # `az vm list-skus -l westus`, August 2020
        ("S4", ("Standard_LRS", "32", "0", "500", "60", "1", None, None)),
        ("S60", ("Standard_LRS", "8192", "4096", "1300", "300", "1", None, None)),
    ],
)
def test_a_disk_has_its_figures(size: str, expected: tuple[str | None, ...]) -> None:
    [record] = [one for one in skus("westus", "disks") if one["size"] == size]
    names = (
        "MaxSizeGiB", "MinSizeGiB", "MaxIOps", "MaxBandwidthMBps", "MaxValueOfMaxShares", "MaxBurstIops", "MaxBurstBandwidthMBps",
    )  # fmt: skip
    assert (record["name"], *map(figures(record).get, names)) == expected


def test_least_and_most_of_a_disk() -> None:
    large = next(one for one in skus("westus", "disks") if one["size"] == "S60")
    assert (figures(large)["MinIOps"], figures(large)["MinBandwidthMBps"]) == ("500", "60")
    premium = next(one for one in skus("westus", "disks") if one["size"] == "P60")
    assert figures(premium)["MinIOps"] == figures(premium)["MaxIOps"] == "16000"


def test_zones_are_those_of_the_region() -> None:
    zoned, plain = skus("eastus", "disks"), skus("westus", "disks")
    assert {tuple(record["locationInfo"][0]["zones"]) for record in zoned} == {("1", "2", "3")}
    assert {tuple(record["locationInfo"][0]["zones"]) for record in plain} == {()}
    assert {record["name"] for record in zoned} - {record["name"] for record in plain} == {
        "StandardSSD_ZRS",
        "Premium_ZRS",
    }
    assert {record["locationInfo"][0]["location"] for record in zoned} == {"eastus"}


def test_sets_hosts_and_snapshots_are_listed() -> None:
    sets = {record["name"]: figures(record) for record in skus("eastus", "availabilitySets")}
    assert sets == {name: {"MaximumPlatformFaultDomainCount": "3"} for name in ("Classic", "Aligned")}
    hosts = {
        record["name"]: (record["family"], figures(record)["vCPUs"]) for record in skus("eastus", "hostGroups/hosts")
    }
    assert hosts["DSv3-Type2"] == ("standardDSv3Family", "76")
    assert [record["name"] for record in skus("westus", "snapshots")] == ["Standard_LRS", "Premium_LRS"]


def test_machines_come_last_and_are_as_many_as_before() -> None:
    answer = Driver().call("GET", SKUS, **{"$filter": "location eq 'westus'"})
    assert answer.body is not None
    kinds = [record["resourceType"] for record in answer.body["value"]]
    assert kinds[-2:] == ["virtualMachines"] * 2
    assert kinds.count("virtualMachines") == 2
