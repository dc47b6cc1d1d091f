"""The offer of a cloud to the scheduler: instance types, their offerings, and the sizes that are not offered.

Core ``pkg/cloudprovider/types.go``.
"""

from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import cached_property
from typing import Any

from harness.karpenter.labels.core import CAPACITY_TYPE
from harness.karpenter.requirements import Requirements
from harness.kube.api.labels import ZONE
from harness.kube.api.quantity import Quantity
from harness.kube.api.resources import ResourceList, merge, subtract
from harness.kube.go.text import quote
from lazyrecords import dataclass

__all__ = ["RESERVED", "DroppedSize", "InstanceType", "Offering", "Overhead", "UnevaluatedNodePool", "allocatable_of"]

RESERVED = "reserved"
"""The capacity type of offerings that a capacity reservation stands behind."""

_HUGE_PAGES = "hugepages-"


@dataclass(frozen=True, slots=True)
class Offering:
    """One way to buy an instance type: a zone and a capacity type at a price in USD per hour.

    ``available`` is false while the cloud is known not to have it (marked after a failure, over quota, without a price).
    ``reservation_capacity``: how many machines the reservation behind a reserved offering still takes. ``price_overlaid``: the price is
    what a NodeOverlay makes of it. ``unpriced``: nobody knows a price, and this figure stands for it.
    """

    requirements: Requirements
    price: float
    available: bool = True
    reservation_capacity: int = 0
    price_overlaid: bool = False
    unpriced: bool = False

    @property
    def zone(self) -> str:
        """The only zone; the smallest when a hand-written offering has several, empty without one."""
        return self.requirements.first(ZONE)

    @property
    def capacity_type(self) -> str:
        """``spot``, ``on-demand`` or ``reserved``."""
        return self.requirements.first(CAPACITY_TYPE)

    def reservation(self, label: str) -> str:
        """The reservation's name, which is the value of the provider's ``label`` for it; empty without one."""
        return self.requirements.first(label)


@dataclass(frozen=True)
class Overhead:
    """The share of a node's capacity that kubelet and the system take; sizes of as many vCPUs and as much memory share one."""

    kube_reserved: ResourceList = field(default_factory=dict)
    system_reserved: ResourceList = field(default_factory=dict)
    eviction_threshold: ResourceList = field(default_factory=dict)

    @cached_property
    def total(self) -> ResourceList:
        """All three."""
        return merge(self.kube_reserved, self.system_reserved, self.eviction_threshold)


def allocatable_of(capacity: ResourceList, overhead: Overhead) -> ResourceList:
    """Capacity without overhead; huge pages count against memory."""
    left = subtract(capacity, overhead.total)
    pages = [quantity for name, quantity in capacity.items() if name.startswith(_HUGE_PAGES)]
    if pages:
        memory = left.get("memory", Quantity(0))
        for quantity in pages:
            memory = memory - quantity
            if memory.negative:
                memory = Quantity(0, memory.format)
        left["memory"] = memory
    return left


@dataclass(frozen=True)
class InstanceType:
    """A size as the scheduler sees it; immutable and shared, compared by identity of its parts.

    ``capacity_overlaid``: some of its capacity is what a NodeOverlay says.
    ``attach_limits``: how many volumes its nodes can attach, by CSI driver; without an entry any number.
    """

    name: str
    requirements: Requirements
    capacity: ResourceList
    overhead: Overhead
    offerings: tuple[Offering, ...]
    capacity_overlaid: bool = False
    attach_limits: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def allocatable(self) -> ResourceList:
        """Capacity without overhead; huge pages count against memory."""
        return allocatable_of(self.capacity, self.overhead)

    @cached_property
    def never_negative(self) -> bool:
        """Return whether no allocatable amount is below zero; no pod fits where one is."""
        return all(quantity.nano >= 0 for quantity in self.allocatable.values())

    @cached_property
    def available_offerings(self) -> tuple[Offering, ...]:
        return tuple(offering for offering in self.offerings if offering.available)

    def compatible_offerings(self, requirements: Requirements) -> Iterable[Offering]:
        """Return the offerings, available or not, that ``requirements`` accept; well-known keys need no counterpart."""
        well_known = requirements.vocabulary.well_known
        return (
            offering
            for offering in self.offerings
            if requirements.compatible(offering.requirements, well_known) is None
        )


@dataclass(frozen=True, slots=True)
class DroppedSize:
    """A size that is not an instance type: the filter that dropped it, and the facts it looked at.

    ``filter`` is one of :data:`harness.karpenter.instancetypes.filters.FILTERS`.
    """

    name: str
    filter: str
    details: Mapping[str, Any] = field(default_factory=dict)


class UnevaluatedNodePool(Exception):
    """The NodeOverlays have not been evaluated for a NodePool yet (UnevaluatedNodePoolError)."""

    def __init__(self, nodepool: str) -> None:
        super().__init__(nodepool)
        self.nodepool = nodepool

    def text(self, *, quoted: bool) -> str:
        """Core's message; ``quoted`` in the words of core since 1.9."""
        if quoted:
            return f"nodepool {quote(self.nodepool)} is awaiting evaluation"
        return f"awaiting nodeoverlay evaluation, nodepool {self.nodepool}"
