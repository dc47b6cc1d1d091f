"""Declared faults: where, when, how often; counted; and a description that is wrong says so."""

from __future__ import annotations

from typing import Any

import pytest

from fakeazure.market.wording import MarketError
from fakeazure.timing import INSTANT
from tests.cloud.driver import Driver, error_of


def test_fires_as_often_as_told_and_only_where_told() -> None:
    driver = Driver(
        {"faults": [{"what": "SkuNotAvailable", "where": {"size": "Standard_D4s_v5", "zone": "eastus-1"}, "times": 2}]}
    )
    assert len(driver.cloud.unfired()) == 1
    assert driver.put_vm("aks-a").status == 201
    assert driver.put_vm("aks-b", size="Standard_D4s_v5", zone="2").status == 201
    for name in ("aks-c", "aks-d"):
        assert error_of(driver.put_vm(name, size="Standard_D4s_v5"))[:2] == (409, "SkuNotAvailable")
    assert driver.put_vm("aks-e", size="Standard_D4s_v5").status == 201
    assert driver.cloud.unfired() == []
    calls = driver.cloud.journal.find(method="PUT", resource="virtualMachines", code="SkuNotAvailable")
    assert [(call.name, call.fault, call.summary["zones"]) for call in calls] == [
        ("aks-c", "SkuNotAvailable", ["1"]),
        ("aks-d", "SkuNotAvailable", ["1"]),
    ]


def test_a_zone_of_another_region_is_not_this_region_s() -> None:
    driver = Driver({"faults": [{"what": "SkuNotAvailable", "where": {"zone": "westus-1"}}]})
    assert driver.put_vm("aks-a", zone="1").status == 201
    assert len(driver.cloud.unfired()) == 1


def test_skips_and_waits() -> None:
    driver = Driver(
        {
            "faults": [
                {"what": "ZonalAllocationFailed", "when": {"skip": 1}},
                {"what": "AllocationFailed", "when": {"after": "1h", "until": "2h"}, "times": "always"},
            ]
        },
        timing=INSTANT,
    )
    codes = []
    for hour, name in ((0, "a"), (0, "b"), (0, "c"), (1, "d"), (2, "e"), (2.5, "f")):
        driver.cloud.advance(max(0.0, hour * 3600 - (driver.cloud.now() - 1767225600)))
        codes.append(driver.put_vm(name).error_code)
    assert codes == [None, "ZonalAllocationFailed", None, "AllocationFailed", "AllocationFailed", None]


def test_any_request_can_fail() -> None:
    driver = Driver(
        {
            "faults": [
                {"what": "TooManyRequests", "where": {"resource": "skus", "method": "GET"}, "retryAfter": "7s"},
                {"what": "InternalServerError", "where": {"resource": "networkInterfaces", "method": "DELETE"}},
                {
                    "what": "TeaPot",
                    "message": "short and stout",
                    "status": 418,
                    "where": {"resource": "subnets", "method": "GET"},
                },
            ]
        }
    )
    skus = driver.call("GET", "/subscriptions/00000000-1111-2222-3333-444444444444/providers/Microsoft.Compute/skus")
    assert (skus.status, skus.headers["Retry-After"], skus.headers["x-ms-error-code"]) == (429, "7", "TooManyRequests")
    driver.put_nic("aks-a")
    assert driver.call("DELETE", driver.nic_path("aks-a")).status == 500
    assert driver.call("DELETE", driver.nic_path("aks-a")).status == 202
    subnet = driver.path("Microsoft.Network/virtualNetworks", "aks-vnet-12345678/subnets/aks-subnet")
    assert error_of(driver.call("GET", subnet)) == (418, "TeaPot", "short and stout")
    assert driver.cloud.unfired() == []


def test_an_error_that_azure_does_not_know_is_a_bad_request_unless_told_otherwise() -> None:
    driver = Driver({"faults": [{"what": "TeaPot", "message": "short and stout", "where": {"method": "GET"}}]})
    assert error_of(driver.get_vm("aks-a")) == (400, "TeaPot", "short and stout")


def test_delete_can_fail_at_the_end_and_be_tried_again() -> None:
    fault = {"what": "InternalOperationError", "at": "end", "where": {"method": "DELETE"}}
    driver = Driver({"faults": [fault]})
    driver.put_vm("aks-a")
    driver.cloud.advance(10)
    answer = driver.delete_vm("aks-a")
    driver.cloud.advance(10)
    body = driver.poll(answer).body
    assert body is not None
    assert (body["status"], body["error"]["code"]) == ("Failed", "InternalOperationError")
    assert driver.poll(answer, "Location").status == 500
    assert driver.get_vm("aks-a").status == 200
    driver.delete_vm("aks-a")
    driver.cloud.advance(10)
    assert driver.get_vm("aks-a").status == 404


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"qouta": {}}, "azure: unknown field 'qouta'; did you mean 'quota'?"),
        ({"quota": {"cores": -1}}, "quota.cores: a limit is a whole number of 0 or more, not -1"),
        ({"quota": {"cores": True}}, "quota.cores: a limit is a whole number of 0 or more, not True"),
        ({"quota": []}, "quota: expected a mapping, found []"),
        (
            {"quota": {"standardDSv5Famly": 4}},
            "quota.standardDSv5Famly: unknown usage 'standardDSv5Famly'; did you mean 'standardDSv5Family'?",
        ),
        (
            {"quota": {"eastus/lowPrioCores": 4}},
            "quota.eastus/lowPrioCores: unknown usage 'lowPrioCores'; did you mean 'lowPriorityCores'?",
        ),
        (
            {"faults": [{"what": "SkuNotAvailble"}]},
            "faults[0].what: unknown value 'SkuNotAvailble'; did you mean 'SkuNotAvailable'?",
        ),
        (
            {"faults": [{"what": "AllocationFailed", "where": {"zon": "1"}}]},
            "faults[0].where: unknown field 'zon'; did you mean 'zone'?",
        ),
        (
            {"faults": [{"what": "AllocationFailed", "when": {"after": "soon"}}]},
            "faults[0].when.after: 'soon' is no duration; write 30s, 5m or 1h",
        ),
        (
            {"faults": [{"what": "AllocationFailed", "times": -1}]},
            "faults[0].times: a whole number of 0 or more, not -1",
        ),
        (
            {"faults": [{"what": "AllocationFailed", "status": 600}]},
            "faults[0].status: a status from 400 to 599 is expected, not 600",
        ),
        ({"faults": {"what": "x"}}, "faults: expected a list, found {'what': 'x'}"),
        ({"faults": ["x"]}, "faults[0]: expected a mapping, found 'x'"),
        ({"capacity": [{"size": "x"}]}, "capacity[0]: needs one of vms and cores"),
        ({"capacity": [{"vms": 1, "at": "middle"}]}, "capacity[0].at: unknown value 'middle'; known are end, start"),
        (
            {"capacity": [{"vms": 1, "size": "Standard_D4s_v55"}]},
            "capacity[0].size: unknown size 'Standard_D4s_v55'; did you mean 'Standard_D4s_v5'?",
        ),
        (
            {"faults": [{"what": "AllocationFailed", "where": {"zone": "eastus-7"}}]},
            "faults[0].where.zone: unknown zone 'eastus-7'; zones are 1, 2, 3, regional",
        ),
        (
            {"faults": [{"what": "AllocationFailed", "where": {"zone": "eastsu-1"}}]},
            "faults[0].where.zone: unknown zone 'eastsu-1'; did you mean 'eastus-1'?",
        ),
        (
            {"restrictions": [{"location": "eastsu"}]},
            "restrictions[0].location: unknown location 'eastsu'; did you mean 'eastus'?",
        ),
        ({"restrictions": [{"zones": "1"}]}, "restrictions[0].zones: expected a list of zones, found '1'"),
        ({"prices": {"Standard_D2s_v5": "cheap"}}, "prices.Standard_D2s_v5: USD per hour of 0 or more, not 'cheap'"),
        (
            {"prices": {"Standard_D2s_v5": {"sopt": 1}}},
            "prices.Standard_D2s_v5: unknown field 'sopt'; did you mean 'spot'?",
        ),
    ],
)
def test_mistakes_are_named(spec: dict[str, Any], message: str) -> None:
    with pytest.raises(MarketError) as caught:
        Driver(spec)
    assert str(caught.value) == message


def test_chance_hits_its_share_and_the_same_again() -> None:
    def run(seed: int) -> list[int]:
        fault = {
            "what": "TooManyRequests",
            "where": {"resource": "networkInterfaces", "method": "GET"},
            "times": "always",
            "probability": 0.3,
        }
        driver = Driver({"faults": [fault]}, seed_value=seed)
        path = driver.path("Microsoft.Network/networkInterfaces")
        return [driver.call("GET", path).status for _ in range(200)]

    first = run(1)
    assert 30 < first.count(429) < 90
    assert run(1) == first != run(2)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "often"])
def test_chance_is_a_share(wrong: object) -> None:
    with pytest.raises(ValueError, match=r"faults\[0\]\.probability"):
        Driver({"faults": [{"what": "Dropped", "probability": wrong}]})


def test_an_answer_that_does_not_travel_cannot_be_lost() -> None:
    driver = Driver({"faults": [{"what": "Dropped", "where": {"resource": "*", "method": "*"}}]})
    assert "x-fakeazure-fault" not in driver.put_nic("a").headers
    assert [fault.what for fault in driver.cloud.unfired()] == ["Dropped"]  # so that a scenario in memory fails
    lost = driver.cloud.request("GET", driver.nic_path("a"), query={"api-version": "2022-01-01"}, wire=True)
    assert lost.headers["x-fakeazure-fault"] == "Dropped 5"
    assert driver.cloud.unfired() == []
