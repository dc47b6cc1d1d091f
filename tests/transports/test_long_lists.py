"""The price list of all regions is long to read: others are answered meanwhile, and a page reads no more of it than it needs."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fakeazure import FakeAzure
from fakeazure.catalog.prices import RegionPrices
from fakeazure.market import price_list
from fakeazure.transports.wire import Front, Reply

PRICES = "/api/retail/prices"
ELSEWHERE = "%20or%20".join(["retailPrice%20gt%201000000"] * 99)
"""A filter that looks at every row, and that no row passes."""


@pytest.fixture
def front() -> Front:
    return Front(FakeAzure(region="eastus"), authenticate=False)


@pytest.fixture
def regions_read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    read: list[str] = []
    prices_in = price_list.prices_in

    def recorded(region: str) -> RegionPrices:
        read.append(region)
        return prices_in(region)

    monkeypatch.setattr(price_list, "prices_in", recorded)
    return read


def get(front: Front, path: str) -> Reply:
    return front.handle("GET", path, {"host": "localhost"}, b"", origin="http://localhost")


class Reading:
    """One client's page, which is not read on before `meanwhile` has happened."""

    def __init__(self, front: Front, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()
        prices_in = price_list.prices_in

        def slow(region: str) -> RegionPrices:
            self.begun.set()
            assert self.go_on.wait(20)
            return prices_in(region)

        monkeypatch.setattr(price_list, "prices_in", slow)
        self.replies: list[Reply] = []
        self.thread = threading.Thread(target=lambda: self.replies.append(get(front, self.path)), daemon=True)

    path = f"{PRICES}?$filter=armSkuName%20eq%20'Standard_D2s_v5'%20and%20meterName%20eq%20'D2s%20v5'"

    def items(self, meanwhile: Callable[[], None]) -> list[dict[str, Any]]:
        self.thread.start()
        assert self.begun.wait(20)
        other = threading.Thread(target=meanwhile, daemon=True)
        other.start()
        other.join(20)
        held = other.is_alive()
        self.go_on.set()
        self.thread.join(20)
        assert not held, "another client waits until the list is read"
        items: list[dict[str, Any]] = json.loads(self.replies[0].body)["Items"]
        return items


@pytest.fixture
def reading(front: Front, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reading]:
    page = Reading(front, monkeypatch)
    yield page
    page.go_on.set()


def test_another_client_is_answered_while_a_list_is_read(front: Front, reading: Reading) -> None:
    statuses: list[int] = []
    items = reading.items(lambda: statuses.append(get(front, "/subscriptions?api-version=2022-12-01").status))
    assert statuses == [200]
    assert items


def test_a_list_is_as_it_was_when_it_was_asked_for(front: Front, reading: Reading) -> None:
    """Also where a price is declared while it is read."""

    def declare() -> None:
        with front.lock:
            front.cloud.market.prices.set("Standard_D2s_v5", 9.0)

    assert 9.0 not in {item["retailPrice"] for item in reading.items(declare)}
    assert 9.0 in {item["retailPrice"] for item in json.loads(get(front, reading.path).body)["Items"]}


def test_what_is_found_wrong_while_a_list_is_read_is_in_the_journal(front: Front) -> None:
    assert get(front, f"{PRICES}?$filter={ELSEWHERE}").status == 400
    [call] = front.cloud.journal.calls
    assert (call.path, call.status) == (PRICES, 400)


@pytest.mark.parametrize("filter_", ["", "serviceName%20eq%20'Virtual%20Machines'", "contains(meterName,'v5')"])
def test_a_page_reads_the_regions_that_it_shows(front: Front, regions_read: list[str], filter_: str) -> None:
    items = json.loads(get(front, f"{PRICES}?$filter={filter_}").body)["Items"]
    assert len(items) == 1000
    assert set(regions_read) == {item["armRegionName"] for item in items}


def test_a_region_that_a_filter_names_is_read_alone(front: Front, regions_read: list[str]) -> None:
    path = f"{PRICES}?$filter=location%20eq%20'EU%20West'%20and%20contains(meterId,'-')&$skip=1000"
    assert len(json.loads(get(front, path).body)["Items"]) == 1000
    assert regions_read == ["westeurope"]
