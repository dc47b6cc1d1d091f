"""Releases that share their lists of instance types: they make the same ones, and nothing else of a release is read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from harness.karpenter.instancetypes import FamilyUsage, Region, UnavailableOfferings, Usages
from harness.karpenter.instancetypes.alike import LISTED_BY, lists_like
from harness.karpenter.instancetypes.market import Prices
from harness.karpenter.instancetypes.nodeclass_settings import NodeClassSettings
from harness.karpenter.releases import ALL_PROVIDER_RELEASES, Defaults, ProviderOptions, ProviderRelease, provider
from harness.world import World, default_caches
from harness.world.caches import ListsInUse

OPTIONS = ProviderOptions.of(Defaults(), node_resource_group="rg")
REGION = "germanynorth"
NODECLASSES: tuple[dict[str, Any], ...] = (
    {"spec": {"imageFamily": "Ubuntu"}},
    {"spec": {"imageFamily": "AzureLinux", "osDiskSizeGB": 512, "fipsMode": "FIPS", "maxPods": 30}},
    {"spec": {"artifactStreaming": {"enabled": True}, "encryptionAtHost": True}},
)


class Watched:
    """A release that notes which of its fields are read."""

    def __init__(self, release: ProviderRelease) -> None:
        self._release, self.read = release, set[str]()

    def __getattr__(self, name: str) -> Any:
        self.read.add(name)
        return getattr(self._release, name)


def lists(release: ProviderRelease, settings_of: ProviderRelease) -> list[Any]:
    found = default_caches().catalogue.region(REGION)
    region = Region(found.skus, release, REGION)
    marks = UnavailableOfferings()
    sku = next(iter(region.skus.values()))
    marks.mark("sold out", sku, f"{REGION}-1", "spot", now=0.0)
    made = []
    for nodeclass in NODECLASSES:
        for unavailable in (None, marks):
            made.append(
                region.build_for(
                    NodeClassSettings.of(nodeclass, OPTIONS, settings_of),
                    options=OPTIONS,
                    prices=Prices(found.prices, found.spot_prices),
                    usages=Usages({sku.family: FamilyUsage(0, 4)}),
                    unavailable=unavailable,
                )
            )
    return made


@pytest.mark.parametrize("version", ALL_PROVIDER_RELEASES)
def test_what_is_read_of_a_release_is_known(version: str) -> None:
    release = Watched(provider(version))
    lists(cast(ProviderRelease, release), provider(version))
    assert release.read - {"version"} <= set(LISTED_BY)


@pytest.mark.parametrize(
    "version", [each for each in ALL_PROVIDER_RELEASES if lists_like(provider(each)).version != each]
)
def test_releases_that_are_alike_make_the_same_lists(version: str) -> None:
    release = provider(version)
    mine, theirs = lists(release, release), lists(lists_like(release), release)
    for one, other in zip(mine, theirs, strict=True):
        assert one.dropped == other.dropped
        assert [(each.name, each.requirements, each.capacity, each.offerings) for each in one.types] == [
            (each.name, each.requirements, each.capacity, each.offerings) for each in other.types
        ]


def test_worlds_of_such_releases_share_a_list() -> None:
    assert lists_like(provider("1.14.2")) is provider("1.14.0")
    assert lists_like(provider("1.10.0")) is provider("1.10.0")
    assert lists_like(replace(provider("1.14.2"), version="1.14.99")) is provider("1.14.0")
    in_use = ListsInUse()
    assert in_use.lists_for("eastus", provider("1.14.2")) is in_use.lists_for("eastus", provider("1.14.0"))
    assert in_use.lists_for("eastus", provider("1.14.2")) is not in_use.lists_for("westus", provider("1.14.2"))


def test_quota_that_no_family_has_makes_no_other_list() -> None:
    """A spot quota is asked of Azure, not of the list: such worlds share it with those without limits."""
    plain, none, few = (
        World(region=REGION, azure=market)
        for market in ({}, {"quota": {"lowPriorityCores": 0}}, {"quota": {"standardDSv5Family": 4}})
    )
    first, second, third = (world.instance_types.list(NODECLASSES[0]) for world in (plain, none, few))
    assert first is second
    assert first is not third
