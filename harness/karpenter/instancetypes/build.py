"""SKU records to instance types, for one release, region and NodeClass."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

from harness.karpenter.cloudprovider import DroppedSize, InstanceType, Offering, Overhead, allocatable_of
from harness.karpenter.instancetypes.computed import (
    Values,
    of_nodeclass,
    of_offerings,
    of_region,
    requirements_of,
)
from harness.karpenter.instancetypes.filters import name_filter, nodeclass_filter, region_filter
from harness.karpenter.instancetypes.market import NO_PRICES, NO_USAGES, Prices, Usages
from harness.karpenter.instancetypes.nodeclass_settings import NodeClassSettings
from harness.karpenter.instancetypes.offerings import OfferingFactory
from harness.karpenter.instancetypes.records import ReadRecords, Records
from harness.karpenter.instancetypes.resources import capacity, overhead
from harness.karpenter.instancetypes.sku import Sku
from harness.karpenter.instancetypes.unavailable import UnavailableOfferings
from harness.karpenter.instancetypes.vmsize import GRAMMARS
from harness.karpenter.releases import ProviderOptions, ProviderRelease
from harness.karpenter.requirements import Requirement, Requirements
from harness.kube.api.resources import ResourceList
from harness.latest import LatestOf
from lazyrecords import dataclass

__all__ = ["InstanceTypeList", "NoInstanceTypes", "Region", "SkuBook", "build"]

_REGIONS = 256
"""Regions, each as one release sees it, that a book keeps."""


class NoInstanceTypes(LookupError):
    """A region without a usable size, where the release makes that an error; the text is the provider's."""

    def __init__(self) -> None:
        super().__init__("no instance types found")


@dataclass(frozen=True)
class InstanceTypeList:
    """The outcome: instance types by name, sorted, and every other size with the filter that dropped it."""

    types: tuple[InstanceType, ...]
    dropped: tuple[DroppedSize, ...]

    @cached_property
    def by_name(self) -> Mapping[str, InstanceType]:
        return {item.name: item for item in self.types}

    def get(self, name: str) -> InstanceType | DroppedSize | None:
        """The size's instance type or the reason why there is none; None for names that are not in the region."""
        named = self.by_name.get(name)
        if named is not None:
            return named
        return next((item for item in self.dropped if item.name == name), None)


@dataclass(frozen=True, slots=True)
class _Variant:
    """The settings of NodeClass and options that decide for all sizes: why a size is left out, and the results for a
    size and its offerings.
    """

    settings: NodeClassSettings
    memory_overhead: float
    common: Requirements
    left_out: dict[str, DroppedSize | None] = field(default_factory=dict)
    built: dict[tuple[str, int], InstanceType] = field(default_factory=dict)


class Region:
    """The usable sizes of one region under one release; everything that does not change with the market is kept here.

    ``records`` are raw ones, or already shared with other releases. What is built again without a change is the same object.
    """

    def __init__(
        self,
        records: Sequence[Mapping[str, Any]] | Records,
        release: ProviderRelease,
        region: str,
        *,
        use_sig: bool = False,
    ) -> None:
        self.release = release
        self.region = region
        self.factory = OfferingFactory(release, region)
        self._grammar = GRAMMARS[release.skewer]
        self._use_sig = use_sig
        self._records = records if isinstance(records, Records) else Records(records, region)
        self._sizes: dict[str, Sku | DroppedSize] = {}
        self._offered: dict[tuple[int, ...], tuple[Requirement, ...]] = {}
        self._capacities: dict[tuple[str, int, int, float], tuple[ResourceList, Overhead, ResourceList]] = {}
        """Capacity, overhead and what is left, by size, disk (GB), pods and percent of memory that the hypervisor takes."""
        self._variants: dict[tuple[NodeClassSettings, float, str], _Variant] = {}

    def find(self, name: str) -> Sku | DroppedSize | None:
        """A size, or the filter that drops it; None for a name that is not in the region."""
        size = self._sizes.get(name)
        if size is None and self._records.has(name):
            size = self._sizes[name] = name_filter(name, self.release) or self._read(name)
        return size

    def _read(self, name: str) -> Sku | DroppedSize:
        """Return the last usable record with one name."""
        size: Sku | DroppedSize | None = None
        for sku in self._records.skus(name, self._grammar):
            dropped = region_filter(sku, self.release, use_sig=self._use_sig)
            if dropped is None:
                size = sku
            elif not isinstance(size, Sku):
                size = dropped
        assert size is not None
        return size

    @property
    def families(self) -> frozenset[str]:
        """The families of all sizes, as the quota names them."""
        return self._records.families

    @cached_property
    def skus(self) -> Mapping[str, Sku]:
        """The usable sizes by name, in order."""
        sizes = ((name, self.find(name)) for name in self._records.names)
        return {name: size for name, size in sizes if isinstance(size, Sku)}

    @cached_property
    def dropped(self) -> tuple[DroppedSize, ...]:
        """The other sizes, in order of name."""
        sizes = (self.find(name) for name in self._records.names)
        return tuple(size for size in sizes if isinstance(size, DroppedSize))

    def build_one(
        self,
        sku: Sku,
        *,
        options: ProviderOptions,
        settings: NodeClassSettings,
        prices: Prices = NO_PRICES,
        unavailable: UnavailableOfferings | None = None,
        usages: Usages = NO_USAGES,
    ) -> InstanceType | DroppedSize:
        """One size of :attr:`skus` for a NodeClass."""
        return self._build(sku, self._variant(options, settings), prices, unavailable, usages)

    def build(
        self,
        *,
        options: ProviderOptions,
        nodeclass: Mapping[str, Any],
        prices: Prices = NO_PRICES,
        unavailable: UnavailableOfferings | None = None,
        usages: Usages = NO_USAGES,
    ) -> InstanceTypeList:
        """All sizes for a NodeClass. Raises NoInstanceTypes where the release does."""
        return self.build_for(
            NodeClassSettings.of(nodeclass, options, self.release),
            options=options,
            prices=prices,
            unavailable=unavailable,
            usages=usages,
        )

    def build_for(
        self,
        settings: NodeClassSettings,
        *,
        options: ProviderOptions,
        prices: Prices = NO_PRICES,
        unavailable: UnavailableOfferings | None = None,
        usages: Usages = NO_USAGES,
        before: tuple[InstanceTypeList, frozenset[str]] | None = None,
    ) -> InstanceTypeList:
        """All sizes for every NodeClass with these settings. Raises NoInstanceTypes where the release does.

        `before`: such a list that differs in marks of unavailable offerings alone, and the sizes and families (in lower case) whose
        marks changed since: the others are taken from it.
        """
        if not self.skus and self.release.no_sizes_is_error:
            raise NoInstanceTypes
        variant = self._variant(options, settings)
        if before is not None:
            return self._rebuilt(variant, *before, prices, unavailable, usages)
        types: list[InstanceType] = []
        dropped: list[DroppedSize] = list(self.dropped)
        for sku in self.skus.values():
            built = self._build(sku, variant, prices, unavailable, usages)
            if isinstance(built, InstanceType):
                types.append(built)
            else:
                dropped.append(built)
        dropped.sort(key=lambda item: item.name)
        return InstanceTypeList(tuple(types), tuple(dropped))

    def _rebuilt(
        self,
        variant: _Variant,
        before: InstanceTypeList,
        changed: frozenset[str],
        prices: Prices,
        unavailable: UnavailableOfferings | None,
        usages: Usages,
    ) -> InstanceTypeList:
        """The list with what changed made anew: marks change offerings, and drop no size."""
        types = list(before.types)
        for number, item in enumerate(types):
            sku = self.skus[item.name]
            if item.name in changed or sku.family.lower() in changed:
                built = self._build(sku, variant, prices, unavailable, usages)
                assert isinstance(built, InstanceType)
                types[number] = built
        return InstanceTypeList(tuple(types), before.dropped)

    def _build(
        self,
        sku: Sku,
        variant: _Variant,
        prices: Prices,
        unavailable: UnavailableOfferings | None,
        usages: Usages,
    ) -> InstanceType | DroppedSize:
        if sku.name not in variant.left_out:
            variant.left_out[sku.name] = nodeclass_filter(sku, self.release, variant.settings)
        reason = variant.left_out[sku.name]
        if reason is not None:
            return reason
        offerings = self.factory.make(sku, prices, unavailable, usages)
        item = variant.built.get((sku.name, id(offerings)))
        if item is None:
            own = (*self._records.requirements(sku, self.release), *self._offers(offerings))
            resources, taken, left = self._resources(sku, variant.settings, variant.memory_overhead)
            item = InstanceType(sku.name, variant.common.add(*own), resources, taken, offerings)
            item.__dict__["allocatable"] = left
            # the factory keeps the offerings, so that their identity is not used again
            variant.built[sku.name, id(offerings)] = item
        return item

    def _variant(self, options: ProviderOptions, settings: NodeClassSettings) -> _Variant:
        key = (settings, options.vm_memory_overhead_percent, options.node_resource_group)
        variant = self._variants.get(key)
        if variant is None:
            parts: tuple[Values, ...] = (of_region(self.region, options), of_nodeclass(settings, self.release))
            common = Requirements(requirements_of(parts, self.release), vocabulary=self.release.vocabulary)
            variant = self._variants[key] = _Variant(settings, options.vm_memory_overhead_percent, common)
        return variant

    def _offers(self, offerings: Sequence[Offering]) -> tuple[Requirement, ...]:
        """Return the available offerings as requirements; the same for the same available offerings, whose requirements
        the factory shares.
        """
        key = tuple([id(offering.requirements) for offering in offerings if offering.available])
        requirements = self._offered.get(key)
        if requirements is None:
            requirements = self._offered[key] = tuple(requirements_of((of_offerings(offerings),), self.release))
        return requirements

    def _resources(
        self, sku: Sku, settings: NodeClassSettings, percent: float
    ) -> tuple[ResourceList, Overhead, ResourceList]:
        key = (sku.name, settings.os_disk_gb, settings.max_pods, percent)
        resources = self._capacities.get(key)
        if resources is None:
            all_of_it = capacity(sku, settings, self.release, percent)
            taken = overhead(sku.vcpus or 0, sku.memory_gib or 0.0)
            resources = self._capacities[key] = all_of_it, taken, allocatable_of(all_of_it, taken)
        return resources


class SkuBook:
    """Regions by release and list of records; pass one around so that records are read once.

    `read`: where records are read for other books, too.
    """

    def __init__(self, read: ReadRecords | None = None) -> None:
        self._read = read or ReadRecords()
        self._regions: LatestOf[Records, Region] = LatestOf(_REGIONS)

    def region(
        self, records: Sequence[Mapping[str, Any]], release: ProviderRelease, region: str, *, use_sig: bool = False
    ) -> Region:
        """Return the region as the release sees it."""
        read = self._read.of(records, region)
        return self._regions.of(read, lambda: Region(read, release, region, use_sig=use_sig), release.version, use_sig)


def build(
    skus: Sequence[Mapping[str, Any]],
    *,
    release: ProviderRelease,
    options: ProviderOptions,
    nodeclass: Mapping[str, Any],
    region: str,
    prices: Prices = NO_PRICES,
    unavailable: UnavailableOfferings | None = None,
    usages: Usages = NO_USAGES,
    book: SkuBook | None = None,
) -> InstanceTypeList:
    """The instance types that Karpenter sees: raw ARM ``Microsoft.Compute/skus`` records in, types and dropped sizes out.

    Raises NoInstanceTypes where the release does.
    """
    listed = (book or SkuBook()).region(skus, release, region, use_sig=options.use_sig)
    return listed.build(options=options, nodeclass=nodeclass, prices=prices, unavailable=unavailable, usages=usages)
