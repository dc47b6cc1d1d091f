"""The instance types of one controller, as its provider caches them: built again when something changed, else shared.

What a list depends on: the SKU records, the release, the options, the NodeClass's settings, prices, quota, and the offerings that
failed lately. Lists are shared between worlds through `SharedLists`, also by releases that make the same ones. The key of the provider's
own cache leaves prices out, so that new ones count when a list is made anew, up to 23 hours later; in some releases it leaves a setting
out, too, so that NodeClasses get each other's lists (`InstanceTypeProvider.cached`).
Source: kaz pkg/providers/instancetype/instancetypes.go (List), pkg/controllers/{instancetype,quota}.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import fields
from typing import Any, Protocol

from harness.engine.clock import Clock
from harness.karpenter.cloudprovider import DroppedSize, InstanceType
from harness.karpenter.instancetypes import (
    InstanceTypeList,
    NodeClassSettings,
    Prices,
    Region,
    Sku,
    UnavailableOfferings,
    Usages,
)
from harness.karpenter.instancetypes.alike import lists_like
from harness.karpenter.instancetypes.market import NO_USAGES
from harness.karpenter.launch import LaunchTypes, overlaid_types
from harness.karpenter.provider.market_snapshot import MarketSnapshot
from harness.karpenter.provider.pricing import PriceTable
from harness.karpenter.provider.selection import PriceOrders
from harness.karpenter.provider.shared_lists import Same, SharedLists
from harness.karpenter.releases import ProviderOptions, ProviderRelease
from harness.kube.api.objects import Object
from harness.latest import LatestOf
from lazyrecords import dataclass

USAGE_REFRESH = 600.0
"""Seconds after which the quota is read again."""

CACHED = 23 * 3600.0
"""Seconds for which the provider keeps a list (kaz InstanceTypesCacheTTL)."""

_AMPLE = 2000  # vCPUs: more than the largest size has


_NODECLASSES = 32
"""For how many AKSNodeClasses a controller keeps settings and the last list."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """A list, with the sequence number of the marks, the prices, records and quota from which it was built."""

    sequence: int
    prices: Prices
    records: Sequence[Mapping[str, Any]]
    usages: tuple[tuple[str, int], ...]
    types: InstanceTypeList

    def of(self, prices: Prices, records: Sequence[Mapping[str, Any]], usages: tuple[tuple[str, int], ...]) -> bool:
        """Return whether it was built from these."""
        return self.prices is prices and self.records is records and self.usages == usages


class Overlays(Protocol):
    """Applies NodeOverlays to instance types; ``version`` changes when the result may change."""

    version: int

    def apply(self, nodepool: str, types: Sequence[InstanceType]) -> Sequence[InstanceType]: ...


@dataclass(frozen=True, slots=True)
class _Cached:
    """The inputs of a list in the provider's cache, and the time in the clock's seconds."""

    settings: NodeClassSettings
    prices: Prices
    since: float


class InstanceTypeProvider:
    """One controller's instance types.

    `records` returns the SKU list, `usages` the quota records of the region, `in_use` what counts against quotas, limited or not; the first
    and the prices must be the same object while nothing changed.
    """

    def __init__(
        self,
        *,
        release: ProviderRelease,
        options: ProviderOptions,
        region: str,
        clock: Clock,
        records: Callable[[], Sequence[Mapping[str, Any]]],
        pricing: PriceTable,
        usages: Callable[[], Usages],
        shared: SharedLists,
        in_use: Callable[[], Hashable] = tuple,
        overlays: Overlays | None = None,
    ) -> None:
        """`overlays` change the instance types by which Karpenter decides and launches; None where NodeOverlays do not count."""
        self.release = release
        self._listing = lists_like(release)
        self.options = options
        self.unavailable = UnavailableOfferings(family_with_size=release.family_marked_with_size)
        self._region_name = region
        self._clock = clock
        self._records = records
        self._pricing = pricing
        self._read_usages, self._in_use = usages, in_use
        self._shared = shared
        self._options_key = (options.use_sig, options.vm_memory_overhead_percent, options.node_resource_group)
        """The options that a list depends on beside those that its settings are made from."""
        self._usages: Usages | None = None
        self._usages_key: tuple[tuple[str, int], ...] = ()
        self._usages_read = 0.0
        self._used_then: Hashable = ()
        self._usage_changes = 0
        self._own: dict[Hashable, _Kept] = {}
        self._cached: dict[Hashable, _Cached] = {}
        self._generation: Hashable = None
        self._renewed = 0
        self._overlays = overlays
        self._settings: LatestOf[Object, NodeClassSettings] = LatestOf(_NODECLASSES)
        self._current: LatestOf[NodeClassSettings, list[_Kept]] = LatestOf(_NODECLASSES)
        """By settings, the list that was returned last (as the only item of a list)."""

    @property
    def price_orders(self) -> PriceOrders:
        """Instance types by price, for the choice of a launch."""
        return self._shared.price_orders

    @property
    def region(self) -> Region:
        """The usable sizes of the region."""
        return self._shared.book.region(self._records(), self._listing, self._region_name, use_sig=self.options.use_sig)

    def sku(self, name: str) -> Sku | None:
        """A usable size."""
        size = self.region.find(name)
        return size if isinstance(size, Sku) else None

    def market_snapshot(self) -> MarketSnapshot:
        """The prices, quota and marks that it uses now; it asks Azure nothing."""
        return MarketSnapshot(self.region, self._pricing.prices(), self._usages or NO_USAGES, self.unavailable.copy())

    @property
    def prices_in_use(self) -> Prices:
        """The prices of the newest list in the provider's cache; those that a list would have now where there is none."""
        newest = max(self._cached.values(), key=lambda cached: cached.since, default=None)
        return newest.prices if newest is not None else self._pricing.prices()

    @property
    def reads_prices(self) -> bool:
        """Return whether it has read Azure's price list."""
        return self._pricing.live

    def version(self) -> object:
        """Return a value that changes whenever any list may have changed."""
        generation = self._renew()
        overlays = self._overlays.version if self._overlays is not None else 0
        return (generation, self._usages_key, self._renewed, overlays)

    @property
    def changes_at(self) -> float | None:
        """The next moment, in the clock's seconds, at which time alone may bring other lists; None where it does not."""
        moments = [self.unavailable.until] if self.unavailable.until is not None else []
        if self._pricing.live and self._cached:
            current = self._pricing.prices()
            moments.append(min(cached.since for cached in self._cached.values()) + CACHED)
            stale = any(cached.prices is not current for cached in self._cached.values())
            if stale and self.release.quota_checked and self._in_use() != self._used_then:
                moments.append(self._usages_read + USAGE_REFRESH)
        return min(moments, default=None)

    def _renew(self) -> Hashable:
        """Drops the lists that the provider's cache drops; returns the part of the key that is the same for all AKSNodeClasses."""
        now = self._clock.seconds
        self.unavailable.expire(now)
        self._refresh()
        generation = (
            self.unavailable.sequence,
            id(self._records()),
            self._pricing.declarations,
            self._usage_changes if self.release.quota_checked else 0,
        )
        if generation != self._generation:
            self._generation = generation
            self._cached.clear()
        for key in [key for key, cached in self._cached.items() if now - cached.since >= CACHED]:
            del self._cached[key]
            self._renewed += 1
        return generation

    def for_nodepool(self, nodepool: str, nodeclass: Object) -> Sequence[InstanceType]:
        """The instance types of a NodePool with NodeOverlays applied. Raises NoInstanceTypes, UnevaluatedNodePool."""
        types = self.cached(nodeclass).types
        return types if self._overlays is None else self._overlays.apply(nodepool, types)

    def for_launch(self, nodeclaim: Object, nodeclass: Object) -> LaunchTypes:
        """The instance types from which a NodeClaim is launched. Raises NoInstanceTypes, UnevaluatedNodePool."""
        types = self.cached(nodeclass).types
        if self._overlays is None:
            return LaunchTypes(types, types)
        return overlaid_types(nodeclaim, types, self._overlays.apply, self.release)

    def cached(self, nodeclass: Object) -> InstanceTypeList:
        """The instance types for an AKSNodeClass as the provider's cache returns them. Raises NoInstanceTypes where the release does.

        A list keeps its prices until an offering fails or returns, the SKU records change, the usage of a quota does where the release
        looks at it, or 23 hours have passed. Where the cache key of the release leaves a setting out, AKSNodeClasses with equal keys share
        the list of the one that came first; the key then includes ``spec.kubelet``.
        """
        settings = self._settings.of(nodeclass, lambda: self._settings_of(nodeclass))
        self._renew()
        left_out = self.release.instance_type_key_leaves_out
        key: Hashable = settings
        if left_out:
            named = tuple(getattr(settings, item.name) for item in fields(settings) if item.name not in left_out)
            key = named, json.dumps((nodeclass.get("spec") or {}).get("kubelet"), sort_keys=True)
        cached = self._cached.get(key)
        if cached is None:
            cached = self._cached[key] = _Cached(settings, self._pricing.prices(), self._clock.seconds)
        return self._list(cached.settings, cached.prices)

    def list(self, nodeclass: Object) -> InstanceTypeList:
        """The instance types for any AKSNodeClass, also one that is not in the cluster, without the provider's cache.

        Raises NoInstanceTypes where the release does.
        """
        self._refresh()
        self.unavailable.expire(self._clock.seconds)
        return self._list(self._settings_of(nodeclass), self._pricing.prices())

    def _settings_of(self, nodeclass: Object) -> NodeClassSettings:
        return NodeClassSettings.of(nodeclass, self.options, self.release)

    def _list(self, settings: NodeClassSettings, prices: Prices) -> InstanceTypeList:
        sequence, records = self.unavailable.sequence, self._records()
        current: list[_Kept] = self._current.of(settings, list)
        if current and current[0].sequence == sequence and current[0].of(prices, records, self._usages_key):
            return current[0].types
        key = self._key(settings, prices)
        types = (
            self._marked(key, settings, prices)
            if self.unavailable
            else self._shared.get(key, lambda: self._build(settings, prices))
        )
        current[:] = [_Kept(sequence, prices, records, self._usages_key, types)]
        return types

    def _marked(self, key: Hashable, settings: NodeClassSettings, prices: Prices) -> InstanceTypeList:
        """A list with marks of unavailable offerings. When marks change, only the sizes that they are about are built again."""
        sequence, records = self.unavailable.sequence, self._records()
        for other in [
            other_key
            for other_key, kept_list in self._own.items()
            if not kept_list.of(kept_list.prices, records, self._usages_key)
        ]:
            del self._own[other]
        own_list = self._own.get(key)
        before = None
        if own_list is not None:
            if own_list.sequence == sequence:
                return own_list.types
            changed = self.unavailable.changed_since(own_list.sequence)
            before = (own_list.types, changed) if changed is not None else None
        built = self._shared.get((key, self.unavailable.marked), lambda: self._build(settings, prices, before))
        self._own[key] = _Kept(sequence, prices, records, self._usages_key, built)
        return built

    def one(self, size: str, nodeclass: Object) -> InstanceType | DroppedSize | None:
        """One size for an AKSNodeClass, without building the others; None when the region does not sell it."""
        region = self.region
        sku = region.find(size)
        if not isinstance(sku, Sku):
            return sku
        settings = self._settings_of(nodeclass)

        def build() -> InstanceType | DroppedSize:
            return region.build_one(
                sku,
                options=self.options,
                settings=settings,
                prices=self._pricing.prices(),
                unavailable=self.unavailable,
                usages=self._current_usages(),
            )

        if self.unavailable:
            return build()
        return self._shared.size((size, self._key(settings, self._pricing.prices())), build)

    def _build(
        self,
        settings: NodeClassSettings,
        prices: Prices,
        before: tuple[InstanceTypeList, frozenset[str]] | None = None,
    ) -> InstanceTypeList:
        return self.region.build_for(
            settings,
            options=self.options,
            prices=prices,
            unavailable=self.unavailable,
            usages=self._current_usages(),
            before=before,
        )

    def _key(self, settings: NodeClassSettings, prices: Prices) -> Hashable:
        self._refresh()
        return (
            self._listing.version,
            self._region_name,
            self._options_key,
            settings,
            self._limits_key(),
            Same(prices),
            Same(self._records()),
        )

    def _limits_key(self) -> tuple[tuple[str, int], ...]:
        """The part of the quota on which a list depends: the vCPUs that families have left, in releases that check the quota."""
        if not self._usages_key or not self._listing.quota_checked:
            return ()
        families = self.region.families
        return tuple((name, room) for name, room in self._usages_key if name in families)

    def _current_usages(self) -> Usages:
        self._refresh()
        assert self._usages is not None
        return self._usages

    def _refresh(self) -> None:
        if self._usages is not None and self._clock.seconds - self._usages_read < USAGE_REFRESH:
            return
        before = self._usages, self._used_then
        self._usages, self._used_then = self._read_usages(), self._in_use()
        self._usage_changes += (self._usages, self._used_then) != before
        self._usages_read = self._clock.seconds
        rooms = ((name, usage.limit - usage.current) for name, usage in self._usages.by_name.items())
        self._usages_key = tuple(sorted((name, room) for name, room in rooms if room < _AMPLE))
