"""The sizes that a NodePool allows, and their prices: the scheduler's answer to a pod that asks for nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from harness.explain.pods.render import pool_lines, pool_value
from harness.explain.pods.scheduling import Explainer, PoolExplanation
from harness.explain.pods.unused import unused_nodepools
from harness.karpenter.labels.core import NODEPOOL
from harness.karpenter.scheduling.reasons.verdicts import TypeVerdict
from harness.kube.api.objects import name_of
from harness.world import World
from plainlines import joined

__all__ = ["NodePoolSizes", "nodepool_sizes", "sizes_text", "sizes_value"]

_SHOWN = 10  # sizes that are named


@dataclass(frozen=True, slots=True)
class NodePoolSizes:
    """One NodePool. `sizes` are those that it allows, the cheapest first, with their USD per hour, None where no price is known.

    `pool` says what keeps the others away; None when Karpenter did not come to the NodePool, for the reason of `sentence`.
    """

    nodepool: str
    sentence: str
    pool: PoolExplanation | None
    sizes: tuple[tuple[str, float | None], ...]


def nodepool_sizes(world: World, explainer: Explainer) -> list[NodePoolSizes]:
    """Ask each NodePool of a world that has no pods; the pods that ask stay in it, with the machines that were launched for them."""
    names = [name_of(pool) for pool in world.list("NodePool")]
    world.apply(*map(_asking, names))
    world.settle(allow_rejections=True)
    nodepools: list[NodePoolSizes] = []
    unused = unused_nodepools(world)
    for name in names:
        explained = explainer.pod(world.get("Pod", _name(name)) or _asking(name))
        pool = next((entry for entry in explained.pools if entry.nodepool == name), None)
        # Of a NodePool that is left out, or at its limits, no size is made, whatever suits it.
        open_ = pool is not None and not pool.filtered and not pool.sentence
        open_verdicts = [verdict for verdict in pool.verdicts if verdict.kept] if pool is not None and open_ else []
        sizes = sorted(((*_price(verdict),) for verdict in open_verdicts), key=lambda row: row[:2])
        why = f"not used, because {unused[name]}" if name in unused else ""
        sentence = why or explained.sentence or next(iter(explained.waiting), "")
        nodepools.append(NodePoolSizes(name, sentence, pool, tuple((size, usd) for _, size, usd in sizes)))
    return nodepools


def _name(nodepool: str) -> str:
    return f"any-pod-on-{nodepool}"


def _asking(nodepool: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": _name(nodepool), "namespace": "default"},
        "spec": {
            "nodeSelector": {NODEPOOL: nodepool},
            "tolerations": [{"operator": "Exists"}],
            "containers": [{"name": "any", "image": "any"}],
        },
    }


def _price(verdict: TypeVerdict) -> tuple[float, str, float | None]:
    """Return the sort key, the name and the price."""
    best = min(
        (offering.offering for offering in verdict.offerings if offering.usable), key=lambda offering: offering.price
    )
    return best.price, verdict.instance_type.name, None if best.unpriced else best.price


def sizes_text(pools: Sequence[NodePoolSizes], size: str | None = None) -> str:
    """In words, one paragraph each, with everything about one size."""
    return "\n\n".join(joined(_lines(nodepool, size)) for nodepool in pools)


def _lines(nodepool: NodePoolSizes, size: str | None) -> Iterator[str]:
    if nodepool.pool is None:
        yield f"NodePool {nodepool.nodepool}: {nodepool.sentence or 'Karpenter does not use it'}"
        return
    first, *others = (line.removeprefix("  ") for line in pool_lines(nodepool.pool, size))
    yield first
    if nodepool.sizes:
        named = ", ".join(
            f"{size} at {price:.4f} USD/h" if price is not None else f"{size} without a known price"
            for size, price in nodepool.sizes[:_SHOWN]
        )
        more = len(nodepool.sizes) - _SHOWN
        yield f"  {named}" + (f", and {more} more (--format json has all)" if more > 0 else "")
    yield from others


def sizes_value(pools: Sequence[NodePoolSizes]) -> list[dict[str, Any]]:
    """The same with every size."""
    return [
        {
            "nodepool": entry.nodepool,
            "karpenter": entry.sentence or None,
            "sizes": [{"size": size, "price": price} for size, price in entry.sizes],
            "explanation": pool_value(entry.pool) if entry.pool is not None else None,
        }
        for entry in pools
    ]
