"""Reasons why no instance type is left for a NodeClaim: requirements, resources, offerings, minValues.

Sources: core ``pkg/controllers/provisioning/scheduling/nodeclaim.go`` (InstanceTypeFilterError),
``pkg/cloudprovider/types.go``.
"""

import json
from collections.abc import Mapping

from harness.kube.api.quantity import NANO, Quantity
from harness.kube.api.resources import ResourceList, merge
from harness.kube.go.text import quote
from lazyrecords import dataclass

__all__ = ["MinValuesUnmet", "NoInstanceType", "TruncationUnmet", "largest", "resources_text", "smallest"]

_TYPO_CPU = 1_000_000 * NANO


@dataclass(frozen=True, slots=True)
class MinValuesUnmet:
    """Keys for which the remaining instance types offer fewer values than ``minValues`` asks, with the number they offer.

    ``text`` is the sentence of the release; ``{first}`` and ``{all}`` stand for the keys.
    """

    keys: Mapping[str, int]
    text: str = "minValues requirement is not met for label(s) (label(s)=[{all}])"

    def __str__(self) -> str:
        return self.text.format(first=min(self.keys), all=" ".join(sorted(self.keys)))


@dataclass(frozen=True, slots=True)
class NoInstanceType:
    """No instance type passes the filter.

    The flags say what at least one instance type met: the requirements, the resources, an offering; and which single types
    met exactly two of the three. ``daemons`` are the smallest and largest DaemonSet overheads.
    """

    compatible: bool
    fits: bool
    offered: bool
    compatible_and_fits: bool
    compatible_and_offered: bool
    fits_and_offered: bool
    requirements: str
    requests: ResourceList
    daemons: tuple[ResourceList, ResourceList]
    min_values: MinValuesUnmet | None = None

    def __str__(self) -> str:
        details = f", requirements={self.requirements}, resources={self._resources()}"
        if self.min_values is not None:
            return f"{self.min_values}{details}"
        typo = ""
        if (self.compatible, self.fits, self.offered) == (True, False, True):
            cpu = self.requests.get("cpu")
            if cpu is not None and cpu.nano >= _TYPO_CPU:
                typo = " (CPU request >= 1 Million, m vs M typo?)"
        return f"{self._sentence()}{details}{typo}"

    def _sentence(self) -> str:
        unmet = _UNMET.get((self.compatible, self.fits, self.offered))
        if unmet is not None:
            return f"no instance type {unmet}"
        if self.compatible_and_fits:
            return "no instance type which met the scheduling requirements and had enough resources, had a required offering"
        if self.fits_and_offered:
            return (
                "no instance type which had enough resources and the required offering met the scheduling requirements"
            )
        if self.compatible_and_offered:
            return "no instance type which met the scheduling requirements and the required offering had the required resources"
        return "no instance type met the requirements/resources/offering tuple"

    def _resources(self) -> str:
        least, most = self.daemons
        if not least:
            return resources_text(self.requests)
        low, high = resources_text(merge(least, self.requests)), resources_text(merge(most, self.requests))
        return low if low == high else f"min={low}, max={high}"


_UNMET = {
    (False, False, False): "met the scheduling requirements or had enough resources or had a required offering",
    (False, False, True): "met the scheduling requirements or had enough resources",
    (False, True, False): "met the scheduling requirements or had a required offering",
    (True, False, False): "had enough resources or had a required offering",
    (False, True, True): "met all requirements",
    (True, False, True): "has enough resources",
    (True, True, False): "has the required offering",
}


@dataclass(frozen=True, slots=True)
class TruncationUnmet:
    """The cheapest instance types, cut to the number that a launch may name, no longer meet ``minValues``."""

    nodepool: str
    cause: MinValuesUnmet
    plain: bool = False

    def __str__(self) -> str:
        if self.plain:
            pool = quote(self.nodepool)
            return f"pod didn’t schedule because NodePool {pool} couldn’t meet minValues requirements, validating minValues, {self.cause}"
        return (
            "pod didn’t schedule because NodePool couldn’t meet minValues requirements, "
            f"validating minValues, {self.cause} (NodePool={self.nodepool})"
        )


def resources_text(resources: ResourceList) -> str:
    """A resource list as Karpenter logs it: compact JSON, sorted by name."""
    return json.dumps({name: str(resources[name]) for name in sorted(resources)}, separators=(",", ":"))


def smallest(a: ResourceList, b: ResourceList) -> dict[str, Quantity]:
    """The smaller quantity of each resource that both have."""
    return {name: b[name] if b[name] < quantity else quantity for name, quantity in a.items() if name in b}


def largest(a: ResourceList, b: ResourceList) -> dict[str, Quantity]:
    """The larger quantity of each resource that either has."""
    return {name: max((r[name] for r in (a, b) if name in r), key=lambda q: q.nano) for name in {**a, **b}}
