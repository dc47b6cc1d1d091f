"""The market to the last unit: quota, reservations, faults, amendments, versions of images."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fakeazure import FakeAzure
from fakeazure.arm import operations
from fakeazure.arm.filters import FilterError, parse_filter
from fakeazure.arm.operations import Operation, Operations
from fakeazure.arm.tokens import DEEPEST
from fakeazure.catalog import Catalogue, images
from fakeazure.catalog.images import released
from fakeazure.market.facts import Size
from fakeazure.market.images import Images
from fakeazure.market.spec import market_mistakes
from fakeazure.resources.compute import vm_checks
from fakeazure.timing import INSTANT
from tests.cloud.driver import CATALOGUE, SMALL, Driver, error_of, record
from tests.cloud.test_amendments import record as record_of
from tests.cloud.test_bounds import deepest
from tests.cloud.test_capacity_reservations import ONE, allocated, group_id, put, reserve


@pytest.mark.parametrize(("limit", "status"), [(1, 409), (2, 200)])
def test_a_resize_into_another_family_needs_all_of_its_cores_there(limit: int, status: int) -> None:
    driver = Driver({"quota": {"standardESv5Family": limit}}, timing=INSTANT)
    driver.put_vm("a")
    assert driver.resize_vm("a", "Standard_E2s_v5").status == status
    assert driver.usage("standardESv5Family")[0] == (2 if status == 200 else 0)


def test_a_resize_by_one_core_needs_it() -> None:
    sizes = {name: {"like": "Standard_D2s_v5", "capabilities": {"vCPUs": n}} for n, name in ((3, "X_3"), (2, "X_2"))}
    azure = {"sizes": {f"Standard_{name}": change for name, change in sizes.items()}, "quota": {"cores": 2}}
    driver = Driver(azure, timing=INSTANT, catalogue=Catalogue.load())
    driver.put_vm("a", size="Standard_X_2")
    assert error_of(driver.resize_vm("a", "Standard_X_3"))[:2] == (409, "OperationNotAllowed")


def test_a_reserved_vm_counts_as_one() -> None:
    driver = Driver({"reservations": ONE, "quota": {"virtualMachines": 1}})
    assert put(driver, "a").status == 201
    assert driver.usage("virtualMachines") == (1, 1)


def test_a_reservation_grows_by_one_within_quota_and_shrinks_in_any_case() -> None:
    driver = Driver({"reservations": ONE, "quota": {"cores": 3}})
    assert error_of(reserve(driver, 2))[:2] == (409, "OperationNotAllowed")
    driver.cloud.market.quota.set_limit("cores", 1)
    assert reserve(driver, 1).status == 200
    assert reserve(driver, 0).status == 200
    assert driver.usage("cores")[0] == 0


def test_what_was_reserved_before_the_world_began_is_no_part_of_the_stock() -> None:
    driver = Driver({"capacity": [{"size": "Standard_D2s_v5", "zone": "1", "vms": 1}], "reservations": ONE})
    assert reserve(driver, 3).status == 409
    assert reserve(driver, 2).status == 200, "one of its own, and one of the stock"
    assert driver.cloud.market.stock.shelves[0].left == 0
    assert reserve(driver, 1).status == 200
    assert driver.cloud.market.stock.shelves[0].left == 1
    for name in ("a", "b"):
        put(driver, name)
    assert allocated(driver) == ["a", "b"]
    assert driver.cloud.market.stock.shelves[0].left == 0


@pytest.mark.parametrize(("quantity", "wrong"), [(0, False), (1, False), (-1, True), (True, True), (1.0, True)])
def test_quantities_that_may_be_declared(quantity: object, wrong: bool) -> None:
    spec = {"reservations": {"held": [{"size": "Standard_D2s_v5", "zone": "1", "quantity": quantity}]}}
    found = [str(one) for one in market_mistakes(CATALOGUE, spec)]
    said = f"reservations.held[0].quantity: a whole number of 0 or more, not {quantity!r}"
    assert found == ([said] if wrong else [])


@pytest.mark.parametrize("zones", [["1", "2"], ["1", "2", "3"]])
def test_a_reservation_is_in_one_zone(zones: list[str]) -> None:
    driver = Driver({"reservations": ONE})
    body = {"location": "eastus", "sku": {"name": "Standard_D2s_v5", "capacity": 1}, "zones": zones}
    answer = driver.call("PUT", f"{group_id(driver)}/capacityReservations/new", body)
    assert error_of(answer)[0] == 400
    assert "a capacity reservation is in one zone at most" in error_of(answer)[2]


@pytest.mark.parametrize(
    ("fault", "headers"),
    [
        ({"what": "Mine", "status": 429}, {"Retry-After": "5"}),
        ({"what": "Mine", "status": 429, "retryAfter": "9s"}, {"Retry-After": "9"}),
        ({"what": "TooManyRequests"}, {"Retry-After": "5"}),
        ({"what": "Mine", "status": 500}, {}),
        ({"what": "Mine"}, {}),
        ({"what": "InternalServerError"}, {}),
    ],
)
def test_who_is_told_to_wait(fault: dict[str, Any], headers: dict[str, str]) -> None:
    where = {"resource": "networkInterfaces", "method": "GET"}
    driver = Driver({"faults": [{"message": "m", **fault, "where": where}]})
    answer = driver.call("GET", driver.path("Microsoft.Network/networkInterfaces"))
    assert answer.status >= 400
    assert {name: value for name, value in answer.headers.items() if name == "Retry-After"} == headers


def test_what_zones_can_do_moves_into_a_new_region() -> None:
    azure = FakeAzure(region="eastus", azure={"regions": {"moon": {"like": "eastus", "zones": ["1"]}}})
    region = azure.market.region("moon")
    assert region is not None
    [details] = region.by_name["Standard_D4s_v5"]["locationInfo"][0]["zoneDetails"]
    assert details["Name"] == ["1"]
    assert {"name": "UltraSSDAvailable", "value": "True"} in details["capabilities"]


def test_a_size_is_like_one_that_only_other_regions_sell() -> None:
    catalogue = Catalogue.load()
    alone = next(
        name
        for region in catalogue.regions
        for name in catalogue.region(region).by_name
        if catalogue.sellers(name) == (region,) and region != "eastus"
    )
    azure = FakeAzure(region="eastus", azure={"sizes": {"Standard_New1": {"like": alone, "price": 1}}})
    found = record_of(azure, "Standard_New1")
    assert found["locations"] == ["eastus"]
    old = catalogue.region(catalogue.sellers(alone)[0]).by_name[alone]
    assert {pair["name"] for pair in found["capabilities"]} >= {pair["name"] for pair in old["capabilities"]}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"regions": "eastus"}, "regions: expected a list of regions, found 'eastus'"),
        ({"regions": 5}, "regions: expected a list of regions, found 5"),
        ({"regions": []}, "regions: expected a list of regions, found []"),
        ({"zones": "1"}, "zones: expected a list of zones, found '1'"),
        ({"zones": 1}, "zones: expected a list of zones, found 1"),
        ({"price": 1_000_000_000}, "price: USD per hour of 0 or more, not 1000000000"),
        ({"price": 999_999_999}, ""),
        ({"price": 0}, ""),
    ],
)
def test_mistakes_of_a_size(change: dict[str, Any], said: str) -> None:
    found = [str(one) for one in market_mistakes(Catalogue.load(), {"sizes": {"Standard_D4s_v5": change}})]
    assert found == ([f"sizes.Standard_D4s_v5.{said}"] if said else [])


def test_a_changed_region_knows_where_its_own_records_are_from() -> None:
    azure = FakeAzure(region="eastus", azure={"regions": {"westus": {"zones": ["1"]}, "moon": {"like": "eastus"}}})
    west, moon = azure.market.region("westus"), azure.market.region("moon")
    assert west is not None
    assert moon is not None
    assert west.sources("Standard_D4s_v5") != {}
    assert moon.sources("Standard_D4s_v5") == {}
    assert moon.guessed("Standard_D4s_v5") == {}


def test_an_image_is_there_on_the_day_when_it_is_published() -> None:
    version = released("2404gen2containerd")[-1]
    month, day, _ = version.split(".")
    moment = datetime(int(month[:4]), int(month[4:]), int(day), tzinfo=UTC).timestamp()
    published = Images()
    published.change("released")
    assert version in published.versions("2404gen2containerd", moment)
    assert version not in published.versions("2404gen2containerd", moment - 1)


def test_the_first_release_of_each_image_is_known() -> None:
    text = (Path(images.__file__).parent / "data" / "image-versions.csv").read_text(encoding="utf-8")
    header, *lines = text.splitlines()
    assert header.partition(",")[0] not in ("2204", "2404", "V2", "V3")
    for series in ("2204", "2404", "V2", "V3"):
        versions = tuple(line.split(",")[-1] for line in lines if line.startswith(f"{series},"))
        definition = next(name for name in images.DEFINITIONS if name.startswith(series) and "fips" not in name)
        assert released(definition) == versions


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"2404gen2containerdd": "202601.13.0"}, "; did you mean '2404gen2containerd'?"),
        ({"zzz": "202601.13.0"}, ", V3gen2fips"),
        ({"2404": "202601.13"}, "a version such as 202601.13.0 is expected, not '202601.13'"),
        ({"2404": "1.2.3.4"}, "a version such as 202601.13.0 is expected, not '1.2.3.4'"),
        ({"2404": "1.2.x"}, "a version such as 202601.13.0 is expected, not '1.2.x'"),
    ],
)
def test_mistakes_of_images(spec: dict[str, str], said: str) -> None:
    [mistake] = market_mistakes(CATALOGUE, {"images": spec})
    assert str(mistake).endswith(said)


def test_a_rule_closes_what_is_restricted_already_once_more() -> None:
    closed = {
        "type": "Zone",
        "values": ["eastus"],
        "restrictionInfo": {"zones": ["3"]},
        "reasonCode": "NotAvailableForSubscription",
    }
    driver = Driver({"restrictions": [{"size": "Standard_D2s_v5", "location": "eastus", "zones": ["1"]}]})
    [rule] = driver.cloud.market.restrictions.overlay(SMALL[0], "eastus")["restrictions"]
    both = driver.cloud.market.restrictions.overlay({**SMALL[0], "restrictions": [closed]}, "eastus")
    assert both["restrictions"] == [closed, rule]


def test_capabilities_of_a_zone_are_those_of_the_size_for_a_regional_vm() -> None:
    def size(zonal: str, own: str) -> Size:
        made = record("Standard_U2", "standardUFamily", 2, UltraSSDAvailable=own, Odd="odd")
        details = [{"Name": ["1"], "capabilities": [{"name": "UltraSSDAvailable", "value": zonal}]}]
        made["locationInfo"][0]["zoneDetails"] = details
        return Size.of(made, "eastus")

    found = size("True", "False")
    assert [found.zone_has("UltraSSDAvailable", zone) for zone in ("1", "2", "")] == [True, False, False]
    assert [size("False", "True").zone_has("UltraSSDAvailable", zone) for zone in ("1", "")] == [False, True]
    assert (found.number("vCPUs"), found.number("Odd"), found.number("Absent")) == (2.0, 0.0, 0.0)
    ultra = {"additionalCapabilities": {"ultraSSDEnabled": True}}
    for zonal, own, refused in (("True", "False", False), ("False", "True", False), ("False", "False", True)):
        assert (vm_checks.feature_mismatch(size(zonal, own), ultra, "1") is not None) is refused


def test_an_empty_filter_takes_everything_and_true_is_no_text() -> None:
    assert parse_filter("")({}) is True
    assert [parse_filter("a eq true")({"a": value}) for value in (True, False, "true")] == [True, False, False]
    assert [parse_filter("a eq false")({"a": value}) for value in (True, False)] == [False, True]


@pytest.mark.parametrize(("value", "number"), [(True, 1), (False, 0)])
def test_a_boolean_is_no_number(value: bool, number: int) -> None:
    truth = str(value).lower()
    for item, literal, equal in (
        (value, truth, True),
        (number, number, True),
        (value, number, False),
        (number, truth, False),
    ):
        assert parse_filter(f"a eq {literal}")({"a": item}) is equal
        assert parse_filter(f"a ne {literal}")({"a": item}) is not equal


@pytest.mark.parametrize("literal", ["1e-3", "1E-3", "10.0e-4", "+1e-3", "0.001"])
def test_a_number_may_have_an_exponent(literal: str) -> None:
    assert parse_filter(f"a eq {literal}")({"a": 0.001})
    assert not parse_filter(f"a lt {literal}")({"a": 0.001})


@pytest.mark.parametrize("literal", ["1e", "1e-", "e-3", "1e1.5", "1ee3"])
def test_an_exponent_is_a_whole_number(literal: str) -> None:
    with pytest.raises(FilterError):
        parse_filter(f"a eq {literal}")


def nested(count: int) -> str:
    return "(" * count + "a eq 1" + ")" * count


def test_how_deep_a_filter_may_be() -> None:
    assert deepest(nested, FilterError, parse_filter) == DEEPEST - 1
    beside = "(a eq 1) and " * 50
    assert deepest(lambda count: beside + nested(count), FilterError, parse_filter) == DEEPEST - 1


def test_the_oldest_operations_that_have_ended_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "KEPT", 20)
    driver = Driver()
    kept: Operations = driver.cloud.state.operations

    def started(seconds: float | None = 0) -> Operation:
        return kept.start("PUT x", subscription="s", namespace="n", location="l", seconds=seconds, finish=lambda: None)

    running = started(seconds=None)
    ended = [started() for _ in range(19)]
    assert {one.id for one in (running, *ended)} <= kept._by_id.keys()
    started()
    assert [one.id in kept._by_id for one in (running, *ended[:3])] == [True, False, False, True]


@pytest.mark.parametrize("where", [{"size": "standardDSv5Family"}, {"family": "Standard_D2s_v5"}])
def test_a_family_is_no_size_and_a_size_no_family(where: dict[str, str]) -> None:
    [mistake] = market_mistakes(CATALOGUE, {"faults": [{"what": "AllocationFailed", "where": where}]})
    [(name, value)] = where.items()
    assert str(mistake).startswith(f"faults[0].where.{name}: unknown {name} {value!r}")


def test_the_message_of_an_error_is_in_the_journal() -> None:
    driver = Driver()
    driver.get_vm("gone")
    driver.put_nic("a")
    refused, taken = driver.cloud.journal.calls[-2:]
    assert "was not found" in refused.message
    assert (taken.code, taken.message) == (None, "")
    driver.cloud.journal.clear()
    assert (driver.cloud.journal.forgotten, driver.cloud.journal.last) == (0, 0)


@pytest.mark.parametrize(
    ("day", "definition", "version"),
    [
        ("2025-04-30", "2204gen2containerd", "202504.27.0"),
        ("2025-04-26", "2204gen2containerd", "202504.22.0"),  # of a real Node; no release note tells it
        ("2025-04-30", "2204gen2fipscontainerd", "202404.09.0"),
        ("2025-01-01", "2404gen2containerd", "202512.18.0"),  # older than all that are known
    ],
)
def test_with_the_lists_of_a_day_come_the_images_of_that_day(day: str, definition: str, version: str) -> None:
    assert Images(day).versions(definition, 0.0) == (version,)
