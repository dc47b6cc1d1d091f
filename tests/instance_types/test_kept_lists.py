"""How long AKSNodeClasses share a list of instance types where the provider's cache takes them for the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from harness.engine.clock import SECOND, Clock
from harness.karpenter.cloudprovider import DroppedSize, InstanceType
from harness.karpenter.instancetypes import Prices, Usages
from harness.karpenter.instancetypes.market import FamilyUsage
from harness.karpenter.provider.instance_types import InstanceTypeProvider
from harness.karpenter.provider.shared_lists import SharedLists
from harness.karpenter.releases import ProviderOptions, provider
from harness.testing import nodeclass
from harness.world import World

PLAIN = nodeclass("plain", imageFamily="Ubuntu2204")
FIPS = nodeclass("fips", imageFamily="Ubuntu2204", fipsMode="FIPS")
HOUR = 3600
SIZE, FAMILY = "Standard_D2s_v3", "standardDSv3Family"
QUOTA_SINCE = "1.14.0"


def test_the_list_of_the_first_nodeclass_is_kept_for_23_hours() -> None:
    """FIPS is no part of the key in 1.12.0 (kaz pkg/providers/instancetype)."""
    world = World(karpenter="1.12.0")
    types = world.instance_types
    world.advance(12 * HOUR)
    shared = types.cached(PLAIN).types
    assert types.cached(FIPS).types is shared
    world.advance(23 * HOUR - 1)
    assert types.cached(FIPS).types is shared
    world.advance(1)
    own = types.cached(FIPS).types
    assert own is not shared
    assert types.cached(PLAIN).types is own


def test_kubelets_that_are_told_something_else_have_a_list_of_their_own() -> None:
    """The key has a hash of `spec.kubelet`, in which the order of the fields does not count (kaz pkg/providers/instancetype, List)."""
    types = World(karpenter="1.12.0").instance_types
    one, other = (
        {"podPidsLimit": 100, "cpuManagerPolicy": "static"},
        {"cpuManagerPolicy": "static", "podPidsLimit": 100},
    )
    shared = types.cached(nodeclass("a", imageFamily="Ubuntu2204", kubelet=one)).types
    assert types.cached(nodeclass("b", imageFamily="Ubuntu2204", fipsMode="FIPS", kubelet=other)).types is shared
    assert types.cached(FIPS).types is not shared


def test_releases_that_tell_them_apart_share_nothing() -> None:
    types = World(karpenter="1.14.0").instance_types
    assert types.cached(PLAIN).types is not types.cached(FIPS).types


class Market:
    """What Azure says about a region, and a provider that reads it."""

    def __init__(self, release: str, recorded: dict[str, Any]) -> None:
        self.records: list[Any] = recorded["skus"]
        self.table = Prices(recorded["prices"], recorded["prices"])
        self.declarations = 0
        self.usages = Usages({FAMILY: FamilyUsage(40, 60)})
        self.clock = Clock()
        self.types = InstanceTypeProvider(
            release=provider(release),
            options=ProviderOptions(),
            region="southcentralus",
            clock=self.clock,
            records=lambda: self.records,
            pricing=self,
            usages=lambda: self.usages,
            shared=SharedLists(),
        )

    live = True

    def prices(self) -> Prices:
        return self.table

    def declare(self, table: Prices) -> None:
        self.table = table
        self.declarations += 1

    def listed(self) -> Sequence[InstanceType]:
        return self.types.cached(PLAIN).types

    def price(self) -> float | None:
        """Of a machine of the size on demand; None where there is none."""
        (size,) = (each for each in self.listed() if each.name == SIZE)
        return min((one.price for one in size.available_offerings if one.capacity_type == "on-demand"), default=None)


@pytest.mark.parametrize("failed", [False, True], ids=["nothing has failed", "an offering has failed"])
def test_a_list_follows_prices_records_and_quota_each_by_itself(locations: dict[str, Any], failed: bool) -> None:
    """Kaz pkg/providers/instancetype/instancetypes.go (List); the quota is read every ten minutes (pkg/controllers/quota)."""
    market = Market(QUOTA_SINCE, locations["southcentralus"])
    if failed:
        market.types.unavailable.mark_name("SkuNotAvailable", "Standard_D2as_v6", "southcentralus-1", "spot", now=0.0)
    first, old = market.listed(), market.price()
    assert market.listed() is first
    market.declare(Prices({SIZE: 7.0}, {}))
    assert (market.price(), old) == (7.0, locations["southcentralus"]["prices"][SIZE])
    market.records = [each for each in market.records if each["name"] != "Standard_D2_v5"]
    assert {each.name for each in first} - {each.name for each in market.listed()} == {"Standard_D2_v5"}
    market.usages = Usages({FAMILY: FamilyUsage(50, 50)})
    assert market.price() == 7.0
    market.clock.advance_to(600 * SECOND)
    assert market.price() is None
    last = market.listed()
    assert market.listed() is last
    market.usages = Usages({FAMILY: FamilyUsage(40, 60)})
    market.clock.advance_to(1199 * SECOND)
    assert market.price() is None
    market.clock.advance_to(1200 * SECOND)
    assert market.price() == 7.0


def test_one_size_is_told_without_the_others(locations: dict[str, Any]) -> None:
    """As it stands in the list, or what drops it; None where the region does not sell it."""
    market = Market(QUOTA_SINCE, locations["southcentralus"])
    found, dropped = market.types.one(SIZE, PLAIN), market.types.one("Standard_A0", PLAIN)
    (listed,) = (each for each in market.listed() if each.name == SIZE)
    assert isinstance(found, InstanceType)
    assert (found.capacity, found.offerings) == (listed.capacity, listed.offerings)
    assert isinstance(dropped, DroppedSize)
    assert market.types.one("Standard_X1", PLAIN) is None


def test_what_is_known_of_the_market_before_the_quota_is_read_and_after(locations: dict[str, Any]) -> None:
    market = Market(QUOTA_SINCE, locations["southcentralus"])
    market.usages = Usages({FAMILY: FamilyUsage(60, 60)})
    here = ("southcentralus-1", "on-demand")
    before = market.types.market_snapshot()
    assert market.price() is None
    after = market.types.market_snapshot()
    assert (before.closed(SIZE, *here), after.closed(SIZE, *here) is None) == (None, False)
    assert (after.closed("Standard_A0", *here), after.closed("Standard_X1", *here)) == (None, None)


def test_the_version_of_all_lists_changes_when_a_kept_one_is_dropped(locations: dict[str, Any]) -> None:
    market = Market("1.12.0", locations["southcentralus"])
    market.clock.advance_to(12 * HOUR * SECOND)
    first, _ = market.types.version(), market.listed()
    assert market.types.version() == first
    market.clock.advance_to((35 * HOUR - 1) * SECOND)
    assert market.types.version() == first
    market.clock.advance_to(35 * HOUR * SECOND)
    second = market.types.version()
    assert second != first
    assert market.types.version() == second


def test_a_list_follows_failures_as_they_come_and_end(locations: dict[str, Any]) -> None:
    """The sequence number of the marks is part of the key (kaz pkg/cache/unavailableofferings.go, SeqNum)."""
    market = Market(QUOTA_SINCE, locations["southcentralus"])
    old = market.price()
    assert old is not None
    for zone in ("0", "southcentralus-1", "southcentralus-2", "southcentralus-3"):
        assert market.price() == old
        market.types.unavailable.mark_name("SkuNotAvailable", SIZE, zone, "on-demand", now=0.0, ttl=60.0)
    assert market.price() is None
    market.clock.advance_to(60 * SECOND)
    assert market.price() == old


@pytest.mark.parametrize(("release", "same"), [("1.13.1", True), (QUOTA_SINCE, False)])
def test_a_quota_makes_lists_anew_where_it_counts(locations: dict[str, Any], release: str, same: bool) -> None:
    """It is checked since 1.14.0 (kaz pkg/providers/instancetype/instancetypes.go, createOfferings)."""
    market = Market(release, locations["southcentralus"])
    first, old = market.listed(), market.price()
    market.usages = Usages({FAMILY: FamilyUsage(60, 60)})
    market.clock.advance_to(600 * SECOND)
    assert (market.listed() is first, market.price() == old) == (same, same)
