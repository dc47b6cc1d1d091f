"""Figures of a world by its trace: its costs at the end and in all, nodes, moves, pods without a place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.trace.azure import machine_moves
from harness.trace.facts import Boot, ClaimState, Cost, Disruption, NodeState, PodState, PriceOf
from harness.trace.files import Trace

__all__ = ["Figures", "figures_of"]


@dataclass(frozen=True, slots=True)
class Figures:
    """One world. USD: per hour at its end, of which each NodePool has a share ("" is that of other machines); `usd` over `seconds`.

    `moves` are decisions that nodes go and were not taken back. `pending`: workload, or pod without one → pods that have no Node at the
    end. Of `unpriced` sizes no price is known, so that they count as nothing; `guessed`: size → why its price is a guess.
    """

    usd_per_hour: float
    nodepools: Mapping[str, float]
    usd: float
    seconds: float
    nodes: int
    moves: int
    pending: Mapping[str, int]
    unpriced: tuple[str, ...]
    guessed: Mapping[str, str]


def figures_of(trace: Trace) -> Figures:
    """Return the figures of a trace."""
    nodes = trace.facts_of(NodeState)
    boots = trace.facts_of(Boot)
    last = {fact.node: fact.state for fact in nodes}
    prices = {(fact.size, fact.capacity_type): fact for fact in trace.facts_of(PriceOf)}
    there: dict[str, tuple[str, str]] = {}
    moves = machine_moves(boots, nodes)
    for _, machine, kind in moves:
        if kind is None:
            there.pop(machine, None)
        else:
            there[machine] = kind
    pools = _nodepools(trace, boots, nodes)
    shares: dict[str, float] = {}
    for machine, kind in there.items():
        usd = prices[kind].price if kind in prices else None
        pool = pools.get(machine.lower(), "")
        shares[pool] = shares.get(pool, 0.0) + (usd or 0.0)
    ran = [prices[kind] for _, _, kind in moves if kind in prices]
    steps = trace.facts_of(Cost)
    end = trace.facts[-1].t if trace.facts else 0.0
    lasting = zip(steps, [*(step.t for step in steps), end][1:], strict=True)
    return Figures(
        steps[-1].price if steps else 0.0,
        {pool: round(usd, 6) for pool, usd in sorted(shares.items()) if usd},
        round(sum(step.price * (after - step.t) / 3600 for step, after in lasting), 6),
        end,
        sum(state != "deleted" for state in last.values()),
        sum(not fact.problem for fact in trace.facts_of(Disruption)),
        _pending(trace),
        tuple(sorted({price.size for price in ran if price.price is None})),
        dict(sorted({price.size: price.guess for price in ran if price.guess}.items())),
    )


def _nodepools(trace: Trace, boots: Sequence[Boot], nodes: Sequence[NodeState]) -> dict[str, str]:
    """Machine in small letters, as `machine_moves` names it → the NodePool that it is of."""
    claims = {fact.claim: fact.nodepool for fact in trace.facts_of(ClaimState)}
    pools = {boot.vm.lower(): claims.get(boot.claim, "") for boot in boots}
    for fact in nodes:
        if fact.nodepool:
            pools[f"node/{fact.node}".lower()] = fact.nodepool
            if fact.vm:
                pools[fact.vm.lower()] = fact.nodepool
    return pools


def _pending(trace: Trace) -> dict[str, int]:
    owners: dict[str, str] = {}
    last: dict[str, PodState] = {}
    bound: set[str] = set()
    for fact in trace.facts_of(PodState):
        owners[fact.pod] = fact.owner or owners.get(fact.pod, "")
        last[fact.pod] = fact
        if fact.node or fact.state == "bound":
            bound.add(fact.pod)
        elif fact.state == "created":
            bound.discard(fact.pod)
    waiting = [pod for pod, fact in last.items() if pod not in bound and fact.state in ("created", "pending")]
    return dict(sorted(Counter(owners[pod] or f"Pod/{pod.removeprefix('default/')}" for pod in waiting).items()))
