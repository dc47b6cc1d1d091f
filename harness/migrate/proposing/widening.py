"""Sizes that a widened NodePool may make, and what they cost beside the agent pool's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.explain.pods.nodepools import nodepool_sizes
from harness.explain.pods.scheduling import Explainer
from harness.karpenter.labels.core import SPOT
from harness.migrate.proposing.sizes import Size
from harness.wording import counted
from harness.world import World
from lazyrecords import dataclass

__all__ = ["Widening", "widening_of"]


@dataclass(frozen=True, slots=True)
class Widening:
    """The number of sizes that a NodePool may make, the cheapest and the dearest with a known price, and the agent pool's own.

    Prices are USD per hour, of spot machines for a spot pool; None where none is known.
    """

    count: int
    lowest: tuple[str, float] | None
    highest: tuple[str, float] | None
    exact: Sequence[tuple[str, float | None]]

    @property
    def text(self) -> str:
        """Return count and prices in words."""
        own = ", ".join(
            f"{size} {'costs ' + _usd(usd) if usd is not None else 'has no known price'}" for size, usd in self.exact
        )
        if self.lowest is None or self.highest is None:
            return f"{counted(self.count, 'size')} without a known price; {own}"
        low, high = (f"{_usd(usd)} ({size})" for size, usd in (self.lowest, self.highest))
        return f"{counted(self.count, 'size')} from {low} to {high}; {own}"

    def to_json(self) -> dict[str, Any]:
        """Return the same as a JSON object."""
        ends = {
            name: dict([end]) if end else None for name, end in (("lowest", self.lowest), ("highest", self.highest))
        }
        return {"sizes": self.count, **ends, "exact": dict(self.exact)}


def widening_of(
    world: World, nodepool: Mapping[str, Any], nodeclass: Mapping[str, Any], sizes: Sequence[Size], *, spot: bool
) -> Widening:
    """Return what a NodePool may make in a world's region; the world stays as it is. `sizes` are the agent pools' own."""
    trial = world.fresh()
    spec = {key: value for key, value in nodepool["spec"].items() if key not in ("limits", "replicas")}
    own = {key: value for key, value in nodeclass["spec"].items() if key != "vnetSubnetID"}  # which decides no size
    trial.apply({**nodeclass, "spec": own}, {**nodepool, "spec": spec})
    (allowed,) = nodepool_sizes(trial, Explainer(trial))
    capacity_type = SPOT if spot else ""
    prices = ((size, world.price(size, capacity_type).usd) for size, _ in allowed.sizes)
    priced = sorted(((size, usd) for size, usd in prices if usd is not None), key=lambda pair: (pair[1], pair[0]))
    exact = [(size.name, world.price(size.name, capacity_type).usd) for size in sizes]
    return Widening(len(allowed.sizes), priced[0] if priced else None, priced[-1] if priced else None, exact)


def _usd(usd: float) -> str:
    return f"{usd:.4f} USD/h"
