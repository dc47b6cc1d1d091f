"""Azure's shortages in the way of pods: quotas, refusals that Karpenter remembers, prices that are missing."""

from __future__ import annotations

from collections.abc import Mapping

from harness.karpenter.cloudprovider import Offering
from harness.karpenter.instancetypes.unavailable import UnavailableOfferings
from harness.karpenter.labels.azure import capacity_type_of
from harness.karpenter.labels.core import SPOT
from harness.karpenter.launch.failures.handlers import codes_of
from harness.world import World

__all__ = ["Shortages", "quota_text"]


class Shortages:
    """The reasons why offerings cannot be had; `marks` are those that Karpenter had when it looked."""

    def __init__(self, world: World, marks: UnavailableOfferings) -> None:
        self._world = world
        self._marks = marks
        self._refused = _refused(world)
        self._known: dict[tuple[str, str, str], str] = {}

    def why(self, size: str, offering: Offering) -> str:
        """Return the obstacle of one offering, as Azure calls it."""
        key = (size, offering.zone, offering.capacity_type)
        if key not in self._known:
            self._known[key] = self._why(*key)
        return self._known[key]

    def _why(self, size: str, zone: str, capacity_type: str) -> str:
        quota = quota_text(self._world, size, spot=capacity_type == SPOT)
        sku = self._world.instance_types.sku(size)
        mark = self._marks.why(sku, zone, capacity_type) if sku is not None else None
        if mark is not None:
            codes = codes_of(mark.reason)
            here = self._refused.get((size, zone.rpartition("-")[2] if "-" in zone else "", capacity_type))
            code = (
                here
                if here in codes
                else next((code_known for code_known in self._refused.values() if code_known in codes), mark.reason)
            )
            return quota if code == "OperationNotAllowed" and quota else f"Azure refuses it with {code}"
        if quota:
            return quota
        if self._world.price(size, capacity_type).usd is None:
            return f"no {capacity_type} price is known"
        if capacity_type == SPOT and sku is not None and not sku.low_priority:
            return "not sold as spot"
        return "not to be had now"


def quota_text(world: World, size: str, *, spot: bool) -> str:
    """The quota that one more machine of a size would exceed, with its numbers; empty when there is room."""
    quota = world.shortage(size, spot=spot)
    if quota is None:
        return ""
    unit = "" if quota.name.lower() == "virtualmachines" else " vCPUs"
    left = max(0, quota.limit - quota.used)
    return f"Azure's quota {quota.name} in {quota.location} has {left} of {quota.limit}{unit} left"


def _refused(world: World) -> Mapping[tuple[str, str, str], str]:
    """Size, zone and capacity type → the code with which Azure last refused it."""
    codes_by_offering: dict[tuple[str, str, str], str] = {}
    for call in world.calls():
        if call.method == "PUT" and call.code and "size" in call.summary:
            zone = next(iter(call.summary.get("zones") or ()), "")
            capacity_type = capacity_type_of(call.summary.get("priority"))
            codes_by_offering[(str(call.summary["size"]), str(zone), capacity_type)] = call.code
    return codes_by_offering
