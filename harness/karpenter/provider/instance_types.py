"""The instance types of one controller, as its provider caches them: built again when something changed, else shared.

What a list depends on: the SKU records, the release, the options, the NodeClass's settings, prices, quota, and the offerings that
failed lately. Lists are shared between worlds through `SharedLists`, also by releases that make the same ones. The provider's own cache
has a key that in some releases leaves a setting out, so that NodeClasses get each other's lists (`InstanceTypeProvider.cached`).
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
    SkuBook,
    UnavailableOfferings,
    Usages,
)
from harness.karpenter.instancetypes.alike import lists_like
from harness.karpenter.instancetypes.market import NO_USAGES
from harness.karpenter.launch import LaunchTypes, overlaid_types
from harness.karpenter.provider.market_snapshot import MarketSnapshot
from harness.karpenter.provider.selection import PriceOrders
from harness.karpenter.releases import ProviderOptions, ProviderRelease
from harness.kube.api.objects import Object
from harness.latest import Latest, LatestOf
from lazyrecords import dataclass

USAGE_REFRESH = 600.0
"""Seconds after which the quota is read again."""

CACHED = 23 * 3600.0
"""Seconds for which the provider keeps a list (kaz InstanceTypesCacheTTL)."""

_AMPLE = 2000  # vCPUs: more than the largest size has


_LISTS, _SIZES = 24, 4096
"""How many lists, and how many single sizes, are kept for all worlds."""
_NODECLASSES = 32
"""For how many AKSNodeClasses a controller keeps settings and the last list."""


class SharedLists:
    """Instance types that worlds with the same inputs share; no content depends on which world came first.

    `book` holds the records of regions as they were read, for all releases.
    """

    def __init__(self, book: SkuBook | None = None) -> None:
        self.book = book or SkuBook()
        self.price_orders = PriceOrders()
        self._lists: Latest[Hashable, InstanceTypeList] = Latest(_LISTS)
        self._sizes: Latest[Hashable, InstanceType | DroppedSize] = Latest(_SIZES)

    def get(self, key: Hashable, build: Callable[[], InstanceTypeList]) -> InstanceTypeList:
        """The list for this key, built at first use."""
        return self._lists.of(key, build)

    def size(self, key: Hashable, build: Callable[[], InstanceType | DroppedSize]) -> InstanceType | DroppedSize:
        """The one size for this key, built at first use."""
        return self._sizes.of(key, build)


class _Same:
    """An object in a key, compared by identity. The key keeps it alive, so that no other object can get its address."""

    __slots__ = ("it",)

    def __init__(self, it: object) -> None:
        self.it = it

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.it is other.it

    def __hash__(self) -> int:
        return id(self.it)


@dataclass(frozen=True, slots=True)
class _Kept:
    """A list, with the sequence number of the marks, the prices, records and quota from which it was built."""

    sequence: int
    prices: Prices
    records: Sequence[Mapping[str, Any]]
    usages: tuple[tuple[str, int], ...]
    types: InstanceTypeList

    def of(self, prices: Prices, records: Sequence[Mapping[str, Any]], usages: tuple[tuple[str, int], ...]) -> bool:
        """Whether it was built from these."""
        return self.prices is prices and self.records is records and self.usages == usages


class Overlays(Protocol):
    """Applies NodeOverlays to instance types; ``version`` changes when the result may change."""

    version: int

    def apply(self, nodepool: str, types: Sequence[InstanceType]) -> Sequence[InstanceType]: ...


class InstanceTypeProvider:
    """One controller's instance types.

    `records` returns the SKU list, `prices` the price table (USD per hour), `usages` the quota records of the region; the first two must
    return the same object while nothing changed.
    """

    def __init__(
        self,
        *,
        release: ProviderRelease,
        options: ProviderOptions,
        region: str,
        clock: Clock,
        records: Callable[[], Sequence[Mapping[str, Any]]],
        prices: Callable[[], Prices],
        usages: Callable[[], Usages],
        shared: SharedLists,
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
        self._prices = prices
        self._read_usages = usages
        self._shared = shared
        self._options_key = (options.use_sig, options.vm_memory_overhead_percent, options.node_resource_group)
        """The options that a list depends on beside those that its settings are made from."""
        self._usages: Usages | None = None
        self._usages_key: tuple[tuple[str, int], ...] = ()
        self._usages_read = 0.0
        self._own: dict[Hashable, _Kept] = {}
        self._cached: dict[Hashable, tuple[NodeClassSettings, float]] = {}
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
        found = self.region.find(name)
        return found if isinstance(found, Sku) else None

    def market_snapshot(self) -> MarketSnapshot:
        """The prices, quota and marks that it uses now; it asks Azure nothing."""
        return MarketSnapshot(self.region, self._prices(), self._usages or NO_USAGES, self.unavailable.copy())

    def version(self) -> object:
        """Changes whenever any list may have changed."""
        self.unavailable.expire(self._clock.seconds)
        self._refresh()
        old = [key for key, (_, since) in self._cached.items() if self._clock.seconds - since >= CACHED]
        for key in old:
            del self._cached[key]
            self._renewed += 1
        overlays = self._overlays.version if self._overlays is not None else 0
        seen = self._usages_key, id(self._prices()), id(self._records())
        return (self.unavailable.sequence, *seen, self._renewed, overlays)

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

        Where the cache key of the release leaves a setting out, AKSNodeClasses with equal keys share the list of the one that came first,
        until an offering fails or returns, the SKU records change, or 23 hours have passed. The key includes ``spec.kubelet``.
        """
        settings = self._settings.of(nodeclass, lambda: self._settings_of(nodeclass))
        left_out = self.release.instance_type_key_leaves_out
        if not left_out:
            return self._list(settings)
        now = self._clock.seconds
        self.unavailable.expire(now)
        named = tuple(getattr(settings, item.name) for item in fields(settings) if item.name not in left_out)
        kubelet = json.dumps((nodeclass.get("spec") or {}).get("kubelet"), sort_keys=True)
        key = (self.unavailable.sequence, id(self._records()), named, kubelet)
        found = self._cached.get(key)
        if found is None or now - found[1] >= CACHED:
            found = self._cached[key] = settings, now
        return self._list(found[0])

    def list(self, nodeclass: Object) -> InstanceTypeList:
        """The instance types for any AKSNodeClass, also one that is not in the cluster, without the provider's cache.

        Raises NoInstanceTypes where the release does.
        """
        return self._list(self._settings_of(nodeclass))

    def _settings_of(self, nodeclass: Object) -> NodeClassSettings:
        return NodeClassSettings.of(nodeclass, self.options, self.release)

    def _list(self, settings: NodeClassSettings) -> InstanceTypeList:
        self._refresh()
        self.unavailable.expire(self._clock.seconds)
        sequence, prices, records = self.unavailable.sequence, self._prices(), self._records()
        current: list[_Kept] = self._current.of(settings, list)
        if current and current[0].sequence == sequence and current[0].of(prices, records, self._usages_key):
            return current[0].types
        key = self._key(settings)
        found = (
            self._marked(key, settings) if self.unavailable else self._shared.get(key, lambda: self._build(settings))
        )
        current[:] = [_Kept(sequence, prices, records, self._usages_key, found)]
        return found

    def _marked(self, key: Hashable, settings: NodeClassSettings) -> InstanceTypeList:
        """A list with marks of unavailable offerings. When marks change, only the sizes that they are about are built again."""
        sequence, prices, records = self.unavailable.sequence, self._prices(), self._records()
        if not all(one.of(prices, records, self._usages_key) for one in self._own.values()):
            self._own.clear()
        found = self._own.get(key)
        before = None
        if found is not None:
            if found.sequence == sequence:
                return found.types
            changed = self.unavailable.changed_since(found.sequence)
            before = (found.types, changed) if changed is not None else None
        built = self._shared.get((key, self.unavailable.marked), lambda: self._build(settings, before))
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
                prices=self._prices(),
                unavailable=self.unavailable,
                usages=self._current_usages(),
            )

        if self.unavailable:
            return build()
        return self._shared.size((size, self._key(settings)), build)

    def _build(
        self, settings: NodeClassSettings, before: tuple[InstanceTypeList, frozenset[str]] | None = None
    ) -> InstanceTypeList:
        return self.region.build_for(
            settings,
            options=self.options,
            prices=self._prices(),
            unavailable=self.unavailable,
            usages=self._current_usages(),
            before=before,
        )

    def _key(self, settings: NodeClassSettings) -> Hashable:
        self._refresh()
        return (
            self._listing.version,
            self._region_name,
            self._options_key,
            settings,
            self._limits_key(),
            _Same(self._prices()),
            _Same(self._records()),
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
        self._usages = self._read_usages()
        self._usages_read = self._clock.seconds
        rooms = ((name, usage.limit - usage.current) for name, usage in self._usages.by_name.items())
        self._usages_key = tuple(sorted((name, room) for name, room in rooms if room < _AMPLE))
